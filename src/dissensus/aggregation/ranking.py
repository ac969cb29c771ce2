"""Things ranked by which of two annotators preferred: comparisons, and Bradley-Terry's scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.names import Names

LEFT = frozenset("left a 1 first l option_a option_1".split())
RIGHT = frozenset("right b 2 second r option_b option_2".split())
TIES = frozenset("tie equal same both draw neither none no_preference 0".split())


@dataclass(frozen=True, eq=False)
class Comparisons:
    """One row per comparison: of two things, the share of a win that the left one gets."""

    left: np.ndarray  # (n_rows,) codes into things
    right: np.ndarray  # (n_rows,)
    won: np.ndarray  # (n_rows,) 1: the left one was preferred, 0: the right one, 0.5: neither
    weight: np.ndarray  # (n_rows,) answers
    annotator: np.ndarray | None  # (n_rows,) codes into annotators
    things: Names
    annotators: Names

    @property
    def n_things(self) -> int:
        return len(self.things)

    def wins(self) -> tuple[np.ndarray, np.ndarray]:
        """How often each thing won (a tie is half a win) and was compared, (n_things,) each."""
        both = np.concatenate([self.left, self.right])
        won = np.concatenate([self.won, 1 - self.won]) * np.tile(self.weight, 2)
        n = len(self.things)
        total = np.bincount(both, np.tile(self.weight, 2), minlength=n)
        return np.bincount(both, won, minlength=n), total


def comparisons(
    corpus: Corpus, question: str, columns: tuple[str, str] | None = None
) -> Comparisons:
    """The comparisons that the answers to a question are.

    Each item is a pair of things, named by two columns of the items, such as left and right. An
    answer is the thing that was preferred, the name of its column, left or right, a or b, 1 or 2,
    or a tie.

    Args:
        columns: the two columns; found by what answers contain if left out.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("1", "ann", "cat"), ("1", "bob", "dog"), ("2", "ann", "cat")]
        >>> corpus = Corpus.build("pets", ["1", "2"], {"nicer": Annotations.from_rows(rows)},
        ...     item_attributes={"left": ["cat", "cow"], "right": ["dog", "cat"]})
        >>> pairs = comparisons(corpus, "nicer")
        >>> list(pairs.things), pairs.left.tolist(), pairs.won.tolist()
        (['cat', 'cow', 'dog'], [0, 0, 1], [1.0, 0.0, 0.0])
    """
    annotations = corpus[question]
    values = getattr(annotations.scale, "values", ())
    if annotations.scale.kind not in ("nominal", "ordinal"):
        raise DataError(
            f"{corpus.name}: comparisons need answers that name one of two things, not "
            f"{annotations.scale.kind} ones"
        )
    texts = _item_texts(corpus)
    if columns is not None:
        unknown = [name for name in columns if name not in texts]
        if unknown:
            raise DataError(
                f"{corpus.name}: items have no column {listed(unknown)}; they have "
                f"{listed(texts) or 'none'}"
            )
    pairs = list(combinations(texts, 2))  # those named left and right come first
    pairs.sort(key=lambda pair: (_side(pair[0]), _side(pair[1])) != ("left", "right"))
    candidates = [columns] if columns is not None else pairs
    for first, second in candidates:
        won = _won(
            np.array(texts[first])[annotations.item],
            np.array(texts[second])[annotations.item],
            np.array(values, dtype=object)[annotations.answer],
            (first, second),
        )
        if won is not None:
            return _built(corpus, question, texts[first], texts[second], won)
    raise DataError(
        f"{corpus.name}: {question!r} has no comparisons: items need two columns that name what "
        f"is compared, such as left and right, and answers must be one of them, or left, right or "
        f"tie; found {listed(values)} and the columns {listed(texts) or 'none'}"
    )


def _item_texts(corpus: Corpus) -> dict[str, list[str]]:
    """Columns of items that may name things: attributes and texts, one text per item."""
    columns: dict[str, list[str]] = {}
    for name, values in corpus.item_attributes.items():
        column = values if isinstance(values, pa.Array) else pa.array(values)
        if not pa.types.is_floating(column.type):
            columns[name] = [str(value) for value in column.to_pylist()]
    for role, contents in corpus.contents.items():
        if contents.kind == "text":
            texts = [*map(str, contents.values.to_pylist()), ""]
            columns[role] = [texts[code] for code in corpus.content[role]]  # -1: none
    return columns


def _side(name: str) -> str | None:
    last = name.lower().replace("-", "_").split("_")[-1]
    return "left" if last in LEFT else "right" if last in RIGHT else None


def _won(
    left: np.ndarray, right: np.ndarray, answer: np.ndarray, names: tuple[str, str]
) -> np.ndarray | None:
    """1 for the left thing, 0 for the right one, 0.5 for a tie; None if an answer is neither."""
    plain = np.array([str(text).strip().lower().replace(" ", "_") for text in answer])
    tie = np.isin(plain, list(TIES))
    ways = (
        (answer == left, answer == right),
        (answer == names[0], answer == names[1]),
        (np.isin(plain, list(LEFT)), np.isin(plain, list(RIGHT))),
    )
    for first, second in ways:
        first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
        known = first | second
        if known.any() and (known | tie).all() and not (first & second & (left != right)).any():
            return np.where(first & ~second, 1.0, np.where(second & ~first, 0.0, 0.5))
    return None


def _built(
    corpus: Corpus, question: str, left: list[str], right: list[str], won: np.ndarray
) -> Comparisons:
    annotations = corpus[question]
    used = np.unique(annotations.item)
    things = sorted({*(left[i] for i in used), *(right[i] for i in used)})
    codes = {thing: code for code, thing in enumerate(things)}
    first = np.array([codes.get(thing, 0) for thing in left])[annotations.item]
    second = np.array([codes.get(thing, 0) for thing in right])[annotations.item]
    kept = first != second  # a thing and itself is no comparison
    if not kept.any():
        raise DataError(f"{corpus.name}: {question!r} has no comparisons of two different things")
    annotator = annotations.annotator
    return Comparisons(
        first[kept],
        second[kept],
        won[kept],
        annotations.weight[kept].astype(float),
        None if annotator is None else annotator[kept],
        Names(things),
        annotations.annotators,
    )


@dataclass(eq=False)
class BradleyTerry:
    """A thing is preferred to another with the odds exp(score - other score).

    `scores_` is (n_things,), with mean 0; `intervals_` the ends of 95 % intervals, (n_things, 2),
    from the curvature of the likelihood. A tie is half a win for both. With fewer than about 30
    comparisons of each thing, scores are further apart than they should be, by 10 to 25 %; the
    intervals account for it.

    Args:
        penalty: on the squared scores, so that a thing that won every comparison has a finite
            score. 0: maximum likelihood.

    Example:
        >>> from dissensus.names import Names
        >>> won = np.array([1.0, 1, 1, 0, 1, 1])  # cat - dog twice, dog - cow twice, cow - cat
        >>> left, right = np.array([0, 0, 1, 1, 0, 0]), np.array([1, 1, 2, 2, 2, 2])
        >>> pairs = Comparisons(left, right, won, np.ones(6), None, Names(["cat", "dog", "cow"]),
        ...     Names.range(0))
        >>> fitted = BradleyTerry(penalty=0.1).fit(pairs)
        >>> fitted.scores_.round(2).tolist()
        [1.62, -0.81, -0.81]

    Reference: Bradley and Terry (1952), doi:10.2307/2334029.
    """

    penalty: float = 0.01
    name: ClassVar[str] = "bradley-terry"

    scores_: np.ndarray = field(init=False, repr=False)
    intervals_: np.ndarray = field(init=False, repr=False)

    def fit(self, comparisons: Comparisons) -> Self:
        """Learn the scores, and how certain they are."""
        from scipy.optimize import minimize

        if self.penalty < 0:
            raise DataError(f"{self.name}: a penalty is not negative, found {self.penalty:g}")
        if self.penalty == 0:
            _check_connected(comparisons, self.name)
        n, weight = comparisons.n_things, comparisons.weight
        left, right, won = comparisons.left, comparisons.right, comparisons.won

        def loss(scores: np.ndarray) -> tuple[float, np.ndarray]:
            margin = scores[left] - scores[right]
            value = weight @ (np.logaddexp(0, margin) - won * margin)
            slope = weight * (1 / (1 + np.exp(-margin)) - won)
            gradient = np.bincount(left, slope, n) - np.bincount(right, slope, n)
            return value + self.penalty * scores @ scores, gradient + 2 * self.penalty * scores

        options = {"maxiter": 5000, "gtol": 1e-9, "ftol": 1e-15}
        scores = minimize(loss, np.zeros(n), jac=True, method="L-BFGS-B", options=options).x
        self.scores_ = np.asarray(scores - scores.mean())
        half = 1.96 * np.sqrt(self._variances(comparisons))
        self.intervals_ = np.stack([self.scores_ - half, self.scores_ + half], axis=1)
        return self

    def _variances(self, comparisons: Comparisons) -> np.ndarray:
        """Of scores with mean 0, from the curvature of the loss, (n_things,)."""
        n, left, right = comparisons.n_things, comparisons.left, comparisons.right
        chance = 1 / (1 + np.exp(self.scores_[right] - self.scores_[left]))
        curve = comparisons.weight * chance * (1 - chance)
        pair = np.concatenate([left * n + right, right * n + left])
        both = np.bincount(pair, np.tile(curve, 2), n * n).reshape(n, n)
        own = both.sum(axis=1) + 2 * self.penalty
        curvature: np.ndarray = np.diag(own) - both + 1 / n  # without 1 / n the mean is free
        variances = np.diag(np.linalg.inv(curvature)) - 1 / (n * (1 + 2 * self.penalty))
        return np.asarray(variances.clip(0))


def _check_connected(comparisons: Comparisons, name: str) -> None:
    """Refuse comparisons that have no maximum of the likelihood: a group that never lost."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, left, right = comparisons.n_things, comparisons.left, comparisons.right
    first, second = comparisons.won > 0, comparisons.won < 1
    lost, won = np.r_[right[first], left[second]], np.r_[left[first], right[second]]
    beaten = csr_array((np.ones(len(won)), (lost, won)), (n, n))
    parts, _ = connected_components(beaten, directed=True, connection="strong")
    if parts > 1:
        raise DataError(
            f"{name}: some things never lost to, or were never compared with, the others, so that "
            "scores have no maximum of the likelihood; use a penalty above 0"
        )


