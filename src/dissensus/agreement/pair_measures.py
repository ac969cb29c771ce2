"""Agreement of two annotators, for every pair: kappas and correlations, and their means."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dissensus.agreement.estimates import (
    UNKNOWN,
    Estimate,
    Formula,
    ratio,
)
from dissensus.agreement.pairs import (
    DENSE,
    PairMeasure,
    Pairs,
    kappas_of_tables,
    pair_tables,
    prepare_kappa_of_block,
)
from dissensus.agreement.weights import Weights, disagreement, masi_distance, numbers
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import MultiLabel, Nominal, has_value

BINARY = 1.0 - np.eye(2)

MOST_SETS = 5_000  # different ones, of which each two are compared


# ---- kappas ----


def cohen_kappa(
    annotations: Annotations, first: str, second: str, weights: Weights = None
) -> float:
    """Agreement of two annotators on the items both answered, beyond chance.

    1 is perfect agreement, 0 what their own shares of answers would give by chance. nan where
    undefined: they have no item in common, or both always gave one and the same answer.

    Args:
        first, second: the names of two annotators.
        weights: None for nominal answers; a name such as "linear" for levels of an ordinal
            scale (`disagreement` has all names); or distances between values, (n_values, n_values).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(cohen_kappa(Annotations.from_rows(rows), "ann", "bob"), 4)
        0.4

    Reference: Cohen (1960), doi:10.1177/001316446002000104; weighted: Cohen (1968),
    doi:10.1037/h0026256.
    """
    return float(kappa_matrix(two(annotations, first, second), weights)[0, 1])


def kappa_matrix(annotations: Annotations, weights: Weights = None) -> np.ndarray:
    """Cohen's kappa of every pair of annotators, (n_annotators, n_annotators).

    The diagonal is 1. nan where undefined: no common items, or both always gave one and the same
    answer. Pairs with few common items are noisy; `common_items` says how many they have. If one
    answered an item twice, both answers are compared with the other's.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> kappa_matrix(Annotations.from_rows(rows)).round(4).tolist()
        [[1.0, 0.4], [0.4, 1.0]]
    """
    n_annotators, n_values = annotations.n_annotators, annotations.scale.n_columns
    width = n_annotators * n_values  # of a small table, kernels take longer to load than to run
    if annotations.repeats or width * max(annotations.n_items, width) > DENSE:
        return prepare_mean_kappa(annotations, weights).matrix()
    apart = disagreement(weights, annotations.scale, "Cohen's kappa")
    tables = pair_tables(annotations).reshape(n_annotators**2, n_values, n_values)
    kappas = kappas_of_tables(tables, apart).reshape(n_annotators, n_annotators)
    np.fill_diagonal(kappas, 1.0)
    return kappas


def mean_kappa(annotations: Annotations, weights: Weights = None) -> float:
    """Cohen's kappa, mean over the pairs of annotators that have one (Light's kappa).

    Every pair counts the same. nan where no pair has one.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(mean_kappa(Annotations.from_rows(rows)), 4)
        0.4

    Reference: Light (1971), doi:10.1037/h0031643.
    """
    return prepare_mean_kappa(annotations, weights).value()


def prepare_mean_kappa(
    annotations: Annotations, weights: Weights = None, pooled: bool = False
) -> PairMeasure:
    """Kappa of each pair; `pooled`: with one share of answers for both, as Scott has it."""
    what = "Scott's pi" if pooled else "Cohen's kappa"
    apart = disagreement(weights, annotations.scale, what)
    return Pairs.of(annotations, what).kappas(annotations.answer, apart, pooled)


def two(annotations: Annotations, first: str, second: str) -> Annotations:
    """Only the answers of these two annotators."""
    codes = annotations.annotators.codes([first, second], "annotator")
    return annotations.select_annotators(codes, Names([first, second]))


def cohen_formula(annotations: Annotations, weights: Weights = None) -> Formula:
    """The standard error of Cohen's kappa, if there are only two annotators; p is exact to the
    null hypothesis.

    Reference: Fleiss, Cohen and Everitt (1969), doi:10.1037/h0028106.
    """
    table = _two_annotators(annotations)
    if table is None:
        return UNKNOWN
    agree = 1.0 - disagreement(weights, annotations.scale, "Cohen's kappa")
    n = table.sum()
    share = table / n
    own, other = share.sum(axis=1), share.sum(axis=0)
    product = own[:, None] * other
    observed, chance = (share * agree).sum(), (product * agree).sum()
    if not 1.0 - chance > 1e-12:
        return UNKNOWN
    kappa = (observed - chance) / (1.0 - chance)
    margin = (agree @ other)[:, None] + own @ agree
    spread = (share * (agree - margin * (1 - kappa)) ** 2).sum()
    error = math.sqrt(
        max(spread - (kappa - chance * (1 - kappa)) ** 2, 0.0) / n / (1 - chance) ** 2
    )
    null = ((product * (agree - margin) ** 2).sum() - chance**2) / n / (1 - chance) ** 2
    half = 1.959963984540054 * error  # of a normal distribution
    test, p = "", math.nan
    if null > 0:
        z = kappa / math.sqrt(null)
        test, p = f"z = {z:.4g}", math.erfc(abs(z) / math.sqrt(2))
    return Formula(error, kappa - half, min(kappa + half, 1.0), test, p)


def _two_annotators(annotations: Annotations) -> np.ndarray | None:
    """How often two annotators gave each two values; None if there are more, or repeats."""
    answering = np.unique(annotations.annotator_codes("Cohen's kappa"))
    if len(answering) != 2 or annotations.repeated is not None:
        return None
    pair = annotations.select_annotators(answering, annotations.annotators.take(answering))
    table = prepare_kappa_of_block(pair).totals()[0][1]
    return table if table.any() else None


def scott_pi(annotations: Annotations, first: str, second: str, weights: Weights = None) -> float:
    """Agreement of two annotators on the items both answered, beyond chance.

    As Cohen's kappa, but chance takes the answers of both together: two annotators who lean to
    different answers have a lower pi than kappa. nan where undefined: no item in common, or both
    always gave one and the same answer. For more annotators at once there is `fleiss_kappa`.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(scott_pi(Annotations.from_rows(rows), "ann", "bob"), 4)
        0.3333

    Reference: Scott (1955), doi:10.1086/266577.
    """
    return float(pi_matrix(two(annotations, first, second), weights)[0, 1])


def pi_matrix(annotations: Annotations, weights: Weights = None) -> np.ndarray:
    """Scott's pi of every pair of annotators, (n_annotators, n_annotators); 1 on the diagonal."""
    return prepare_mean_kappa(annotations, weights, pooled=True).matrix()


