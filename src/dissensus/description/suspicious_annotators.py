"""Each annotator in a row, and who is suspicious.

At chance, contrary, constant, fast, duplicated, or different from the rest: a kind is given only if
chance does not explain it, corrected for the number of annotators (5 % false discoveries, 1 % for
duplicated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dissensus.agreement import (
    AgainstRest,
    against_rest,
    false_discovery,
    first_answers,
    ratings_against_rest,
)
from dissensus.annotations import Annotations
from dissensus.description.copied_answers import Duplicated, duplicated
from dissensus.description.texts import value_text
from dissensus.scales import Interval, Nominal, Ordinal

FEW = 10  # annotators with fewer answers are not checked
LEVEL = 0.05  # of all tests of one kind together
MOST_ROUNDS = 20


@dataclass(frozen=True)
class Constant:
    """An annotator who always gave the same answer."""

    annotator: str
    value: str
    answers: int
    chance: float  # of giving only this value when answering like others on the same items


@dataclass(frozen=True)
class Fast:
    """An annotator whose median answer took less than a third of the usual time."""

    annotator: str
    answers: int
    seconds: float  # the annotator's median
    usual: float  # the median annotator's


@dataclass(frozen=True)
class AnnotatorDescription:
    """An annotator's answers to one question, compared with the rest.

    The rest are the annotators who are not at chance, contrary or constant themselves, one of each
    group of duplicates. nan where undefined.
    """

    annotator: str
    answers: int
    items: int  # that others of the rest answered too
    agreement: float  # share of the others' answers that are equal; nan for ratings
    agreement_low: float  # 95 % interval
    agreement_high: float
    correlation: float  # with the mean of the others; nan for values without order
    correlation_low: float
    correlation_high: float
    kappa: float  # agreement with one of the others beyond chance
    kappa_low: float
    kappa_high: float
    leniency: float  # how much higher than the others; nan for values without order
    most_frequent: str  # answer
    share: float  # of the most frequent answer
    seconds: float  # median
    suspicious: tuple[str, ...]  # kinds
    evidence: tuple[str, ...]  # a line for each kind


@dataclass(frozen=True, eq=False)
class AnnotatorFindings:
    """All annotators with answers, the suspicious ones first, then the least agreement."""

    rows: list[AnnotatorDescription]
    checked: int  # annotators with enough answers
    constant: list[Constant]
    fast: list[Fast]
    duplicated: list[Duplicated]


def compare_annotators(annotations: Annotations) -> AnnotatorFindings:
    """Compare every annotator with the rest, and say who is suspicious."""
    annotations = first_answers(annotations)
    by_annotator = _ByAnnotator.of(annotations)
    everyone = np.arange(annotations.n_annotators)
    copies, same = duplicated(annotations, FEW) if annotations.n_rows else ([], everyone)
    constant, fast = by_annotator.constant(), by_annotator.fast()
    named = _Named.of(annotations, same, {entry.annotator for entry in constant})
    codes = by_annotator.codes
    statistics = _statistics(annotations, named, codes)
    kinds = _kinds(annotations, named, constant, fast, copies)
    frequent, share = by_annotator.most_frequent()
    columns = {
        "answers": by_annotator.sizes.tolist(),
        **statistics,
        "most_frequent": frequent,
        "share": share.tolist(),
        "seconds": by_annotator.seconds()[0].tolist(),
    }
    names = annotations.annotators.array.take(codes).to_pylist()
    rows = [
        AnnotatorDescription(
            name, **dict(zip(columns, cells, strict=True)), suspicious=(), evidence=()
        )
        for name, *cells in zip(names, *columns.values(), strict=True)
    ]
    rows = [replace(row, suspicious=tuple(kinds.get(row.annotator, {}))) for row in rows]
    rows = _with_evidence(annotations, rows, kinds)
    rows.sort(key=_order)
    checked = int((by_annotator.sizes >= FEW).sum())
    return AnnotatorFindings(rows, checked, constant, fast, copies)


def _order(row: AnnotatorDescription) -> tuple[Any, ...]:
    undefined = math.isnan(row.kappa)
    return (not row.suspicious, undefined, 0.0 if undefined else round(row.kappa, 9))


@dataclass(frozen=True, eq=False)
class _Named:
    """Who is at chance, contrary or different from the rest, (n_annotators,) each."""

    compared: AgainstRest
    reference: np.ndarray  # who the rest are
    same: np.ndarray
    contrary: np.ndarray
    at_chance: np.ndarray
    different: np.ndarray

    @classmethod
    def of(cls, annotations: Annotations, same: np.ndarray, constant: set[str]) -> _Named:
        """Leave the worst out of the rest, compare again, and so on until nobody else is named.

        An annotator is named who agrees less than halfway between chance and what is usual; or
        less than two thirds of the way, if kappa may be 0. Contrary annotators are left out
        first: where there are few annotators, they make the others look as if these were at
        chance.
        """
        n = annotations.n_annotators
        answered = annotations.per_annotator() > 0
        free = answered.copy()
        if constant:
            free[annotations.annotators.codes(sorted(constant))] = False
        first = np.zeros(n, dtype=bool)
        groups, at = np.unique(same[free], return_index=True)
        first[np.flatnonzero(free)[at]] = True
        named = np.zeros(n, dtype=bool)
        for _ in range(MOST_ROUNDS):
            compared = against_rest(annotations, first & ~named, same)
            tested = free & ~named & (compared.items >= FEW)
            if np.count_nonzero(first & ~named) < 3:
                break
            half = _margin(compared.items) * compared.kappa_error
            worse = tested & _significant(compared.above_chance, compared.items, tested)
            if not worse.any():
                worse = tested & _significant(compared.above_third, compared.items, tested)
                worse &= ~(compared.kappa - half > 0)
                worse |= tested & _significant(compared.above_half, compared.items, tested)
            if not worse.any():
                break
            named |= worse
        half = _margin(compared.items) * compared.kappa_error
        contrary = named & (compared.kappa + half < 0)
        at_chance = named & ~contrary & ~(compared.kappa - half > 0)
        outliers = _outliers(compared, tested & ~named)
        different = outliers | (named & ~contrary & ~at_chance)
        return cls(compared, first & ~named, same, contrary, at_chance, different)


def _significant(errors: np.ndarray, items: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """Whether a mean lies above 0 by so many standard errors, corrected for all who are tested."""
    from scipy.special import stdtr

    p_values = np.full(len(errors), np.nan)
    p_values[tested] = stdtr(items[tested] - 1, -errors[tested])
    return np.asarray(false_discovery(p_values) < LEVEL)


def _margin(items: np.ndarray) -> np.ndarray:
    """Half the width of a 95 % interval in standard errors."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(items - 1, 1), 0.975))


