"""How reliable alpha, consensus labels and means are with so many answers to each item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.agreement import interval, krippendorff_alpha
from dissensus.agreement.estimates import or_none
from dissensus.annotations import Annotations
from dissensus.conversion import annotations_of
from dissensus.errors import DataError, counted
from dissensus.names import Names
from dissensus.planning.item_model import ItemModel, labels_of, value_counts
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal

ANSWERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50)  # per item, of a plan
DRAWS = 160_000  # imagined items of all kinds, 100 to 400 of each
IMAGINED = 10_000  # items, for alpha
DIRECTIONS = (1, 5, 20)  # answers, for which intervals are searched
SHUFFLED = 20_000  # items of which answers are drawn, each 20 times at most
TARGETS = {  # what they are, and of which scales
    "alpha": ("half the width of its 95 % interval over items", (Nominal, Ordinal, Interval)),
    "stable": (
        "share of consensus labels that very many answers would not change",
        (Nominal, Ordinal, MultiLabel),
    ),
    "reliability": ("of means, as Spearman-Brown gives it", (Ordinal, Interval)),
}
Estimated = tuple[float, float, float]  # value, and the ends of its 95 % interval
UNKNOWN: Estimated = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class WithAnswers:
    """What is to be expected of `answers` answers to each item; undefined is nan."""

    answers: int
    stable: Estimated  # share of consensus labels that very many answers would not change
    repeated: Estimated  # share of labels that as many other annotators would give again
    observed: float  # the same, among the answers that there are
    reliability: Estimated  # of means: correlation with means of as many other annotators
    alpha_within: float  # half the width of alpha's 95 % interval over these items


@dataclass(frozen=True)
class Plan:
    """How reliable results are with more or fewer answers, and what targets need.

    `print` shows sentences; `to_table` has a row for each number of answers per item.
    """

    question: str
    items: int  # with answers
    per_item: float  # answers, on average
    rows: tuple[WithAnswers, ...]
    targets: Mapping[str, float]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """What each target needs."""
        return [
            f"{name}={x:g}: " + (self._items(x) if name == "alpha" else self._least(name, x))
            for name, x in self.targets.items()
        ]

    def _least(self, name: str, value: float) -> str:
        """How many answers to each item reach a target."""
        known = {row.answers: getattr(row, name) for row in self.rows}
        if math.isnan(known[1][0]):
            return f"{name} is not defined for these answers"
        best, low, high = known[most := max(known)]
        least, late, early = (
            next((answers for answers, each in known.items() if each[end] >= value), None)
            for end in range(3)
        )
        if least is None:
            return f"not reached: {most} answers per item give {best:.3f} [{low:.3f}, {high:.3f}]"
        text = f"{counted(least, 'answer')} per item"
        if (early, late) != (least, least):
            text += f" (95 % interval {early} to {late or f'more than {most}'})"
        missing = round((least - self.per_item) * self.items)
        return text + (f", about {missing:,} more than there are" if missing > 0 else
                       ", which there are")  # fmt: skip

    def _items(self, value: float) -> str:
        """How many items, with how many answers each, make alpha as certain with least answers."""
        widths = {r.answers: r.alpha_within for r in self.rows if not math.isnan(r.alpha_within)}
        if not widths:
            return "alpha is not defined for these answers"
        items = {n: math.ceil(self.items * (width / value) ** 2) for n, width in widths.items()}
        cheapest = min(items, key=lambda answers: (items[answers] * answers, answers))
        now = min(items, key=lambda answers: abs(answers - self.per_item))
        text = f"{counted(items[cheapest], 'item')} with {cheapest} answers each need the fewest "
        text += f"answers ({items[cheapest] * cheapest:,})"
        if now != cheapest:
            text += f"; with {now} each, as now, {items[now]:,} items"
        return f"{text}; the {self.items:,} items with {now} each give it within {widths[now]:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON; undefined numbers are null."""
        return dict(or_none(self)) | {"sentences": self.sentences()}

    def to_table(self) -> dict[str, list[Any]]:
        """The columns of a table with a row for each number of answers per item."""
        columns: dict[str, list[Any]] = {"question": [self.question] * len(self.rows)}
        columns["answers"] = [row.answers for row in self.rows]
        for name in ("stable", "repeated", "reliability"):
            for at, end in enumerate(("", "_low", "_high")):
                columns[name + end] = [getattr(row, name)[at] for row in self.rows]
        columns["repeated_observed"] = [row.observed for row in self.rows]
        columns["alpha_within"] = [row.alpha_within for row in self.rows]
        return columns


