"""Do groups of annotators differ? Agreement within and between them, and a permutation test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from dissensus.agreement.annotator_groups import (
    AnnotatorGroups,
    chosen_attributes,
    group_annotators,
)
from dissensus.agreement.confidence import ConfidenceInterval, interval_of, jackknife_of
from dissensus.agreement.correction import holm
from dissensus.agreement.krippendorff import prepare_krippendorff_alpha
from dissensus.agreement.measure import Estimate, OfSums, ratio
from dissensus.agreement.rest import Vectors, first_answers
from dissensus.agreement.results import or_none
from dissensus.agreement.weights import unequal
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, set_sizes

PERMUTATIONS = 1999
MOST_ORDERS = 2000  # of groups over annotators that are all tried, instead of random ones
MOST_WORK = 16_000_000_000  # multiplications of a permutation test
SPARSE = 100_000_000  # pairs of answers above which dense blocks are quicker
MOST_DENSE = 4000  # annotators of a dense matrix over pairs


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement within a group; nan where undefined."""

    group: str
    annotators: int
    answers: int
    alpha: float
    low: float
    high: float


@dataclass(frozen=True)
class PairOfGroups:
    """Agreement of the annotators of one group with those of another; nan where undefined."""

    first: str
    second: str
    items: int  # that both groups answered
    alpha: float
    low: float
    high: float


@dataclass(frozen=True)
class DividingItem:
    """An item about which groups differ."""

    item: str
    division: float  # mean disagreement between groups minus within them; 1 is the largest
    answers: dict[str, dict[str, float]]  # group -> value -> count; ratings: mean and number
    text: str


@dataclass(frozen=True)
class GroupComparison:
    """Agreement within and between the groups of one attribute, for one question.

    `difference` is alpha within less alpha between groups; `p_value` is how often random groups of
    the same sizes differ as much on the same items.
    """

    question: str
    scale: str
    attribute: str
    groups: list[GroupAgreement]
    pairs: list[PairOfGroups]
    missing: int  # annotators without the attribute
    within: float
    within_low: float
    within_high: float
    between: float
    between_low: float
    between_high: float
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    corrected: float  # for all attributes and questions (Holm)
    permutations: int
    least_p: float  # that so few annotators can reach
    dividing: list[DividingItem]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        fields = {name: or_none(value) for name, value in vars(self).items()}
        for name in ("groups", "pairs", "dividing"):
            fields[name] = [
                {key: or_none(cell) for key, cell in vars(row).items()} for row in fields[name]
            ]
        return fields

    def to_columns(self) -> dict[str, list[Any]]:
        """A row for each group and pair of groups, and for all, as the columns of a table."""
        rows = [
            {"agreement": "within", "first": g.group, "annotators": g.annotators,
             "answers": g.answers, "alpha": g.alpha, "low": g.low, "high": g.high}
            for g in self.groups
        ]  # fmt: skip
        rows += [
            {"agreement": "between", "first": p.first, "second": p.second, "items": p.items,
             "alpha": p.alpha, "low": p.low, "high": p.high}
            for p in self.pairs
        ]  # fmt: skip
        for name in ("within", "between", "difference"):
            value, low, high = (getattr(self, f"{name}{end}") for end in ("", "_low", "_high"))
            rows.append({"agreement": f"{name}, all groups", "alpha": value, "low": low})
            rows[-1]["high"] = high
        rows[-1] |= {"p_value": self.p_value, "corrected": self.corrected}
        names = ("agreement", "first", "second", "annotators", "answers", "items",
                 "alpha", "low", "high", "p_value", "corrected")  # fmt: skip
        about = {"question": self.question, "attribute": self.attribute}
        repeated = {name: [value] * len(rows) for name, value in about.items()}
        return repeated | {name: [or_none(row.get(name)) for row in rows] for name in names}


