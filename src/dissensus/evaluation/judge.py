"""Whether another system, such as an LLM, agrees with the annotators as well as they do.

Each annotator is left out in turn, and the system is compared with the remaining ones in their
place: on the same items, against the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dissensus.agreement.estimates import or_none
from dissensus.annotations import Annotations
from dissensus.errors import DataError, counted
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Ordinal, set_sizes

FEWEST_ITEMS = 30  # of an annotator who is tested
FALSE_DISCOVERIES = 0.05
NEEDED = 0.5  # winning rate
EQUAL = 1e-9  # scores that differ by rounding
MARGINS = {"experts": 0.2, "trained annotators": 0.15, "crowd workers": 0.1}


@dataclass(frozen=True)
class InPlaceOf:
    """The system compared with one annotator, against the answers of all others."""

    annotator: str
    items: int  # with answers by the annotator, by the system, and by another annotator
    agreement: float  # of the annotator with the others
    system_agreement: float  # of the system with them
    advantage: float  # share of items on which the system agrees at least as well
    loss: float  # share on which the annotator does, less `advantage`; compared with the margin
    p: float  # that it is worse by the margin or more; nan with fewer than FEWEST_ITEMS items
    replaced: bool  # whether the test shows that it is not


@dataclass(frozen=True)
class Judgement:
    """How a system agrees with annotators, beside each annotator's own agreement.

    Agreement with the others is, for an item, the share of them with the same answer; of sets, the
    mean Jaccard index; of levels and ratings, the negative root of the mean squared difference.
    """

    question: str
    measure: str
    items: int
    system_agreement: float  # mean over items
    difference: float  # from the annotators in whose place it is, mean over items
    low: float  # 95 % interval over items
    high: float
    margin: float
    annotators: tuple[InPlaceOf, ...]  # the most agreeing first
    constant: Any  # the most frequent answer; of levels the median, of ratings the mean
    constant_winning_rate: float  # of a system that always gives it

    @property
    def tested(self) -> list[InPlaceOf]:
        """Annotators with enough items."""
        return [one for one in self.annotators if not math.isnan(one.p)]

    @property
    def winning_rate(self) -> float:
        """The share of tested annotators whom the system may replace; nan without any."""
        return _winning_rate(self.annotators)

    @property
    def passed(self) -> bool:
        """Whether the system passes the alternative annotator test."""
        return len(self.tested) > 1 and self.winning_rate >= NEEDED

    @property
    def advantage(self) -> float:
        """The mean advantage over annotators, which compares systems on the same answers."""
        return float(np.mean([one.advantage for one in self.annotators]))

    def sentences(self) -> list[str]:
        """What was found, for people."""
        own = np.array([one.agreement for one in self.annotators])
        better = sum(one.system_agreement > one.agreement + EQUAL for one in self.annotators)
        known = "no difference is shown" if self.low <= 0 <= self.high else "a difference is shown"
        lines = [
            f"{self.measure} on {counted(self.items, 'item')}: system "
            f"{abs(self.system_agreement):.3f}, median annotator {abs(np.median(own)):.3f}, "
            f"annotators {abs(own.max()):.3f} to {abs(own.min()):.3f}; better than {better} of "
            f"{len(own)}",
            f"in place of an annotator: {self.difference:+.3f} [{self.low:+.3f}, {self.high:+.3f}] "
            f"agreement (95 % CI over items), {known}",
        ]
        tested = self.tested
        if len(tested) < 2:
            lines.append(
                f"alternative annotator test: not possible, {len(tested)} of {len(own)} annotators "
                f"have {FEWEST_ITEMS} items that the system and another annotator answered"
            )
            return lines
        replaced = sum(one.replaced for one in tested)
        verdict = "passed: the system may answer instead of an annotator"
        if not self.passed:
            verdict = "not passed: it is not shown that the system may answer for an annotator"
        lines.append(
            f"alternative annotator test, margin {self.margin:g}: not worse than {replaced} of "
            f"{len(tested)} annotators, winning rate {self.winning_rate:.2f} ({NEEDED} is needed), "
            f"{verdict}"
        )
        if self.constant_winning_rate >= NEEDED:
            lines.append(
                f"but a system that always answers {self.constant!r} passes, too (winning rate "
                f"{self.constant_winning_rate:.2f}): choose a smaller margin, or judge on items "
                "whose answers vary more"
            )
        return lines

    def to_table(self) -> dict[str, list[Any]]:
        """A row for each annotator."""
        rows = [asdict(one) for one in self.annotators]
        return {
            "question": [self.question] * len(rows),
            **{name: [row[name] for row in rows] for name in rows[0]},
        }

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        rates = {"winning_rate": self.winning_rate, "advantage": self.advantage}
        content = {**asdict(self), **rates, "passed": self.passed}
        return dict(or_none(content))


def judge(
    system: Prediction | Annotations,
    answers: Annotations,
    margin: float = MARGINS["crowd workers"],
    question: str = "",
) -> Judgement:
    """Compare a system with each annotator, and test whether it may answer instead of one.

    In the alternative annotator test, an item counts for the system if it agrees with the other
    annotators at least as well as the annotator does, and likewise for the annotator. The test is a
    t-test over items, for each annotator with 30 items or more, whether the share of the system is
    lower by less than the margin; false discoveries are kept at 5 % (Benjamini-Yekutieli). The
    system passes if it may replace half of the annotators.

    Args:
        system: its answers to the items, matched by name.
        margin: how much worse it may be, as it costs less than an annotator: 0.2 for experts, 0.15
            for trained annotators, 0.1 for crowd workers.
        question: for messages.

    Example:
        >>> rows = [(f"t{n}", who, "yes" if (n * k) % 7 < 3 else "no")
        ...         for n in range(60) for k, who in enumerate(("ann", "bob", "cyd"), 1)]
        >>> result = judge(Annotations.from_rows(rows[::3]), Annotations.from_rows(rows))
        >>> [(one.annotator, round(one.agreement, 2)) for one in result.annotators]
        [('bob', 0.57), ('ann', 0.57), ('cyd', 0.42)]
        >>> [round(one.system_agreement, 2) for one in result.annotators], result.passed
        ([0.71, 0.57, 0.86], True)

    Reference: Calderon, Reichart and Dror (2025), The alternative annotator test for
    LLM-as-a-judge, https://doi.org/10.48550/arXiv.2501.10970
    """
    if not 0 <= margin < 1:
        raise DataError(f"the margin must be at least 0 and below 1, found {margin}")
    answers.annotator_codes("a comparison with each annotator")
    if answers.repeated is not None:
        raise DataError(
            "annotators answered items more than once; read one answer of each (repeats='first', "
            "--repeats first)"
        )
    known, answered = _answers_of(system, answers)
    others = answers.per_item()[answers.item] - 1
    rows = np.flatnonzero(known[answers.item] & (others > 0))
    if not rows.size:
        raise DataError("no item has answers of the system and of two annotators")
    item = answers.item[rows]
    own, systems = _agreement(answers, answered, rows)
    constant = np.full_like(answered, _most_usual(answers))
    floor = _compared(answers, rows, own, _agreement(answers, constant, rows)[1], margin)
    mean, error = _mean_over_items(item, systems - own)
    return Judgement(
        question,
        _measure(answers),
        len(np.unique(item)),
        _mean_over_items(item, systems)[0],
        mean,
        mean - 1.96 * error,
        mean + 1.96 * error,
        margin,
        _compared(answers, rows, own, systems, margin),
        answers.scale.decode(constant[:1])[0],
        _winning_rate(floor),
    )


def _compared(
    answers: Annotations, rows: np.ndarray, own: np.ndarray, system: np.ndarray, margin: float
) -> tuple[InPlaceOf, ...]:
    """The comparison with each annotator of these rows, the most agreeing first."""
    from scipy.stats import false_discovery_control

    annotator = answers.annotator_codes("a comparison with each annotator")[rows]
    codes = np.unique(annotator)
    pairs = [(own[annotator == code], system[annotator == code]) for code in codes]
    wins = [(theirs >= mine - EQUAL).astype(float) for mine, theirs in pairs]  # of the system
    lost = [(mine >= theirs - EQUAL) - w for (mine, theirs), w in zip(pairs, wins, strict=True)]
    p = np.array([_p(each, margin) for each in lost])
    tested = ~np.isnan(p)
    if tested.any():
        p[tested] = false_discovery_control(p[tested], method="by")
    compared = []
    for at, (mine, theirs) in enumerate(pairs):
        compared.append(
            InPlaceOf(
                answers.annotators[int(codes[at])],
                len(mine),
                float(mine.mean()),
                float(theirs.mean()),
                float(wins[at].mean()),
                float(lost[at].mean()),
                float(p[at]),
                bool(p[at] < FALSE_DISCOVERIES),
            )
        )
    return tuple(sorted(compared, key=lambda one: -one.agreement))


def _winning_rate(annotators: Sequence[InPlaceOf]) -> float:
    replaced = [one.replaced for one in annotators if not math.isnan(one.p)]
    return sum(replaced) / len(replaced) if replaced else math.nan


def _mean_over_items(item: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The mean of the means of items, and its standard error."""
    size = np.bincount(item)
    means = (np.bincount(item, values) / np.maximum(size, 1))[size > 0]
    error = means.std(ddof=1) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    return float(means.mean()), float(error)


