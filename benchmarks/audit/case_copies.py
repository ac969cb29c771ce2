"""Are honest annotators accused of copying, and are copies found?

Accuracy has two meanings: annotators who *slip* give another value at random if they are not right;
those who *guess* know the truth that often, and draw from the shares of values otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from cells import Cell

from dissensus import Annotations, Interval, Nominal, Ordinal
from dissensus.description.suspicious_annotators import compare_annotators
from dissensus.names import Names

Crowd = Callable[[np.random.Generator, int], np.ndarray]  # (n_items, n_annotators), nan: none
Scale = Nominal | Ordinal | Interval

SKEWED, RARE, EVEN, FIVE = [0.85, 0.15], [0.97, 0.03], [0.5, 0.5], [0.2] * 5
LEVELS = Ordinal(("1", "2", "3", "4", "5"))


def nominal(shares: list[float]) -> Nominal:
    return Nominal(tuple("abcdefghij"[: len(shares)]))


def named(answers: np.ndarray, scale: Scale) -> set[int]:
    """Whose answers are called duplicated."""
    item, annotator = np.nonzero(~np.isnan(answers))
    values = answers[item, annotator]
    annotations = Annotations.from_arrays(
        item,
        annotator,
        values if isinstance(scale, Interval) else values.astype(int),
        scale,
        items=Names.range(answers.shape[0]),
        annotators=Names.range(answers.shape[1]),
    )
    rows = compare_annotators(annotations).rows
    return {int(row.annotator) for row in rows if "duplicated" in row.suspicious}


def accused(generator: np.random.Generator, crowd: Crowd, n_items: int, scale: Scale) -> float:
    """Whether anybody is accused in a crowd without copies."""
    return float(bool(named(crowd(generator, n_items).astype(float), scale)))


def answered(
    generator: np.random.Generator,
    truth: np.ndarray,
    accuracies: np.ndarray,
    shares: list[float],
    guess: bool,
) -> np.ndarray:
    """Answers of annotators who err independently, (n_items, n_annotators)."""
    shape = (len(truth), len(accuracies))
    if guess:
        other = generator.choice(len(shares), shape, p=shares)
    else:
        other = (truth[:, None] + generator.integers(1, len(shares), shape)) % len(shares)
    return np.where(generator.random(shape) < accuracies, truth[:, None], other)


def one_truth(
    generator: np.random.Generator,
    n_items: int,
    accuracies: Callable[[np.random.Generator], np.ndarray],
    shares: list[float],
    guess: bool = False,
) -> np.ndarray:
    truth = generator.choice(len(shares), n_items, p=shares)
    return answered(generator, truth, accuracies(generator), shares, guess)


def between(low: float, high: float, n: int, experts: int = 0) -> Callable[..., np.ndarray]:
    """Accuracies of n annotators, some of them experts."""
    return lambda generator: np.r_[np.full(experts, 0.97), generator.uniform(low, high, n)]


def camps(
    generator: np.random.Generator,
    n_items: int,
    sizes: tuple[int, ...],
    shares: list[float],
    guess: bool,
) -> np.ndarray:
    """Groups whose views differ in about 30 % of the items."""
    truth = generator.choice(len(shares), n_items, p=shares)
    answers = []
    for size in sizes:
        own = generator.random(n_items) < 0.3
        view = np.where(own, generator.choice(len(shares), n_items, p=shares), truth)
        accuracies = generator.uniform(0.85, 0.95, size)
        answers.append(answered(generator, view, accuracies, shares, guess))
    return np.hstack(answers)


def hard_items(
    generator: np.random.Generator, n_items: int, accuracies: np.ndarray, n_values: int
) -> np.ndarray:
    """One item in five is hard, and all who err give the same value."""
    truth = generator.integers(0, n_values, n_items)
    wrong = (truth + generator.integers(1, n_values, n_items)) % n_values
    hard = generator.random((n_items, 1)) < 0.2
    right = generator.random((n_items, len(accuracies))) < np.where(hard, 0.5, accuracies)
    return np.where(right, truth[:, None], wrong[:, None])


def lenient(generator: np.random.Generator, n_items: int) -> np.ndarray:
    """Five levels, annotators of different leniency, two of the same."""
    truth = generator.integers(0, 5, n_items)[:, None]
    noise = generator.normal(0, 0.25, (n_items, 5))
    return np.rint(truth + np.array([1, 1, 0, -1, 2]) + noise).clip(0, 4)


def ratings(generator: np.random.Generator, n_items: int) -> np.ndarray:
    """Seven different ratings; two annotators are more precise than the others."""
    precision = np.array([0.15, 0.15, 0.5, 0.5, 0.6])
    truth = generator.uniform(0, 6, n_items)[:, None]
    return np.round(truth + generator.normal(0, 1, (n_items, 5)) * precision).clip(0, 6)


def batches(generator: np.random.Generator, n_items: int, copy: bool = False) -> np.ndarray:
    """100 annotators, items in batches of 60 with four answers each."""
    shares = [0.4, 0.3, 0.3]
    every = one_truth(generator, n_items, between(0.75, 0.95, 100), shares).astype(float)
    answers = np.full((n_items, 100), np.nan)
    for begin in range(0, n_items, 60):
        chosen = generator.choice(np.arange(2, 100), 4, replace=False)
        if begin < 180:
            chosen[:2] = (0, 1)
        rows = slice(begin, begin + 60)
        answers[rows, chosen] = every[rows, chosen]
    if copy:
        answers[:, 1] = answers[:, 0]
    return answers


def constant(generator: np.random.Generator, n_items: int, n: int) -> np.ndarray:
    answers = one_truth(generator, n_items, between(0.85, 0.95, 5), SKEWED, guess=True)
    answers[:, :n] = 0
    return answers


def random(generator: np.random.Generator, n_items: int) -> np.ndarray:
    return generator.choice(3, (n_items, 6), p=[0.5, 0.3, 0.2])


def copied(
    generator: np.random.Generator,
    n_items: int,
    others: int,
    shares: list[float],
    identical: float = 1.0,
    copies: int = 1,
    original: float = 0.85,
) -> float:
    """Whether the original (0) and all copies (the last ones) are named, and nobody else is."""
    accuracies = np.r_[original, generator.uniform(0.8, 0.92, others)]
    truth = generator.choice(len(shares), n_items, p=shares)
    answers = answered(generator, truth, accuracies, shares, guess=False)
    for _ in range(copies):
        other = (answers[:, 0] + generator.integers(1, len(shares), n_items)) % len(shares)
        same = generator.random(n_items) < identical
        answers = np.column_stack([answers, np.where(same, answers[:, 0], other)])
    wanted = {0} | set(range(answers.shape[1] - copies, answers.shape[1]))
    return float(named(answers.astype(float), nominal(shares)) == wanted)


def copied_in_batches(generator: np.random.Generator) -> float:
    return float(named(batches(generator, 600, copy=True), Nominal(("a", "b", "c"))) == {0, 1})


THREE, SPREAD = [0.4, 0.3, 0.3], (0.85, 0.95)
HONEST: dict[str, tuple[Crowd, Scale, tuple[int, ...]]] = {
    "3 raters, accuracy .85-.95, slips, classes .85/.15": (
        partial(one_truth, accuracies=between(*SPREAD, 3), shares=SKEWED),
        nominal(SKEWED), (50, 500),
    ),
    "3 raters, accuracy .85-.95, guesses, classes .85/.15": (
        partial(one_truth, accuracies=between(*SPREAD, 3), shares=SKEWED, guess=True),
        nominal(SKEWED), (50, 500),
    ),
    "4 raters, accuracy .85-.95, guesses, classes .85/.15": (
        partial(one_truth, accuracies=between(*SPREAD, 4), shares=SKEWED, guess=True),
        nominal(SKEWED), (100, 500),
    ),
    "10 raters, accuracy .85-.95, guesses, classes .97/.03": (
        partial(one_truth, accuracies=between(*SPREAD, 10), shares=RARE, guess=True),
        nominal(RARE), (500,),
    ),
    "2 experts .97 among 3 of .6-.8, slips, two classes": (
        partial(one_truth, accuracies=between(0.6, 0.8, 3, experts=2), shares=EVEN),
        nominal(EVEN), (100, 1000),
    ),
    "2 experts .97 among 2 of .7-.85, guesses, five classes": (
        partial(one_truth, accuracies=between(0.7, 0.85, 2, experts=2), shares=FIVE, guess=True),
        nominal(FIVE), (100, 500),
    ),
    "camps of 2 and 3, slips, two classes": (
        partial(camps, sizes=(2, 3), shares=EVEN, guess=False), nominal(EVEN), (50, 500)
    ),
    "camps of 2, 2 and 2, guesses, two classes": (
        partial(camps, sizes=(2, 2, 2), shares=EVEN, guess=True), nominal(EVEN), (50, 500)
    ),
    "hard items, 2 experts among 3, the same errors, four classes": (
        partial(hard_items, accuracies=np.array([0.99, 0.99, 0.8, 0.75, 0.7]), n_values=4),
        nominal([0.25] * 4), (100, 500),
    ),
    "5 levels, strict and lenient, two equally lenient": (lenient, LEVELS, (100, 500)),
    "7 different ratings, two precise raters": (ratings, Interval(0, 6), (100, 500)),
    "100 annotators, batches of 60 items with 4 answers": (batches, nominal(THREE), (600,)),
    "2 of 5 annotators constant": (partial(constant, n=2), nominal(SKEWED), (100, 500)),
    "everybody at random": (random, nominal(THREE), (200,)),
}  # fmt: skip
COPIED: dict[str, tuple[Callable[..., float], tuple[int, ...]]] = {
    "original, copy, 2 others, two classes": (
        partial(copied, others=2, shares=EVEN), (50, 100, 200)
    ),
    "original, copy, 2 others, five classes": (
        partial(copied, others=2, shares=FIVE), (50, 100, 200)
    ),
    "original, copy, 8 others, three classes": (
        partial(copied, others=8, shares=THREE), (50, 100, 200)
    ),
    "97 % identical, 4 others, three classes": (
        partial(copied, others=4, shares=THREE, identical=0.97), (100, 200, 500)
    ),
    "95 % identical, 4 others, three classes": (
        partial(copied, others=4, shares=THREE, identical=0.95), (500, 1000)
    ),
    "original, 2 copies, 2 others, three classes": (
        partial(copied, others=2, shares=THREE, copies=2), (100, 200)
    ),
    "LLM .95 and who pastes its answers, 4 others, three classes": (
        partial(copied, others=4, shares=THREE, original=0.95), (100, 300)
    ),
}  # fmt: skip

CELLS = (
    *(
        Cell(
            f"{setting}, {n_items} items",
            "crowds with someone accused",
            "at most 0.01",
            partial(accused, crowd=crowd, n_items=n_items, scale=scale),
        )
        for setting, (crowd, scale, sizes) in HONEST.items()
        for n_items in sizes
    ),
    *(
        Cell(
            f"{setting}, {n_items} items",
            "copies found, nobody else",
            "near 1 from 200 items on",
            partial(value, n_items=n_items),
        )
        for setting, (value, sizes) in COPIED.items()
        for n_items in sizes
    ),
    Cell(
        "100 annotators in batches, one copies 180 answers",
        "copies found, nobody else",
        "near 1 from 200 items on",
        copied_in_batches,
    ),
)
