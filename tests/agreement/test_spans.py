"""Agreement on spans: published values, brute force, scikit-learn, and what is undefined."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score
from typer.testing import CliRunner

from dissensus import Annotations, Corpus, MultiLabel
from dissensus.agreement import SPAN_MEASURES, krippendorff_alpha, span_agreement
from dissensus.cli import app
from dissensus.contents import Contents
from dissensus.corpus import Rationales

Span = tuple[int, int, str]
Marks = dict[str, dict[str, list[Span]]]  # item -> annotator -> spans


def corpus_of(marks: Marks, length: int) -> Corpus:
    """A corpus in which every annotator of an item answered, and marked these characters."""
    labels = sorted({s[2] for own in marks.values() for spans in own.values() for s in spans})
    rows = [
        (item, name, ",".join(sorted({s[2] for s in spans})))
        for item, own in marks.items()
        for name, spans in own.items()
    ]
    answers = Annotations.from_rows(rows, MultiLabel(tuple(labels)))
    texts = Contents.distinct("text", [f"{n:0{length}d}" for n, _ in enumerate(marks)])
    places = [
        (list(answers.items).index(i), list(answers.annotators).index(a), *span)
        for i, own in marks.items()
        for a, spans in own.items()
        for span in spans
    ]
    n = len(places)
    spans = Rationales(
        np.array([p[0] for p in places]),
        np.array([p[1] for p in places]),
        pa.array(["parts"] * n),
        pa.array(["text"] * n),
        np.array([[float(p[2])] for p in places]),
        np.array([[float(p[3])] for p in places]),
        pa.array([p[4] for p in places]),
    )
    return Corpus.build(
        "marked", list(marks), {"parts": answers}, contents={"text": texts}, rationales=spans
    )


def values(corpus: Corpus) -> dict[str | None, dict[str, float]]:
    results = span_agreement(corpus, "parts")
    return {one.label: {r.measure: r.value for r in one.measures} for one in results}


def random_marks(seed: int, n_items: int, n_annotators: int, length: int) -> Marks:
    """Spans that do not overlap, by a varying number of annotators."""
    rng = np.random.default_rng(seed)
    marks: Marks = {}
    for item in range(n_items):
        own: dict[str, list[Span]] = {}
        for annotator in range(rng.integers(2, n_annotators + 1)):
            cuts = np.sort(rng.choice(length + 1, size=6, replace=False)).tolist()
            own[f"a{annotator}"] = [
                (cuts[at], cuts[at + 1], "xy"[rng.integers(2)])
                for at in range(5)
                if rng.random() < 0.5
            ]
        marks[f"t{item}"] = own
    return marks


def test_the_published_example() -> None:
    """Krippendorff (2019), Content Analysis, figure 12.11: 60 characters, three observers."""
    alex = [(0, 7, "1"), (7, 13, "2"), (30, 32, "5"), (32, 37, "6"), (37, 44, "6"), (44, 60, "7")]
    paul = [(0, 7, "1"), (7, 13, "3"), (13, 21, "5"), (32, 44, "6")]
    suzan = [(0, 7, "1"), (7, 13, "4"), (13, 21, "5"), (32, 37, "6"), (37, 41, "6"), (41, 44, "6")]
    corpus = corpus_of({"t": {"alex": alex, "paul": paul, "suzan": suzan}}, 60)
    assert values(corpus)[None]["unitising-alpha"] == pytest.approx(0.510, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_unitising_alpha_by_its_formula(seed: int) -> None:
    """Intersections of all units and gaps of all pairs, one by one."""
    length = 25
    marks = random_marks(seed, 4, 4, length)
    labels = ["", "x", "y"]
    observed = np.zeros((3, 3))
    totals, squares = np.zeros(3), np.zeros(3)
    for own in marks.values():
        units = [with_gaps(spans, length) for spans in own.values()]
        for mine, theirs in itertools.permutations(units, 2):
            for (a, b, c), (d, e, k) in itertools.product(mine, theirs):
                shared = max(0, min(b, e) - max(a, d))
                observed[labels.index(c), labels.index(k)] += shared / (len(units) - 1)
        for start, stop, label in itertools.chain(*units):
            totals[labels.index(label)] += stop - start
            squares[labels.index(label)] += (stop - start) ** (2 if label else 1)
    everything = totals.sum()
    expected = everything * (totals**2 - squares) / (everything**2 - squares.sum())
    alpha = 1 - (everything - np.trace(observed)) / (everything - expected.sum())
    result = values(corpus_of(marks, length))[None]
    assert result["unitising-alpha"] == pytest.approx(alpha)


def with_gaps(spans: Sequence[Span], length: int) -> list[Span]:
    units, last = [], 0
    for start, stop, label in sorted(spans):
        units += [(last, start, "")] if start > last else []
        units.append((start, stop, label))
        last = stop
    return units + ([(last, length, "")] if last < length else [])


@pytest.mark.parametrize("seed", range(3))
def test_span_alpha_is_that_of_characters(seed: int) -> None:
    length = 20
    marks = random_marks(seed, 3, 3, length)
    result = values(corpus_of(marks, length))
    for label in (None, "x"):
        rows = []
        for item, own in marks.items():
            for name, spans in own.items():
                for at in range(length):
                    here = [s[2] for s in spans if s[0] <= at < s[1] and label in (None, s[2])]
                    rows.append((f"{item}-{at}", name, here[0] if here else "none"))
        alpha = krippendorff_alpha(Annotations.from_rows(rows))
        assert result[label]["span-alpha"] == pytest.approx(alpha)


@pytest.mark.parametrize("seed", range(3))
def test_f1_of_two_annotators(seed: int) -> None:
    length = 20
    marks = random_marks(seed, 6, 2, length)
    result = values(corpus_of(marks, length))
    first, second = ([own[name] for own in marks.values()] for name in ("a0", "a1"))
    for label in "xy":
        masks = [
            np.array([any(s <= at < e for s, e, k in spans if k == label) for at in range(length)])
            for side in (first, second)
            for spans in side
        ]
        a, b = np.concatenate(masks[:6]), np.concatenate(masks[6:])
        assert result[label]["character-f1"] == pytest.approx(f1_score(a, b))
    exact = sum(len(set(a) & set(b)) for a, b in zip(first, second, strict=True))
    n_spans = sum(map(len, first)) + sum(map(len, second))
    assert result[None]["span-f1"] == pytest.approx(2 * exact / n_spans)
    overlapping = 0
    for mine, theirs in zip([*first, *second], [*second, *first], strict=True):
        overlapping += sum(
            any(s < f and e > d and k == c for d, f, c in theirs) for s, e, k in mine
        )
    assert result[None]["overlap-f1"] == pytest.approx(overlapping / n_spans)


def test_overlapping_spans_of_one_annotator() -> None:
    """A part with two labels is a value of its own; equal labels that overlap are one unit."""
    same = [(0, 6, "x"), (4, 10, "y")]
    corpus = corpus_of({"t": {"ann": same, "bob": same}}, 12)
    assert values(corpus)[None] == dict.fromkeys(SPAN_MEASURES, 1.0)
    apart = corpus_of({"t": {"ann": [(0, 6, "x"), (4, 10, "x")], "bob": [(0, 10, "x")]}}, 12)
    result = values(apart)[None]
    assert result["unitising-alpha"] == result["character-f1"] == 1
    assert result["span-f1"] == 0 and result["overlap-f1"] == 1


def test_what_is_undefined() -> None:
    alone = corpus_of({"t": {"ann": [(0, 3, "x")]}}, 5)
    reasons = {r.undefined for r in span_agreement(alone, "parts")[0].measures}
    assert reasons == {"no item has two known annotators"}
    whole = corpus_of({"t": {"ann": [(0, 5, "x")], "bob": [(0, 5, "x")]}}, 5)
    result = {r.measure: r for r in span_agreement(whole, "parts")[0].measures}
    assert result["span-f1"].value == 1
    reason = "all annotators marked everything, or nothing, with one label"
    assert result["span-alpha"].undefined == reason
    plain = replace(whole, rationales=None)
    assert span_agreement(plain, "parts") == []


def test_the_command(tmp_path: Path) -> None:
    marks = random_marks(0, 5, 3, 20)
    corpus_of(marks, 20).save(tmp_path / "corpus")
    run = CliRunner()
    shown = run.invoke(app, ["agreement", str(tmp_path / "corpus"), "--interval"]).stdout
    assert "all labels" in shown and "unitising-" in shown
    path = tmp_path / "spans.csv"
    result = run.invoke(
        app, ["agreement", str(tmp_path / "corpus"), "--measure", "span-f1", "-o", str(path)]
    )
    assert result.exit_code == 0
    lines = path.read_text().splitlines()
    assert lines[0] == "question,label,measure,value,undefined"
    assert [line.split(",")[1:3] for line in lines[1:]] == [
        ["", "span-f1"], ["y", "span-f1"], ["x", "span-f1"],
    ]  # fmt: skip
