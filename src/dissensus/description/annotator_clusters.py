"""Clusters of annotators who answer alike, and whether chance would give them too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dissensus.aggregation import DawidSkene
from dissensus.agreement import (
    common_items,
    correlation_matrix,
    first_answers,
    kappa_matrix,
    masi_distance,
    masi_kappa_matrix,
)
from dissensus.annotations import Annotations
from dissensus.progress import hidden
from dissensus.scales import Interval, MultiLabel, Nominal

MOST_ANNOTATORS = 40  # those with most answers are clustered
MOST_ITEMS = 3000  # drawn at random if there are more
MOST_CLUSTERS = 6
MOST_SETS = 20  # different multi-label answers; rarer ones count as the most similar of these
FEWEST_SHARED = 10  # items of two annotators whose agreement counts
FEWEST_ANNOTATORS = 4
PRIOR_ANSWERS = 4  # of all annotators, added to those of one for each true value
SIGNIFICANT = 0.05
MEASURES = {"interval": "correlation", "multi-label": "Cohen's kappa (MASI)"}  # else Cohen's kappa
ENOUGH = 12  # simulated crowds at least as clustered, after which no more are simulated


@dataclass(frozen=True)
class Cluster:
    """Annotators who agree more with each other than with others."""

    annotators: tuple[str, ...]
    within: float  # mean agreement of two of them
    outside: float  # mean agreement of one of them with an annotator of no or another cluster


@dataclass(frozen=True)
class AnnotatorClusters:
    """Clusters of annotators, with a test of whether there are any.

    `p` is the share of simulated crowds without clusters that look as clustered as the annotators
    do.
    """

    clusters: tuple[Cluster, ...]  # of two annotators or more, the largest first
    others: tuple[str, ...]  # annotators of no cluster
    measure: str
    p: float
    n_simulated: int

    @property
    def significant(self) -> bool:
        return self.p <= SIGNIFICANT and bool(self.clusters)


def cluster_annotators(
    annotations: Annotations, n_simulated: int = 199, seed: int = 0
) -> AnnotatorClusters | None:
    """Cluster annotators by their agreement, and test the clusters.

    Of the agreement of each two annotators (Cohen's kappa, for sets with MASI distances; the
    correlation of ratings), the product of two weights is taken away, one for the reliability of
    each annotator. The largest eigenvalue of the rest says how clustered they are, its eigenvectors
    who belongs together.

    The test does the same with simulated crowds who answer the same items, are as reliable and
    biased as the annotators, and have no clusters: annotators are independent given a true value
    (Dawid and Skene's model; for ratings, one common factor). So annotators who answer at random,
    or are merely less reliable, do not make the others a cluster.

    Args:
        n_simulated: crowds at most; fewer if it is soon clear that chance gives such clusters.

    Returns:
        None if fewer than four annotators share ten items with others.

    Reference: Besag & Clifford (1991), doi:10.1093/biomet/78.2.301, for p with early stopping.
    """
    if annotations.annotator is None:
        return None
    generator = np.random.default_rng(seed)
    answers = _chosen(first_answers(annotations), generator)
    if not answers.n_rows:
        return None
    chosen, apart = _as_values(answers)
    shared = common_items(chosen) >= FEWEST_SHARED
    np.fill_diagonal(shared, False)
    values = _agreement(chosen, shared, apart)
    if chosen.n_annotators < FEWEST_ANNOTATORS or not _enough(values):
        return None
    model = _factor_model if isinstance(chosen.scale, Interval) else _truth_model
    simulate = model(chosen, values, generator)
    strengths = _spectrum(values)[0]
    by_chance: list[np.ndarray] = []
    n_as_strong = 0
    while len(by_chance) < n_simulated and n_as_strong < ENOUGH:
        simulated = _agreement(replace(chosen, answer=simulate()), shared, apart)
        by_chance.append(_spectrum(simulated)[0])
        n_as_strong += by_chance[-1][0] >= strengths[0]
    stopped = n_as_strong == ENOUGH
    p = n_as_strong / len(by_chance) if stopped else (n_as_strong + 1) / (len(by_chance) + 1)
    labels = _labels(values, _n_clusters(strengths, np.array(by_chance)))
    names = [str(name) for name in chosen.annotators]
    whole = values if apart is None else np.where(shared, masi_kappa_matrix(answers), np.nan)
    clusters = _clusters(whole, labels, names)
    inside = {name for cluster in clusters for name in cluster.annotators}
    return AnnotatorClusters(
        clusters,
        tuple(name for name in names if name not in inside),
        MEASURES.get(answers.scale.kind, "Cohen's kappa"),
        float(p),
        len(by_chance),
    )


def _chosen(annotations: Annotations, generator: np.random.Generator) -> Annotations:
    """The annotators with most answers, and some items that two of them answered."""
    sizes = annotations.per_annotator()
    codes = np.argsort(-sizes, kind="stable")[:MOST_ANNOTATORS]
    codes = np.sort(codes[sizes[codes] >= FEWEST_SHARED])
    few = annotations.select_annotators(codes, annotations.annotators.take(codes))
    items = np.flatnonzero(few.per_item() >= 2)
    if len(items) > MOST_ITEMS:
        items = np.sort(generator.choice(items, MOST_ITEMS, replace=False))
    return few.select_items(items, few.items.take(items))


def _as_values(annotations: Annotations) -> tuple[Annotations, np.ndarray | None]:
    """Sets as nominal values, and how far apart these are; other answers as they are, and None."""
    if not isinstance(annotations.scale, MultiLabel):
        return annotations, None
    sets, code, counts = np.unique(annotations.answer, return_inverse=True, return_counts=True)
    frequent = sets[np.sort(np.argsort(-counts, kind="stable")[:MOST_SETS])]
    nearest = masi_distance(sets[:, None], frequent[None]).argmin(axis=1)
    scale = Nominal(tuple(map(str, frequent)))
    values = replace(annotations, scale=scale, answer=nearest[code.reshape(-1)])
    return values, masi_distance(frequent[:, None], frequent[None])


def _agreement(
    annotations: Annotations, shared: np.ndarray, apart: np.ndarray | None
) -> np.ndarray:
    """The agreement of each two annotators who share enough items, else nan.

    Args:
        apart: how far apart two values are; any two alike if None.
    """
    ratings = isinstance(annotations.scale, Interval)
    values = correlation_matrix(annotations) if ratings else kappa_matrix(annotations, apart)
    return np.where(shared, values, np.nan)


def _enough(values: np.ndarray) -> bool:
    """Whether most pairs of annotators can be compared."""
    n = len(values)
    return int(np.isfinite(values).sum()) > n * (n - 1) / 2


# ---- clusters ----


def _spectrum(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of the agreement that reliability does not explain.

    The largest first; an eigenvector has different signs for annotators of different clusters.
    """
    weight = _weights(values)
    rest = np.where(np.isfinite(values), values - np.outer(weight, weight), 0.0)
    strengths, vectors = np.linalg.eigh((rest + rest.T) / 2)
    return strengths[::-1][: MOST_CLUSTERS - 1], vectors[:, ::-1][:, : MOST_CLUSTERS - 1]


def _n_clusters(strengths: np.ndarray, by_chance: np.ndarray) -> int:
    """Two, and one more for each further eigenvalue that chance would not give."""
    usual = np.quantile(by_chance, 1 - SIGNIFICANT, axis=0)
    larger = strengths[: len(usual)] > usual
    return 1 + max(1, int(np.cumprod(larger).sum()))


def _labels(values: np.ndarray, n_clusters: int) -> np.ndarray:
    """The cluster of each annotator, from 1; 0 for those who agree no more with theirs."""
    from scipy.cluster.hierarchy import fcluster, linkage

    strengths, vectors = _spectrum(values)
    n = n_clusters - 1
    places = vectors[:, :n] * np.sqrt(np.maximum(strengths[:n], 0.0))
    labels = fcluster(linkage(places, "ward"), n_clusters, "maxclust")
    same = labels[:, None] == labels[None, :]
    weight = _weights(values)
    rest = values - np.outer(weight, weight)
    own = np.array([_mean(row[inside]) for row, inside in zip(rest, same, strict=True)])
    other = np.array([_mean(row[~inside]) for row, inside in zip(rest, same, strict=True)])
    return np.where(own > other, labels, 0)


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


# ---- crowds without clusters ----


def _truth_model(
    annotations: Annotations, values: np.ndarray, generator: np.random.Generator
) -> Callable[[], np.ndarray]:
    """Answers of annotators who are independent given the true value (Dawid and Skene)."""
    with hidden():
        fitted = DawidSkene(iterations=50, tolerance=1e-4, smoothing=0.5).fit(annotations)
    prior = np.cumsum(fitted.prior_)
    annotator = annotations.annotator_codes("clusters")
    counts = np.zeros((annotations.n_annotators, annotations.scale.n_columns, len(prior)))
    np.add.at(counts, (annotator, annotations.answer), fitted.distribution_[annotations.item])
    answered = np.cumsum(_towards_all(counts.transpose(0, 2, 1)), axis=2)

    def simulate() -> np.ndarray:
        drawn = generator.random(annotations.n_items)
        truth = np.searchsorted(prior, drawn * prior[-1], "right").clip(0, len(prior) - 1)
        chances = answered[annotator, truth[annotations.item]]  # (n_rows, n_values)
        limits = generator.random((len(annotator), 1)) * chances[:, -1:]
        return (chances <= limits).sum(axis=1).clip(0, len(prior) - 1)

    return simulate


def _towards_all(counts: np.ndarray) -> np.ndarray:
    """Confusions (n_annotators, true, answered), of few answers drawn towards those of all."""
    pooled = counts.sum(axis=0) + 1e-9
    pooled /= pooled.sum(axis=1, keepdims=True)
    drawn = counts + PRIOR_ANSWERS * pooled
    return np.asarray(drawn / drawn.sum(axis=2, keepdims=True))


def _factor_model(
    annotations: Annotations, values: np.ndarray, generator: np.random.Generator
) -> Callable[[], np.ndarray]:
    """Ratings of annotators who share one factor, each with a weight and an error of their own."""
    weight = _weights(values)
    error = np.sqrt(np.maximum(1.0 - weight**2, 0.0))
    annotator = annotations.annotator_codes("clusters")

    def simulate() -> np.ndarray:
        factor = generator.standard_normal(annotations.n_items)[annotations.item]
        own = generator.standard_normal(len(annotator))
        return np.asarray(weight[annotator] * factor + error[annotator] * own)

    return simulate


def _weights(correlations: np.ndarray, iterations: int = 60) -> np.ndarray:
    """Weights of one factor whose products are the correlations, by least squares."""
    known = np.isfinite(correlations)
    observed = np.where(known, correlations, 0.0)
    weight = np.full(len(observed), max(float(np.nanmean(correlations)), 0.01) ** 0.5)
    for _ in range(iterations):
        squares = known @ weight**2
        new = observed @ weight / np.where(squares > 0, squares, 1.0)
        weight = np.clip((weight + new) / 2, -1.0, 1.0)
    return weight
