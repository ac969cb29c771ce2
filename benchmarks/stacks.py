"""A random corpus and trainings of it, for the benchmarks of stacks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.training.loop import Trainer


def crowd(n_items: int, width: int) -> Corpus:
    """Random features with labels of six values."""
    generator = np.random.default_rng(0)
    items = Names.range(n_items)
    asked = Annotations.from_arrays(
        np.arange(n_items),
        np.zeros(n_items, np.int64),
        generator.integers(0, 6, n_items),
        Nominal(tuple("abcdef")),
        items=items,
    )
    vectors = generator.normal(size=(n_items, width)).astype(np.float32)
    shown = Contents.distinct("features", vectors)
    return Corpus.build("random", items, {"q": asked}, contents={"x": shown})


def runs_of(method: TrainedMethod, corpus: Corpus, question: str, n_seeds: int) -> list[Trainer]:
    """Trainings before their first step, one for each seed, which share their examples."""
    laid_out: ExamplesCache = {}
    runs = []
    for seed in range(n_seeds):
        one = replace(method, init_seed=seed, training=replace(method.training, seed=seed))
        one.begin_fit(corpus, question, None)
        runs.append(one.trainer(corpus, None, laid_out))
    return runs
