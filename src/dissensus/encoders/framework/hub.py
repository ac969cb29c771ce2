"""Load models of transformers, from a folder or from the hub, without running their code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.contents import Kind
from dissensus.errors import InstallError, ModelError, listed

if TYPE_CHECKING:
    from torch import nn

UNUSED = ("pooler", "adapter", "mask_token", "masked_spec_embed")  # parts of models not used here


def pretrained(loader: Any, source: str, name: str | None = None, **options: Any) -> Any:
    """Call `from_pretrained` of a class of transformers; code in the folder is never run.

    Args:
        loader: a class such as `AutoModel`.
        source: a folder, or a name on the hub.
        name: the encoder's name in errors; the source if left out.
    """
    from transformers.utils import logging

    name = source if name is None else name
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # dissensus has its own
    try:
        return loader.from_pretrained(source, trust_remote_code=False, **options)
    except (OSError, ValueError) as error:
        if "trust_remote_code" in str(error):
            raise InstallError(
                f"encoder {name!r} needs Python code of its own (`auto_map` in its configuration), "
                "which is never run here; choose a model whose architecture is part of transformers"
            ) from None
        reason = str(error).strip().splitlines()[0]
        raise InstallError(
            f"encoder {name!r} cannot be loaded ({reason}); choose an installed one (see "
            "docs/encoders.md), a folder with a transformers model, or a model on a hub that can "
            "be reached"
        ) from None


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
    from transformers import AutoModel
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # of its own report on weights
    try:
        model, report = pretrained(
            AutoModel,
            source,
            name,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **options,
        )
    finally:
        logging.set_verbosity(verbosity)
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
            f"encoder {source if name is None else name!r}: its weights do not match "
            f"{type(model).__name__}, the architecture in its configuration "
            f"({'; '.join(details)}); choose a model whose architecture is part of transformers, "
            "or an undamaged copy"
        )
    return network


def _belongs(key: str, model: Any, network: nn.Module) -> bool:
    """Whether a weight of a file, by its name, is part of the network, and not of a head."""
    prefix = f"{model.base_model_prefix}."
    inner = key.removeprefix(prefix)
    path = next(name for name, module in model.named_modules() if module is network)
    if path:  # the network is a part of the model
        return inner.startswith(f"{path}.")
    children = [name for name, _ in network.named_children()]
    return key.startswith(prefix) or inner.split(".")[0] in children


def kinds(name: str) -> tuple[Kind, ...]:
    """The kinds of content that a model reads, by the type in its configuration."""
    from transformers import (
        FEATURE_EXTRACTOR_MAPPING,
        IMAGE_PROCESSOR_MAPPING,
        TOKENIZER_MAPPING,
        AutoConfig,
    )

    of_model = type(pretrained(AutoConfig, name))
    if of_model in FEATURE_EXTRACTOR_MAPPING:
        return ("audio",)
    if of_model in TOKENIZER_MAPPING and of_model not in IMAGE_PROCESSOR_MAPPING:
        return ("text",)
    return ("image", "video")


def revision(source: str, network: Callable[[], Any]) -> str:
    """The revision of a model: the hash of its weights, or its commit."""
    weights = Path(source) / "model.safetensors"
    if weights.is_file():
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return str(getattr(network().model.config, "_commit_hash", None))


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
