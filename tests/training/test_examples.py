"""Rows of several questions stand together, and every row is seen once an epoch."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from dissensus import Annotations, Corpus, Interval, Names
from dissensus.contents import Contents
from dissensus.encoders import FeaturesEncoder, encodings
from dissensus.training import Examples, Training
from dissensus.training.examples import Table, batch_indices, batches
from tests.crowds import feature_crowd

PEOPLE = Names(["ann", "bob"])


def _corpus(**questions: Annotations) -> Corpus:
    features = Contents.distinct("features", np.eye(3, dtype=np.float32))
    return Corpus.build(
        "c", Names.range(3), dict(questions), annotators=PEOPLE, contents={"x": features}
    )


def _asked(
    item: list[int], who: list[int] | None, answer: list[float], **more: object
) -> Annotations:
    annotator = None if who is None else np.array(who)
    return Annotations.from_arrays(
        np.array(item),
        annotator,
        np.array(answer, float),
        Interval(0, 10),
        items=Names.range(3),
        annotators=PEOPLE,
        **more,  # type: ignore[arg-type]
    )


def test_questions_are_joined_by_item_and_annotator() -> None:
    corpus = _corpus(v=_asked([0, 0, 2], [0, 1, 1], [0, 5, 10]), a=_asked([0, 1], [1, 0], [10, 5]))
    table = Table.of_corpus(corpus, ("v", "a"))
    assert list(zip(table.item, table.annotator, strict=True)) == [(0, 0), (0, 1), (1, 0), (2, 1)]
    assert table.weight["v"].tolist() == [1, 1, 0, 1]
    assert table.weight["a"].tolist() == [0, 1, 1, 0]
    assert table.answer["v"][table.weight["v"] > 0].tolist() == [-1, 0, 1]
    assert table.answer["a"][table.weight["a"] > 0].tolist() == [1, 0]


def test_questions_are_joined_by_response() -> None:
    corpus = _corpus(
        v=_asked([0, 0], None, [1, 2], response=[7, 8]),
        a=_asked([0, 0], None, [3, 4], response=[8, 7]),
    )
    table = Table.of_corpus(corpus, ("v", "a"))
    given = {(v, a) for v, a in zip(table.answer["v"], table.answer["a"], strict=True)}
    units = Interval(0, 10).to_unit(np.array([1, 4, 2, 3])).astype(np.float32)
    assert given == {(units[0], units[1]), (units[2], units[3])}


def test_repeats_and_counts_stay_rows_of_their_own() -> None:
    twice = _asked([0, 0], [1, 1], [1, 3], repeats="keep")
    assert len(Table.of_corpus(_corpus(v=twice), ("v",)).item) == 2
    votes = _asked([0, 0, 1], None, [0, 1, 1], count=[3, 4, 5])
    assert Table.of_corpus(_corpus(v=votes), ("v",)).weight["v"].tolist() == [3, 4, 5]


@pytest.mark.parametrize("most", [1, 3, 7, 1000])
def test_every_row_is_seen_once_an_epoch(most: int) -> None:
    corpus = feature_crowd(n_items=11, n_annotators=7)
    table = Table.of_corpus(corpus, ("q",))
    examples = Examples.of_corpus(corpus, encodings(corpus, "features"), table)
    training = Training(batch_size=4, max_rows_per_item=most)
    seen: Counter[int] = Counter()
    shares = np.zeros(11)
    for cut in batch_indices(examples, np.arange(11), training, np.random.default_rng(0)):
        items, rows, owner, share = cut
        assert len(items) <= 4 and np.bincount(owner).max() <= most
        np.testing.assert_array_equal(items[owner], table.item[rows])
        np.add.at(shares, items, share)
        seen.update(rows.tolist())
    assert seen == Counter(range(77))
    np.testing.assert_allclose(shares, 1, rtol=1e-6)


def test_a_batch_says_of_its_rows_what_the_corpus_says() -> None:
    corpus = feature_crowd(n_items=9, n_annotators=3)
    examples = Examples.of_corpus(
        corpus,
        encodings(corpus, "features"),
        Table.of_corpus(corpus, ("q",)),
        {"t": np.arange(9.0)},
    )
    features = FeaturesEncoder().encode(corpus.contents["x"]).vectors[corpus.content["x"]]
    answers = corpus["q"]
    told = {
        (int(i), int(a)): int(v)
        for i, a, v in zip(answers.item, answers.annotator_codes(""), answers.answer, strict=True)
    }
    for batch, _ in batches(examples, np.array([8, 1, 5]), 2):
        items = batch.items.numpy()
        np.testing.assert_array_equal(batch.pooled["x"].numpy(), features[items])
        np.testing.assert_array_equal(batch.targets["t"].numpy(), items)
        people = batch.annotators[batch.rows.annotator]
        for row in range(len(people)):
            item = int(items[batch.rows.item[row]])
            assert batch.rows.answer["q"][row] == told[item, int(people[row])]
            assert batch.rows.weight["q"][row] == 1


@pytest.mark.parametrize("pool", [False, True])
def test_sequences_are_cut_once_for_items_that_share_a_content(pool: bool) -> None:
    """Pooled, an item without it has zeros."""
    corpus = feature_crowd(n_items=4)
    corpus.content["x"][:] = [2, 0, 2, -1]
    table = Table.of_corpus(corpus, ("q",))
    examples = Examples.of_corpus(corpus, encodings(corpus, "features"), table, pool=pool)
    ((batch, _),) = batches(examples, np.arange(4), 4)
    if pool:
        assert not batch.pooled["x"][3].any() and torch.all(batch.pooled["x"][:3] != 0)
    else:
        assert batch.sequence["x"].vectors.shape == (2, 1, 8)
        assert batch.content["x"].tolist() == [1, 0, 1, -1]