def compare_groups(
    corpus: Corpus,
    attributes: Sequence[str],
    questions: Sequence[str] | None = None,
    most: int = 5,
    seed: int = 0,
) -> list[GroupComparison]:
    """Compare groups of annotators, by each attribute and for each question.

    Agreement is Krippendorff's alpha; sets disagree by the number of values in which they differ.
    Between two groups, chance is a random answer of each (cross-replication reliability). The test
    compares two annotators of one group with two of different groups on the same items; annotators
    keep their answers, and exchange their groups.

    Args:
        attributes: names of annotator attributes, or "all".
        questions: which ones; all with known annotators if left out.
        most: how many of the items that divide groups most.

    Example:
        >>> rows = [(f"t{i}", f"{g}{k}", g if i % 2 else "same")
        ...         for i in range(6) for g in "ab" for k in range(4)]
        >>> items = [f"t{i}" for i in range(6)]
        >>> corpus = Corpus.build("mine", items, {"q": Annotations.from_rows(rows)},
        ...                       annotator_attributes={"group": ["a"] * 4 + ["b"] * 4})
        >>> result = compare_groups(corpus, ["group"])[0]
        >>> round(result.within, 3), round(result.between, 3), round(result.p_value, 3)
        (1.0, 0.217, 0.029)

    Reference: Wong, Paritosh and Aroyo (2021), Cross-replication reliability,
    doi:10.18653/v1/2021.acl-long.548; groups: Prabhakaran et al. (2024), GRASP,
    doi:10.18653/v1/2024.naacl-long.190.
    """
    names = chosen_attributes(corpus, attributes)
    grouped = [group_annotators(corpus, name) for name in names]
    if questions is None:
        questions = [q for q, a in corpus.questions.items() if a.annotator is not None]
        if not questions:
            raise DataError(f"{corpus.name}: annotators are anonymous and have no groups")
    corpus.check_questions(questions)
    results = [
        _compared(corpus, question, groups, most, seed)
        for question in questions
        for groups in grouped
    ]
    corrected = holm(np.array([result.p_value for result in results])).tolist()
    return [replace(r, corrected=p) for r, p in zip(results, corrected, strict=True)]


def _compared(
    corpus: Corpus, question: str, groups: AnnotatorGroups, most: int, seed: int
) -> GroupComparison:
    annotations = first_answers(corpus[question])
    annotator = annotations.annotator_codes("a comparison of groups")
    answered = annotations.per_annotator() > 0
    groups = replace(groups, code=np.where(answered, groups.code, -1))
    missing = int((answered & (groups.code < 0)).sum())
    annotations = annotations.take(groups.code[annotator] >= 0)
    table = _Table.of(annotations, groups.code)
    of_groups = [_within(annotations, groups, table, code) for code in range(len(groups.names))]
    pairs = [_between(groups, table, *pair) for pair in combinations(range(len(groups.names)), 2)]
    p_value, permutations, least = _permutation_test(annotations, table, groups.code, seed)
    notes = groups.notes(missing)
    if least > 0.05 and not math.isnan(p_value):
        notes.append(f"with so few annotators p cannot be below {least:.2g}")
    return GroupComparison(
        question=question,
        scale=annotations.scale.kind,
        attribute=groups.attribute,
        groups=of_groups,
        pairs=pairs,
        missing=missing,
        **_overall(table),
        p_value=p_value,
        corrected=math.nan,
        permutations=permutations,
        least_p=least,
        dividing=_dividing(corpus, annotations, groups, table, most),
        notes=notes,
    )


def _vectors(annotations: Annotations) -> Vectors:
    """As for a comparison with the rest; levels lie where all answers put them, as in alpha."""
    if not isinstance(annotations.scale, Ordinal):
        return Vectors.of(annotations)
    rank = _ranks(annotations)[annotations.answer]
    return Vectors("number", rank - (rank.mean() if rank.size else 0.0), 1, 1.0)


def _ranks(annotations: Annotations) -> np.ndarray:
    several = annotations.per_item()[annotations.item] >= 2
    total = np.bincount(annotations.answer[several], minlength=annotations.scale.n_columns)
    return np.asarray(np.cumsum(total) - total / 2)


