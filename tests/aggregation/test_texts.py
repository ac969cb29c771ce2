"""One text from several: ROVER as crowd-kit, and the text closest to the mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dissensus.aggregation import aggregate_texts, rover
from dissensus.annotations import Annotations

WORDS = "the a cat dog sat on mat runs over lazy fox and then sleeps all day".split()


def heard(words: list[str], generator: np.random.Generator) -> str:
    """The words with some left out, replaced or added."""
    text = []
    for word in words:
        chance = generator.random()
        text += [] if chance < 0.08 else [WORDS[generator.integers(16)] if chance < 0.2 else word]
        text += [WORDS[generator.integers(16)]] if generator.random() < 0.05 else []
    return " ".join(text)


@pytest.mark.filterwarnings("ignore")  # crowd-kit beside a newer pandas
def test_rover_as_crowd_kit() -> None:
    from crowdkit.aggregation import ROVER

    generator = np.random.default_rng(0)
    rows = []
    for item in range(60):
        words = [WORDS[k] for k in generator.integers(0, 16, generator.integers(3, 12))]
        rows += [(f"t{item:02}", f"p{k}", heard(words, generator) or "the") for k in range(5)]
    table = pd.DataFrame(rows, columns=["task", "worker", "text"])
    expected = ROVER(str.split, " ".join).fit_predict(table)
    texts = aggregate_texts(Annotations.from_rows(rows))
    assert dict(zip(texts["item"].to_pylist(), texts["answer"].to_pylist(), strict=True)) == dict(
        expected
    )


@pytest.mark.parametrize(
    ("texts", "answer", "confidence"),
    [
        (["so it goes"], "so it goes", 1),
        (["", ""], "", 1),
        (["", "yes", "yes"], "yes", 2 / 3),
        (["éa ü", "éa ü", "ea u"], "éa ü", 2 / 3),
    ],
)
def test_rover_by_hand(texts: list[str], answer: str, confidence: float) -> None:
    text, share = rover(texts)
    assert text == answer
    assert share == pytest.approx(confidence)


def test_the_text_closest_to_the_mean() -> None:
    vectors = {"left": [1.0, 0.0], "middle": [0.8, 0.6], "up": [0.0, 1.0]}
    rows = [("t1", f"p{k}", text) for k, text in enumerate(vectors)] + [("t2", "p0", "up")]
    table = aggregate_texts(
        Annotations.from_rows(rows),
        "closest-text",
        lambda texts: np.array([vectors[text] for text in texts]),
    )
    assert table["answer"].to_pylist() == ["middle", "up"]
    assert table["answers"].to_pylist() == [3, 1]
    assert table["confidence"].to_pylist() == pytest.approx([0.99655, 1], abs=1e-5)
