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
    rows = compare_annotators(annotations).by_annotator
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
    guess: bool = False,
    accuracy: tuple[float, float] = (0.85, 0.95),
) -> np.ndarray:
    """Groups, or single annotators, whose views differ in about 30 % of the items."""
    truth = generator.choice(len(shares), n_items, p=shares)
    answers = []
    for size in sizes:
        own = generator.random(n_items) < 0.3
        view = np.where(own, generator.choice(len(shares), n_items, p=shares), truth)
        accuracies = generator.uniform(*accuracy, size)
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


def experts(generator: np.random.Generator, n_items: int, novices: int) -> np.ndarray:
    """Two experts of .98; the others are right as the items are difficult (Rasch's model)."""
    truth = generator.integers(0, 2, n_items)
    difficulty = generator.normal(0, 1, (n_items, 1))
    right = 1 / (1 + np.exp(difficulty - generator.uniform(0.8, 1.3, novices)))
    right = np.hstack([np.full((n_items, 2), 0.98), right])
    return np.where(generator.random(right.shape) < right, truth[:, None], 1 - truth[:, None])


def ratings(
    generator: np.random.Generator, n_items: int, noise: list[float], most: int, ends: int = 0
) -> np.ndarray:
    """Rounded ratings; the first annotators may use the ends of the scale only."""
    truth = generator.uniform(0, most, n_items)[:, None]
    values = truth + generator.normal(0, 1, (n_items, len(noise))) * noise
    rounded = np.round(values).clip(0, most)
    rounded[:, :ends] = np.where(values[:, :ends] > most / 2, most, 0)
    return rounded


def sparse(generator: np.random.Generator, n_items: int) -> np.ndarray:
    """40 annotators, three of them for each item."""
    answers = one_truth(generator, n_items, between(0.8, 0.98, 40), THREE).astype(float)
    chosen = generator.random(answers.shape).argsort(axis=1) < 3
    return np.where(chosen, answers, np.nan)


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


def copied(
    generator: np.random.Generator,
    n_items: int,
    others: int,
    shares: list[float],
    identical: float = 1.0,
    copies: int = 1,
    original: float = 0.85,
    best: float | None = None,
) -> float:
    """Whether the original (0) and all copies (the last ones) are named, and nobody else is."""
    accuracies = np.r_[original, generator.uniform(0.8, 0.92, others)]
    if best is not None:
        accuracies[-1] = best
    truth = generator.choice(len(shares), n_items, p=shares)
    answers = answered(generator, truth, accuracies, shares, guess=False)
    for _ in range(copies):
        other = (answers[:, 0] + generator.integers(1, len(shares), n_items)) % len(shares)
        same = generator.random(n_items) < identical
        answers = np.column_stack([answers, np.where(same, answers[:, 0], other)])
    wanted = {0} | set(range(answers.shape[1] - copies, answers.shape[1]))
    return float(named(answers.astype(float), nominal(shares)) == wanted)


def copied_ratings(generator: np.random.Generator, n_items: int) -> float:
    answers = ratings(generator, n_items, [0.4, 0.4, 0.5, 0.6], most=4)
    return float(named(np.column_stack([answers, answers[:, 0]]), LEVELS) == {0, 4})


def copied_in_batches(generator: np.random.Generator) -> float:
    return float(named(batches(generator, 600, copy=True), Nominal(("a", "b", "c"))) == {0, 1})


def divided(generator: np.random.Generator, n_items: int) -> np.ndarray:
    """Five women and four men, opposite on a fifth of the items, right in .9 to .95 of them."""
    truth = generator.integers(0, 2, n_items)
    apart = generator.random(n_items) < 0.2
    view = [truth] * 5 + [np.where(apart, 1 - truth, truth)] * 4
    accuracies = generator.uniform(0.9, 0.95, 9)
    parts = [
        answered(generator, one, accuracies[[at]], EVEN, guess=False) for at, one in enumerate(view)
    ]
    return np.hstack(parts)


def copied_among_divided(generator: np.random.Generator, n_items: int) -> float:
    """The last one copies the first; one of the others is at random, one constant."""
    answers = divided(generator, n_items)
    answers[:, 3], answers[:, 4] = generator.integers(0, 2, n_items), 1
    answers = np.column_stack([answers, answers[:, 0]])
    return float(named(answers.astype(float), nominal(EVEN)) == {0, 9})


