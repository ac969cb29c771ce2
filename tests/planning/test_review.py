"""Slips that were planted, views that are none, and predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Annotations, Corpus, Nominal, Prediction
from dissensus.names import Names
from dissensus.planning import review
from dissensus.testing import SCALES, example_corpus

SCALE = Nominal(("a", "b", "c"))


def crowd(seed: int) -> tuple[Corpus, np.ndarray, np.ndarray]:
    """40 annotators, 12 of whom see a third of 300 items in another way; 50 planted slips. Rows of
    other views, and of slips."""
    draw = np.random.default_rng(seed)
    item, who = np.divmod(np.arange(300 * 40), 40)
    truth, dividing = draw.integers(0, 3, 300), draw.random(300) < 1 / 3
    view = (who < 12) & dividing[item]
    answer = (truth[item] + view * (1 + item % 2)) % 3
    slip = np.zeros(len(item), dtype=bool)
    kept = np.flatnonzero(draw.random(len(item)) < 0.3)
    slip[draw.choice(kept, 50, replace=False)] = True
    answer = np.where(slip, (answer + draw.integers(1, 3, len(item))) % 3, answer).astype(np.int32)
    answers = Annotations.from_arrays(
        item[kept],
        who[kept],
        answer[kept],
        SCALE,
        items=Names.range(300),
        annotators=Names.range(40),
    )
    corpus = Corpus.build("camps", answers.items, {"q": answers})
    return corpus, (view & ~slip)[kept], slip[kept]


def rows_of(corpus: Corpus, table: pa.Table) -> np.ndarray:
    """The rows of the answers in a review."""
    answers = corpus["q"]
    pairs = zip(answers.item.tolist(), answers.annotator_codes("").tolist(), strict=True)
    place = {(answers.items[i], answers.annotators[a]): row for row, (i, a) in enumerate(pairs)}
    named = zip(table["item"].to_pylist(), table["annotator"].to_pylist(), strict=True)
    return np.array([place[pair] for pair in named])


def test_slips_are_found_and_the_view_of_a_camp_is_none() -> None:
    corpus, view, slip = crowd(0)
    table = review(corpus, "q", most=40)
    rows, answers = rows_of(corpus, table), corpus["q"]
    assert slip[rows].mean() > 0.9
    assert view[rows].mean() < 0.05
    assert (np.diff(table["probability"].to_numpy()) >= 0).all()
    assert any("who usually answer alike" in text for text in table["reason"].to_pylist())
    counts = answers.counts()[answers.item]  # views are not told apart by how many others agree
    others = (counts[np.arange(len(slip)), answers.answer] - 1) / (counts.sum(axis=1) - 1)
    assert view[np.argsort(others, kind="stable")[:40]].mean() > 0.1


def test_a_reason_says_how_many_others_agree() -> None:
    rows = [(f"t{n}", who, "yes" if n % 2 else "no") for n in range(20) for who in ("a", "b", "c")]
    rows[30] = ("t10", "a", "yes")
    corpus = Corpus.build("mine", [f"t{n}" for n in range(20)], {"q": Annotations.from_rows(rows)})
    worst = review(corpus, "q", most=1).to_pylist()[0]
    assert (worst["item"], worst["annotator"], worst["answer"]) == ("t10", "a", "yes")
    assert worst["others"] == "no 2"
    assert worst["reason"].startswith("0 of 2 others gave this answer; answers of a usually have")


def test_a_model_of_the_content_finds_slips_where_nobody_else_answered() -> None:
    corpus, _, _ = crowd(1)
    answers = corpus["q"]
    first = np.unique(answers.item, return_index=True)[1]
    alone = replace(corpus, questions={"q": answers.take(first)})
    assert len(review(alone, "q")) == 0
    wrong = alone["q"].answer[7]
    shares = np.full((300, 3), 0.05)
    shares[alone["q"].item, alone["q"].answer] = 0.9
    shares[alone["q"].item[7]] = np.where(np.arange(3) == wrong, 0.02, 0.49)
    given = Prediction(SCALE, alone.items, shares, shares.argmax(axis=1))
    worst = review(alone, "q", given, most=1).to_pylist()[0]
    assert worst["item"] == alone.items[int(alone["q"].item[7])]
    assert worst["by the model"] == pytest.approx(0.02)


@pytest.mark.parametrize("kind", SCALES)
def test_every_scale_is_reviewed_and_names_and_orders_do_not_matter(kind: str) -> None:
    corpus = example_corpus(kind, n_items=40)
    table = review(corpus, "q", most=0)
    answers = corpus["q"]
    assert len(table) == (answers.per_item()[answers.item] > 1).sum()
    shuffled = answers.take(np.random.default_rng(0).permutation(answers.n_rows))
    again = review(replace(corpus, questions={"q": shuffled}), "q", most=0)
    assert np.allclose(table["probability"].to_numpy(), again["probability"].to_numpy(), atol=1e-4)
