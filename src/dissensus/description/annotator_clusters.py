"""Clusters of annotators who answer alike, and whether a crowd without camps would give them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from dissensus.agreement import (
    common_items,
    correlation_matrix,
    first_answers,
    kappa_matrix,
    masi_distance,
    masi_kappa_matrix,
)
from dissensus.annotations import Annotations
from dissensus.annotations.annotations import slices
from dissensus.description.marks import marked
from dissensus.scales import Interval, MultiLabel, Ordinal

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MOST_VALUES = 20  # of a nominal scale, or sets; rarer ones count as one, or as the most similar
MOST_LEVELS = 7  # of an ordinal scale; ratings and longer scales are divided into `LEVELS`
LEVELS = 5  # of as many answers of an annotator each
MOST_PAIRS = 60  # of values between which an item is ambiguous: those given to the same items
TILT = 1.5  # standard deviation between annotators, of logarithms
SHARPNESS = 0.5  # likewise, relative to the mean
RARE = 0.5  # items of a profile
CELLS = 1 << 22  # of the largest intermediate array
FREE = 4.0  # expected answers to add before an annotator's own table is believed


@dataclass(frozen=True, eq=False)
class Parameters:
    """What is estimated about items and annotators."""

    share: np.ndarray  # (n_profiles,) of items
    tilt: np.ndarray  # (n_annotators, n_features) towards values
    sharpness: np.ndarray  # (n_annotators,)


@dataclass(frozen=True, eq=False)
class CrowdModel:
    """Annotators who answer independently, given what all of them see in an item.

    An item has a profile: how probable each value is to an annotator who is neither biased nor more
    or less reliable than others. It may be clear or ambiguous. An annotator gives a value with a
    probability proportional to `profile ** sharpness * exp(tilt)`. So difficult items, strict and
    lenient annotators, habits such as using the ends of a scale, and reliability are part of it;
    for two values it is the two-parameter model of item responses, for ordered ones the generalised
    partial credit model, for annotators alike it says that each draws from the item's distribution.

    Reference: Muraki (1992), doi:10.1177/014662169201600206.
    """

    item: np.ndarray  # (n_rows,) codes
    annotator: np.ndarray  # (n_rows,) codes
    code: np.ndarray  # (n_rows,) of the value that was given
    common: np.ndarray  # (n_annotators, n_annotators) items that both answered
    n_items: int
    profiles: np.ndarray  # (n_profiles, n_values) logarithms
    features: np.ndarray  # (n_values, n_features) that an annotator may prefer
    places: np.ndarray  # (n_values, n_dimensions) what answers are compared by

    @classmethod
    def of(cls, annotations: Annotations) -> Self:
        """A model of the answers, one for each annotator and item."""
        item, annotator = annotations.item, annotations.annotator_codes("clusters")
        code, features, places = _as_values(annotations)
        n_items, n_values = annotations.n_items, len(features)
        ordered = isinstance(annotations.scale, Interval | Ordinal) and n_values > 2
        counts = np.bincount(item * n_values + code, minlength=n_items * n_values)
        profiles = (
            _ordered_profiles(n_values) if ordered else _profiles(counts.reshape(n_items, n_values))
        )
        common = common_items(annotations)
        return cls(item, annotator, code, common, n_items, profiles, features, places)

    @property
    def n_values(self) -> int:
        return len(self.features)

    def one_hot(self, code: np.ndarray, chosen: np.ndarray | None = None) -> csr_array:
        """Answers to the same items, (n_items, n_annotators * n_values).

        Args:
            code: of each row.
            chosen: whose answers, (n_annotators,); all if left out.
        """
        from scipy.sparse import csr_array

        rows = slice(None) if chosen is None else np.flatnonzero(chosen[self.annotator])
        item, column = self.item[rows], (self.annotator * self.n_values + code)[rows]
        shape = (self.n_items, len(self.common) * self.n_values)
        return csr_array((np.ones(len(item), dtype=np.float32), (item, column)), shape)

    def first(self) -> Parameters:
        n_profiles, n_annotators = len(self.profiles), len(self.common)
        return Parameters(
            np.full(n_profiles, 1 / n_profiles),
            np.zeros((n_annotators, self.features.shape[1])),
            np.ones(n_annotators),
        )

    def fit(self, one_hot: csr_array, start: Parameters, iterations: int) -> Parameters:
        """Parameters of answers by expectation-maximisation, one step of Newton's in each."""
        for _ in range(iterations):
            logarithm = self.logarithm(start)
            posterior = self._posterior(one_hot, start.share, logarithm)
            share = posterior.mean(axis=0, dtype=float) + 1e-6
            counts = self._counts(one_hot, posterior)
            tilt, sharpness = self._step(start, counts, np.exp(logarithm))
            start = Parameters(share / share.sum(), tilt, sharpness)
        return start

    def without_rare(self, fitted: Parameters) -> tuple[Self, Parameters]:
        """The model of the profiles that items have."""
        kept = fitted.share * self.n_items > RARE
        share = fitted.share[kept]
        fitted = replace(fitted, share=share / share.sum())
        return replace(self, profiles=self.profiles[kept]), fitted

    def tables(self, one_hot: csr_array, fitted: Parameters) -> tuple[np.ndarray, np.ndarray]:
        """How annotators answer each profile, (n_annotators, n_profiles, n_values); and the
        probability of each profile of an item, (n_items, n_profiles).

        Where an annotator gave a value more often to profiles with the same most probable value
        than the model expects, that is believed: a confusion of values is a habit, too.
        """
        logarithm = self.logarithm(fitted)
        posterior = self._posterior(one_hot, fitted.share, logarithm)
        counts, table = self._counts(one_hot, posterior), np.exp(logarithm)
        expected = counts.sum(axis=2, keepdims=True) * table
        top = self.profiles.argmax(axis=1)
        alike = (top[:, None] == np.arange(self.n_values)).astype(float)
        ratio = (_by(alike, counts) + FREE) / (_by(alike, expected) + FREE)
        table = table * ratio[:, top]
        return table / table.sum(axis=2, keepdims=True), posterior

    def simulate(
        self, share: np.ndarray, tables: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """Answers to the same items, (n_rows,) codes of values."""
        profile = generator.choice(len(share), self.n_items, p=share)
        chances = np.cumsum(tables, axis=2)[self.annotator, profile[self.item]]
        limit = generator.random((len(self.item), 1)) * chances[:, -1:]
        return np.asarray((chances[:, :-1] <= limit).sum(axis=1))

    def alike(self, code: np.ndarray, fitted: Parameters) -> np.ndarray:
        """How much each two annotators deviate alike from what the model expects of them.

        The correlation of their deviations, times the root of the number of common items; the
        diagonal is 0.
        """
        tables, posterior = self.tables(self.one_hot(code), fitted)
        n_annotators, n_dimensions = len(self.common), self.places.shape[1]
        by_profile = (tables @ self.places).transpose(1, 0, 2).reshape(tables.shape[1], -1)
        expected = posterior @ by_profile.astype(np.float32)
        expected = expected.reshape(self.n_items, n_annotators, n_dimensions)
        deviation = np.zeros((self.n_items, n_dimensions, n_annotators))
        deviations = self.places[code] - expected[self.item, self.annotator]
        deviation[self.item, :, self.annotator] = deviations
        variance = (deviation**2).sum(axis=(0, 1)) / np.maximum(np.diag(self.common), 1)
        by_item = deviation.reshape(-1, n_annotators)
        scale = np.outer(variance, variance) * np.maximum(self.common, 1)
        values = (by_item.T @ by_item) / np.sqrt(scale + 1e-12)
        np.fill_diagonal(values, 0.0)
        return np.asarray(values)

    def predicted(self, chosen: np.ndarray, fitted: Parameters) -> np.ndarray:
        """The logarithm of the probability of each answer, given what others see in the item.

        nan if none of the others answered it.

        Args:
            chosen: whose answers count, (n_annotators,).

        Returns:
            (n_rows,)
        """
        logarithm, one_hot = self.logarithm(fitted), self.one_hot(self.code, chosen)
        by_profile = logarithm.transpose(0, 2, 1).reshape(-1, len(fitted.share))
        joint = one_hot @ by_profile + np.log(fitted.share)
        values = np.empty(len(self.item))
        for rows in slices(len(values), CELLS // len(fitted.share)):
            own = logarithm[self.annotator[rows], :, self.code[rows]]  # (n_rows, n_profiles)
            others = joint[self.item[rows]] - chosen[self.annotator[rows], None] * own
            others = np.exp(others - others.max(axis=1, keepdims=True))
            values[rows] = np.log((others * np.exp(own)).sum(axis=1) / others.sum(axis=1))
        n_others = np.bincount(self.item, chosen[self.annotator], self.n_items)[self.item]
        return np.where(n_others > chosen[self.annotator], values, np.nan)

    # ---- one iteration ----

    def logarithm(self, fitted: Parameters) -> np.ndarray:
        """Logarithms of probabilities of values, (n_annotators, n_profiles, n_values)."""
        tilt = fitted.tilt @ self.features.T
        values = fitted.sharpness[:, None, None] * self.profiles + tilt[:, None]
        values -= values.max(axis=2, keepdims=True)
        return np.asarray(values - np.log(np.exp(values).sum(axis=2, keepdims=True)))

    def _posterior(
        self, one_hot: csr_array, share: np.ndarray, logarithm: np.ndarray
    ) -> np.ndarray:
        """Probabilities of the profiles of an item, (n_items, n_profiles)."""
        by_profile = logarithm.transpose(0, 2, 1).reshape(-1, len(share))
        values = one_hot @ by_profile.astype(np.float32)  # in half the time
        values += np.log(share).astype(np.float32)
        values -= values.max(axis=1, keepdims=True)
        np.exp(values, out=values)
        values /= values.sum(axis=1, keepdims=True)
        return np.asarray(values)

    def _counts(self, one_hot: csr_array, posterior: np.ndarray) -> np.ndarray:
        """Expected answers of each annotator, (n_annotators, n_profiles, n_values)."""
        counts = (one_hot.T @ posterior).reshape(-1, self.n_values, posterior.shape[1])
        return np.asarray(counts.transpose(0, 2, 1), dtype=float)

    def _step(
        self, start: Parameters, counts: np.ndarray, table: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Tilts and sharpnesses that fit better, of few answers drawn towards those of all."""
        n = self.features.shape[1]
        own = np.column_stack([start.tilt, start.sharpness])  # (n_annotators, n_features + 1)
        spread = np.array([TILT] * n + [SHARPNESS * start.sharpness.mean()])
        usual, weak = np.array([0.0] * n + [1.0]), np.array([0.01] * n + [0.05])
        gradient = (own.mean(axis=0) - own) / spread**2 + weak * (usual - own)
        expected = counts.sum(axis=2, keepdims=True) * table
        residual = counts - expected
        gradient[:, :n] += residual.sum(axis=1) @ self.features
        gradient[:, n] += (residual * self.profiles).sum(axis=(1, 2))
        centred = self.profiles - (table * self.profiles).sum(axis=2, keepdims=True)
        values = -(expected.transpose(0, 2, 1) @ table)  # (n_annotators, n_values, n_values)
        values[:, range(self.n_values), range(self.n_values)] += expected.sum(axis=1)
        curvature = np.empty((len(own), n + 1, n + 1))
        curvature[:, :n, :n] = self.features.T @ values @ self.features
        weighted = expected * centred
        curvature[:, :n, n] = curvature[:, n, :n] = weighted.sum(axis=1) @ self.features
        curvature[:, n, n] = (weighted * centred).sum(axis=(1, 2))
        curvature[:, range(n + 1), range(n + 1)] += 1 / spread**2 + weak
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        longest = np.array([1.0] * n + [0.3])
        own += np.clip(step, -longest, longest)
        return own[:, :n], own[:, n]


def _by(groups: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums of counts over the profiles of each group."""
    return np.asarray(np.tensordot(counts, groups, (1, 0)).transpose(0, 2, 1))


# ---- answers as values ----


def _as_values(annotations: Annotations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The code of each answer, what an annotator may prefer, and what answers are compared by."""
    scale, answer = annotations.scale, annotations.answer
    if isinstance(scale, MultiLabel):
        return _sets(scale, answer)
    if isinstance(scale, Interval) or (isinstance(scale, Ordinal) and len(scale) > MOST_LEVELS):
        code, n_values = _levels(annotations), LEVELS
    else:
        values, code, counts = np.unique(answer, return_inverse=True, return_counts=True)
        code = code.reshape(-1)
        if len(values) > MOST_VALUES:
            rank = np.argsort(np.argsort(-counts, kind="stable"))
            code = np.minimum(rank, MOST_VALUES)[code]
        n_values = int(code.max()) + 1
    each = np.eye(n_values)
    ordered = n_values == 2 or isinstance(scale, Interval | Ordinal)
    return code, each, np.arange(n_values)[:, None] / 1.0 if ordered else each


def _levels(annotations: Annotations) -> np.ndarray:
    """Ratings as levels that an annotator gave equally often, so that habits make no difference."""
    annotator = annotations.annotator_codes("clusters")
    level = np.zeros(annotations.n_rows, dtype=int)
    for code in np.unique(annotator):
        own = annotator == code
        ordered = np.sort(annotations.answer[own])
        sides = (np.searchsorted(ordered, annotations.answer[own], side)
                 for side in ("left", "right"))  # fmt: skip
        level[own] = np.minimum(sum(sides) * LEVELS // (2 * len(ordered)), LEVELS - 1)
    return level


def _sets(scale: MultiLabel, answer: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sets, code, counts = np.unique(answer, return_inverse=True, return_counts=True)
    frequent = sets[np.sort(np.argsort(-counts, kind="stable")[:MOST_VALUES])]
    nearest = masi_distance(sets[:, None], frequent[None]).argmin(axis=1)
    members = np.unique(scale.one_hot(frequent).astype(float), axis=1)
    return nearest[code.reshape(-1)], members, members


# ---- profiles of items ----


def _profiles(counts: np.ndarray) -> np.ndarray:
    """Items that are clear, ambiguous between two values, or anything, as logarithms.

    Args:
        counts: of the answers to each item, (n_items, n_values).
    """
    n_values = counts.shape[1]
    if n_values == 2:
        return np.linspace(-2.5, 2.5, 15)[:, None] * [-1.0, 1.0]
    one = np.eye(n_values)
    rows = [np.zeros(n_values)] + [size * row for row in one for size in (1.0, 2.0, 3.5, 5.0)]
    together = np.triu(counts.T @ counts, 1)
    order = np.argsort(-together, axis=None, kind="stable")[:MOST_PAIRS]
    for first, second in zip(*np.unravel_index(order, together.shape), strict=True):
        if together[first, second] > 0:
            sizes = ((2.0, 2.0), (4.0, 4.0), (4.0, 3.0), (3.0, 4.0))
            rows += [a * one[first] + b * one[second] for a, b in sizes]
    profiles = np.array(rows)
    return np.asarray(profiles - profiles.mean(axis=1, keepdims=True))


def _ordered_profiles(n_values: int) -> np.ndarray:
    """Items around a place of the scale, narrow or wide; at both ends of it; or anything."""
    level = np.arange(n_values)
    rows = [np.zeros(n_values)]
    for spread in (0.6, 1.2, 2.2):
        for place in np.arange(-0.5, n_values, max(0.5, spread / 2)):
            rows.append(np.maximum(-((level - place) ** 2) / (2 * spread**2), -8.0))
    ends = np.exp(-level), np.exp(-level[::-1])
    rows += [np.log(low * ends[0] + (1 - low) * ends[1]) for low in (0.25, 0.5, 0.75)]
    profiles = np.array(rows)
    return np.asarray(profiles - profiles.mean(axis=1, keepdims=True))


MOST_ANNOTATORS = 40  # those with most answers are clustered
MOST_ITEMS = 1500  # those with most of their answers; fewer if these are more than
MOST_ANSWERS = 20_000  # this
MOST_CLUSTERS = 6
FEWEST_SHARED = 10  # items of two annotators whose agreement counts
FEWEST_MEMBERS = 3  # of a camp: two who deviate alike may have copied from each other
FEWEST_ANNOTATORS = 2 * FEWEST_MEMBERS
SIGNIFICANT = 0.01  # level of the test, as every report has its sentence
CLEAR = 1.645  # standard errors by which a cluster predicts a member better: 5 % by chance
MEASURES = {"interval": "correlation", "multi-label": "Cohen's kappa (MASI)"}  # else Cohen's kappa
MOST_SIMULATED = 99  # crowds: the fewest of which p can be as low as the level
ENOUGH = (
    5  # simulated crowds at least as clustered, after which p is above 0.05, and so above the level
)
ITERATIONS = 60
AGAIN = 5  # iterations for a simulated crowd, from what it was simulated with


@dataclass(frozen=True)
class Cluster:
    """Annotators who agree more with each other than with others."""

    annotators: tuple[str, ...]
    within: float  # mean agreement of two of them
    outside: float  # mean agreement of one of them with an annotator of no or another cluster


@dataclass(frozen=True)
class AnnotatorClusters:
    """Clusters of annotators, with a test of whether there are any.

    `p` is the share of simulated crowds without camps that look as clustered as the annotators do.
    """

    clusters: tuple[
        Cluster, ...
    ]  # of two annotators or more, the largest first; only if p <= SIGNIFICANT
    others: tuple[str, ...]  # annotators of no cluster
    left_out: tuple[str, ...]  # at chance, constant or contrary, and copies of another one
    measure: str
    p: float
    n_simulated: int

    @property
    def significant(self) -> bool:
        return bool(self.clusters)


def cluster_annotators(
    annotations: Annotations, seed: int = 0, left_out: Collection[str] | None = None
) -> AnnotatorClusters | None:
    """Cluster annotators by what they share beyond a common view of items, and test the clusters.

    A model says what each annotator answers if all see the same in an item (`CrowdModel`).
    Annotators of one camp deviate from it alike, those of two camps in opposite ways: the largest
    eigenvalue of these correlations says how clustered the annotators are, eigenvectors who belongs
    together. The test simulates crowds from the fitted model, fits each of them and compares the
    eigenvalues. `docs/report.md` explains both, and who is left out.

    Args:
        left_out: names; those who are marked (`marks`) if None.

    Returns:
        None if fewer than six annotators are left, or most pairs of them share fewer than ten
        items.

    Reference: Besag & Clifford (1991), doi:10.1093/biomet/78.2.301, for p with early stopping.
    """
    if annotations.annotator is None:
        return None
    generator = np.random.default_rng(seed)
    answers = first_answers(annotations)
    if left_out is None:
        left_out = marked(_chosen(answers, (), generator))
    answers = _chosen(answers, left_out, generator)
    if answers.n_annotators < FEWEST_ANNOTATORS or not answers.n_rows:
        return None
    shared = common_items(answers) >= FEWEST_SHARED
    np.fill_diagonal(shared, False)
    values = np.where(shared, _agreement(answers), np.nan)
    if np.isfinite(values).mean() < 0.5 * (1 - 1 / len(values)):
        return None
    model = CrowdModel.of(answers)
    observed = model.one_hot(model.code)
    model, fitted = model.without_rare(model.fit(observed, model.first(), ITERATIONS))
    tables, _ = model.tables(observed, fitted)
    alike = np.where(shared, model.alike(model.code, fitted), 0.0)
    strengths, vectors = _spectrum(alike)
    by_chance: list[np.ndarray] = []
    n_as_strong = 0
    while len(by_chance) < MOST_SIMULATED and n_as_strong < ENOUGH:
        code = model.simulate(fitted.share, tables, generator)
        again = model.fit(model.one_hot(code), fitted, AGAIN)
        simulated = np.where(shared, model.alike(code, again), 0.0)
        by_chance.append(_spectrum(simulated)[0])
        n_as_strong += by_chance[-1][0] >= strengths[0]
    stopped = n_as_strong == ENOUGH
    p = n_as_strong / len(by_chance) if stopped else (n_as_strong + 1) / (len(by_chance) + 1)
    names = [str(name) for name in answers.annotators]
    clusters: tuple[Cluster, ...] = ()
    if p <= SIGNIFICANT:
        labels = _labels(strengths, vectors, by_chance)
        clusters = _clusters(values, _members(model, labels), names)
    inside = {name for cluster in clusters for name in cluster.annotators}
    return AnnotatorClusters(
        clusters,
        tuple(name for name in names if name not in inside),
        tuple(sorted(left_out)),
        MEASURES.get(answers.scale.kind, "Cohen's kappa"),
        float(p),
        len(by_chance),
    )


def _chosen(
    annotations: Annotations, left_out: Collection[str], generator: np.random.Generator
) -> Annotations:
    """The annotators with most answers, and some items that two of them answered."""
    sizes = annotations.per_annotator()
    if left_out:
        sizes[annotations.annotators.codes(sorted(left_out))] = 0
    codes = np.argsort(-sizes, kind="stable")[:MOST_ANNOTATORS]
    codes = np.sort(codes[sizes[codes] >= FEWEST_SHARED])
    few = annotations.select_annotators(codes, annotations.annotators.take(codes))
    per_item = few.per_item()
    items = generator.permutation(np.flatnonzero(per_item >= 2))
    items = items[np.argsort(-per_item[items], kind="stable")][:MOST_ITEMS]
    items = np.sort(items[np.cumsum(per_item[items]) <= MOST_ANSWERS])
    return few.select_items(items, few.items.take(items))


def _agreement(annotations: Annotations) -> np.ndarray:
    """The agreement of each two annotators."""
    if isinstance(annotations.scale, MultiLabel):
        return masi_kappa_matrix(annotations)
    ratings = isinstance(annotations.scale, Interval)
    return correlation_matrix(annotations) if ratings else kappa_matrix(annotations)


# ---- clusters ----


def _spectrum(alike: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues and their eigenvectors, which have different signs for camps."""
    strengths, vectors = np.linalg.eigh(alike)
    return strengths[::-1][: MOST_CLUSTERS - 1], vectors[:, ::-1][:, : MOST_CLUSTERS - 1]


def _labels(strengths: np.ndarray, vectors: np.ndarray, by_chance: list[np.ndarray]) -> np.ndarray:
    """The cluster of each annotator, from 1.

    Two clusters, or one more for each further eigenvalue that chance would not give; of these
    numbers, the one with the best mean silhouette.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    usual = np.quantile(by_chance, 1 - SIGNIFICANT, axis=0)
    n = max(1, int(np.cumprod(strengths > usual).sum()))
    places = vectors[:, :n] * np.sqrt(np.maximum(strengths[:n], 0.0))
    tree = linkage(places, "ward")
    numbers = range(2, min(n + 1, len(places) - 1) + 1)
    candidates = [np.asarray(fcluster(tree, number, "maxclust")) for number in numbers]
    return max(candidates, key=lambda labels: _silhouette(places, labels))


def _silhouette(places: np.ndarray, labels: np.ndarray) -> float:
    """The mean silhouette; 0 for a cluster of one (Rousseeuw 1987)."""
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    member = (labels[:, None] == np.unique(labels)).astype(float)  # (n_annotators, n_clusters)
    sizes, total = member.sum(axis=0), distance @ member
    own = (total * member).sum(axis=1) / np.maximum((member * sizes).sum(axis=1) - 1, 1)
    next_one = np.where(member > 0, np.inf, total / sizes).min(axis=1)
    single = (member * sizes).sum(axis=1) == 1
    largest = np.maximum(np.maximum(own, next_one), 1e-12)
    return float(np.where(single, 0.0, (next_one - own) / largest).mean())


def _members(model: CrowdModel, labels: np.ndarray) -> np.ndarray:
    """The clusters without annotators who do not clearly belong to theirs: these get 0.

    What the other members of the cluster see in items must predict the answers of an annotator
    better than what the annotators outside see, by `CLEAR` standard errors of the mean difference
    of log-likelihoods (the test of Vuong, 1989, doi:10.2307/1912557). If there are no two camps,
    all get 0: one or two annotators who are unlike others do not make these a cluster.
    """

    def fit(chosen: np.ndarray, start: Parameters, iterations: int) -> Parameters:
        return model.fit(model.one_hot(model.code, chosen), start, iterations)

    kept = np.zeros_like(labels)
    camps = np.flatnonzero(np.bincount(labels) >= FEWEST_MEMBERS)
    for label in camps if len(camps) > 1 else ():
        inside = labels == label
        by_inside = model.predicted(inside, fit(inside, model.first(), ITERATIONS // 2))
        outside = fit(~inside, model.first(), ITERATIONS // 2)
        for code in np.flatnonzero(inside):
            others = ~inside
            others[code] = True
            gain = by_inside - model.predicted(others, fit(others, outside, AGAIN))
            gain = gain[(model.annotator == code) & np.isfinite(gain)]
            if len(gain) and gain.mean() > CLEAR * gain.std() / len(gain) ** 0.5:
                kept[code] = label
    return kept


def _mean(values: np.ndarray) -> float:
    """The mean of the known values; nan without one."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _clusters(values: np.ndarray, labels: np.ndarray, names: list[str]) -> tuple[Cluster, ...]:
    clusters = []
    for label in np.unique(labels[labels > 0]):
        inside = labels == label
        within = _mean(values[np.ix_(inside, inside)])
        outside = _mean(values[np.ix_(inside, ~inside)])
        if within > outside:
            members = tuple(name for name, own in zip(names, inside, strict=True) if own)
            clusters.append(Cluster(members, within, outside))
    return tuple(sorted(clusters, key=lambda cluster: -len(cluster.annotators)))
