from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv as csv
import pytest

from dissensus.description import Description, describe
from tests.cli.conftest import Run
from tests.test_description import crowd, small


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    small().save(tmp_path / "small")
    return tmp_path / "small"


def test_json_is_the_description(run: Run, corpus: Path) -> None:
    ended = run("describe", corpus, "--json", "--most", "1")
    assert json.loads(ended.out) == describe(small(), most=1).to_dict()


def test_suspicious_annotators_are_shown(run: Run, tmp_path: Path) -> None:
    from dissensus.corpus import Corpus

    Corpus.build("odd", crowd().items, {"q": crowd()}).save(tmp_path / "odd")
    lines = run("describe", tmp_path / "odd").out.splitlines()
    first, last = (
        lines.index("suspicious annotators: 4 of 7 checked"),
        lines.index("what to do now"),
    )
    shown = lines[first + 1 : last - 1]
    assert shown == [
        "constant: p1: b in all 60 answers (by chance 9e-15)",
        "fast: p3: median 2.5 s, usual 9.82 s",
        "duplicated: p2 and p5: the same answer to 60 of 60 items, to 20 of them unlike",
        "  most others (by chance 0.003)",
        "1 with fewer than 10 answers not checked",
    ]
    written = tmp_path / "annotators.csv"
    one = run("describe", tmp_path / "odd", "--top", "1", "-o", written).out
    assert "\n... 7 more\n" in one and "\n... 2 more: use --top, --json or -o FILE.csv\n" in one
    table = csv.read_csv(written).to_pylist()
    assert [row["suspicious"] for row in table].count("duplicated") == 2
    assert len(table) == 8


def test_nothing_is_cut_at_80_columns(run: Run, tmp_path: Path) -> None:
    from dissensus.annotations import Annotations
    from dissensus.contents import Contents
    from dissensus.corpus import Corpus

    item = "a-very-long-name-of-an-item-" * 3
    words = [f"word{i}" for i in range(12)]
    rows = [(item, f"annotator {i}", f"[red]value number {i}") for i in range(6)]
    contents = {"text": Contents.distinct("text", [" ".join(words)])}
    corpus = Corpus.build("long", [item], {"q": Annotations.from_rows(rows)}, contents=contents)
    corpus.save(tmp_path / "long")
    out = run("describe", tmp_path / "long").out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "…" not in out
    assert all(word in out for word in words)
    assert "[red]value" in out


def test_of_many_values_the_most_frequent_are_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    answers = [f"v{number}" for number in range(30) for _ in range(number + 1)]
    rows = "".join(f"t{place},ann,{answer}\n" for place, answer in enumerate(answers))
    path.write_text(f"item,annotator,answer\n{rows}")
    shown = run("describe", path).out.split("\nvalue ")[1].split("\n\n")[0].splitlines()
    assert len(shown) == 22 and shown[1].split() == ["v29", "6.5", "%"]  # 30 of 465
    assert shown[-1].split("  ") == ["(10 others, each at most)", "2.2 %"]
    assert len(json.loads(run("describe", path, "--json").out)["questions"][0]["shares"]) == 30


def test_json_is_made_only_if_it_is_wanted(
    run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 632,000 annotators, it took a minute."""
    monkeypatch.setattr(Description, "to_dict", lambda self: pytest.fail("not wanted"))
    assert run("describe", corpus).code == 0
