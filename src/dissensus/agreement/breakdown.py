"""Agreement by item, annotator, pair of annotators or value: one row for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dissensus.agreement.pairs import common_items
from dissensus.agreement.per_part import answers_per_value, confusion
from dissensus.agreement.registry import BREAKDOWNS, Breakdown, check_measures, why_unfit
from dissensus.agreement.summary import about, or_none
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names

MOST_CELLS = 1_000_000  # of all confusion matrices together


@dataclass(frozen=True)
class QuestionBreakdown:
    """Agreement on one question by item, annotator, pair or value, the least agreement first."""

    question: str
    scale: str
    answers: int
    items: int  # with answers
    by: str
    total: int  # items, annotators, pairs or values; `rows` may hold fewer
    rows: list[dict[str, Any]]  # names, counts and measures; None where undefined

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with the rows as "items", "annotators", "pairs" or "values"."""
        fields = {name: value for name, value in vars(self).items() if name not in ("by", "rows")}
        return {**fields, f"{self.by}s": self.rows}


class CorpusBreakdown(NamedTuple):
    """The questions that could be broken down, and why others could not, by name."""

    questions: list[QuestionBreakdown]
    left_out: dict[str, str]


def break_down(
    corpus: Corpus,
    by: str,
    questions: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    most: int | None = None,
) -> CorpusBreakdown:
    """Agreement by item, annotator, pair of annotators or value.

    Args:
        by: "item", "annotator", "pair" or "value".
        questions: which ones; all if left out.
        measures: names of `PER_ITEM`, `PER_ANNOTATOR`, `PER_PAIR` or `PER_VALUE`; all that apply if
            left out.
        most: the most rows of each question; all if left out. All annotators with all measures
            have their confusion matrix against the consensus too.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"q": Annotations.from_rows(rows)})
        >>> break_down(corpus, "item", measures=["majority-share"]).questions[0].rows[0]
        {'item': 't1', 'answers': 2, 'majority-share': 0.5}
    """
    if by not in BREAKDOWNS:
        raise DataError(f"no breakdown by {by!r}; there are {listed(BREAKDOWNS)}")
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    check_measures(measures or (), by)
    broken = CorpusBreakdown([], {})
    for name in questions:
        annotations = corpus[name]
        chosen = {n: e for n, e in BREAKDOWNS[by].items() if n in (measures or BREAKDOWNS[by])}
        unfit = {n: why_unfit(entry, annotations) for n, entry in chosen.items()}
        fitting = {n: chosen[n] for n, why in unfit.items() if why is None}
        if not fitting:
            kind = annotations.scale.kind
            for_scale = [n for n, entry in chosen.items() if kind in entry.scales]
            broken.left_out[name] = "; ".join(
                dict.fromkeys(unfit[n] or "" for n in for_scale or chosen)
            )
            continue
        rows, total = _rows(annotations, by, fitting, most)
        if by == "annotator" and measures is None and most is None:
            _add_confusions(annotations, rows)
        fields = about(annotations, name)
        broken.questions.append(QuestionBreakdown(**fields, by=by, total=total, rows=rows))
    return broken


def _rows(
    annotations: Annotations, by: str, entries: Mapping[str, Breakdown], most: int | None
) -> tuple[list[dict[str, Any]], int]:
    """The rows, the least agreement by the first measure first; and how many there are."""
    keys, places = _pairs(annotations) if by == "pair" else _singles(annotations, by)
    values = {name: entry.function(annotations)[places] for name, entry in entries.items()}
    if by == "item":  # one annotator is no agreement
        alone = annotations.voters()[places] < 2
        values = {name: np.where(alone, np.nan, value) for name, value in values.items()}
    order = _order(values, entries)[:most]
    cells = {name: _cells(column, order) for name, column in keys.items()}
    cells |= {name: value[order].tolist() for name, value in values.items()}
    rows = [
        dict(zip(cells, map(or_none, row), strict=True))
        for row in zip(*cells.values(), strict=True)
    ]
    return rows, len(places[0])


def _singles(annotations: Annotations, by: str) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """The columns that name items or annotators with answers, or values, and where they stand."""
    if by == "value":
        answers = answers_per_value(annotations)
        places = np.arange(len(answers))
        values = Names(annotations.scale.values)  # type: ignore[attr-defined]
        return {by: (values, places), "answers": answers.astype(np.int64)}, (places,)
    size = annotations.per_item() if by == "item" else annotations.per_annotator()
    places = np.flatnonzero(size)
    names = annotations.items if by == "item" else annotations.annotators
    return {by: (names, places), "answers": size[places]}, (places,)


def _pairs(annotations: Annotations) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """The columns that name annotators who share items, and where they stand in matrices."""
    common = common_items(annotations)
    first, second = np.nonzero(np.triu(common, 1))
    names = annotations.annotators
    columns = {"first": (names, first), "second": (names, second), "items": common[first, second]}
    return columns, (first, second)


def _cells(column: np.ndarray | tuple[Names, np.ndarray], order: np.ndarray) -> list[Any]:
    """Numbers, or names given as all names and a code each, in this order."""
    if not isinstance(column, tuple):
        return list(column[order].tolist())
    names, codes = column
    return list(names.array.take(codes[order]).to_pylist())


def _order(values: Mapping[str, np.ndarray], entries: Mapping[str, Breakdown]) -> np.ndarray:
    """The least agreement first, what is undefined last."""
    name, first = next(iter(values.items()))
    key = first if entries[name].higher_is_agreement else -np.abs(first)
    return np.argsort(np.round(key, 9), kind="stable")


def _add_confusions(annotations: Annotations, rows: list[dict[str, Any]]) -> None:
    """Add the answers (columns) to items of each consensus (rows of the matrix)."""
    n_values = annotations.scale.n_columns
    few = annotations.n_annotators * n_values**2 <= MOST_CELLS
    if annotations.scale.kind not in ("nominal", "ordinal") or not few:
        return
    matrices = confusion(annotations)
    codes = annotations.annotators.codes([row["annotator"] for row in rows])
    for row, code in zip(rows, codes, strict=True):
        row["confusion"] = matrices[code].tolist()
