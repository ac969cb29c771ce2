"""Damaged files of known corpora are refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.datasets import dataset
from tests.error_texts import error_text

SampleFolder = Callable[[str], Path]


def message(name: str, folder: Path) -> str:
    """How a corpus is refused, without the path of the folder."""
    known, _, corpus = name.partition(" ")
    text = error_text(dataset(known).load, folder, corpus or None)
    return text.replace(f"{folder}/", "").replace(str(folder), "FOLDER")


TRUNCATED = ("jester5k", "nli_variation", "faces_3dsk", "eye_fixations_12coders")


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_truncated_file_is_refused(name: str, sample_folder: SampleFolder) -> None:
    folder = sample_folder(name)
    (path,) = folder.glob("*.gz")
    path.write_bytes(path.read_bytes()[:-10])
    assert message(name, folder).startswith(f"{path.name}: damaged gzip (Compressed file ended ")


NOT_TEXT: dict[str, tuple[str, str, Callable[[bytes], bytes], str]] = {
    "not UTF-8": ("jester5k", "jokes.csv", lambda old: b"\xff" + old, "names of columns are"),
    "a name that is not UTF-8": (
        "speechocean762",
        "audio_opus.parquet",
        lambda old: old.replace(b"item_id", b"item_\xf4d"),
        "names of columns are not UTF-8 (",
    ),
    "no Parquet": ("cifar10h", "cifar10_test_jpg.parquet", lambda _: b"PAR1", "damaged ("),
    "no array": ("cifar10h", "cifar10h-counts.npy", lambda _: b"nothing", "damaged ("),
    "half a zip": (
        "labelme_crowds",
        "vgg16_avg_features.npz",
        lambda old: old[: len(old) // 2],
        "a damaged zip (File is not a zip file); is the file cut off?",
    ),
    "another byte in a zip": (
        "labelme_crowds",
        "vgg16_avg_features.npz",
        lambda old: old.replace(b"\x93NUMPY", b"\x93NUMPX", 1),
        "a damaged zip (Bad CRC-32 for file ",
    ),
}


@pytest.mark.parametrize("damage", NOT_TEXT)
def test_damaged_bytes_are_refused(damage: str, sample_folder: SampleFolder) -> None:
    name, file, change, expected = NOT_TEXT[damage]
    folder = sample_folder(name)
    (folder / file).write_bytes(change((folder / file).read_bytes()))
    assert message(name, folder).startswith(f"{file}: {expected}")


def test_json_that_is_nested_too_deeply_is_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("toxic_spans")
    (folder / "tsd_train.csv").write_text(f"spans,text\n{'[' * 100_000},a", encoding="utf-8")
    assert len(message("toxic_spans", folder)) < 300
