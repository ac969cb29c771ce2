"""Bradley-Terry and its noisy form, against choix and against maximising the likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from dissensus.aggregation import (
    RANKERS,
    BradleyTerry,
    Comparisons,
    NoisyBradleyTerry,
    comparisons,
    rank,
)
from dissensus.aggregation.noisy_bradley_terry import noisy_loss
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
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
    scores = BradleyTerry(penalty=penalty, resamples=0).fit(pairs()).scores_
    assert scores == pytest.approx(expected, abs=1e-6)
    turned = pairs()
    sides = turned.right, turned.left, 1 - turned.won
    other = Comparisons(*sides, turned.weight, None, turned.things, turned.annotators)
    swapped = BradleyTerry(penalty=penalty, resamples=0).fit(other).scores_
    assert swapped == pytest.approx(expected, abs=1e-6)


def noisy(n: int = 600, seed: int = 0) -> tuple[Comparisons, np.ndarray]:
    """Five things, three careful annotators and one who always takes the left one."""
    generator = np.random.default_rng(seed)
    scores = np.array([2.0, 1.0, 0.0, -1.0, -2.0])
    left = generator.integers(0, 5, n)
    right = (left + generator.integers(1, 5, n)) % 5
    annotator = generator.integers(0, 4, n)
    chance = 1 / (1 + np.exp(scores[right] - scores[left]))
    won = np.where(annotator == 3, 1.0, generator.random(n) < chance)
    things, annotators = Names(list("abcde")), Names(["w0", "w1", "w2", "w3"])
    return Comparisons(left, right, won, np.ones(n), annotator, things, annotators), scores


def test_the_noisy_form_finds_who_chooses_by_habit() -> None:
    made, scores = noisy()
    fitted = NoisyBradleyTerry(resamples=0).fit(made)
    assert fitted.skill_[3] < 0.3 < 0.8 < fitted.skill_[:3].min()
    assert fitted.bias_[3] > 0.9
    plain = BradleyTerry(resamples=0).fit(made)
    assert np.abs(fitted.scores_ - scores).max() < np.abs(plain.scores_ - scores).max()


def test_the_noisy_form_is_a_maximum() -> None:
    """crowd-kit's gradient keeps only each annotator's last row, so its values are no reference."""
    made, _ = noisy(80)
    generator = np.random.default_rng(1)
    start = generator.normal(size=5 + 8)
    error = check_grad(
        lambda x: noisy_loss(x, made, made.weight, 0.1)[0],
        lambda x: noisy_loss(x, made, made.weight, 0.1)[1],
        start,
    )
    assert error < 1e-4
    fitted = NoisyBradleyTerry(penalty=0.1, resamples=0).fit(made)
    skills, biases = (np.log(p / (1 - p)) for p in (fitted.skill_, fitted.bias_))
    reached = noisy_loss(np.concatenate([fitted.scores_, skills, biases]), made, made.weight, 0.1)
    brute = minimize(
        lambda x: noisy_loss(x, made, made.weight, 0.1)[0],
        np.concatenate([fitted.scores_, skills, biases]) + 0.05,
        method="Nelder-Mead",
        options={"maxfev": 4000},
    )
    assert reached[0] <= brute.fun + 1e-6
    assert np.abs(reached[1]).max() < 1e-3


def test_intervals_hold_the_truth_and_have_a_seed() -> None:
    made, scores = noisy(400)
    careful = made.annotator != 3
    kept = Comparisons(
        made.left[careful], made.right[careful], made.won[careful], made.weight[careful],
        None, made.things, made.annotators,
    )  # fmt: skip
    fitted = BradleyTerry(resamples=100).fit(kept)
    inside = (fitted.intervals_[:, 0] <= scores) & (scores <= fitted.intervals_[:, 1])
    assert inside.sum() >= 4
    again = BradleyTerry(resamples=100).fit(kept)
    np.testing.assert_array_equal(fitted.intervals_, again.intervals_)


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


def test_what_cannot_be_ranked_is_refused() -> None:
    rows = [("p0", "ann", "maybe"), ("p1", "ann", "cat")]
    corpus = Corpus.build(
        "pets",
        ["p0", "p1"],
        {"nicer": Annotations.from_rows(rows)},
        item_attributes={"left": ["cat", "cow"], "right": ["dog", "cat"]},
    )
    with pytest.raises(DataError) as error:
        rank(corpus)
    assert str(error.value) == (
        "pets: 'nicer' has no comparisons: items need two columns that name what is compared, such "
        "as left and right, and answers must be one of them, or left, right or tie; found 'cat', "
        "'maybe' and the columns 'left', 'right'"
    )
    with pytest.raises(DataError, match="use a penalty above 0"):
        BradleyTerry(penalty=0).fit(pairs(WON[:2]))
    for ranker in RANKERS.values():
        assert np.isfinite(BradleyTerry(resamples=0).fit(pairs(WON[:2])).scores_).all()
        with pytest.raises(DataError, match="a penalty is not negative"):
            ranker(penalty=-1).fit(pairs())
    with pytest.raises(DataError, match="needs known annotators"):
        NoisyBradleyTerry().fit(pairs())
