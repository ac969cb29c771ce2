"""How much annotators agree about each item and each value, and each annotator with the others.

An annotator who answered an item twice counts half for each answer.
"""

from __future__ import annotations

import numpy as np

from dissensus.agreement.estimates import (
    BLOCK,
    groups,
    numbers,
    own_disagreement,
    pairs_within,
    ratio,
    repeated_votes,
)
from dissensus.agreement.pair_measures import check_size
from dissensus.annotations import Annotations
from dissensus.annotations.annotations import slices, tally
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, by_value, has_value

# ---- items ----


def item_entropy(annotations: Annotations) -> np.ndarray:
    """The entropy of each item's answers in nats, (n_items,).

    0 is full agreement, ln(n_values) an even spread. Multi-label: of chosen or not, mean over
    the values. nan without answers; ratings have a variance instead.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> item_entropy(Annotations.from_rows(rows)).round(4).tolist()
        [0.6931, 0.0]
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("an entropy is over values; ratings have a variance")
    if isinstance(annotations.scale, MultiLabel):
        share = annotations.distribution()
        return (_surprise(share) + _surprise(1.0 - share)).mean(axis=1)
    n, entropy = annotations.voters(), np.empty(annotations.n_items)
    for items in slices(len(n), max(1, BLOCK // annotations.scale.n_columns)):
        share = ratio(annotations.small_counts[items], n[items, None])
        entropy[items] = _surprise(share).sum(axis=1)
    return entropy


def item_variance(annotations: Annotations) -> np.ndarray:
    """The variance of each item's ratings or levels (at their positions), (n_items,).

    Divided by the number of annotators. nan without answers.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5)]
        >>> item_variance(Annotations.from_rows(rows, Interval(0, 10))).tolist()
        [1.0, 0.0]
    """
    number = numbers(annotations.scale, annotations.answer, "a variance")
    item, votes, n = annotations.item, annotations.votes, annotations.voters().astype(float)
    mean = np.bincount(item, votes * number, minlength=len(n)) / np.maximum(n, 1)
    return ratio(np.bincount(item, votes * (number - mean[item]) ** 2, minlength=len(n)), n)


def majority_share(annotations: Annotations) -> np.ndarray:
    """The share of an item's answers that are its most frequent one, (n_items,).

    Multi-label: of whole sets. nan without answers; ratings are hardly ever equal and refused.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "cleo", "yes")]
        >>> majority_share(Annotations.from_rows(rows)).round(4).tolist()
        [0.6667]
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("a majority is among values; ratings have a variance")
    item, _, times = groups(annotations)
    most = np.zeros(annotations.n_items)
    np.maximum.at(most, item, times)
    return ratio(most, annotations.voters().astype(float))


def _surprise(share: np.ndarray) -> np.ndarray:
    """-p ln p; 0 where p is 0, nan where it is nan."""
    return -share * np.log(np.where(share > 0, share, 1.0))


# ---- annotators ----


def agreement_with_rest(annotations: Annotations) -> np.ndarray:
    """How many of the others' answers to the same item equal one's own, mean over one's items.

    (n_annotators,), 0 to 1; what chance gives is not taken off. Multi-label answers are equal if
    the whole sets are. nan for annotators who share no item. Ratings are hardly ever equal and
    refused: `correlation_with_rest` is for them.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> agreement_with_rest(Annotations.from_rows(rows)).tolist()
        [0.5, 0.5, 0.0]
    """
    annotator = annotations.annotator_codes("agreement with the rest")
    return _mean_by(annotator, *agreement_of_answers(annotations), annotations.n_annotators)


