"""Bradley-Terry against choix, statsmodels and simulated scores."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.aggregation import BradleyTerry, Comparisons, comparisons, rank
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.names import Names

WON = np.array([(0, 1), (0, 1), (1, 0), (0, 2), (2, 1), (1, 2), (1, 2), (3, 0), (0, 3), (0, 3),
                (2, 3), (3, 2), (1, 3)])  # fmt: skip


def pairs(winners: np.ndarray = WON) -> Comparisons:
    names = Names(["a", "b", "c", "d"])
    n = len(winners)
    return Comparisons(
        winners[:, 0], winners[:, 1], np.ones(n), np.ones(n), None, names, Names.range(0)
    )


# choix 0.4.1: opt_pairwise(4, WON, alpha=0.01), and ilsr_pairwise(4, WON, alpha=0)
@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        (0.01, [0.778493335863862, 0.3165571167505808, -0.5965405341383498, -0.49850991847609305]),
        (0.0, [0.7887846307211007, 0.32119618164757224, -0.6049589545177789, -0.5050218578508942]),
    ],
)
def test_equals_choix(penalty: float, expected: list[float]) -> None:
    scores = BradleyTerry(penalty=penalty).fit(pairs()).scores_
    assert scores == pytest.approx(expected, abs=1e-6)
    turned = pairs()
    sides = turned.right, turned.left, 1 - turned.won
    other = Comparisons(*sides, turned.weight, None, turned.things, turned.annotators)
    swapped = BradleyTerry(penalty=penalty).fit(other).scores_
    assert swapped == pytest.approx(expected, abs=1e-6)


def preferred(n: int = 400, seed: int = 0) -> tuple[Comparisons, np.ndarray]:
    """Comparisons of five things by four annotators, and the true scores."""
    generator = np.random.default_rng(seed)
    scores = np.array([2.0, 1.0, 0.0, -1.0, -2.0])
    left = generator.integers(0, 5, n)
    right = (left + generator.integers(1, 5, n)) % 5
    annotator = generator.integers(0, 4, n)
    won = (generator.random(n) < 1 / (1 + np.exp(scores[right] - scores[left]))).astype(float)
    things, annotators = Names(list("abcde")), Names(["w0", "w1", "w2", "w3"])
    return Comparisons(left, right, won, np.ones(n), annotator, things, annotators), scores


def test_intervals_as_statsmodels() -> None:
    from statsmodels.api import Logit

    made, _ = preferred(300)
    contrasts = np.eye(5)[made.left] - np.eye(5)[made.right]
    reference = Logit(made.won, contrasts[:, 1:]).fit(disp=0)  # the first thing has score 0
    centring = (np.eye(5) - 1 / 5)[:, 1:]
    deviation = np.sqrt(np.diag(centring @ reference.cov_params() @ centring.T))
    fitted = BradleyTerry(penalty=0).fit(made)
    np.testing.assert_allclose(fitted.scores_, centring @ reference.params, atol=1e-5)
    low, high = fitted.intervals_.T
    np.testing.assert_allclose((high - low) / 2, 1.96 * deviation, rtol=1e-4)


def test_intervals_contain_true_scores() -> None:
    """24 comparisons of each thing; intervals from drawing comparisons again had 0.86."""
    inside = []
    for seed in range(150):
        made, scores = preferred(60, seed)
        low, high = BradleyTerry().fit(made).intervals_.T
        inside.append((low <= scores) & (scores <= high))
    assert 0.94 < np.mean(inside) < 0.99


@pytest.mark.parametrize("answers", ["names", "columns", "letters"])
def test_answers_are_names_sides_or_letters(answers: str) -> None:
    left, right = ["cat", "cow", "dog"], ["dog", "cat", "cow"]
    spelled = {
        "names": ["cat", "cat", "tie"],
        "columns": ["Left", "right", "Tie"],
        "letters": ["A", "B", "no preference"],
    }[answers]
    rows = [(f"p{n}", "ann", answer) for n, answer in enumerate(spelled)]
    corpus = Corpus.build(
        "pets",
        ["p0", "p1", "p2"],
        {"nicer": Annotations.from_rows(rows)},
        item_attributes={"left": left, "right": right},
    )
    made = comparisons(corpus, "nicer")
    assert list(made.things) == ["cat", "cow", "dog"]
    assert made.won.tolist() == [1, 0, 0.5]
    table = rank(corpus, penalty=0.1).to_pydict()
    assert (table["thing"], table["rank"]) == (["cat", "cow", "dog"], [1, 2, 2])
    assert (table["wins"], table["comparisons"]) == ([2, 0.5, 0.5], [2, 2, 2])