def _most_usual(answers: Annotations) -> Any:
    """The most frequent answer; of levels the median, of ratings the mean."""
    if isinstance(answers.scale, Interval):
        return answers.answer.mean()
    if isinstance(answers.scale, Ordinal):
        return np.sort(answers.answer)[answers.n_rows // 2]
    values, counts = np.unique(answers.answer, return_counts=True)
    return values[counts.argmax()]


def _measure(answers: Annotations) -> str:
    if isinstance(answers.scale, Ordinal | Interval):
        return "root mean squared difference from the others (lower is better)"
    if isinstance(answers.scale, MultiLabel):
        return "Jaccard index with the others"
    return "share of the others with the same answer"


def _answers_of(
    system: Prediction | Annotations, answers: Annotations
) -> tuple[np.ndarray, np.ndarray]:
    """Which items the system answered, and its answers as the scale stores them, (n_items,)."""
    if isinstance(system, Prediction):
        names, value = system.items, system.consensus
    else:
        system = system.to(answers.scale)
        names, value = system.items.take(system.item), system.answer
    at = answers.items.find(names)
    known = np.zeros(answers.n_items, dtype=bool)
    known[at[at >= 0]] = True
    answered = np.zeros(answers.n_items, dtype=answers.answer.dtype)
    answered[at[at >= 0]] = value[at >= 0]
    return known, answered


def _agreement(
    answers: Annotations, answered: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How annotator and system agree with the other annotators of an item, (n_rows,) each."""
    item, answer = answers.item, answers.answer
    system, others = answered[item[rows]], answers.per_item()[item[rows]] - 1.0
    if isinstance(answers.scale, Ordinal | Interval):
        place = np.array(getattr(answers.scale, "positions", ()))
        number, of_system = (
            (place[answer], place[system]) if place.size else (answer, system.astype(float))
        )
        first = np.bincount(item, number, answers.n_items)[item[rows]] - number[rows]
        second = np.bincount(item, number**2, answers.n_items)[item[rows]] - number[rows] ** 2

        def near(one: np.ndarray) -> np.ndarray:
            squared = one**2 - (2 * one * first - second) / others
            return -np.sqrt(np.maximum(squared, 0))

        return near(number[rows]), near(of_system)
    values, code = np.unique(np.concatenate([answer, system]), return_inverse=True)
    code, of_system = code[: len(answer)], code[len(answer) :]
    alike = _alike(values, isinstance(answers.scale, MultiLabel))  # (n_values, n_values)
    counts = np.zeros((answers.n_items, len(values)))
    np.add.at(counts, (item, code), 1.0)
    counts = counts[item[rows]]
    counts[np.arange(len(rows)), code[rows]] -= 1  # all but the annotator
    own = np.einsum("nk,nk->n", counts, alike[code[rows]]) / others
    return own, np.einsum("nk,nk->n", counts, alike[of_system]) / others


def _alike(values: np.ndarray, sets: bool) -> np.ndarray:
    """1 for the same value and 0 for others; of sets the Jaccard index, 1 for two empty ones."""
    if not sets:
        return np.eye(len(values))
    both = set_sizes(values[:, None] & values)
    either = set_sizes(values[:, None] | values)
    return np.where(either > 0, both / np.maximum(either, 1), 1.0)


def _p(lost: np.ndarray, margin: float) -> float:
    """That the system is worse by the margin or more, not corrected; nan with few items.

    Args:
        lost: items on which the annotator agrees at least as well, less those of the system.
    """
    from scipy.stats import ttest_1samp

    if len(lost) < FEWEST_ITEMS:
        return math.nan
    if lost.std() > 0:
        return float(ttest_1samp(lost, margin, alternative="less").pvalue)
    return 0.0 if lost[0] < margin else 1.0
