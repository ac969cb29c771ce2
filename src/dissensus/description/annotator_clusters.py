"""Clusters of annotators who answer alike, and whether a crowd without camps would give them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from dissensus.agreement import (
    common_items,
    correlation_matrix,
    first_answers,
    kappa_matrix,
    masi_kappa_matrix,
)
from dissensus.annotations import Annotations
from dissensus.description.copied_answers import Duplicated
from dissensus.description.crowd_model import CrowdModel, Parameters
from dissensus.description.suspicious_annotators import AnnotatorDescription, compare_annotators
from dissensus.scales import Interval, MultiLabel

MOST_ANNOTATORS = 40  # those with most answers are clustered
MOST_ITEMS = 1500  # those with most of their answers; fewer if these are more than
MOST_ANSWERS = 20_000  # this
MOST_CLUSTERS = 6
FEWEST_SHARED = 10  # items of two annotators whose agreement counts
FEWEST_MEMBERS = 3  # of a camp: two who deviate alike may have copied from each other
FEWEST_ANNOTATORS = 2 * FEWEST_MEMBERS
SIGNIFICANT = 0.05
CLEAR = 1.645  # standard errors by which a cluster predicts a member better: 5 % by chance
MEASURES = {"interval": "correlation", "multi-label": "Cohen's kappa (MASI)"}  # else Cohen's kappa
ENOUGH = 5  # simulated crowds at least as clustered, after which p is above 0.05
ITERATIONS = 60
AGAIN = 5  # iterations for a simulated crowd, from what it was simulated with
UNRELIABLE = {"at chance", "constant", "contrary"}  # are left out


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

    clusters: tuple[Cluster, ...]  # of two annotators or more, the largest first; only if p <= 0.05
    others: tuple[str, ...]  # annotators of no cluster
    left_out: tuple[str, ...]  # at chance, constant or contrary, and copies of another one
    measure: str
    p: float
    n_simulated: int

    @property
    def significant(self) -> bool:
        return bool(self.clusters)


def cluster_annotators(
    annotations: Annotations,
    n_simulated: int = 99,
    seed: int = 0,
    left_out: Collection[str] | None = None,
) -> AnnotatorClusters | None:
    """Cluster annotators by what they share beyond a common view of items, and test the clusters.

    A model says what each annotator answers if all see the same in an item (`CrowdModel`): it has
    clear, difficult and ambiguous items, strict and lenient annotators, preferences for values and
    reliability. Annotators of one camp deviate from it alike, those of two camps in opposite ways.
    The largest eigenvalue of these correlations says how clustered the annotators are, eigenvectors
    who belongs together.

    The test simulates crowds from the fitted model, fits each of them and compares the eigenvalues:
    given the item, annotators of the null hypothesis answer independently. Annotators who answer at
    random, always the same or contrary, and copies of another one, are left out. Camps have three
    annotators or more: two who deviate alike may have copied some answers. An annotator belongs to
    a cluster only if what its other members see in items predicts the annotator's answers clearly
    better than what the annotators outside see.

    Args:
        n_simulated: crowds at most; fewer if it is soon clear that no camps are needed.
        left_out: names, of `no_members`; found by comparison of the annotators if None.

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
        findings = compare_annotators(_chosen(answers, (), generator))
        left_out = no_members(findings.by_annotator, findings.duplicated)
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
    while len(by_chance) < n_simulated and n_as_strong < ENOUGH:
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


def no_members(rows: Iterable[AnnotatorDescription], duplicated: Iterable[Duplicated]) -> set[str]:
    """Who is in no cluster: annotators who are unreliable, and all but one of those who copied."""
    names = {row.annotator for row in rows if UNRELIABLE & set(row.suspicious)}
    groups: list[set[str]] = []
    for pair in duplicated:
        joined = [group for group in groups if group & set(pair.annotators)]
        groups = [group for group in groups if group not in joined]
        groups.append(set(pair.annotators).union(*joined))
    return names.union(*(sorted(group - names)[1:] for group in groups))


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
