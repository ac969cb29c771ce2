"""Models of transformers: their weights are read, their code is never run."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from dissensus.contents import Contents, Kind
from dissensus.encoders import encoder
from dissensus.encoders.framework.hub import kinds
from dissensus.errors import InstallError
from tests.media import picture, recording
from tests.tiny import tiny_bert

ROOT = Path(__file__).parents[3]
SHOWN = {"text": "so good", "image": picture(0), "audio": recording(0, seconds=0.3)}

CODE = """
from pathlib import Path
Path({marker!r}).write_text("ran")
from transformers import PretrainedConfig, PreTrainedModel
class OwnConfig(PretrainedConfig):
    model_type = "own"
class OwnModel(PreTrainedModel):
    config_class = OwnConfig
class OwnTokenizer:
    pass
"""
MAP = {
    "AutoConfig": "own.OwnConfig",
    "AutoModel": "own.OwnModel",
    "AutoTokenizer": ["own.OwnTokenizer", None],
    "AutoImageProcessor": "own.OwnTokenizer",
    "AutoFeatureExtractor": "own.OwnTokenizer",
}


@pytest.fixture
def with_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder whose own code writes `ran` beside it, and someone who answers "y"."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(CODE.format(marker=str(tmp_path / "ran")))
    for name in ("config", "tokenizer_config", "preprocessor_config"):
        entries = {"model_type": "own", "tokenizer_class": "OwnTokenizer", "auto_map": MAP}
        (folder / f"{name}.json").write_text(json.dumps(entries))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 10))
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    return folder


def _assert_refused(caught: pytest.ExceptionInfo[InstallError], folder: Path) -> None:
    assert str(caught.value) == (
        f"encoder {str(folder)!r} needs Python code of its own (`auto_map` in its configuration), "
        "which is never run here; choose a model whose architecture is part of transformers"
    )
    assert not (folder.parent / "ran").exists()


@pytest.mark.parametrize("kind", SHOWN)
def test_code_in_a_model_folder_is_not_run(kind: Kind, with_code: Path) -> None:
    with pytest.raises(InstallError) as caught:
        reader = encoder(str(with_code), kind)
        reader.encode(Contents.distinct(kind, [SHOWN[kind]])[0])
    _assert_refused(caught, with_code)


def test_code_in_a_model_folder_is_not_run_to_see_what_it_reads(with_code: Path) -> None:
    with pytest.raises(InstallError) as caught:
        kinds(str(with_code))
    _assert_refused(caught, with_code)


def test_a_known_architecture_is_read_without_the_code_beside_it(with_code: Path) -> None:
    tiny_bert(with_code)
    for name in ("config", "tokenizer_config"):
        path = with_code / f"{name}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": MAP}))
    store = encoder(str(with_code), "text").encode(Contents.distinct("text", ["so good"])[0])
    assert store.vectors.shape[1] == 8
    assert not (with_code.parent / "ran").exists()


def test_nothing_is_loaded_without_refusing_code() -> None:
    """Every call of `from_pretrained` says so."""
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    texts = "".join(path.read_text(encoding="utf-8") for path in sources)
    calls = re.findall(r"\w\.from_pretrained\([^)]*\)", texts)
    assert calls and all("trust_remote_code=False" in call for call in calls), calls