def _outliers(compared: AgainstRest, tested: np.ndarray) -> np.ndarray:
    """Who disagrees more than the others do among themselves, beyond what these differ by.

    The excess of each annotator is compared with the mean of all others. Its variance is that of
    the annotator's own items plus the variance between the others. Outliers are left out of the
    others, and all are compared again.
    """
    from scipy.special import stdtr

    outliers = np.zeros(len(tested), dtype=bool)
    for _ in range(MOST_ROUNDS):
        codes = np.flatnonzero(tested & ~outliers & np.isfinite(compared.excess_error))
        n = len(codes)
        if n < 4:
            break
        excess, noise = compared.excess[codes], compared.excess_error[codes] ** 2
        mean = (excess.sum() - excess) / (n - 1)
        squares = (excess**2).sum() - excess**2 - (n - 1) * mean**2
        between = squares / (n - 2) - (noise.sum() - noise) / (n - 1)
        between = np.maximum(between, 0.0)
        error = np.sqrt(noise + between + (between + noise.mean()) / (n - 1))
        freedom = np.minimum(compared.items[codes] - 1, n - 2)
        errors = np.divide(excess - mean, error, out=np.zeros(n), where=error > 0)
        new = codes[false_discovery(stdtr(freedom, -errors)) < LEVEL]
        if not new.size:
            break
        outliers[new] = True
    return outliers


def _statistics(
    annotations: Annotations, named: _Named, codes: np.ndarray
) -> dict[str, list[float]]:
    """The columns of `AnnotatorDescription` that compare annotators with the rest."""
    compared, undefined = named.compared, np.full(annotations.n_annotators, np.nan)
    items, scale = compared.items, annotations.scale
    half = _margin(items) * compared.kappa_error
    half = np.where(half > 1e-9, half, np.nan)  # nothing varies
    agreement = low = high = correlation = leniency = undefined
    if not isinstance(scale, Interval):
        equal = compared
        if not isinstance(scale, Nominal):
            equal = against_rest(annotations, named.reference, named.same, equal=True)
        agreement = 1.0 - equal.observed
        low, high = _share_interval(agreement, equal.observed_error, items)
    if isinstance(scale, Interval | Ordinal):
        correlation, leniency = ratings_against_rest(annotations, named.reference, named.same)
    ends = _correlation_interval(correlation, items)
    columns = {
        "items": items.astype(int),
        "agreement": agreement,
        "agreement_low": low,
        "agreement_high": high,
        "correlation": correlation,
        "correlation_low": ends[0],
        "correlation_high": ends[1],
        "kappa": compared.kappa,
        "kappa_low": np.clip(compared.kappa - half, -1.0, 1.0),
        "kappa_high": np.clip(compared.kappa + half, -1.0, 1.0),
        "leniency": leniency,
    }
    return {name: column[codes].tolist() for name, column in columns.items()}


