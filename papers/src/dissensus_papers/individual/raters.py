"""How many ratings an item needs: from 2 to 50, for the density itself and for what is learned.

The density as published is one of means of random subsets: the more ratings, the narrower it is,
while the shares of ratings in each cell keep their spread. Both are compared with those of all
ratings of an item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.densities import Grid, RatingKde, pool, rating_densities
from dissensus.densities.rating_densities import unit_positions
from dissensus.metrics import DENSITY_METRICS
from dissensus_papers.framework.layout import Block
from dissensus_papers.framework.measurements import Measured, MeasuredCondition
from dissensus_papers.framework.models import Model, Typed
from dissensus_papers.individual.folds import SEEDS, item_folds
from dissensus_papers.individual.newcomers import mean_and_spread

NUMBERS = (2, 3, 5, 10, 20, 50)
BINS = RatingKde().bins
GIVEN = {
    "density": "the density of these ratings, from that of all",
    "shares": "their shares, from those of all",
    "density, from shares": "the density of these ratings, from the shares of all",
    "mean": "their mean, from that of all (of the scale)",
}
LEARNED = {
    "grid density": "Distribution: density",
    "heads density": "Annotator heads: plain density",
    "heads shares": "Annotator heads: shares",
}
MODELS_OF_RATERS = {
    "grid": Model("Distribution", "grid-density", {"base_rates": False}),
    "heads": Model("Annotator heads", "annotator-heads"),
}
READING = "plain"


def some_ratings(corpus: Corpus, question: str, n: int, seed: int) -> Corpus:
    """At most n ratings of each item, drawn; more of them contain the fewer ones."""
    answers = corpus[question]
    order = np.random.default_rng(seed).permutation(answers.n_rows)
    order = order[np.argsort(answers.item[order], kind="stable")]
    item = answers.item[order]
    nth = np.arange(len(item)) - np.searchsorted(item, item)
    return replace(corpus, questions={question: answers.take(np.sort(order[nth < n]))})


def shares(answers: Annotations, question: str) -> np.ndarray:
    """The share of an item's ratings in each cell, (n_items, n_cells)."""
    positions = unit_positions(question, answers.scale, answers.answer)
    cell = ((positions + 1) / 2 * BINS).astype(int).clip(0, BINS - 1)
    counts = np.zeros((answers.n_items, BINS))
    np.add.at(counts, (answers.item, cell), 1)
    return counts / counts.sum(axis=1, keepdims=True).clip(min=1)


def measured(question: str, corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """Distances from what all ratings of an item give, by the number of ratings."""
    corpus = corpus.select(questions=(question,))
    n = np.bincount(corpus[question].item, minlength=corpus.n_items)
    folds = item_folds(question)(corpus)
    fold = folds[seed % len(folds)]
    return {
        "ratings": float(n.mean()),
        "given": {m: _given(corpus, question, m, seed) for m in NUMBERS},
        "learned": {m: _learned(corpus, fold, question, m, seed, typed) for m in NUMBERS},
    }


def _given(corpus: Corpus, question: str, m: int, seed: int) -> dict[str, float]:
    """Of the ratings themselves."""
    few = some_ratings(corpus, question, m, seed)
    density, of_all = (_density(each, question) for each in (few, corpus))
    of_few, of_shares = (shares(each[question], question) for each in (few, corpus))
    return {
        "density": _tvd(density, of_all),
        "shares": _tvd(of_few, of_shares),
        "density, from shares": _tvd(density, of_shares),
        "mean": float(np.abs(_means(few[question]) - _means(corpus[question])).mean()),
    }


def _learned(
    corpus: Corpus, fold: Any, question: str, m: int, seed: int, typed: Typed
) -> dict[str, float]:
    """Of what models predict that learn from so many ratings of each item."""
    from dissensus.methods.framework.settings import seeded

    train, _, validation = fold.parts(some_ratings(corpus, question, m, seed))
    test = corpus.select(items=fold.test)
    of_all, of_shares = _density(test, question), shares(test[question], question)
    fitted = {
        name: seeded(model.built({}, typed), seed).fit(train, (question,), validation)
        for name, model in MODELS_OF_RATERS.items()
    }
    predicted = {
        name: method.predict(test, density=READING, unknown="mean")
        for name, method in fitted.items()
    }
    densities = {name: next(iter(each.densities.values())).mass for name, each in predicted.items()}
    mass = predicted["heads"][question].distribution
    return {
        "grid density": _tvd(densities["grid"], of_all),
        "heads density": _tvd(densities["heads"], of_all),
        "heads shares": _tvd(np.asarray(pool(mass, Grid((mass.shape[1],)), BINS)), of_shares),
    }


def _density(corpus: Corpus, question: str) -> np.ndarray:
    return rating_densities(corpus, (question,), BINS, fewest=1).mass


def _means(answers: Annotations) -> np.ndarray:
    """The mean rating of each item, from 0 to 1."""
    positions = (unit_positions("rating", answers.scale, answers.answer) + 1) / 2
    total = np.bincount(answers.item, positions, minlength=answers.n_items)
    return total / np.bincount(answers.item, minlength=answers.n_items).clip(min=1)


def _tvd(first: np.ndarray, second: np.ndarray) -> float:
    return float(DENSITY_METRICS["density TVD"].each(second, first).mean())


def tables(title: str, name: str) -> Callable[[Sequence[Measured]], list[Block]]:
    """A column for each number of ratings."""

    def blocks(by_seed: Sequence[Measured]) -> list[Block]:
        rows = [["", *map(str, NUMBERS)]]
        parts = {"given": GIVEN, "learned": LEARNED}
        for part, words_of in parts.items():
            rows.append([{"given": "Given", "learned": "Learned from so many ratings"}[part]])
            for key, words in words_of.items():
                cells = [
                    mean_and_spread([_entry(entry, part, m)[key] for entry in by_seed])
                    for m in NUMBERS
                ]
                rows.append([words, *cells])
        ratings = np.mean([entry["ratings"] for entry in by_seed])
        heading = (
            f"{title} ({name}): distance by the number of ratings of an item, which has "
            f"{ratings:.0f}; {len(by_seed)} seeds"
        )
        notes = (
            f"TVD over {BINS} cells, but for the mean. Learned: AdamW, from so many ratings of "
            "each training item, compared with all ratings of test items. An item with fewer "
            "ratings has all of them."
        )
        return [Block(heading, rows, notes)]

    return blocks


def _entry(entry: Measured, part: str, m: int) -> Any:
    """Keys are texts once they were in a file."""
    return entry[part].get(m) or entry[part][str(m)]


def _condition(name: str, title: str, corpus: str, question: str) -> MeasuredCondition:
    measure = partial(measured, question)
    return MeasuredCondition(name, title, corpus, SEEDS, measure, tables(title, name))


RATERS: tuple[MeasuredCondition, ...] = (
    _condition("raters", "Ratings per item: hypotheses", "nli_variation", "rating"),
    _condition("raters-faces", "Ratings per item: attractive faces", "faces_3dsk", "att"),
)
