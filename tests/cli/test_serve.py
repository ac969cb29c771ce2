"""dissensus serve, as a user types it; tests/report has the pages."""

from __future__ import annotations

from pathlib import Path

from dissensus import simulate
from dissensus.methods import method
from tests.cli.conftest import Run


def test_a_model_alone_is_refused_with_what_to_type(run: Run, tmp_path: Path) -> None:
    corpus = simulate.text(n_items=20, n_annotators=3, labels_per_item=2, seed=0)
    folder = tmp_path / "model"
    method("annotator-majority")().fit(corpus).save(folder)
    ended = run("serve", str(folder))
    assert ended.code == 1
    assert ended.err == (
        f"Error: {folder}: this is a model; name what it was trained on too: dissensus serve FILE "
        f"--model {folder}\n"
    )
