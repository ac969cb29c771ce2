"""Do groups of annotators differ in what they answer, or in how reliably? Permutation tests.

Annotators keep their answers and exchange their groups. That alone does not tell views from care:
two careless annotators agree less than two careful ones. So an answer is taken to be a level of the
annotator, plus a slope times what all annotators have in common on the item, plus noise. If that is
all (the null hypothesis of the test of views), answers of two annotators, less their levels and
divided by their noise, go together as the product of their slopes says. What is left of these
products has the mean 0 and about the same variance for each two annotators, in whatever group. If
groups answer some items differently, it is larger for two of one group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.agreement.estimates import ratio
from dissensus.agreement.rest import Vectors
from dissensus.annotations import Annotations

PERMUTATIONS = 1999
MOST_ORDERS = 2000  # of groups over annotators that are all tried, instead of random ones
MOST_WORK = 16_000_000_000  # multiplications of a permutation test
SPARSE = 100_000_000  # pairs of answers above which dense blocks are quicker
MOST_DENSE = 4000  # annotators of a dense matrix over pairs
MOST_VALUES = 20  # of a nominal or multi-label scale that are tested, the most frequent ones
PRIOR = 3.0  # answers like those of all annotators, which each of them has in addition
LEAST_SLOPE = 0.1  # of an annotator whose answers say something about an item
# Care and leniency do not matter equally for all items: some are hard, others borderline. The
# variance over items of a difference in slope or level is taken to be so many times its squared
# mean (1: half of the items have all of it), and at most the square of MOST_VARIATION in units of
# noise. A group that is lenient about fewer items is one that answers these differently.
SLOPE_VARIATION = 2.5
LEVEL_VARIATION = 1.0
MOST_VARIATION = 0.5
GUESSES = 1.25  # how far guesses may lie from the consensus: a quarter beyond the scale


@dataclass(frozen=True, eq=False)
class GroupTests:
    """p-values of three questions, and what they are about; nan where there is no test."""

    views: float  # do groups differ about some items, beyond level and reliability?
    level: float  # are some values more frequent, or ratings higher, beyond reliability?
    reliability: float  # do some groups follow the consensus less closely?
    permutations: int
    least: float  # p that so few annotators can reach
    levels: np.ndarray  # (n_groups, width) difference from other groups on the same items
    reliabilities: np.ndarray  # (n_groups,) mean correlation with the consensus of the others


def permutation_tests(
    annotations: Annotations, code: np.ndarray, n_groups: int, seed: int
) -> GroupTests:
    """Test groups by permuting them over annotators.

    Args:
        annotations: answers of annotators who have a group, at most one for an item.
        code: the group of each annotator, (n_annotators,); -1: none.
    """
    rows = _Answers.of(annotations)
    chosen = _chosen(code[rows.active][None], n_groups)  # (n, 1, n_groups)
    cell = rows.item * n_groups + code[rows.active][rows.annotator]
    if len(np.unique(cell)) == len(np.unique(rows.item)):  # no item was answered by two groups
        levels = np.full((n_groups, rows.vectors.width), math.nan)
        return GroupTests(math.nan, math.nan, math.nan, 0, math.nan, levels, levels[:, 0])
    fit = _Fit.of(rows, rows.rest)
    balanced = _Fit.of(rows, _balanced(rows, cell, n_groups))
    together, shared = _pair_sums(rows, fit)
    statistics = (
        _pair_statistic(together, shared),
        _mean_statistic(*_level_beyond_guesses(rows, fit, chosen[:, 0])),
        _mean_statistic(*balanced.correlation()),
    )
    work = (shared.size if isinstance(shared, np.ndarray) else shared.nnz) * n_groups * 2
    p_values, permutations, least = _permuted(statistics, chosen, seed, work)
    views, level, reliability = p_values
    answers = chosen[:, 0].T * rows.answers  # (n_groups, n)
    reliabilities = ratio(answers @ balanced.correlation()[0][:, 0], answers.sum(axis=1))
    if balanced.signal == 0:
        reliability, reliabilities = math.nan, np.full(n_groups, math.nan)
    levels = _levels(rows, cell, n_groups)
    return GroupTests(
        views, level, reliability, permutations, least, levels, reliabilities.clip(-1, 1)
    )


def _levels(rows: _Answers, cell: np.ndarray, n_groups: int) -> np.ndarray:
    """Mean differences of each group from the others on the same items, (n_groups, width)."""
    shape = (rows.n_items, n_groups)
    size = np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
    others = size.sum(axis=1, keepdims=True) - size
    pairs = size * others / np.maximum(size + others, 1)
    levels = np.full((n_groups, rows.vectors.width), np.nan)
    for dimension, number in zip(rows.dimensions, rows.numbers(), strict=True):
        total = np.bincount(cell, number, minlength=size.size).reshape(shape)
        rest = total.sum(axis=1, keepdims=True) - total
        apart = total / np.maximum(size, 1) - rest / np.maximum(others, 1)
        levels[:, dimension] = ratio((pairs * apart).sum(axis=0), pairs.sum(axis=0))
    return levels


# ---- how annotators follow the consensus of the others ----


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers to items with two answers or more, by annotators 0 to n - 1."""

    vectors: Vectors
    dimensions: np.ndarray  # that are tested
    row: np.ndarray  # (n_rows,) among all answers
    item: np.ndarray  # (n_rows,)
    annotator: np.ndarray  # (n_rows,)
    active: np.ndarray  # (n,) their codes
    answers: np.ndarray  # (n,)
    n_items: int

    @classmethod
    def of(cls, annotations: Annotations) -> _Answers:
        row = np.flatnonzero(annotations.per_item()[annotations.item] >= 2)
        codes = annotations.annotator_codes("groups")[row]
        active, annotator = np.unique(codes, return_inverse=True)
        vectors = Vectors.of(annotations)
        frequency = np.bincount(vectors.entries()[1], minlength=vectors.width)
        most = 1 if vectors.kind == "nominal" and vectors.width == 2 else MOST_VALUES
        return cls(
            vectors,
            np.argsort(-frequency, kind="stable")[:most],
            row,
            annotations.item[row].astype(np.int64),
            annotator,
            active,
            np.bincount(annotator, minlength=len(active)).astype(float),
            annotations.n_items,
        )

    @property
    def n(self) -> int:
        return len(self.active)

    def numbers(self) -> Iterator[np.ndarray]:
        """The answers in one dimension after another, (n_rows,)."""
        for dimension in self.dimensions:
            yield self.vectors.at(self.row, np.full(len(self.row), dimension))

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Over the answers of each annotator, (n,)."""
        return np.bincount(self.annotator, values, minlength=self.n)

    def per_item(self, values: np.ndarray) -> np.ndarray:
        """Summed over the answers to each item, (n_items,)."""
        return np.bincount(self.item, values, minlength=self.n_items)

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Less the mean of the annotator, (n_rows,)."""
        return np.asarray(values - (self.sum(values) / self.answers)[self.annotator])

    def rest(self, number: np.ndarray) -> np.ndarray:
        """The mean of the others' answers to the same item, (n_rows,)."""
        others = np.bincount(self.item, minlength=self.n_items)[self.item] - 1
        return np.asarray((self.per_item(number)[self.item] - number) / others)