@dataclass(frozen=True, eq=False)
class _Table:
    """Sums over the answers of each item and group."""

    vectors: Vectors
    group: np.ndarray  # (n_rows,)
    size: np.ndarray  # (n_items, n_groups)
    squares: np.ndarray  # (n_items, n_groups) sum of squared lengths
    total: np.ndarray  # (n_items, n_groups, width) sum of vectors

    @classmethod
    def of(cls, annotations: Annotations, code: np.ndarray) -> _Table:
        vectors = _vectors(annotations)
        group = code[annotations.annotator_codes("groups")]
        n_groups = int(code.max()) + 1
        key = annotations.item.astype(np.int64) * n_groups + group
        n = annotations.n_items * n_groups
        rows, dimension = vectors.entries()
        total = np.bincount(
            key[rows] * vectors.width + dimension,
            vectors.at(rows, dimension),
            minlength=n * vectors.width,
        )
        shape = (annotations.n_items, n_groups)
        return cls(
            vectors,
            group,
            np.bincount(key, minlength=n).astype(float).reshape(shape),
            np.bincount(key, vectors.squares(), minlength=n).astype(float).reshape(shape),
            total.astype(float, copy=False).reshape(*shape, vectors.width),
        )

    def disagreement(self) -> tuple[np.ndarray, ...]:
        """Of pairs within and between groups: sum and number per item, (n_items,) each."""
        n, squares, total = self.size, self.squares, self.total
        unit = self.vectors.unit
        inside = unit * (n * squares - (total**2).sum(axis=2)).sum(axis=1)
        whole = total.sum(axis=1)
        every = unit * (n.sum(axis=1) * squares.sum(axis=1) - (whole**2).sum(axis=1))
        pairs_inside = (n * (n - 1) / 2).sum(axis=1)
        size = n.sum(axis=1)
        return inside, pairs_inside, every - inside, size * (size - 1) / 2 - pairs_inside

    def weight(self) -> np.ndarray:
        """Of a pair about each item, as in Krippendorff's alpha, (n_items,)."""
        return 1.0 / np.maximum(self.size.sum(axis=1) - 1, 1.0)

    def items(self) -> np.ndarray:
        """Items with two answers or more."""
        return np.flatnonzero(self.size.sum(axis=1) >= 2)


def _within(
    annotations: Annotations, groups: AnnotatorGroups, table: _Table, code: int
) -> GroupAgreement:
    own = annotations.take(table.group == code)
    scale = annotations.scale
    distance: Any = None
    if isinstance(scale, Nominal):
        distance = unequal(scale.n_columns)
    elif isinstance(scale, Ordinal):
        rank = _ranks(annotations)
        distance = (rank[:, None] - rank) ** 2
    elif isinstance(scale, MultiLabel):
        distance = _values_apart
    alpha = partial(prepare_krippendorff_alpha, distance=distance)
    ends, annotators = interval_of(alpha, own), int((groups.code == code).sum())
    value = alpha(own).value()
    return GroupAgreement(groups.names[code], annotators, own.n_rows, value, *ends)


def _values_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return set_sizes(a ^ b).astype(float)


def _between(groups: AnnotatorGroups, table: _Table, first: int, second: int) -> PairOfGroups:
    n, m = table.size[:, first], table.size[:, second]
    both = (n > 0) & (m > 0)
    a, b = table.total[:, first], table.total[:, second]
    unit, weight = table.vectors.unit, np.where(both, table.weight(), 0.0)
    squares = table.squares[:, first], table.squares[:, second]
    apart = unit * (m * squares[0] + n * squares[1] - 2 * (a * b).sum(axis=1))
    kept = both.astype(float)

    def formula(apart, pairs, n, m, q, r, a, b):  # type: ignore[no-untyped-def]
        observed = ratio(apart, pairs)
        expected = unit * (ratio(q, n) + ratio(r, m) - 2 * ratio((a * b).sum(axis=1), n * m))
        return 1.0 - ratio(observed, np.where(expected > 1e-12 * (q + r + 1e-300), expected, 0.0))

    sums = (weight * apart, weight * n * m, kept * n, kept * m,
            kept * squares[0], kept * squares[1], kept[:, None] * a, kept[:, None] * b)  # fmt: skip
    estimate = OfSums(sums, formula)
    items = np.flatnonzero(both)
    ends = jackknife_of(estimate, items, (-1.0, 1.0)) if items.size > 1 else _NOTHING
    value = estimate.value() if items.size else math.nan
    return PairOfGroups(groups.names[first], groups.names[second], len(items), value, *ends)


_NOTHING = ConfidenceInterval(math.nan, math.nan)


