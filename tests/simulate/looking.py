"""What tests of several presets ask about where people look."""

from __future__ import annotations

import numpy as np

from dissensus.corpus import Corpus
from dissensus.simulate.truth import Truth


def every_pair(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    people = np.arange(corpus.n_annotators)
    items = np.arange(corpus.n_items)
    return items.repeat(len(people)), np.tile(people, len(items))


def blind_auroc(known: Truth, item: np.ndarray, looked: np.ndarray) -> float:
    """How well the crowd's mean focus finds the part looked at: per item, then over items.

    Items with a single part leave nothing to find.
    """
    several = known.parts.there.sum(axis=1)[item] > 1
    item, looked = item[several], looked[several]
    score, rows = known.blind_focus()[item], np.arange(len(item))
    others = known.parts.there[item]
    others[rows, looked] = False
    own = score[rows, looked][:, None]
    wins = ((own > score) + 0.5 * (own == score)) * others
    auroc = wins.sum(axis=1) / others.sum(axis=1)
    n_looks = np.bincount(item)
    return float((np.bincount(item, auroc)[n_looks > 0] / n_looks[n_looks > 0]).mean())
