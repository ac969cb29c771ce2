"""WebAnno TSV 3 of several annotators."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.readers import read

HEADER = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.NamedEntity|identifier|value\n"
    "#T_SP=x.Event|ROLE_x.Event:args|x.Arg|kind\n\n\n#Text=Bob saw New York\n"
)
ANN = (
    "1-1\t0-3\tBob\t*\tPER\\_A\t_\t_\t_\t\n1-2\t4-7\tsaw\t_\t_\t*\t1-1\tsee|look\t\n"
    "1-3\t8-11\tNew\t*[1]\tLOC[1]\t_\t_\t_\t\n1-4\t12-16\tYork\t*[1]|*\tLOC[1]|ORG\t_\t_\t_\t\n"
)
BOB = ANN.replace("PER\\_A", "ORG")


@pytest.mark.parametrize(
    "names", [("ann_doc", "bob_doc"), ("doc/ann", "doc/bob"), ("ann/doc", "bob/doc")]
)
def test_spans(tmp_path: Path, names: tuple[str, str]) -> None:
    for name, lines in zip(names, (ANN, BOB), strict=True):
        path = tmp_path / "study" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + lines)
    corpus = read(tmp_path / "study")
    assert list(corpus.items) == ["doc"] and list(corpus.annotators) == ["ann", "bob"]
    assert corpus["NamedEntity.value"].answers() == [("LOC", "ORG", "PER_A"), ("LOC", "ORG")]
    assert corpus["Event.kind"].answers() == [("look", "see")] * 2
    spans = corpus.rationales
    assert spans is not None
    marked = {
        (spans.kind[n].as_py(), int(spans.start[n, 0]), int(spans.stop[n, 0]))
        for n in range(len(spans))
        if spans.annotator[n] == 0
    }
    assert marked == {
        ("PER_A", 0, 3),
        ("LOC", 8, 16),
        ("ORG", 12, 16),
        ("see", 4, 7),
        ("look", 4, 7),
    }
    assert corpus.text_of(0) == "Bob saw New York"
