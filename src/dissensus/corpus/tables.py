"""A corpus as Arrow tables with names: one row per item, or one per item and annotator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.corpus.fields import CorpusFields, Rationales


def item_columns(corpus: CorpusFields) -> dict[str, Any]:
    """Columns about the items: the name, contents and attributes, under the names of the columns
    that were read.

    The name is left out if it is the text itself. Contents that are no texts or paths are left out.
    """
    contents: dict[str, Any] = {}
    for role, of_role in corpus.contents.items():
        if pa.types.is_string(of_role.values.type) or pa.types.is_large_string(of_role.values.type):
            codes = corpus.content[role]
            column = of_role.values.take(pa.array(codes, mask=codes < 0))
            contents[corpus.columns.get(role, role)] = column
    columns, names = list(contents.values()), {item_column(corpus): corpus.items.array}
    if "item" not in corpus.columns and len(columns) == 1 and columns[0].equals(corpus.items.array):
        names = {}  # items were named by their text, because the table had no column of items
    return with_columns({**names, **contents}, corpus.item_attributes)


def item_column(corpus: CorpusFields) -> str:
    """The name of the column of items."""
    return corpus.columns.get("item", "item")


def answer_table(corpus: CorpusFields) -> pa.Table:
    """One row per item and annotator, with a column for each question.

    If annotators are anonymous or may answer an item several times, and there are several
    questions, it has one row per answer, and the columns question and answer.
    """
    questions = corpus.questions
    if not questions:
        return pa.table(item_columns(corpus))
    if len(questions) == 1:
        ((name, annotations),) = questions.items()
        answers = {name: _answers(annotations), **_facts(annotations)}
        return _named(corpus, annotations.item, annotations.annotator, answers)
    if all(a.annotator is not None and not a.repeats for a in questions.values()):
        return _joined(corpus)
    parts = []
    for name, annotations in questions.items():
        answer = _answers(annotations)
        texts = answer if pa.types.is_list(answer.type) else answer.cast(pa.string())
        answers = {"question": pa.array([name] * annotations.n_rows, pa.string()), "answer": texts}
        answers |= _facts(annotations)
        parts.append(_named(corpus, annotations.item, annotations.annotator, answers))
    return pa.concat_tables(parts, promote_options="permissive")


def with_columns(columns: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Columns and others after them; one whose name is taken gets an underscore at its end.

    Example:
        >>> with_columns({"item": 1, "answer": 2}, {"answer": 3})
        {'item': 1, 'answer': 2, 'answer_': 3}
    """
    every = dict(columns)
    for name, column in others.items():
        while name in every:
            name += "_"
        every[name] = column
    return every


def _answers(annotations: Annotations) -> Any:
    return annotations.scale.column(annotations.answer)


def _facts(annotations: Annotations) -> dict[str, Any]:
    """The columns about single answers."""
    columns = {"count": annotations.count, "seconds": annotations.seconds, **annotations.extra}
    return {name: pa.array(c) for name, c in columns.items() if c is not None}


def _joined(corpus: CorpusFields) -> pa.Table:
    """The answers of each pair of item and annotator to all questions in one row."""
    questions = corpus.questions
    keys = {q: pairs_of(a.item, a.annotator_codes("a table")) for q, a in questions.items()}
    pairs = np.unique(np.concatenate(list(keys.values())))
    answers: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    for question, of_question in questions.items():
        rows = np.full(len(pairs), -1, dtype=np.int64)
        rows[np.searchsorted(pairs, keys[question])] = np.arange(of_question.n_rows)
        at = pa.array(rows, mask=rows < 0)
        answers[question] = _answers(of_question).take(at)
        for name, column in _facts(of_question).items():
            taken = column.take(at)
            facts[name] = pc.coalesce(facts[name], taken) if name in facts else taken
    return _named(corpus, pairs >> 32, pairs & 0xFFFFFFFF, with_columns(answers, facts))


def _named(
    corpus: CorpusFields, item: np.ndarray, annotator: np.ndarray | None, answers: dict[str, Any]
) -> pa.Table:
    """Rows with the names of items and annotators, their answers, and what is known about each."""
    about = {key: column.take(pa.array(item)) for key, column in item_columns(corpus).items()}
    name = item_column(corpus)
    columns = {name: about.pop(name)} if name in about else {}
    of_annotator: dict[str, Any] = {}
    if annotator is not None:
        name = corpus.columns.get("annotator", "annotator")
        at = pa.array(annotator)
        columns = with_columns(columns, {name: corpus.annotators.array.take(at)})
        of_annotator = {key: c.take(at) for key, c in corpus.annotator_attributes.items()}
    for part in (answers, about, of_annotator):
        columns = with_columns(columns, part)
    return pa.table(columns)


def pairs_of(item: np.ndarray, annotator: np.ndarray) -> np.ndarray:
    """One number per pair of item and annotator."""
    return item.astype(np.int64) << 32 | annotator.astype(np.int64)


def pair_of(annotations: Annotations) -> np.ndarray:
    """One number per pair of item and annotator."""
    return pairs_of(annotations.item, annotations.annotator_codes("dropping labels"))


def dropped_pairs(questions: dict[str, Annotations], share: float, seed: int) -> np.ndarray:
    """The pairs to drop: this share of every annotator's, the same for all questions."""
    pairs = np.unique(np.concatenate([np.zeros(0, np.int64), *map(pair_of, questions.values())]))
    owner = pairs & 0xFFFFFFFF
    order = np.lexsort((_random_numbers(pairs, seed), owner))  # by annotator, then at random
    n = np.bincount(owner)
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(n) - n, n)
    return pairs[order[rank < np.round(share * n)[owner[order]]]]


def _random_numbers(keys: np.ndarray, seed: int) -> np.ndarray:
    """A random number per key that does not depend on the other keys."""
    with np.errstate(over="ignore"):
        x = keys.astype(np.uint64) + np.uint64(seed + 1) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
    return x ^ (x >> np.uint64(31))


def of_answers(
    rationales: Rationales | None, before: dict[str, Annotations], after: dict[str, Annotations]
) -> Rationales | None:
    """The rationales without those whose answer was dropped."""
    if rationales is None:
        return None
    pair = np.where(rationales.annotator < 0, -1, pairs_of(rationales.item, rationales.annotator))
    gone = np.zeros(len(rationales), bool)
    for question, answers in before.items():
        about = np.asarray(pc.equal(rationales.question, question))
        gone |= about & np.isin(pair, np.setdiff1d(pair_of(answers), pair_of(after[question])))
    return rationales.take(~gone)