def _overall(table: _Table) -> dict[str, float]:
    """Alpha within groups, between groups, and their difference, each with its interval."""
    inside, pairs_inside, across, pairs_across = table.disagreement()
    weight, items, unit = table.weight(), table.items(), table.vectors.unit
    pairs = pairs_inside + pairs_across
    paired = (pairs > 0).astype(float)
    size, squares = (paired * sums.sum(axis=1) for sums in (table.size, table.squares))
    total = paired[:, None] * table.total.sum(axis=1)
    chance = (size, squares, total)

    def expected(size: np.ndarray, squares: np.ndarray, total: np.ndarray) -> np.ndarray:
        apart = 2 * unit * (size * squares - (total**2).sum(axis=1))
        apart = np.where(apart > 1e-12 * size * squares, apart, 0.0)
        return ratio(apart, size * (size - 1))

    def alpha(apart, pairs, *chance):  # type: ignore[no-untyped-def]
        return 1.0 - ratio(ratio(apart, pairs), expected(*chance))

    def difference(inside, pairs_inside, across, pairs_across, *chance):  # type: ignore[no-untyped-def]
        more = ratio(across, pairs_across) - ratio(inside, pairs_inside)
        by_chance = expected(*chance)
        return np.where(by_chance > 0, more / np.where(by_chance > 0, by_chance, 1.0), np.nan)

    inside_pairs, across_pairs = weight * pairs_inside, weight * pairs_across
    within = OfSums((weight * inside, inside_pairs, *chance), alpha)
    between = OfSums((weight * across, across_pairs, *chance), alpha)
    apart = OfSums(
        (
            weight * inside,
            inside_pairs,
            weight * across,
            across_pairs,
            *chance,
        ),
        difference,
    )
    estimates: dict[str, tuple[Estimate, tuple[float, float]]] = {
        "within": (within, (-1.0, 1.0)),
        "between": (between, (-1.0, 1.0)),
        "difference": (apart, (-math.inf, math.inf)),
    }
    result: dict[str, float] = {}
    for name, (estimate, bounds) in estimates.items():
        low, high = jackknife_of(estimate, items, bounds)
        result |= {name: estimate.value(), f"{name}_low": low, f"{name}_high": high}
    return result


# ---- the test ----


