"""Random answers and predictions that share some items and annotators, in different orders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus.annotations import Annotations
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

SCALES: dict[str, Scale] = {
    "nominal": Nominal(("a", "b", "c", "d")),
    "ordinal": Ordinal(("-2", "-1", "1", "2")),
    "interval": Interval(0, 10, n_bins=8),
    "multi-label": MultiLabel(("a", "b", "c")),
}


def random_answers(generator: np.random.Generator, scale: Scale, n: int) -> np.ndarray:
    if isinstance(scale, Interval):
        return generator.uniform(scale.low, scale.high, n)
    top = 1 << scale.n_columns if isinstance(scale, MultiLabel) else scale.n_columns
    return generator.integers(0, top, n).astype(scale.dtype)


def random_distribution(generator: np.random.Generator, scale: Scale, n: int) -> np.ndarray:
    if isinstance(scale, MultiLabel):
        return generator.random((n, scale.n_columns))
    return generator.dirichlet(np.full(scale.n_columns, 0.7), n)


def people(scale: Scale, seed: int = 0, size: int = 40) -> Annotations:
    """Items i0, i1, ..., the last three without answers; 7 annotators, about 60 % of the cells."""
    generator = np.random.default_rng(seed)
    item, annotator = np.nonzero(generator.random((size - 3, 7)) < 0.6)
    order = generator.permutation(len(item))
    return Annotations.from_arrays(
        item[order],
        annotator[order],
        random_answers(generator, scale, len(item)),
        scale,
        items=Names([f"i{i}" for i in range(size)]),
        annotators=Names([f"a{a}" for a in range(7)]),
    )


def predicted(scale: Scale, seed: int = 0, size: int = 40) -> Prediction:
    """As many items from the middle of those on, and annotators a2..a9, shuffled; three quarters
    of the pairs, and the answers of five members."""
    generator = np.random.default_rng(seed + 1000)
    item, annotator = np.nonzero(generator.random((size, 8)) < 0.75)
    order = generator.permutation(len(item))
    distribution = random_distribution(generator, scale, size)
    pairs = ByAnnotator(
        item[order],
        annotator[order],
        Names([f"a{a}" for a in generator.permutation(np.arange(2, 10))]),
        random_answers(generator, scale, len(item)),
        random_distribution(generator, scale, len(item)),
    )
    items = Names([f"i{i}" for i in generator.permutation(np.arange(size // 2, 3 * size // 2))])
    members = random_answers(generator, scale, 5 * size).reshape(5, size)
    return Prediction(
        scale, items, distribution, scale.consensus(distribution), pairs, members=members
    )


def perfect(annotations: Annotations) -> Prediction:
    """The people's own distributions and answers, on the items that have any."""
    items = np.flatnonzero(annotations.per_item())
    answered = annotations.select_items(items, annotations.items.take(items))
    scale, shares = answered.scale, answered.distribution()
    pairs = ByAnnotator(
        answered.item,
        answered.annotator_codes("here"),
        answered.annotators,
        answered.answer,
        scale.one_hot(answered.answer),
    )
    return Prediction(
        scale,
        answered.items,
        shares,
        answered.consensus().answer,
        pairs,
        members=apportioned(scale, shares),
    )


def apportioned(scale: Scale, shares: np.ndarray, n_members: int = 420) -> np.ndarray:
    """Members whose votes are just these shares (of up to 7 people), (n_members, n_items)."""
    at = (np.arange(n_members)[:, None, None] + 0.5) / n_members
    if isinstance(scale, MultiLabel):
        return ((at < shares) << np.arange(len(scale))).sum(axis=2)
    return (shares.cumsum(axis=1) < at).sum(axis=2)


def rows_of(annotations: Annotations) -> list[tuple[str, str, float]]:
    """(item, annotator, stored answer), one by one."""
    who = annotations.annotator_codes("here")
    return [
        (annotations.items[i], annotations.annotators[a], float(answer))
        for i, a, answer in zip(annotations.item, who, annotations.answer, strict=True)
    ]


def pairs_of(prediction: Prediction) -> dict[tuple[str, str], float]:
    """(item, annotator) -> predicted value, one by one."""
    pairs = prediction.by_annotator
    assert pairs is not None
    return {
        (prediction.items[i], pairs.annotators[a]): float(value)
        for i, a, value in zip(pairs.item, pairs.annotator, pairs.value, strict=True)
    }


def shuffled(annotations: Annotations, prediction: Prediction) -> tuple[Annotations, Prediction]:
    """The same with rows, items and annotators in another order."""
    generator = np.random.default_rng(5)
    requested = prediction.by_annotator
    assert requested is not None
    items = generator.permutation(annotations.n_items)
    who = generator.permutation(annotations.n_annotators)
    moved = annotations.take(generator.permutation(annotations.n_rows))
    moved = moved.select_items(items, annotations.items.take(items))
    moved = moved.select_annotators(who, annotations.annotators.take(who))
    order = generator.permutation(len(prediction.items))
    back = np.argsort(order)
    rows = generator.permutation(len(requested))
    pairs = replace(
        requested,
        item=back[requested.item[rows]],
        annotator=requested.annotator[rows],
        value=requested.value[rows],
        distribution=None if requested.distribution is None else requested.distribution[rows],
    )
    return moved, replace(
        prediction,
        items=prediction.items.take(order),
        distribution=prediction.distribution[order],
        consensus=prediction.consensus[order],
        by_annotator=pairs,
        members=None if prediction.members is None else prediction.members[:, order],
    )


def renamed(annotations: Annotations, prediction: Prediction) -> tuple[Annotations, Prediction]:
    """The same with other names of items and annotators."""
    pairs = prediction.by_annotator
    assert pairs is not None

    def other(names: Names) -> Names:
        return Names([f"{name[1:]} of them" for name in names])

    return (
        replace(
            annotations, items=other(annotations.items), annotators=other(annotations.annotators)
        ),
        replace(
            prediction,
            items=other(prediction.items),
            by_annotator=replace(pairs, annotators=other(pairs.annotators)),
        ),
    )


def with_other_values(
    annotations: Annotations, prediction: Prediction
) -> tuple[Annotations, Prediction]:
    """The same with other names of the values, in the same order."""
    scale = annotations.scale
    if isinstance(scale, Interval):
        return annotations, prediction
    assert isinstance(scale, Nominal | Ordinal | MultiLabel)
    other = type(scale)(tuple(f"{value}!" for value in scale.values))
    return replace(annotations, scale=other), replace(prediction, scale=other)


def item_by_item(
    prediction: Prediction, annotations: Annotations
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(stored answers, predicted distribution) of each common item."""
    results = []
    for name, mass in zip(prediction.items, prediction.distribution, strict=True):
        if name in annotations.items:
            code = annotations.items.codes([name])[0]
            answers = annotations.answer[annotations.item == code]
            if len(answers):
                results.append((answers, mass))
    return results


def share_by_share(
    prediction: Prediction, annotations: Annotations
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(observed, predicted distribution) of each common item; of sets one for each value."""
    results = []
    for answers, mass in item_by_item(prediction, annotations):
        if isinstance(prediction.scale, MultiLabel):
            for value, q in enumerate(mass):
                p = float(np.mean((answers >> value) & 1))
                results.append((np.array([1 - p, p]), np.array([1 - q, q])))
        else:
            results.append((np.bincount(answers, minlength=len(mass)) / len(answers), mass))
    return results
