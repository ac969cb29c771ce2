"""A model folder: config.json and model.safetensors, with a checksum of both."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
from safetensors.numpy import load_file, save

from dissensus.contents import Kind
from dissensus.errors import ModelError
from dissensus.files.folders import read_json, write_json
from dissensus.scales import ScaleFields

WEIGHTS = "model.safetensors"


class _Config(TypedDict):
    """The content of config.json; a method may add more."""

    method: str
    settings: dict[str, Any]
    corpus: str
    questions: dict[str, ScaleFields]
    annotators: list[str]
    roles: dict[str, Kind]
    part: dict[str, Any]
    n_answers: NotRequired[dict[str, list[int]]]
    without_answers: NotRequired[dict[str, list[str]]]
    widths: NotRequired[dict[str, int]]
    encoders: NotRequired[dict[str, str]]


def write_model(folder: Path, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
    """Write weights and config, with a checksum of both."""
    content = save({k: np.ascontiguousarray(v) for k, v in weights.items()})
    (folder / WEIGHTS).write_bytes(content)  # save_file would let no other user read it
    write_json(folder, "config", config | {"checksum": checksum(config, content)})


def read_config(path: str | Path) -> dict[str, Any]:
    """The config of a model folder, after its checksum was verified."""
    folder = Path(path)
    config = read_json(folder, "config", _Config)
    try:
        weights = (folder / WEIGHTS).read_bytes()
    except OSError as error:
        raise ModelError(f"{folder / WEIGHTS}: {error.strerror}; train again") from None
    if config.get("checksum") != checksum(config, weights):
        raise ModelError(
            f"{folder}: config.json and model.safetensors do not belong together, or were altered "
            "or cut off; train again, or take an undamaged copy"
        )
    return config


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """The weights of a model folder, by name."""
    return load_file(folder / WEIGHTS)


def plain(value: Any) -> Any:
    """A setting as JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return list(value) if isinstance(value, tuple) else value


def checksum(config: dict[str, Any], weights: bytes) -> str:
    """A checksum of config and weights, which detects a damaged or altered folder."""
    kept = {k: v for k, v in config.items() if k not in ("checksum", "format", "kind")}
    digest = hashlib.sha256(json.dumps(kept, sort_keys=True).encode())
    digest.update(weights)
    return digest.hexdigest()
