"""Models of transformers: their weights are read, their code is never run."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from dissensus.contents import Contents, Kind
from dissensus.encoders import encoder
from dissensus.encoders.framework.catalogue import known_encoder
from dissensus.encoders.framework.pretrained import kinds_of_model
from dissensus.errors import DissensusError, InstallError, ModelError
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
        kinds_of_model(str(with_code))
    _assert_refused(caught, with_code)


@pytest.fixture
def bert_with_code(with_code: Path) -> Path:
    """A model folder with its own code, whose architecture is part of transformers."""
    tiny_bert(with_code)
    for name in ("config", "tokenizer_config"):
        path = with_code / f"{name}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"auto_map": MAP}))
    return with_code


def _vectors(folder: Path) -> np.ndarray:
    reader = known_encoder.__wrapped__(str(folder), "text")  # not the cached encoder of this path
    return np.asarray(reader.encode(Contents.distinct("text", ["so good"])[0]).vectors)


def _change_weights(folder: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


def test_a_known_architecture_is_read_without_the_code_beside_it(bert_with_code: Path) -> None:
    assert _vectors(bert_with_code).shape[1] == 8
    assert not (bert_with_code.parent / "ran").exists()


def _gated(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key.replace("intermediate.dense", "mlp.gated"): w for key, w in weights.items()}


def _with_gates(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return weights | {"encoder.layer.0.gate.weight": torch.zeros(8)}


def _wider(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return weights | {"encoder.layer.1.output.dense.weight": torch.zeros(8, 99)}


MISSING = "missing: 'encoder.layer.0.intermediate.dense.bias', "
MISSING += "'encoder.layer.0.intermediate.dense.weight', "
MISSING += "'encoder.layer.1.intermediate.dense.bias' and 1 more; "
UNEXPECTED = "unexpected: 'encoder.layer.0.mlp.gated.bias', 'encoder.layer.0.mlp.gated.weight', "
UNEXPECTED += "'encoder.layer.1.mlp.gated.bias' and 1 more"


@pytest.mark.parametrize(
    ("change", "details"),
    [
        (_gated, MISSING + UNEXPECTED),
        (_with_gates, "unexpected: 'encoder.layer.0.gate.weight'"),
        (_wider, "other shape: 'encoder.layer.1.output.dense.weight'"),
    ],
    ids=["another layer", "a layer more", "another shape"],
)
def test_weights_of_another_architecture_are_refused(
    change: Callable[[dict[str, Tensor]], dict[str, Tensor]], details: str, bert_with_code: Path
) -> None:
    _change_weights(bert_with_code, change)
    with pytest.raises(ModelError) as caught:
        _vectors(bert_with_code)
    assert str(caught.value) == (
        f"encoder {str(bert_with_code)!r}: its weights do not match BertModel, the architecture in "
        f"its configuration ({details}); choose a model whose architecture is part of "
        "transformers, or an undamaged copy"
    )


def test_heads_and_poolers_may_be_missing_or_left_over(
    bert_with_code: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = _vectors(bert_with_code)

    def with_head(weights: dict[str, Tensor]) -> dict[str, Tensor]:
        inner = {f"bert.{key}": w for key, w in weights.items() if "pooler" not in key}
        return inner | {"classifier.weight": torch.zeros(2, 8), "classifier.bias": torch.zeros(2)}

    _change_weights(bert_with_code, with_head)
    np.testing.assert_array_equal(_vectors(bert_with_code), before)
    assert "LOAD REPORT" not in capfd.readouterr().err


DAMAGE: list[tuple[str, bytes | dict[str, Any], str]] = [
    ("model.safetensors", b"\xff" * 100, "header too large"),
    ("config.json", b"[1, 2]", "cannot be loaded"),
    ("config.json", b"[" * 100_000, "recursion depth"),
    ("config.json", {"hidden_act": "nope"}, "no model can be made of its configuration"),
    ("config.json", {"hidden_act": [1]}, "Validation error"),
    ("config.json", {"quantization_config": {"quant_method": "gptq"}}, "quantized"),
    ("config.json", {"quantization_config": [1]}, "cannot be loaded"),
    ("config.json", {"attn_implementation": "a/kernel"}, "the attention 'a/kernel'"),
    ("config.json", {"num_hidden_layers": 10**9}, "1,000,000,000 layers, more than 1,000"),
    ("config.json", {"hidden_size": 10**9}, "weights, but its files have"),
    ("config.json", {"num_labels": 10**9}, '"num_labels": 1000000000'),
    ("config.json", {"hidden_dropout_prob": math.nan}, "NaN"),
    ("config.json", {"model_type": ["bert"]}, "unhashable type"),
    ("tokenizer_config.json", {"model_max_length": "x"}, "at most 'x' tokens"),
    ("tokenizer_config.json", {"model_max_length": -3}, "at most '-3' tokens"),
    ("tokenizer.json", b"[]", "cannot be loaded"),
    ("model.safetensors.index.json", b"{}", "weight_map"),
    ("model.safetensors.index.json", b'{"metadata": {}, "weight_map": {"a": 3}}', "not 'int'"),
]


@pytest.mark.parametrize(("name", "content", "words"), DAMAGE)
def test_a_damaged_folder_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes | dict[str, Any], words: str
) -> None:
    folder = tmp_path / "bert"
    folder.mkdir()
    tiny_bert(folder)
    if isinstance(content, dict):
        content = json.dumps(json.loads((folder / name).read_text()) | content).encode()
    if name.endswith("index.json"):
        (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(content)
    with pytest.raises(DissensusError, match=re.escape(words)) as refusal:
        _vectors(folder)
    assert "\n" not in str(refusal.value)


def test_settings_of_outputs_are_those_of_dissensus(tmp_path: Path) -> None:
    tiny_bert(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"return_dict": False, "chunk_size_feed_forward": 7, "output_attentions": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert _vectors(tmp_path).shape[1] == 8


def test_nothing_is_loaded_without_refusing_code() -> None:
    """Every call of `from_pretrained` says so."""
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    texts = "".join(path.read_text(encoding="utf-8") for path in sources)
    calls = re.findall(r"\w\.from_pretrained\([^)]*\)", texts)
    assert calls and all("trust_remote_code=False" in call for call in calls), calls