THREE, SPREAD = [0.4, 0.3, 0.3], (0.85, 0.95)
HONEST: dict[str, tuple[Crowd, Scale, tuple[int, ...]]] = {
    "3 raters, accuracy .85-.95, guesses, classes .85/.15": (
        partial(one_truth, accuracies=between(*SPREAD, 3), shares=SKEWED, guess=True),
        nominal(SKEWED), (500,),
    ),
    "4 raters, accuracy .985-.995, three classes": (
        partial(one_truth, accuracies=between(0.985, 0.995, 4), shares=THREE),
        nominal(THREE), (500,),
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
    "2 experts .98 among 2, items of different difficulty": (
        partial(experts, novices=2), nominal(EVEN), (200, 1000)
    ),
    "2 experts .98 among 4, items of different difficulty": (
        partial(experts, novices=4), nominal(EVEN), (1000,)
    ),
    "camps of 2 and 3, slips, two classes": (
        partial(camps, sizes=(2, 3), shares=EVEN), nominal(EVEN), (50, 500)
    ),
    "camps of 2, 2 and 2, guesses, two classes": (
        partial(camps, sizes=(2, 2, 2), shares=EVEN, guess=True), nominal(EVEN), (500,)
    ),
    "camps of 2, 1 and 1, who hardly slip (.97-.98), three classes": (
        partial(camps, sizes=(2, 1, 1), shares=THREE, accuracy=(0.97, 0.98)),
        nominal(THREE), (200, 1000),
    ),
    "camps of 3, 1 and 1, accuracy .94-.95, guesses, two classes": (
        partial(camps, sizes=(3, 1, 1), shares=EVEN, guess=True, accuracy=(0.94, 0.95)),
        nominal(EVEN), (1000,),
    ),
    "hard items, 2 experts among 3, the same errors, four classes": (
        partial(hard_items, accuracies=np.array([0.99, 0.99, 0.8, 0.75, 0.7]), n_values=4),
        nominal([0.25] * 4), (100, 500),
    ),
    "5 levels, strict and lenient, two equally lenient": (lenient, LEVELS, (100, 500)),
    "5 levels, two of five use the ends only": (
        partial(ratings, noise=[0.2, 0.2, 0.2, 0.6, 0.6], most=4, ends=2), LEVELS, (200, 1000)
    ),
    "5 different ratings, two precise raters": (
        partial(ratings, noise=[0.05, 0.05, 0.5, 0.6, 0.7], most=4), Interval(0, 4), (200, 1000)
    ),
    "40 annotators, 3 of them for each item": (sparse, nominal(THREE), (2000,)),
    "100 annotators, batches of 60 items with 4 answers": (batches, nominal(THREE), (600,)),
}  # fmt: skip
COPIED: dict[str, tuple[Callable[..., float], tuple[int, ...]]] = {
    "original, copy, 2 others, two classes": (
        partial(copied, others=2, shares=EVEN), (100, 200)
    ),
    "original, copy, 2 others, five classes": (
        partial(copied, others=2, shares=FIVE), (100, 200)
    ),
    "original, copy, 3 others, two classes": (
        partial(copied, others=3, shares=EVEN), (200,)
    ),
    "original, copy, 3 others, one of them .97, three classes": (
        partial(copied, others=3, shares=THREE, best=0.97), (200,)
    ),
    "original, copy, 3 others, 5 levels": (copied_ratings, (100, 200)),
    "original, copy, 8 others, three classes": (
        partial(copied, others=8, shares=THREE), (100, 200)
    ),
    "97 % identical, 4 others, three classes": (
        partial(copied, others=4, shares=THREE, identical=0.97), (200, 500)
    ),
    "95 % identical, 4 others, three classes": (
        partial(copied, others=4, shares=THREE, identical=0.95), (1000,)
    ),
    "original, 2 copies, 2 others, three classes": (
        partial(copied, others=2, shares=THREE, copies=2), (200,)
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
    *(
        Cell(
            f"women and men divided on a fifth of {n_items} items",
            "crowds with someone accused",
            "at most 0.01",
            partial(accused, crowd=divided, n_items=n_items, scale=nominal(EVEN)),
        )
        for n_items in (100, 400)
    ),
    *(
        Cell(
            f"original and copy among divided women and men, {n_items} items",
            "copies found, nobody else",
            "near 1 from 200 items on",
            partial(copied_among_divided, n_items=n_items),
        )
        for n_items in (200, 400)
    ),
)
