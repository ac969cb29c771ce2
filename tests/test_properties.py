"""What holds for every corpus: writing and reading, selecting, splitting and dropping answers."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dissensus import Annotations, Corpus, read
from dissensus.errors import DataError, counted
from tests.corpora import corpora

often = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def rows_of(answers: Annotations, corpus: Corpus) -> Counter[tuple[object, ...]]:
    """The answers with the names of items and people, whatever their codes and order."""
    item = [corpus.items[code] for code in answers.item]
    who = [None] * answers.n_rows
    if answers.annotator is not None:
        who = [corpus.annotators[code] for code in answers.annotator]
    count = [1] * answers.n_rows if answers.count is None else answers.count.tolist()
    return Counter(zip(item, who, map(repr, answers.answers()), count, strict=True))


def spans_of(corpus: Corpus) -> Counter[tuple[object, ...]]:
    """The rationales with the names of items and people."""
    spans = corpus.rationales
    if spans is None:
        return Counter()
    who = [None if code < 0 else corpus.annotators[code] for code in spans.annotator]
    item = [corpus.items[code] for code in spans.item]
    texts = (spans.question.to_pylist(), spans.role.to_pylist(), spans.kind.to_pylist())
    return Counter(zip(item, who, *texts, spans.start[:, 0].tolist(), strict=True))


def check(corpus: Corpus) -> None:
    """Every invariant that a corpus promises, whatever was done to it."""
    for arguments in (*corpus.questions.values(), *corpus.gold.values()):
        check_annotations(arguments, corpus)
    for role, codes in corpus.content.items():
        assert codes.shape == (corpus.n_items,)
        shown = set(codes[codes >= 0].tolist())
        assert shown == set(range(len(corpus.contents[role]))), "contents that nobody shows"
    for values in (*corpus.item_attributes.values(), *corpus.splits.values()):
        assert len(values) == corpus.n_items
    for values in corpus.annotator_attributes.values():
        assert len(values) == corpus.n_annotators
    assert len(set(corpus.items)) == corpus.n_items
    assert len(set(corpus.annotators)) == corpus.n_annotators
    if corpus.focus is not None:
        assert corpus.focus.start.shape == corpus.focus.stop.shape
        assert len(corpus.focus.start) == corpus.n_items
    check_rationales(corpus)


def check_annotations(answers: Annotations, corpus: Corpus) -> None:
    assert answers.items == corpus.items
    assert answers.item.size == 0 or 0 <= answers.item.min() <= answers.item.max() < corpus.n_items
    answers.scale.check(answers.answer)
    if answers.annotator is not None:
        assert answers.annotators == corpus.annotators
        codes = set(answers.annotator.tolist())
        assert codes <= set(range(corpus.n_annotators))
        pairs = set(zip(answers.item.tolist(), answers.annotator.tolist(), strict=True))
        assert answers.repeats or len(pairs) == answers.n_rows
    for column in (
        answers.annotator,
        answers.answer,
        answers.count,
        answers.response,
        answers.seconds,
    ):
        assert column is None or column.shape == (answers.n_rows,)
    assert all(len(column) == answers.n_rows for column in answers.extra.values())
    assert answers.count is None or (answers.count >= 1).all()
    assert answers.per_item().sum() == answers.n_answers


def check_rationales(corpus: Corpus) -> None:
    """A span of somebody stands beside an answer of theirs."""
    spans = corpus.rationales
    if spans is None:
        return
    assert set(spans.item.tolist()) <= set(range(corpus.n_items))
    assert set(spans.annotator.tolist()) <= set(range(-1, corpus.n_annotators))
    outputs = (spans.item.tolist(), spans.annotator.tolist(), spans.question.to_pylist())
    for item, who, question in zip(*outputs, strict=True):
        answers = corpus[question]
        if who >= 0:
            assert answers.annotator is not None
            assert ((answers.item == item) & (answers.annotator == who)).any()


# ---- writing and reading ----


@given(corpora())
@often
def test_what_is_written_is_read_back(corpus: Corpus) -> None:
    check(corpus)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        corpus.save(path)
        loaded = Corpus.load(path)
        assert loaded.equals(corpus)
        assert read(path).equals(corpus)
    check(loaded)


# ---- selecting ----


@given(corpora(), st.data())
@often
def test_selecting_items(corpus: Corpus, data: st.DataObject) -> None:
    codes = np.array(data.draw(st.permutations(range(corpus.n_items))), np.int64)
    codes = codes[: data.draw(st.integers(0, corpus.n_items))]
    chosen = corpus.select(items=codes)
    check(chosen)
    names = [corpus.items[code] for code in codes]
    assert list(chosen.items) == names
    assert chosen.annotators == corpus.annotators
    for question, answers in chosen.questions.items():
        kept = {row: n for row, n in rows_of(corpus[question], corpus).items() if row[0] in names}
        assert rows_of(answers, chosen) == kept
    assert spans_of(chosen) == {s: n for s, n in spans_of(corpus).items() if s[0] in names}
    for new, old in enumerate(codes):
        assert chosen.text_of(new) == corpus.text_of(old)
        for name, values in chosen.item_attributes.items():
            assert values[new] == corpus.item_attributes[name][int(old)]


@given(corpora(), st.data())
@often
def test_selecting_and_leaving_out_annotators(corpus: Corpus, data: st.DataObject) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=4, max_size=4)), bool)
    mask = mask[: corpus.n_annotators]
    chosen, rest = corpus.select(annotators=mask), corpus.without(annotators=mask)
    for part in (chosen, rest):
        check(part)
        assert part.items == corpus.items
    assert sorted([*chosen.annotators, *rest.annotators]) == sorted(corpus.annotators)
    for question, answers in corpus.questions.items():
        parts = [rows_of(part[question], part) for part in (chosen, rest)]
        if answers.annotator is None:
            assert parts == [rows_of(answers, corpus)] * 2  # nobody in particular stays
        else:
            assert parts[0] + parts[1] == rows_of(answers, corpus)
    shared = Counter({s: n for s, n in spans_of(corpus).items() if s[1] is None})
    assert spans_of(chosen) + spans_of(rest) == spans_of(corpus) + shared


@given(corpora(), st.data())
@often
def test_selecting_questions(corpus: Corpus, data: st.DataObject) -> None:
    names = [name for name in corpus.questions if data.draw(st.booleans())]
    chosen = corpus.select(questions=names)
    check(chosen)
    assert list(chosen.questions) == names
    assert set(chosen.gold) == set(corpus.gold) & set(names)
    assert all(row.question in names for row in chosen.left_out)
    assert spans_of(chosen) == {s: n for s, n in spans_of(corpus).items() if s[2] in names}


# ---- splitting ----


@given(corpora(), st.floats(0.05, 0.95), st.integers(0, 9), st.booleans())
@often
def test_splitting(corpus: Corpus, share: float, seed: int, by_item: bool) -> None:
    by = "item" if by_item else None
    units = corpus.units(by)
    sizes = np.bincount(units)
    try:
        train, test = corpus.split(share, by=by, seed=seed)
    except DataError as error:
        groups = counted(int((sizes > 0).sum()), "group")
        assert f"{counted(corpus.n_items, 'item')} in {groups}" in str(error)
        return
    for part in (train, test):
        check(part)
        assert part.annotators == corpus.annotators
    assert sorted([*train.items, *test.items]) == sorted(corpus.items)
    at = corpus.items.codes(list(test.items)) if test.n_items else np.zeros(0, np.int64)
    assert not set(units[at]) & set(np.delete(units, at)), "a group is cut"
    assert abs(test.n_items - share * corpus.n_items) <= max(0.5, sizes.max())
    for question, answers in corpus.questions.items():
        parts = [rows_of(part[question], part) for part in (train, test)]
        assert parts[0] + parts[1] == rows_of(answers, corpus)
        assert train[question].n_answers + test[question].n_answers == answers.n_answers
    assert spans_of(train) + spans_of(test) == spans_of(corpus)
    again = corpus.split(share, by=by, seed=seed)
    assert again[0].equals(train) and again[1].equals(test)


# ---- dropping ----


@given(corpora(), st.floats(0, 0.95), st.integers(0, 9))
@often
def test_dropping_answers(corpus: Corpus, share: float, seed: int) -> None:
    known = [q for q, answers in corpus.questions.items() if answers.annotator is not None]
    corpus = corpus.select(questions=known)
    kept = corpus.drop_labels(share, seed=seed)
    check(kept)
    assert kept.items == corpus.items and kept.annotators == corpus.annotators
    assert kept.drop_labels(0).equals(kept)
    assert corpus.drop_labels(share, seed=seed).equals(kept)
    assert not spans_of(kept) - spans_of(corpus)
    assert all(kept.gold[name].equals(label) for name, label in corpus.gold.items())
    for question, answers in kept.questions.items():
        assert answers.n_answers <= corpus[question].n_answers
        if answers.count is None:
            assert not rows_of(answers, kept) - rows_of(corpus[question], corpus)
    for code in range(corpus.n_annotators):
        before, after = pairs_by(corpus, code), pairs_by(kept, code)
        assert after <= before
        assert len(before) - len(after) == round(share * len(before))


def pairs_by(corpus: Corpus, annotator: int) -> set[int]:
    """The items that an annotator said something about."""
    return {
        int(item)
        for answers in corpus.questions.values()
        if answers.annotator is not None
        for item in answers.item[answers.annotator == annotator]
    }