def mean_pi(annotations: Annotations, weights: Weights = None) -> float:
    """Scott's pi, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_mean_kappa(annotations, weights, pooled=True).value()


# ---- of multi-label answers ----


def kappa_per_value(annotations: Annotations) -> dict[str, float]:
    """Cohen's kappa of "was this value chosen?", mean over pairs of annotators, by value.

    nan for a value where no pair has a kappa: one that is always chosen, or never.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> kappas = kappa_per_value(Annotations.from_rows(rows, scale))
        >>> {value: round(kappa, 4) for value, kappa in kappas.items()}
        {'joy': 1.0, 'fear': 0.4}
    """
    means = [kappas.value() for kappas in _each_value(annotations)]
    return dict(zip(_scale(annotations).values, means, strict=True))


def mean_kappa_per_value(annotations: Annotations) -> float:
    """The mean of `kappa_per_value` over the values that have one.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> round(mean_kappa_per_value(Annotations.from_rows(rows, scale)), 4)
        0.7

    Reference: SeedBERT's agreement on a multiple-selection question: each emotion a binary
    question, kappa averaged over emotions.
    """
    return prepare_mean_kappa_per_value(annotations).value()


def kappa_of_any(annotations: Annotations) -> float:
    """Cohen's kappa of "was anything chosen at all?", mean over pairs of annotators.

    nan where no pair has a kappa, as where no answer is empty.
    """
    return prepare_kappa_of_any(annotations).value()


def masi_kappa_matrix(annotations: Annotations) -> np.ndarray:
    """Cohen's kappa of every pair of annotators, weighted by how far apart two sets are (MASI).

    (n_annotators, n_annotators). 1 is perfect agreement, 0 what the shares of their sets would give
    by chance; sets that overlap disagree in part. nan where undefined, as of `kappa_matrix`.

    Example:
        >>> scale = MultiLabel(("joy", "fear"))
        >>> rows = [("t1", "ann", "joy"), ("t1", "bob", "joy, fear"), ("t2", "ann", "fear"),
        ...         ("t2", "bob", "fear"), ("t3", "ann", ""), ("t3", "bob", "")]
        >>> masi_kappa_matrix(Annotations.from_rows(rows, scale)).round(4).tolist()
        [[1.0, 0.6842], [0.6842, 1.0]]

    Reference: Passonneau (2006), Measuring agreement on set-valued items (MASI) for semantic and
    pragmatic annotation; Cohen (1968), doi:10.1037/h0026256.
    """
    _scale(annotations)
    empty = np.zeros(1, dtype=annotations.answer.dtype)  # a scale needs a value
    sets = np.unique(np.concatenate([annotations.answer, empty]))
    if len(sets) > MOST_SETS:
        raise DataError(
            f"kappa of sets compares all pairs of sets, {len(sets):,} different ones are more than "
            f"{MOST_SETS:,}; select fewer annotators or items"
        )
    code = np.searchsorted(sets, annotations.answer)
    named = replace(annotations, scale=Nominal(tuple(map(str, sets))), answer=code)
    return kappa_matrix(named, masi_distance(sets[:, None], sets[None]))


def prepare_kappa_of_any(annotations: Annotations) -> PairMeasure:
    """`kappa_of_any`, prepared to leave out items."""
    _scale(annotations)
    return Pairs.of(annotations, "kappa").kappas((annotations.answer != 0).astype(np.uint8), BINARY)


def prepare_mean_kappa_per_value(annotations: Annotations) -> Estimate:
    """`mean_kappa_per_value`, prepared to leave out items."""
    return _MeanOverValues(_each_value(annotations))


@dataclass(frozen=True, eq=False)
class _MeanOverValues:
    """The mean of the kappas that are defined (an `Estimate`)."""

    each: list[PairMeasure]  # one for each value

    def value(self) -> float:
        return float(_mean(np.array([[kappas.value()] for kappas in self.each]))[0])

    def without_each(self) -> np.ndarray:
        return _mean(np.stack([kappas.without_each() for kappas in self.each]))


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean over rows of what is defined, (n_columns,); nan where nothing is."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))


def _each_value(annotations: Annotations) -> list[PairMeasure]:
    scale = _scale(annotations)
    pairs = Pairs.of(annotations, "kappa per value")
    return [pairs.kappas(has_value(annotations.answer, v), BINARY) for v in range(len(scale))]


def _scale(annotations: Annotations) -> MultiLabel:
    if not isinstance(annotations.scale, MultiLabel):
        raise DataError(f"kappa per value needs multi-label answers, not {annotations.scale.kind}")
    return annotations.scale


# ---- correlations ----


def correlation_matrix(annotations: Annotations) -> np.ndarray:
    """Pearson's r of every pair of annotators on the items both rated, (n_annotators,) * 2.

    Levels are read at their positions. Leniency does not count: an annotator who rates everything
    two points higher has r = 1. The diagonal is 1; nan where undefined: fewer than two common
    items, or one of the two always gave the same rating of them.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> correlation_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return prepare_correlation(annotations).matrix()


