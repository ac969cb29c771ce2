"""A model folder: config.json and model.safetensors, with a checksum of both; and which items it
learned from, as hashes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import pyarrow as pa
from safetensors.numpy import save

from dissensus.contents import Kind
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.files.folders import (
    read_json,
    read_table,
    reading,
    write_json,
    write_table,
    writing,
)
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
    n_answers: dict[str, list[int]]
    widths: NotRequired[dict[str, int]]
    encoders: NotRequired[dict[str, str]]
    enrolled: NotRequired[dict[str, list[str]]]
    forgotten: NotRequired[int]


def write_model(folder: Path, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
    """Write weights and config, with a checksum of both."""
    content = save({k: np.ascontiguousarray(v) for k, v in weights.items()})
    (folder / WEIGHTS).write_bytes(content)  # save_file would let no other user read it
    write_json(folder, "config", config | {"checksum": checksum(config, content)})


def read_model(path: str | Path) -> tuple[dict[str, Any], bytes]:
    """The config of a model folder and its weights as bytes, after their checksum was verified."""
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
    return config, weights


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


TRAINED, LOG = "trained_items.parquet", "log.csv"  # in the folder of a model


def save_again(write_to: Callable[[Path], None], target: Path, source: Path) -> None:
    """Write a model that came from the one in `source`, with what that folder keeps of training."""
    with writing(target, "config", overwrite=True) as folder:
        write_to(folder)
        for name in (TRAINED, LOG):
            if (source / name).exists():
                shutil.copyfile(source / name, folder / name)


def save_trained_items(folder: Path, corpus: Corpus) -> None:
    """Write which items a model learned from, as hashes, to its folder."""
    write_table(folder / TRAINED, {"item": np.unique(item_hashes(corpus))})


def trained_items(folder: Path, corpus: Corpus) -> np.ndarray | None:
    """Which items the model in the folder learned from; None if an earlier version wrote it."""
    if not (folder / TRAINED).exists():
        return None
    with reading(folder):
        learned = read_table(folder / TRAINED)["item"].cast(pa.string()).to_pylist()
    enrolled = read_json(folder, "config", _Config).get("enrolled", {}).values()
    return np.isin(item_hashes(corpus), sum(enrolled, learned))


def item_hashes(corpus: Corpus) -> np.ndarray:
    """A hash of the contents of each item, (n_items,); without contents, of corpus and item."""
    parts: list[list[str]] = []
    for role, contents in sorted(corpus.contents.items()):
        each = np.array([_content_hash(contents[code]) for code in range(len(contents))] + [""])
        parts.append([f"{role}:{one}" for one in each[corpus.content[role]]])
    if corpus.focus is not None:
        ends = zip(corpus.focus.start, corpus.focus.stop, strict=True)
        parts.append([f"{start}-{stop}" for start, stop in ends])
    if not parts:
        parts = [[f"{corpus.name}/{item}" for item in corpus.items]]
    return np.array([_content_hash("\0".join(each)) for each in zip(*parts, strict=True)])


def _content_hash(content: Any) -> str:
    data = content.tobytes() if isinstance(content, np.ndarray) else content
    data = data if isinstance(data, bytes) else str(data).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()