def agreement_of_answers(annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The share of the others' answers to the same item that equal an answer, (n_rows,).

    Also whether there are others, (n_rows,). The mean over an annotator's answers is their
    `agreement_with_rest`.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> agreement_of_answers(Annotations.from_rows(rows))[0].tolist()
        [0.5, 0.5, 0.0]
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("ratings are hardly ever equal; they correlate with the rest")
    values, code = np.unique(annotations.answer, return_inverse=True)
    alike = _votes_alike(annotations.item, code.reshape(-1), annotations.votes)
    own: float | np.ndarray = 1.0
    if annotations.repeated is not None:
        own = _votes_alike(annotations.repeated.pair, code.reshape(-1), annotations.votes)
    n = annotations.voters()[annotations.item]
    return (alike - own) / np.maximum(n - 1, 1), n >= 2


def _votes_alike(group: np.ndarray, code: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """The votes of a row's group for the code of the row, (n_rows,)."""
    key = group.astype(np.int64) * (int(code.max(initial=0)) + 1) + code
    _, place = np.unique(key, return_inverse=True)
    return np.bincount(place.reshape(-1), votes)[place.reshape(-1)]


def leniency(annotations: Annotations) -> np.ndarray:
    """How much higher one rates an item than the others do, mean over one's items.

    (n_annotators,), in the scale's own units, levels at their positions: each rating less the
    mean of the others' ratings of the item. nan for annotators who share no item.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7)]
        >>> leniency(Annotations.from_rows(rows, Interval(0, 10))).tolist()
        [-2.0, 2.0]
    """
    number, rest, shared = _own_and_rest(annotations, "leniency")
    annotator = annotations.annotator_codes("leniency")
    return _mean_by(annotator, number - rest, shared, annotations.n_annotators)


def correlation_with_rest(annotations: Annotations) -> np.ndarray:
    """Pearson's r of one's ratings with the mean of the others' ratings of the same items.

    (n_annotators,). nan where undefined: fewer than two shared items, or one side is constant.

    Example:
        >>> from dissensus import Interval
        >>> rows = [("t1", "ann", 2), ("t1", "bob", 4), ("t2", "ann", 5), ("t2", "bob", 7)]
        >>> correlation_with_rest(Annotations.from_rows(rows, Interval(0, 10))).tolist()
        [1.0, 1.0]
    """
    number, rest, shared = _own_and_rest(annotations, "a correlation with the rest")
    annotator, n = (
        annotations.annotator_codes("a correlation with the rest")[shared],
        annotations.n_annotators,
    )
    sides = number[shared], rest[shared]
    own, others = (side - _mean_by(annotator, side, slice(None), n)[annotator] for side in sides)

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(annotator, values, minlength=n).astype(float, copy=False)

    item, size = annotations.item, np.abs(number)
    size = np.bincount(item, size, minlength=annotations.n_items)[item][shared]
    least = 1e-28 * total(size * size)  # what may be nothing but the rounding of a sum
    spreads = [
        np.where(spread > least, spread, 0.0) for spread in (total(own**2), total(others**2))
    ]
    correlation = ratio(total(own * others), np.sqrt(spreads[0] * spreads[1]))
    return np.clip(correlation, -1.0, 1.0)


def agreement_with_consensus(
    annotations: Annotations, consensus: Annotations | None = None
) -> np.ndarray:
    """The share of one's answers that are the item's consensus, (n_annotators,).

    The consensus of the annotations themselves (majority, median level, values above one half)
    leaves out items where it ties, and includes one's own answer. nan for annotators without an
    item that has a consensus.

    Args:
        consensus: another label per item, such as gold or an aggregate.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> agreement_with_consensus(Annotations.from_rows(rows)).tolist()
        [1.0, 1.0, 0.0]
    """
    if isinstance(annotations.scale, Interval):
        raise DataError("ratings are hardly ever equal to their mean; they have a leniency")
    label, known = _labels(annotations, consensus)
    annotator, item = annotations.annotator_codes("agreement with the consensus"), annotations.item
    equal = (annotations.answer == label[item]).astype(float)
    return _mean_by(annotator, equal, known[item], annotations.n_annotators)


def confusion(annotations: Annotations, consensus: Annotations | None = None) -> np.ndarray:
    """How often each annotator gave which answer to items of which consensus.

    (n_annotators, n_values of the consensus, n_values answered), counts. Items without a
    consensus, or where it ties, are left out.

    Args:
        consensus: another label per item, such as gold or an aggregate; on the
            same scale, and the same items.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> confusion(Annotations.from_rows(rows))[2].tolist()  # cleo: no where the rest says yes
        [[0, 0], [1, 0]]
    """
    scale = annotations.scale
    if not isinstance(scale, Nominal | Ordinal):
        raise DataError(f"a confusion needs nominal or ordinal answers, not {scale.kind}")
    shape = (annotations.n_annotators, len(scale), len(scale))
    check_size(shape, f"the confusion of {shape[0]:,} annotators over {shape[1]:,} values")
    label, known = _labels(annotations, consensus)
    rows = known[annotations.item]
    annotator, item = (
        annotations.annotator_codes("a confusion")[rows].astype(np.int64),
        annotations.item[rows],
    )
    key = (annotator * len(scale) + label[item]) * len(scale) + annotations.answer[rows]
    return np.bincount(key, minlength=int(np.prod(shape))).reshape(shape)


def _labels(
    annotations: Annotations, consensus: Annotations | None
) -> tuple[np.ndarray, np.ndarray]:
    """The label of each item, and whether it has one, (n_items,) each."""
    if consensus is None:
        consensus = annotations.consensus(ties="drop")
    elif consensus.items != annotations.items or consensus.scale != annotations.scale:
        raise DataError("the consensus must be about the same items, on the same scale")
    label = np.zeros(annotations.n_items, dtype=np.int64)
    known = np.zeros(annotations.n_items, dtype=bool)
    label[consensus.item], known[consensus.item] = consensus.answer, True
    return label, known


def _own_and_rest(annotations: Annotations, what: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each rating, the mean of the others' about the item, and whether there are others."""
    annotations.annotator_codes(what)
    number = numbers(annotations.scale, annotations.answer, what)
    n = annotations.voters()
    total = np.bincount(annotations.item, annotations.votes * number, minlength=len(n))
    others = n[annotations.item] - 1
    repeated = annotations.repeated
    own = number if repeated is None else repeated.means(number)[repeated.pair]
    rest = (total[annotations.item] - own) / np.maximum(others, 1)
    return number, rest, others > 0


def _mean_by(
    annotator: np.ndarray, values: np.ndarray, rows: np.ndarray | slice, n: int
) -> np.ndarray:
    """The mean of `values` over these rows for each annotator; nan without rows."""
    size = np.bincount(annotator[rows], minlength=n).astype(float)
    return ratio(
        np.bincount(annotator[rows], values[rows], minlength=n).astype(float, copy=False), size
    )


def with_oneself(annotations: Annotations) -> float:
    """The share of pairs of an annotator's answers to an item that are equal; of ratings, how far
    apart they are on average. nan if nobody answered an item twice.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "ann", "no"), ("t2", "ann", "no"),
        ...         ("t2", "ann", "no")]
        >>> with_oneself(Annotations.from_rows(rows, repeats="keep"))
        0.5
    """
    if annotations.repeated is None:
        return float("nan")
    rows, place, _ = annotations.repeated.several()
    answer, is_rating = annotations.answer[rows], isinstance(annotations.scale, Interval)
    total = n_pairs = 0.0
    for a, b in pairs_within(place):
        of_pairs = np.abs(answer[a] - answer[b]) if is_rating else answer[a] == answer[b]
        total, n_pairs = total + float(of_pairs.sum()), n_pairs + len(a)
    return total / n_pairs


# ---- values ----


def positive_agreement(annotations: Annotations) -> np.ndarray:
    """If one annotator gives a value, how often another one gives it too, (n_values,).

    Also known as specific agreement. Pairs of answers about an item count, those of all items
    together. nan for a value that is never given to an item with two answers.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> positive_agreement(Annotations.from_rows(rows)).round(4).tolist()
        [0.6667, 0.6667]

    Reference: Cicchetti and Feinstein (1990), doi:10.1016/0895-4356(90)90159-M; for several
    annotators, Uebersax (1982), doi:10.1177/001316448204200116.
    """
    chosen, n, undecided = _counts(annotations)
    both = chosen * (chosen - 1) + undecided
    return ratio(both.sum(axis=0), (chosen * (n - 1)).sum(axis=0))


def negative_agreement(annotations: Annotations) -> np.ndarray:
    """If one annotator does not give a value, how often another one does not either.

    As `positive_agreement`; nan for a value that everybody gives.
    """
    chosen, n, undecided = _counts(annotations)
    not_chosen = n - chosen
    both = not_chosen * (not_chosen - 1) + undecided
    return ratio(both.sum(axis=0), (not_chosen * (n - 1)).sum(axis=0))


def alpha_of_values(annotations: Annotations) -> np.ndarray:
    """Krippendorff's alpha of "was this value given?", (n_values,); nan where always or never.

    Example:
        >>> rows = [("t1", "ann", "a"), ("t1", "bob", "a"), ("t2", "ann", "b"),
        ...         ("t2", "bob", "c"), ("t3", "ann", "b"), ("t3", "bob", "b")]
        >>> alpha_of_values(Annotations.from_rows(rows)).round(4).tolist()
        [1.0, 0.4444, 0.0]
    """
    chosen, n, undecided = _counts(annotations)
    apart = ((chosen * (n - chosen) - undecided) / np.maximum(n - 1, 1)).sum(axis=0)
    n_chosen, total = chosen.sum(axis=0), n.sum()
    expected = n_chosen * (total - n_chosen) - undecided.sum(axis=0)
    return 1.0 - ratio(apart * (total - 1), np.where(expected > 1e-13 * total**2, expected, 0.0))


def answers_per_value(annotations: Annotations) -> np.ndarray:
    """How many answers give each value, (n_values,)."""
    scale = annotations.scale
    if not isinstance(scale, MultiLabel):
        return tally(annotations.answer, scale.n_columns, annotations.count)
    weight = annotations.weight
    return np.array([weight @ on for on in by_value(annotations.answer, len(scale))])


def _counts(annotations: Annotations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many annotators give each value (n_items, n_values), how many there are (n_items, 1), and
    how much those who answered twice are undecided (n_items, n_values); of items with two or more.
    """
    scale, answer = annotations.scale, annotations.answer
    if isinstance(scale, Interval):
        raise DataError("agreement by value needs nominal, ordinal or multi-label answers")
    several = isinstance(scale, MultiLabel)
    chosen, n = annotations.marginals() if several else annotations.counts(), annotations.voters()
    undecided = np.zeros((1, chosen.shape[1]))
    if annotations.repeated is not None:

        def differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            if several:
                return has_value(answer[a] ^ answer[b], value)
            return (answer[a] == value) != (answer[b] == value)

        undecided = np.empty_like(chosen)
        for value in range(chosen.shape[1]):
            undecided[:, value] = own_disagreement(annotations, differ) / 2
        undecided = undecided[n >= 2]
    return chosen[n >= 2], n[n >= 2].astype(float)[:, None], undecided


def value_pairs(annotations: Annotations) -> np.ndarray:
    """How often two annotators of an item gave each two values, (n_values, n_values).

    Every annotator of an item counts once, whatever their number.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no")]
        >>> value_pairs(Annotations.from_rows(rows)).tolist()
        [[2.0, 1.0], [1.0, 0.0]]
    """
    n = annotations.voters()
    counts = annotations.counts()[n >= 2]
    per_pair = counts / (n[n >= 2] - 1)[:, None]
    item, votes = repeated_votes(annotations)
    own = votes / (n[item] - 1)[:, None]
    alone = np.diag(per_pair.sum(axis=0) - own.sum(axis=0)) + own.T @ votes
    return np.asarray(per_pair.T @ counts - alone)