RANKERS: dict[str, type[BradleyTerry]] = {BradleyTerry.name: BradleyTerry}


def rank(
    corpus: Corpus, question: str | None = None, method: str = "bradley-terry", **settings: Any
) -> pa.Table:
    """A table with a row per thing, the most preferred first.

    Columns are the thing, its rank, its score with a 95 % interval, the number of wins (a tie is
    half a win) and of comparisons.

    Args:
        question: may be left out if there is only one.
        method: a name of `RANKERS`.
        settings: of the method, such as penalty=0.1.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("1", "ann", "left"), ("1", "bob", "right"), ("2", "ann", "right")]
        >>> corpus = Corpus.build("pets", ["1", "2"], {"nicer": Annotations.from_rows(rows)},
        ...     item_attributes={"left": ["cat", "cow"], "right": ["dog", "cat"]})
        >>> rank(corpus).select(["thing", "rank", "wins", "comparisons"]).to_pylist()[0]
        {'thing': 'cat', 'rank': 1, 'wins': 2.0, 'comparisons': 3}
    """
    if method not in RANKERS:
        raise DataError(
            f"no ranker {method!r}{did_you_mean(method, RANKERS)}; there are {listed(RANKERS)}"
        )
    if question is None:
        if len(corpus.questions) != 1:
            raise DataError(f"{corpus.name}: name one question of {listed(corpus.questions)}")
        question = next(iter(corpus.questions))
    corpus.check_questions([question])
    pairs = comparisons(corpus, question)
    return ranking_table(pairs, RANKERS[method](**settings).fit(pairs))


def ranking_table(pairs: Comparisons, fitted: BradleyTerry) -> pa.Table:
    """The things with their scores, as `rank` returns them."""
    wins, total = pairs.wins()
    order = np.argsort(-np.round(fitted.scores_, 9), kind="stable")
    score = np.round(fitted.scores_[order], 9)
    place = 1 + (score[None, :] > score[:, None]).sum(axis=1)
    return pa.table(
        {
            "thing": pairs.things.array.take(pa.array(order)),
            "rank": place,
            "score": fitted.scores_[order],
            "low": fitted.intervals_[order, 0],
            "high": fitted.intervals_[order, 1],
            "wins": wins[order],
            "comparisons": total[order].astype(np.int64),
        }
    )