def plan(
    answers: Any, targets: Mapping[str, float] | None = None, question: str = "", seed: int = 0
) -> Plan:
    """How reliable alpha, consensus labels and means are with 1 to 50 answers per item.

    Answers are taken as drawn at random from the crowd that gave those in the table. A model of
    the items (`ItemModel`) is fitted to how they are spread; up to half of the answers that items
    have, `observed` compares it with what two halves of them say. Intervals are over items.

    Args:
        answers: `Annotations`, a corpus with one question, or a table.
        targets: what is wanted: "alpha" within so much, a share of "stable" consensus labels, or
            the "reliability" of means, e.g. {"alpha": 0.05, "stable": 0.95}.
        question: its name, for messages.

    Example:
        >>> from dissensus import simulate
        >>> crowd = simulate.text(n_items=200, n_annotators=12, labels_per_item=6)
        >>> print(plan(crowd["emotion"], {"stable": 0.7}))  # doctest: +ELLIPSIS
        stable=0.7: 10 answers per item (95 % interval 5 to more than 50), about 800 more ...

    References: Brown (1910), doi:10.1111/j.2044-8295.1910.tb00207.x; Laird (1978),
    doi:10.1080/01621459.1978.10480103.
    """
    annotations = annotations_of(answers)
    check_targets(targets or {}, annotations, question)
    n = int((annotations.voters() > 0).sum())
    if not (annotations.voters() >= 2).any():
        raise DataError(
            f"{question or 'a plan'}: no item has answers of two annotators, so nothing is known "
            "about how they differ; ask a second one first"
        )
    generator = np.random.default_rng(seed)
    curves = list(_curves(ItemModel.fit(annotations), annotations, n, generator))
    observed, alpha = _observed(annotations, generator), _alpha(annotations)
    rows = tuple(
        WithAnswers(r, stable, repeated, observed.get(r, math.nan), _means(alpha, r), within)
        for r, stable, repeated, within in curves
    )
    per_item = float(annotations.voters().sum()) / n
    return Plan(question, n, per_item, rows, dict(targets or {}))


def check_targets(targets: Mapping[str, float], annotations: Annotations, question: str) -> None:
    """Refuse a target that is unknown, impossible, or not for this scale."""
    scale = annotations.scale
    for name, value in targets.items():
        if name not in TARGETS:
            known = "; ".join(f"{one} ({meaning})" for one, (meaning, _) in TARGETS.items())
            raise DataError(f"no target {name!r}; there are {known}")
        if not 0 < value < 1:
            raise DataError(f"the target {name} must be above 0 and below 1, found {value:g}")
        fit = [one for one, (_, scales) in TARGETS.items() if isinstance(scale, scales)]
        if name not in fit:
            raise DataError(
                f"{question}: the target {name} is not for {scale.kind} answers; use "
                f"{' or '.join(fit)}"
            )