def _share_interval(
    share: np.ndarray, error: np.ndarray, items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's 95 % interval of a mean of shares; as many trials as its standard error says."""
    variance = np.where(error > 0, error**2, np.nan)
    trials = np.fmax(np.divide(share * (1 - share), variance), items)
    z = 1.959964
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
        half = z * np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
        half = half / (1 + z**2 / trials)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _correlation_interval(r: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fisher's 95 % interval; nan with fewer than four items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        half = 1.959964 / np.sqrt(np.where(items > 3, items - 3, np.nan))
        middle = np.arctanh(r)
        return np.tanh(middle - half), np.tanh(middle + half)


# ---- kinds and evidence ----


def _kinds(
    annotations: Annotations,
    named: _Named,
    constant: list[Constant],
    fast: list[Fast],
    copies: list[Duplicated],
) -> dict[str, dict[str, str | None]]:
    """The kinds of each suspicious annotator, with evidence; None: the comparison with the rest."""
    kinds: dict[str, dict[str, str | None]] = {}
    for kind, mask in (
        ("contrary", named.contrary),
        ("at chance", named.at_chance),
        ("different", named.different),
    ):
        for code in np.flatnonzero(mask):
            kinds.setdefault(str(annotations.annotators[code]), {})[kind] = None
    for odd in constant:
        text = f"{odd.value} in all {odd.answers:,} answers (by chance {odd.chance:.1g})"
        kinds.setdefault(odd.annotator, {})["constant"] = text
    for quick in fast:
        text = f"median {quick.seconds:.3g} s, usual {quick.usual:.3g} s"
        kinds.setdefault(quick.annotator, {})["fast"] = text
    for pair in copies:
        for name, other in (pair.annotators, pair.annotators[::-1]):
            text = (
                f"the same answer as {other} to {pair.answers:,} of {pair.items:,} items, "
                f"to {pair.unusual:,} of them unlike most others (by chance {pair.chance:.1g})"
            )
            kinds.setdefault(name, {}).setdefault("duplicated", text)
    return kinds


def _with_evidence(
    annotations: Annotations,
    rows: list[AnnotatorDescription],
    kinds: dict[str, dict[str, str | None]],
) -> list[AnnotatorDescription]:
    ratings = isinstance(annotations.scale, Interval)
    usual = [row for row in rows if not row.suspicious and row.items >= FEW]
    others = _range([row.correlation if ratings else row.agreement for row in usual])
    biases = [abs(row.leniency) for row in usual]

    def text(row: AnnotatorDescription) -> str:
        verb, value = ("correlates", row.correlation) if ratings else ("agrees", row.agreement)
        line = f"{verb} {value:.2f} with the rest" + (f", others {others}" if others else "")
        line += f"; kappa {row.kappa:.2f} [{row.kappa_low:.2f}, {row.kappa_high:.2f}]"
        if biases and abs(row.leniency) > max(biases):
            side = "higher" if row.leniency > 0 else "lower"
            line += f"; rates {abs(row.leniency):.2g} {side} than the rest"
        return line

    return [
        replace(
            row,
            evidence=tuple(
                text(row) if line is None else line for line in kinds[row.annotator].values()
            ),
        )
        if row.suspicious
        else row
        for row in rows
    ]


def _range(values: list[float]) -> str:
    """The range of these values; of the middle 90 % if there are many."""
    known = np.array([value for value in values if not math.isnan(value)])
    if not known.size:
        return ""
    low, high = np.quantile(known, [0.05, 0.95]) if len(known) > 20 else (known.min(), known.max())
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}-{high:.2f}"


# ---- one annotator alone ----


@dataclass(frozen=True, eq=False)
class _ByAnnotator:
    """The rows of a question, sorted by annotator."""

    annotations: Annotations
    order: np.ndarray  # (n_rows,) rows, one annotator after another
    starts: np.ndarray  # (n_with_answers,) where each begins in `order`
    codes: np.ndarray  # (n_with_answers,) annotators with answers
    sizes: np.ndarray  # (n_with_answers,) their answers
    answer: np.ndarray  # (n_rows,) codes of `values`, in order of rows
    values: np.ndarray  # the different answers

    @classmethod
    def of(cls, annotations: Annotations) -> _ByAnnotator:
        annotator = annotations.annotator_codes("a table of annotators")
        order = np.argsort(annotator, kind="stable")
        codes, starts, sizes = np.unique(annotator[order], return_index=True, return_counts=True)
        values, answer = np.unique(annotations.answer, return_inverse=True)
        return cls(annotations, order, starts, codes, sizes, answer.reshape(-1), values)

    def name(self, place: Any) -> str:
        return str(self.annotations.annotators[self.codes[place]])

    def _value_texts(self, codes: np.ndarray) -> list[str]:
        return [value_text(value) for value in self.annotations.scale.decode(self.values[codes])]

    def most_frequent(self) -> tuple[list[str], np.ndarray]:
        """The most frequent answer of each annotator, and its share."""
        if not len(self.codes):
            return [], np.zeros(0)
        n_values = len(self.values)
        place = np.repeat(np.arange(len(self.codes)), self.sizes)
        keys, times = np.unique(place * n_values + self.answer[self.order], return_counts=True)
        place, answer = np.divmod(keys, n_values)
        best = np.lexsort((answer, -times, place))
        best = best[np.flatnonzero(np.diff(place[best], prepend=-1))]
        return self._value_texts(answer[best]), times[best] / self.sizes

    def constant(self) -> list[Constant]:
        """Annotators who gave one value only where others would not, the least likely first."""
        if not len(self.codes):
            return []
        ordered = self.answer[self.order]
        low = np.minimum.reduceat(ordered, self.starts)
        high = np.maximum.reduceat(ordered, self.starts)
        item = self.annotations.item.astype(np.int64)
        n = len(self.values)
        _, group, times = np.unique(item * n + self.answer, return_inverse=True, return_counts=True)
        share = np.bincount(self.answer, minlength=n) / len(self.answer)
        size = np.bincount(item)[item]
        alike = (times[group.reshape(-1)] - 1 + share[self.answer]) / size  # all answers add one
        chance = np.exp(np.add.reduceat(np.log(alike)[self.order], self.starts))
        odd = np.flatnonzero((low == high) & (self.sizes >= FEW))
        unlikely = chance[odd] * np.count_nonzero(self.sizes >= FEW) < LEVEL
        odd = odd[unlikely][np.argsort(chance[odd[unlikely]], kind="stable")]
        return [
            Constant(self.name(p), value, int(self.sizes[p]), float(chance[p]))
            for p, value in zip(odd, self._value_texts(low[odd]), strict=True)
        ]

    def seconds(self) -> tuple[np.ndarray, np.ndarray]:
        """The median time of each annotator, and how many answers have a time."""
        medians, sizes = np.full(len(self.codes), np.nan), np.zeros(len(self.codes), dtype=int)
        if self.annotations.seconds is None:
            return medians, sizes
        timed = self.annotations.take(np.isfinite(self.annotations.seconds))
        annotator, seconds = timed.annotator_codes("times"), timed.seconds
        assert seconds is not None
        seconds = seconds[np.lexsort((seconds, annotator))]
        size = np.bincount(annotator, minlength=timed.n_annotators)
        first = np.cumsum(size) - size
        there = size[self.codes] > 0
        codes = self.codes[there]
        low = seconds[first[codes] + (size[codes] - 1) // 2]
        high = seconds[first[codes] + size[codes] // 2]
        medians[there], sizes = (low + high) / 2, size[self.codes]
        return medians, sizes

    def fast(self) -> list[Fast]:
        """Annotators below a third of the usual time, and below others' spread; fastest first."""
        from scipy.special import ndtri

        medians, sizes = self.seconds()
        enough = np.flatnonzero((sizes >= FEW) & (medians >= 0))
        if not enough.size:
            return []
        logarithm = np.log(np.maximum(medians[enough], 1e-9))
        usual = float(np.median(logarithm))
        spread = 1.4826 * float(np.median(np.abs(logarithm - usual)))  # as of a normal distribution
        limit = usual + spread * float(ndtri(LEVEL / len(enough)))
        median = float(np.median(medians[enough]))
        odd = enough[(medians[enough] < median / 3) & (logarithm < limit)]
        return [
            Fast(self.name(p), int(sizes[p]), float(medians[p]), median)
            for p in odd[np.argsort(medians[odd], kind="stable")]
        ]
