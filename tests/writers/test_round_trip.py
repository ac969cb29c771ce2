"""A property of every format: what was written is read again, or a note says what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dissensus as ds
from dissensus import Annotations, Corpus, MultiLabel, Nominal, Ordinal
from dissensus.contents import Contents
from dissensus.errors import DissensusError, counted
from dissensus.scales import Scale
from dissensus.writers import write
from tests.readers.conftest import rows_of

LETTERS = "abzÉß好🙂 ,;|\"'\\/=+-[]{}:#%&<>0123\t\n"
names = st.text(LETTERS, min_size=1, max_size=8).filter(lambda name: name == name.strip())
SCALES: list[Scale] = [
    Nominal(("no", "yes", "maybe, or not")),
    Ordinal(("1", "2", "3", "4", "5")),
    MultiLabel(("joy", "fear", 'a "b"')),
]
FORMATS = ["long.csv", "long.tsv", "long.parquet", "long.jsonl", "long.json", "long.xlsx"]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Items with texts, annotators and one question."""
    items = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    annotators = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    scale = draw(st.sampled_from(SCALES))
    values = scale.values  # type: ignore[attr-defined]
    answer = st.sampled_from(values)
    if isinstance(scale, MultiLabel):
        answer = st.sets(st.sampled_from(values)).map(lambda chosen: tuple(sorted(chosen)))
    rows = [(i, a, draw(answer)) for i in items for a in annotators if draw(st.booleans())]
    rows = rows or [(items[0], annotators[0], draw(answer))]
    texts = Contents.distinct("text", [f"text of {n}: {item}" for n, item in enumerate(items)])
    answers = Annotations.from_rows(rows, scale)
    return Corpus.build("mine", items, {"label": answers}, contents={"text": texts})


@pytest.mark.parametrize("name", FORMATS)
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(corpus=corpora())
def test_what_was_written_is_read_again(tmp_path: Path, name: str, corpus: Corpus) -> None:
    path = tmp_path / name
    notes = write(corpus, path, overwrite=True)
    scale = corpus["label"].scale
    columns = {"item": "item", "annotator": "annotator", "answer": "label", "text": "text"}
    again = ds.read(path, format="long", scale=scale, **columns)  # type: ignore[arg-type]
    assert sorted(rows_of(again, "label")) == sorted(rows_of(corpus, "label"))
    assert again["label"].scale == scale
    answered = {corpus.items[int(code)] for code in set(corpus["label"].item.tolist())}
    texts = {item: again.text_of(n) for n, item in enumerate(again.items)}
    assert texts == {
        item: corpus.text_of(n) for n, item in enumerate(corpus.items) if item in answered
    }
    n_bare = corpus.n_items - len(answered)
    bare = f"{counted(n_bare, 'item')} without answers"
    assert any(bare in note for note in notes) == (n_bare > 0)


@pytest.mark.parametrize("to", ["wide", "crowd-kit"])
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(corpus=corpora())
def test_other_formats(tmp_path: Path, to: str, corpus: Corpus) -> None:
    """Answers of these formats are read again, or writing them is refused and leaves nothing."""
    path = tmp_path / "out.csv"
    path.unlink(missing_ok=True)
    try:
        write(corpus, path, to)
    except DissensusError as error:
        assert "\n" not in str(error) and not path.exists()
        return
    scale = corpus["label"].scale
    if to == "wide":
        used = [a for a in corpus.annotators if a in {row[1] for row in rows_of(corpus, "label")}]
        again = ds.read(path, format="wide", item="item", annotators=used, scale=scale)
    else:
        again = ds.read(path, item="task", annotator="worker", answer="label", scale=scale)
    (question,) = again.questions
    assert sorted(rows_of(again, question)) == sorted(rows_of(corpus, "label"))