def _curves(
    model: ItemModel, annotations: Annotations, n_items: int, generator: np.random.Generator
) -> Iterator[tuple[int, Estimated, Estimated, float]]:
    """For each number of answers: stable and repeated labels, and how certain alpha is."""
    truth = labels_of(model.kinds, model.ordered)
    draws = min(max(DRAWS // len(model.kinds), 100), 400)
    label = {}
    for r in ANSWERS:
        counts = generator.multinomial(r, model.kinds[:, None], (len(model.kinds), draws))
        labels = labels_of(counts.reshape(-1, counts.shape[2]), model.ordered)
        label[r] = labels.reshape(counts.shape).mean(axis=1)
    stable = {r: (one * truth).sum(axis=1) for r, one in label.items()}
    has_labels = not isinstance(annotations.scale, Interval)
    shares = model.compatible(np.array([stable[r] for r in DIRECTIONS if has_labels]))
    for r in ANSWERS:
        again = (label[r] ** 2).sum(axis=1)
        if r > 1:  # the same draws would agree with themselves
            again -= (label[r] - label[r] ** 2).sum(axis=1) / (draws - 1)
        both = [_estimated(shares @ one) if has_labels else UNKNOWN for one in (stable[r], again)]
        yield r, both[0], both[1], _alpha_within(model, annotations, r, n_items, generator)


def _estimated(values: np.ndarray) -> Estimated:
    """The first value, and the smallest and largest of all."""
    return float(values[0]), float(values.min()), float(values.max())


def _alpha_within(
    model: ItemModel, annotations: Annotations, r: int, n_items: int, generator: np.random.Generator
) -> float:
    """Half the width of alpha's interval over so many items with r answers each."""
    scale, n_values = annotations.scale, model.kinds.shape[1]
    n_given = np.count_nonzero(model.counts.any(axis=0))
    if r < 2 or n_given < 2 or isinstance(scale, MultiLabel):
        return math.nan
    kind = generator.choice(len(model.share), IMAGINED, p=model.share)
    counts = generator.multinomial(r, model.kinds[kind])
    item, answer = np.nonzero(counts)
    values: Any = answer
    if isinstance(scale, Interval) and model.positions is not None:
        values = model.positions[answer]
    elif scale.n_columns != n_values:  # rare values, or levels, are taken together
        of_kind = Ordinal if isinstance(scale, Ordinal) else Nominal
        scale = of_kind(tuple(map(str, range(n_values))))
    imagined = Annotations.from_arrays(
        item, None, values, scale, items=Names.range(IMAGINED), count=counts[item, answer]
    )
    low, high = interval("krippendorff-alpha", imagined)
    return (high - low) / 2 * math.sqrt(IMAGINED / n_items)


def _alpha(annotations: Annotations) -> Estimated:
    """Alpha of ratings, or of levels as numbers, which is the reliability of one answer."""
    scale = annotations.scale
    if isinstance(scale, Ordinal):
        low, high = scale.positions[0], scale.positions[-1]
        annotations = annotations.to(Interval(low, high)) if low < high else annotations
    if not isinstance(annotations.scale, Interval):
        return UNKNOWN
    value = float(krippendorff_alpha(annotations))
    return value, *interval("krippendorff-alpha", annotations)


def _means(alpha: Estimated, r: int) -> Estimated:
    """The reliability of means of r answers (Spearman-Brown); alpha below 0 counts as 0."""
    one, low, high = (r * a / (1 + (r - 1) * a) for a in np.maximum(alpha, 0.0).tolist())
    return one, low, high


def _observed(annotations: Annotations, generator: np.random.Generator) -> dict[int, float]:
    """How often two disjoint sets of answers to an item have the same label, by their size."""
    if not isinstance(annotations.scale, Nominal | Ordinal) or annotations.repeats:
        return {}
    counts = value_counts(annotations)[0].astype(int)
    ordered, size = isinstance(annotations.scale, Ordinal), counts.sum(axis=1)
    item, value = np.repeat(np.argwhere(counts + 1), counts.ravel(), axis=0).T
    turn = np.arange(len(item)) - (np.cumsum(size) - size)[item]
    same: dict[int, list[float]] = {r: [] for r in ANSWERS if (size >= 2 * r).any()}
    for _ in range(min(max(SHUFFLED // len(counts), 1), 20)):
        shuffled = value[np.lexsort((generator.random(len(item)), item))]
        for r, shares in same.items():
            half = np.zeros((2, *counts.shape))
            rows = turn < 2 * r
            np.add.at(half, (turn[rows] // r, item[rows], shuffled[rows]), 1)
            first, second = (labels_of(one[size >= 2 * r], ordered) for one in half)
            shares.append(float((first * second).sum(axis=1).mean()))
    return {r: float(np.mean(shares)) for r, shares in same.items()}
