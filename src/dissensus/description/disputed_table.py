"""The items about which annotators disagree, as a table to take to a meeting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_columns, with_columns
from dissensus.description.describe import MEASURES, disputed_by, disputed_order
from dissensus.description.marks import marked, without_marked
from dissensus.description.suspicious_annotators import some_names
from dissensus.scales import Interval, Nominal, answer_text

MOST_NAMED = 20  # annotators of an item who are named in a report
MOST_LISTED = 200  # in a table


def disputed_table(corpus: Corpus, question: str, most: int = 0) -> pa.Table:
    """The items with different answers, the most disputed first: contents, answers, who gave them.

    If annotators are marked as at chance, constant, contrary or copying, items are ordered by what
    the others answered, whose answers are in columns of their own; those that only marked
    annotators dispute come last.

    Args:
        most: how many items; 0 for all.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> disputed_table(corpus, "rude").select(["item", "answers", "who"]).to_pylist()
        [{'item': 't1', 'answers': 'no 1, yes 1', 'who': 'no: bob; yes: ann'}]
    """
    annotations = corpus[question]
    marks = marked(annotations)
    order, dispute = _disputed(annotations)
    if marks:
        rest = without_marked(annotations, marks)
        first, without = _disputed(rest)
        order = np.concatenate([first, order[~np.isin(order, first)]])
    order = order[: most or None]
    by = disputed_by(annotations.scale)
    columns: dict[str, Any] = {by: dispute[order], **_answers(annotations, order)}
    if marks:
        who = some_names(list(marks))
        columns |= {
            f"{name} without {who}": column
            for name, column in {by: without[order], **_answers(rest, order)}.items()
            if name != "who"
        }
    about = {name: column.take(pa.array(order)) for name, column in item_columns(corpus).items()}
    return pa.table(with_columns(about, columns))


def changed_consensus(
    annotations: Annotations, rest: Annotations
) -> tuple[np.ndarray, list[str], list[str]]:
    """The items whose consensus (mode, median) is another one for some of the annotators; both."""
    one, other = annotations.consensus(), rest.consensus()
    at = np.searchsorted(one.item, other.item)  # both rise, and `rest` has no further items
    changed = np.flatnonzero(one.answer[at] != other.answer)
    items, nominal = other.item[changed], isinstance(annotations.scale, Nominal)
    before, after = (
        list(map(most_frequent, answers_of_items(of if nominal else consensus.take(rows), items)))
        for of, consensus, rows in ((annotations, one, at[changed]), (rest, other, changed))
    )
    return items, before, after


def _disputed(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The disputed items in their order, and how disputed each item is."""
    measure = MEASURES[disputed_by(annotations.scale)]
    return disputed_order(measure(annotations), annotations.voters(), annotations.n_items)


@dataclass(frozen=True)
class AnswerCount:
    """An answer to an item, how often it was given, and by whom."""

    answer: str
    n: int
    annotators: list[str]


def answers_of_items(annotations: Annotations, items: np.ndarray) -> Iterator[list[AnswerCount]]:
    """The different answers to each of these items, the most frequent first; ratings ascend."""
    place = np.full(annotations.n_items, -1)
    place[items] = np.arange(len(items))
    rows = np.flatnonzero(place[annotations.item] >= 0)
    rows = rows[np.argsort(place[annotations.item[rows]], kind="stable")]
    few = annotations.take(rows)
    edges = np.searchsorted(place[few.item], np.arange(len(items) + 1))
    texts = [answer_text(value) for value in few.answers()]
    ratings = isinstance(annotations.scale, Interval)
    known = few.annotator is not None
    names = few.annotators.array.take(pa.array(few.annotator)).to_pylist() if known else []
    weight = few.weight.astype(int).tolist()
    for begin, stop in pairwise(edges.tolist()):
        counts: dict[str, int] = {}
        who: dict[str, list[str]] = {}
        for row in range(begin, stop):
            counts[texts[row]] = counts.get(texts[row], 0) + weight[row]
            who.setdefault(texts[row], []).extend(names[row : row + 1])
        each = [AnswerCount(text, n, who[text]) for text, n in counts.items()]
        yield sorted(each, key=lambda one: float(one.answer) if ratings else (-one.n, one.answer))


def most_frequent(counts: list[AnswerCount]) -> str:
    """The answer that was given most often; several with = between them."""
    return " = ".join(one.answer for one in counts if one.n == counts[0].n)


def who_text(counts: list[AnswerCount], most: int = MOST_NAMED) -> str:
    """Each answer with its annotators.

    Example:
        >>> who_text([AnswerCount("no", 2, ["ann", "bob"]), AnswerCount("yes", 1, ["eva"])], most=2)
        'no: ann, bob; and 1 more'
    """
    parts, left = [], most
    for one in counts:
        names = one.annotators[:left]
        left -= len(names)
        parts += [f"{one.answer}: {', '.join(names)}"] if names else []
    more = sum(len(one.annotators) for one in counts) - (most - left)
    return "; ".join([*parts, f"and {more} more"] if more else parts)


def _answers(annotations: Annotations, items: np.ndarray) -> dict[str, Any]:
    """The answers to these items, the most frequent one, and who gave which."""
    each = list(answers_of_items(annotations, items))
    columns: dict[str, Any] = {
        "answers": [", ".join(f"{one.answer} {one.n}" for one in counts) for counts in each]
    }
    if isinstance(annotations.scale, Interval):
        columns["answers"] = [
            ", ".join(one.answer for one in counts for _ in range(one.n)) for counts in each
        ]
    else:
        columns["most frequent"] = list(map(most_frequent, each))
    if annotations.annotator is not None:
        columns["who"] = [who_text(counts, MOST_LISTED) for counts in each]
    return columns