def _permutation_test(
    annotations: Annotations, table: _Table, code: np.ndarray, seed: int
) -> tuple[float, int, float]:
    """How often random groups differ as much; how many were tried; the least p-value."""
    annotator = annotations.annotator_codes("groups")
    active = np.unique(annotator)
    place = np.full(len(code), -1)
    place[active] = np.arange(len(active))
    labels = code[active]
    apart, pairs = _pair_sums(annotations, table, place[annotator], len(active))
    n_groups = int(code.max()) + 1
    sizes = np.bincount(labels, minlength=n_groups)
    n_orders = _orders(sizes)
    observed = float(_differences(apart, pairs, labels[None], n_groups)[0])
    if math.isnan(observed):
        return math.nan, 0, math.nan
    if n_orders <= MOST_ORDERS:
        tried = np.array(list(_arrangements(sizes.tolist())))
        values = _differences(apart, pairs, tried, n_groups)
        same = np.unique(sizes[sizes > 0], return_counts=True)[1]
        least = math.prod(math.factorial(int(n)) for n in same) / n_orders
        p_value = float(np.mean(values >= observed - 1e-9 * max(abs(observed), 1e-9)))
        return p_value, len(tried), min(least, 1.0)
    generator = np.random.default_rng(seed)
    work = (apart.size if isinstance(apart, np.ndarray) else apart.nnz) * n_groups * 2
    n = int(np.clip(MOST_WORK // max(work, 1), 199, PERMUTATIONS))
    step = max(1, (1 << 24) // (len(active) * n_groups))
    as_much = 0
    for begin in range(0, n, step):
        rows = np.tile(labels, (min(step, n - begin), 1))
        values = _differences(apart, pairs, generator.permuted(rows, axis=1), n_groups)
        as_much += int((values >= observed - 1e-9 * abs(observed)).sum())
    return (as_much + 1) / (n + 1), n, 1 / (n + 1)


def _orders(sizes: np.ndarray) -> float:
    """In how many ways annotators can be divided into groups of these sizes."""
    logarithm = math.lgamma(sizes.sum() + 1) - sum(math.lgamma(n + 1) for n in sizes.tolist())
    return round(math.exp(logarithm)) if logarithm < 30 else math.inf


def _arrangements(sizes: list[int]) -> Iterator[list[int]]:
    """All ways to give so many annotators of each group their places."""
    if not any(sizes):
        yield []
        return
    for group, n in enumerate(sizes):
        if n:
            sizes[group] -= 1
            yield from ([group, *rest] for rest in _arrangements(sizes))
            sizes[group] += 1


def _differences(apart: Any, pairs: Any, labels: np.ndarray, n_groups: int) -> np.ndarray:
    """Disagreement between less within groups, for each row of labels (n, n_annotators)."""
    chosen = labels.T[:, :, None] == np.arange(n_groups)  # (n_annotators, n, n_groups)
    flat = chosen.reshape(len(chosen), -1).astype(float)
    inside = ((apart @ flat) * flat).sum(axis=0).reshape(-1, n_groups).sum(axis=1)
    pairs_inside = ((pairs @ flat) * flat).sum(axis=0).reshape(-1, n_groups).sum(axis=1)
    every, pairs_every = float(apart.sum()), float(pairs.sum())
    least = 1e-9 * max(pairs_every, 1e-300)
    within = ratio(inside, np.where(pairs_inside > least, pairs_inside, 0.0))
    pairs_across = pairs_every - pairs_inside
    across = ratio(every - inside, np.where(pairs_across > least, pairs_across, 0.0))
    return np.asarray(across - within)


def _pair_sums(
    annotations: Annotations, table: _Table, annotator: np.ndarray, n: int
) -> tuple[Any, Any]:
    """Of each two annotators: disagreement beyond what is usual on their items, and its weight."""
    vectors, item = table.vectors, annotations.item.astype(np.int64)
    inside, pairs_inside, across, pairs_across = table.disagreement()
    usual = (inside + across) / np.maximum(pairs_inside + pairs_across, 1.0)
    weight = np.where(table.size.sum(axis=1) >= 2, table.weight(), 0.0)[item]
    ones, n_items = np.ones(len(item)), annotations.n_items
    pairs = _products(annotator, item, weight, ones, n, n_items)
    own = weight * (vectors.unit * vectors.squares() - usual[item] / 2)
    half = _products(annotator, item, own, ones, n, n_items)
    rows, dimension = vectors.entries()
    number = vectors.at(rows, dimension)
    common = _products(
        annotator[rows],
        item[rows] * vectors.width + dimension,
        2 * vectors.unit * weight[rows] * number,
        number,
        n,
        n_items * vectors.width,
    )
    apart = half + half.T - common
    if isinstance(apart, np.ndarray):
        np.fill_diagonal(apart, 0.0)
        np.fill_diagonal(pairs, 0.0)
    else:
        apart.setdiag(0.0)
        pairs.setdiag(0.0)
    return apart, pairs


def _products(
    annotator: np.ndarray, column: np.ndarray, left: np.ndarray, right: np.ndarray, n: int, m: int
) -> Any:
    """Sums over columns of left times right, for each two annotators, (n, n); sparse if large."""
    from scipy.sparse import csc_array

    first = csc_array((left, (annotator, column)), (n, m))
    second = csc_array((right, (annotator, column)), (n, m))
    work = float((np.diff(second.indptr).astype(float) ** 2).sum())
    if work <= SPARSE or n > MOST_DENSE:
        product = (first.tocsr() @ second.T.tocsr()).tocsr()
        return product if n > MOST_DENSE else product.toarray()
    result = np.zeros((n, n))
    step = max(1, (1 << 23) // n)
    for begin in range(0, m, step):
        block = slice(begin, begin + step)
        result += first[:, block].toarray() @ second[:, block].toarray().T
    return result


# ---- items ----


def _dividing(
    corpus: Corpus, annotations: Annotations, groups: AnnotatorGroups, table: _Table, most: int
) -> list[DividingItem]:
    """The items with most disagreement between and least within groups; few answers count less."""
    inside, pairs_inside, across, pairs_across = table.disagreement()
    division = ratio(across, pairs_across) - ratio(inside, pairs_inside)
    division = division / _largest_disagreement(annotations)
    rank = np.where(np.isnan(division), -np.inf, division * pairs_across / (pairs_across + 4))
    order = np.argsort(-np.round(rank, 9), kind="stable")[:most]
    items = []
    for item in order:
        if not rank[item] > 1e-9:
            break
        rows = annotations.item == item
        answers = {
            groups.names[code]: _answers(annotations.take(rows & (table.group == code)))
            for code in np.flatnonzero(table.size[item]).tolist()
        }
        text = corpus.text_of(int(item))
        items.append(DividingItem(str(corpus.items[item]), float(division[item]), answers, text))
    return items


def _largest_disagreement(annotations: Annotations) -> float:
    """Of two answers: one of the lowest and one of the highest, or sets with nothing in common."""
    scale = annotations.scale
    if isinstance(scale, MultiLabel):
        return float(scale.n_columns)
    if isinstance(scale, Ordinal):
        rank = _ranks(annotations)
        return float(np.ptp(rank) ** 2) or 1.0
    if isinstance(scale, Interval):
        return float(np.ptp(annotations.answer) ** 2) or 1.0
    return 1.0


def _answers(annotations: Annotations) -> dict[str, float]:
    """The count of each value, the most frequent first; of ratings the mean and the number."""
    if isinstance(annotations.scale, Interval):
        return {"mean": float(annotations.answer.mean()), "answers": annotations.n_rows}
    texts = [
        " + ".join(value) or "(none)" if isinstance(value, tuple) else str(value)
        for value in annotations.answers()
    ]
    return dict(Counter(texts).most_common())