def concordance_matrix(annotations: Annotations) -> np.ndarray:
    """Lin's concordance of every pair of annotators on the items both rated.

    Unlike a correlation it falls when an annotator rates higher, or uses more of the scale. The
    diagonal is 1; nan where undefined: fewer than two common items, or both constant.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 8)]
        >>> concordance_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.5909], [0.5909, 1.0]]

    Reference: Lin (1989), doi:10.2307/2532051; variances divided by n, as there.
    """
    return prepare_correlation(annotations, concordance=True).matrix()


def mean_correlation(annotations: Annotations) -> float:
    """Pearson's r, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_correlation(annotations).value()


def mean_concordance(annotations: Annotations) -> float:
    """Lin's concordance, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_correlation(annotations, concordance=True).value()


def spearman_matrix(annotations: Annotations) -> np.ndarray:
    """Spearman's rho of every pair of annotators on the items both rated, (n_annotators,) * 2.

    How far apart ratings are does not count, only their order. The diagonal is 1; nan where
    undefined: fewer than two common items, or one of the two always gave the same rating of them.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 6)]
        >>> spearman_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.5], [0.5, 1.0]]

    Reference: Spearman (1904), doi:10.2307/1412159.
    """
    return prepare_rank_correlation(annotations).matrix()


def kendall_matrix(annotations: Annotations) -> np.ndarray:
    """Kendall's tau-b of every pair of annotators, as `spearman_matrix`.

    Pairs of items that both order alike, less those they order differently; ties are corrected.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7),
        ...         ("t3", "ann", 6), ("t3", "bob", 6)]
        >>> kendall_matrix(Annotations.from_rows(rows, Interval(0, 10))).round(4).tolist()
        [[1.0, 0.3333], [0.3333, 1.0]]

    Reference: Kendall (1945), doi:10.1093/biomet/33.3.239.
    """
    return prepare_rank_correlation(annotations, kendall=True).matrix()


def mean_spearman(annotations: Annotations) -> float:
    """Spearman's rho, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_rank_correlation(annotations).value()


def mean_kendall(annotations: Annotations) -> float:
    """Kendall's tau-b, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_rank_correlation(annotations, kendall=True).value()


def prepare_correlation(annotations: Annotations, concordance: bool = False) -> PairMeasure:
    """Pearson's r or Lin's concordance of each pair."""
    what = "a concordance" if concordance else "a correlation"
    number = numbers(annotations.scale, annotations.answer, what)
    return Pairs.of(annotations, what).correlations(number, concordance)


def prepare_rank_correlation(annotations: Annotations, kendall: bool = False) -> PairMeasure:
    """Spearman's rho or Kendall's tau-b of each pair."""
    number = numbers(annotations.scale, annotations.answer, "a rank correlation")
    return Pairs.of(annotations, "a rank correlation").rank_correlations(number, kendall)