@dataclass(frozen=True, eq=False)
class _Fit:
    """How each annotator follows the consensus of the others: sums over answers, (n,) each."""

    answers: np.ndarray
    free: np.ndarray  # degrees of freedom: one answer less
    level: np.ndarray  # (n, width) mean difference from the consensus
    squares: np.ndarray  # of the annotator's answers, less their mean
    products: np.ndarray  # with the consensus
    rests: np.ndarray  # of the consensus
    signal: float  # mean covariance of answers with the consensus

    @classmethod
    def of(cls, rows: _Answers, consensus: Callable[[np.ndarray], np.ndarray]) -> _Fit:
        level = np.zeros((rows.n, rows.vectors.width))
        squares, products, rests = np.zeros((3, rows.n))
        for dimension, number in zip(rows.dimensions, rows.numbers(), strict=True):
            rest = consensus(number)
            level[:, dimension] = rows.sum(number - rest) / rows.answers
            number, rest = rows.centred(number), rows.centred(rest)
            squares += rows.sum(number**2)
            products += rows.sum(number * rest)
            rests += rows.sum(rest**2)
        free = rows.answers - 1
        signal = max(float(products.sum() / max(free.sum(), 1.0)), 0.0)
        return cls(rows.answers, free, level, squares, products, rests, signal)

    def slope(self) -> np.ndarray:
        """How closely the consensus is followed, 1 on average, (n,).

        By covariances, which the noise of the others leaves as they are. Not below 0: to answer the
        opposite is not carelessness.
        """
        slope = ratio(_shrunk(self.products, self.free), np.array(self.signal))
        return np.maximum(np.nan_to_num(slope), 0.0)

    def noise(self) -> np.ndarray:
        """The variance of what is not explained by the consensus, (n,)."""
        left = self.squares - self.free * self.slope() ** 2 * self.signal
        return _shrunk(np.maximum(left, 0.05 * self.squares), self.free)

    def weight(self) -> np.ndarray:
        """Of answers in the best estimate of what they have in common, at most 1, (n,)."""
        weight = np.nan_to_num(ratio(np.maximum(self.slope(), LEAST_SLOPE), self.noise()))
        return np.asarray(weight / max(weight.max(initial=0.0), 1e-300))

    def correlation(self) -> tuple[np.ndarray, np.ndarray]:
        """With the consensus if that were known exactly, (n, 1), and error variances, (n,).

        These are the same for all but for numbers of answers, as they are if reliabilities are.
        """
        value = ratio(self.products, np.sqrt(self.squares * self.free * self.signal))
        left = np.maximum(self.squares - ratio(self.products**2, self.rests), 0.0)
        error = np.nansum(ratio(left * self.rests, self.squares * self.signal))
        error /= max(float(self.free.sum()), 1.0)
        return np.nan_to_num(value)[:, None], error / np.maximum(self.free, 0.5)


