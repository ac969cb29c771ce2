"""A split of a real corpus cuts no group and is as large as was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.datasets import DATASETS, dataset
from tests.datasets.folders import ABSENT

pytestmark = [pytest.mark.data, pytest.mark.slow]

EVERY = [
    (name, corpus) for name in DATASETS if name not in ABSENT for corpus in dataset(name).corpora
]


@pytest.mark.parametrize(("name", "corpus_name"), EVERY)
def test_a_split_cuts_no_group_and_has_the_share_asked(
    name: str, corpus_name: str, data_folder: Path
) -> None:
    corpus = dataset(name).load(data_folder / name, corpus_name)
    unit = dict(zip(corpus.items, corpus.units().tolist(), strict=True))
    for share, seed in ((0.1, 0), (0.2, 1), (0.5, 2)):
        train, test = corpus.split(share, seed=seed)
        assert train.n_items + test.n_items == corpus.n_items
        sides = [{unit[item] for item in side.items} for side in (train, test)]
        assert sides[0].isdisjoint(sides[1])
        assert abs(test.n_items / corpus.n_items - share) <= 0.02
        if corpus.group is not None:  # what the units stand for, read from the two corpora
            values = [set(side.item_attributes[corpus.group].to_pylist()) for side in (train, test)]
            assert values[0] & values[1] <= {None}
