"""A small folder of every known corpus with invented contents, in the form of the real one.

Its texts are in `samples/`: `NAME.gz.txt` is packed into `NAME.gz`. Arrays are made here.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SAMPLES = Path(__file__).parent / "samples"
ABSENT = (  # licensed or not public: tests have no data
    *("msp_improv", "msp_podcast", "iemocap", "muse"),
    *("street", "amer"),
)


def write(folder: Path, name: str, content: str | bytes) -> None:
    """Write a file, gzipped where the name says so."""
    data = content.encode() if isinstance(content, str) else content
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)


def sample(name: str, folder: Path) -> Path:
    """Write the small folder of a corpus."""
    folder.mkdir(parents=True)
    for path in sorted(path for path in (SAMPLES / name).rglob("*") if path.is_file()):
        named = str(path.relative_to(SAMPLES / name))
        packed = named.endswith(".gz.txt")
        write(folder, named.removesuffix(".txt") if packed else named, path.read_bytes())
    if name in MADE_OF_ARRAYS:
        MADE_OF_ARRAYS[name](folder)
    return folder


def item(path: str, **changes: Any) -> dict[str, Any]:
    """The first item of a file of LeWiDi, changed."""
    first, *_ = json.loads((SAMPLES / path).read_text(encoding="utf-8")).values()
    return {**first, **changes}


def sounds(folder: Path) -> None:
    audio = {"item_id": ["010", "007"], "seconds": [2.5, 1.5], "ogg_opus": [b"OggS2", b"OggS1"]}
    pq.write_table(pa.table(audio), folder / "audio_opus.parquet")


def pictures_and_votes(folder: Path) -> None:
    images = {
        "item_id": pa.array([1, 0], pa.int32()),
        "label": pa.array([9, 0], pa.int8()),
        "jpg": [b"\xff\xd8one", b"\xff\xd8zero"],
    }
    pq.write_table(pa.table(images), folder / "cifar10_test_jpg.parquet")
    votes = np.zeros((2, 10), np.int64)
    votes[0, 0], votes[1, 9], votes[1, 1] = 50, 40, 7
    np.save(folder / "cifar10h-counts.npy", votes)


def vectors(folder: Path, **changes: np.ndarray | None) -> None:
    """Three training vectors, the last of which stands in test again, with other gold."""
    arrays: dict[str, Any] = {
        "X_train": np.array([[1, 2], [3, 4], [5, 6]], np.float32),
        "X_valid": np.zeros((1, 2), np.float32),
        "X_test": np.array([[9, 9], [5, 6]], np.float32),
        "y_train": np.array([0, 1, 6]),
        "y_valid": np.array([7]),
        "y_test": np.array([2, 5]),
    }
    changed = {name: values for name, values in (arrays | changes).items() if values is not None}
    np.savez(folder / "vgg16_avg_features.npz", **changed)


MADE_OF_ARRAYS = {
    "speechocean762": sounds,
    "cifar10h": pictures_and_votes,
    "labelme_crowds": vectors,
}