def _shrunk(total: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Means from sums, (n,), as if everybody had some more answers like those of all."""
    mean = total.sum() / max(float(size.sum()), 1.0)
    return np.asarray((total + PRIOR * mean) / (size + PRIOR))


def _balanced(
    rows: _Answers, cell: np.ndarray, n_groups: int
) -> Callable[[np.ndarray], np.ndarray]:
    """A consensus of the others in which every group has the same weight.

    So a minority with other views is not less reliable.
    """
    size = np.bincount(cell, minlength=rows.n_items * n_groups)
    several = size[cell] > 1
    groups = (size > 0).reshape(-1, n_groups).sum(axis=1)[rows.item] - ~several

    def consensus(number: np.ndarray) -> np.ndarray:
        total = np.bincount(cell, number, minlength=len(size))
        mean = total / np.maximum(size, 1)
        others = mean.reshape(-1, n_groups).sum(axis=1)[rows.item] - mean[cell]
        own = np.where(several, (total[cell] - number) / np.maximum(size[cell] - 1, 1), 0.0)
        return np.asarray((others + own) / groups)

    return consensus


def _level_beyond_guesses(
    rows: _Answers, fit: _Fit, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Levels, (n, width), less what guesses explain, and their error variances, (n,).

    Who follows the consensus less closely is nearer to the guesses. These are not known, so they
    are taken to be those that explain most of the difference between the groups.
    """
    error = _shrunk(fit.squares - 2 * fit.products + fit.rests, fit.free) / fit.answers
    weight = _weights(fit.level, error)
    less = 1.0 - np.nan_to_num(ratio(fit.products, fit.free * fit.signal), nan=1.0)
    size = np.maximum(weight @ chosen, 1e-300)
    level, less_of_group = (
        (weight[:, None] * (values - np.average(values, axis=0, weights=weight))).T @ chosen
        for values in (fit.level, less[:, None])
    )
    explained = (level * less_of_group / size).sum(axis=1)
    toward = np.nan_to_num(ratio(explained, (less_of_group**2 / size).sum()))
    for dimension, number in zip(rows.dimensions, rows.numbers(), strict=True):
        ends = np.quantile(number, (0.05, 0.95)) if rows.vectors.kind == "number" else (0.0, 1.0)
        consensus = number.mean() - np.average(fit.level[:, dimension], weights=fit.answers)
        low, high = GUESSES * (np.asarray(ends) - consensus)
        toward[dimension] = np.clip(toward[dimension], low, high)
    return fit.level - np.outer(less, toward), error


# ---- two annotators ----


def _solved(product: Callable[[np.ndarray], np.ndarray], right: np.ndarray) -> np.ndarray:
    """What gives `right`, by conjugate gradients; scipy's take 0.1 s to import."""
    solution, residual = np.zeros(len(right)), np.array(right, dtype=float)
    direction, size = residual.copy(), float(residual @ residual)
    least = 1e-20 * size
    for _ in range(1000):
        if size <= least:
            break
        changed = product(direction)
        step = size / float(direction @ changed)
        solution += step * direction
        residual -= step * changed
        before, size = size, float(residual @ residual)
        direction = residual + size / before * direction
    return solution


def _pair_sums(rows: _Answers, fit: _Fit) -> tuple[Any, Any]:
    """Of each two annotators: how much more they go together than expected, and their items.

    Products of standardised answers, summed over items, less the product of the slopes times what
    all have in common on the item, and less what slopes and levels may vary from item to item.
    Errors of the slopes are a slope of one annotator times something of the other: these are
    fitted by least squares, and removed.
    """
    from scipy.sparse import dia_array

    n, own, slope = rows.n, rows.annotator, fit.slope()
    shared = _products(rows, np.ones(len(own)))
    density = float(shared.sum() - len(own)) / max((n - 1) * len(own), 1)
    noise, variance = fit.noise(), _shrunk(fit.squares, fit.free)
    scale = noise + (1 - density) * np.maximum(variance - noise, 0.0)
    scale = np.sqrt(np.nan_to_num(ratio(np.ones(n), scale)))
    together, common = 0.0 * shared, np.zeros(rows.n_items)
    weight = fit.weight()
    for number in rows.numbers():
        number = rows.centred(number)
        together = together + _products(rows, number * scale[own])
        weighted = weight[own] * number
        common += rows.per_item(weighted) ** 2 - rows.per_item(weighted**2)
    most = abs(together).max()
    weighted = (weight * np.maximum(slope, LEAST_SLOPE))[own]
    common = ratio(common, rows.per_item(weighted) ** 2 - rows.per_item(weighted**2))
    slope = slope * scale
    common = np.nan_to_num(common)[rows.item]
    together = together - _products(rows, slope[own] * common, slope[own])

    def scaled(left: np.ndarray, right: np.ndarray) -> Any:
        return dia_array((left[None], [0]), (n, n)) @ shared @ dia_array((right[None], [0]), (n, n))

    level = fit.level * (fit.answers / (fit.answers + PRIOR))[:, None]
    level = level - level.mean(axis=0)
    vary = [math.sqrt(SLOPE_VARIATION * fit.signal) * (fit.slope() - fit.slope().mean())]
    vary += [math.sqrt(LEVEL_VARIATION) * level[:, dimension] for dimension in rows.dimensions]
    for more in vary:
        more = np.clip(scale * more, -MOST_VARIATION, MOST_VARIATION)
        together = together - scaled(more, more)
    for sums in (together, shared):
        np.fill_diagonal(sums, 0.0) if isinstance(sums, np.ndarray) else sums.setdiag(0.0)
    diagonal = shared @ slope**2
    diagonal = diagonal + 1e-9 * diagonal.mean() + 1e-300

    def product(other: np.ndarray) -> np.ndarray:
        return np.asarray(diagonal * other + slope * (shared @ (slope * other)))

    other = _solved(product, together @ slope)
    # slopes below 0, by more than two standard errors, are no errors of slopes
    other = np.maximum(other, -slope * common.mean() - 2.0 / np.sqrt(diagonal))
    together = together - scaled(slope, other) - scaled(other, slope)
    return (together if abs(together).max() > 1e-6 * most else 0.0 * together), shared


def _products(rows: _Answers, left: np.ndarray, right: np.ndarray | None = None) -> Any:
    """Sums over items of left times right, for each two annotators, (n, n); sparse if large."""
    from scipy.sparse import csc_array

    n = rows.n
    first = csc_array((left, (rows.annotator, rows.item)), (n, rows.n_items))
    second = first
    if right is not None:
        second = csc_array((right, (rows.annotator, rows.item)), (n, rows.n_items))
    work = float((np.diff(second.indptr).astype(float) ** 2).sum())
    if work <= SPARSE or n > MOST_DENSE:
        product = (first.tocsr() @ second.T.tocsr()).tocsr()
        return product if n > MOST_DENSE else product.toarray()
    result = np.zeros((n, n))
    step = max(1, (1 << 23) // n)
    for begin in range(0, rows.n_items, step):
        block = slice(begin, begin + step)
        result += first[:, block].toarray() @ second[:, block].toarray().T
    return result


# ---- permutations ----

Statistic = Callable[[np.ndarray], np.ndarray]  # of who is in which group, (n, n_orders, n_groups)


def _pair_statistic(together: Any, shared: Any) -> Statistic:
    """How much annotators of one group go together, by its standard error if all is noise."""
    volume = np.asarray(shared.sum(axis=1))

    def statistic(chosen: np.ndarray) -> np.ndarray:
        flat = chosen.reshape(len(chosen), -1)
        inside, pairs = (((sums @ flat) * flat).sum(axis=0) for sums in (together, shared))
        size = volume @ flat
        value, variance = (
            np.nan_to_num(ratio(*parts)).reshape(chosen.shape[1:]).sum(axis=1)
            for parts in ((inside, size), (pairs, size**2))
        )
        return np.where(size.reshape(chosen.shape[1:]).min(axis=1) < volume.sum(),
                        ratio(value, np.sqrt(variance)), np.nan)  # fmt: skip

    return statistic


def _mean_statistic(values: np.ndarray, errors: np.ndarray) -> Statistic:
    """Squared distances of the means of groups.

    Args:
        values: of each annotator, (n, width).
        errors: their error variances, (n,).
    """
    weight = _weights(values, errors)
    middle = weight[:, None] * (values - np.average(values, axis=0, weights=weight))

    def statistic(chosen: np.ndarray) -> np.ndarray:
        flat = chosen.reshape(len(chosen), -1)
        squares = ratio(((middle.T @ flat) ** 2).sum(axis=0), weight @ flat)
        return np.nan_to_num(squares).reshape(chosen.shape[1:]).sum(axis=1)

    return statistic


def _weights(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """One over how much annotators differ and their error, (n,); the largest is 1."""
    squares = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    spread = max(float(squares.mean() - errors.mean()), 0.0)
    apart = spread + errors + 1e-9 * squares.sum() + 1e-300
    return np.asarray(apart.min() / apart)


def _permuted(
    statistics: tuple[Statistic, ...], chosen: np.ndarray, seed: int, work: int
) -> tuple[list[float], int, float]:
    """How often random groups differ as much; how many were tried; the least p-value."""
    labels, n_groups = chosen[:, 0].argmax(axis=1), chosen.shape[2]
    sizes = np.bincount(labels, minlength=n_groups)
    logarithm = math.lgamma(sizes.sum() + 1) - sum(math.lgamma(n + 1) for n in sizes.tolist())
    n_orders = round(math.exp(logarithm)) if logarithm < 30 else math.inf
    every = n_orders <= MOST_ORDERS
    if every:
        n = int(n_orders)
        orders = iter([np.array(list(_arrangements(sizes.tolist())))])
        same = np.unique(sizes[sizes > 0], return_counts=True)[1]
        least = min(math.prod(math.factorial(int(times)) for times in same) / n, 1.0)
    else:
        n = int(np.clip(MOST_WORK // max(work, 1), 199, PERMUTATIONS))
        orders = _drawn(labels, n, max(1, (1 << 24) // (len(labels) * n_groups)), seed)
        least = 1 / (n + 1)
    observed = np.array([statistic(chosen)[0] for statistic in statistics])
    enough = observed - 1e-9 * np.maximum(abs(observed), 1e-9)
    as_much = np.full(len(statistics), 0.0 if every else 1.0)
    for block in orders:
        tried = _chosen(block, n_groups)
        for place, statistic in enumerate(statistics):
            as_much[place] += (statistic(tried) >= enough[place]).sum()
    p_values = np.where(np.isnan(observed), np.nan, as_much / (n if every else n + 1))
    return p_values.tolist(), n, least


def _chosen(labels: np.ndarray, n_groups: int) -> np.ndarray:
    """Who is in which group, (n, n_orders, n_groups)."""
    return np.asarray(labels.T[:, :, None] == np.arange(n_groups), dtype=float)


def _drawn(labels: np.ndarray, n: int, step: int, seed: int) -> Iterator[np.ndarray]:
    """So many random orders of the labels, some at a time."""
    generator = np.random.default_rng(seed)
    for begin in range(0, n, step):
        yield generator.permuted(np.tile(labels, (min(step, n - begin), 1)), axis=1)


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
