"""Annotators who rate what they look at, with a known bias and spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.simulate.crowd import Attention, Draws, Parts, blocks, even_preferences, evenly

HUNDREDTHS = np.arange(-100, 101)  # what a rating from -1 to 1 can be
BIAS = (-15, -10, -5, 0, 5, 10, 15)  # hundredths; each is as frequent as the others
SPREAD = (3, 6, 9, 12, 15)  # likewise


@dataclass(frozen=True, eq=False)
class Raters(Attention):
    """Annotators, and the exact density of how each of them rates an item on one question.

    Annotator a looks at part j of item i with probability focus(j | i, a), as `Attention` states
    it, and rates it mode(i, j) + bias[a] + k, all in hundredths. The slip k is the sum of two fair
    draws from -s to s, where s = spread[a], so that

        P(k) = (2 s + 1 - |k|) / (2 s + 1) ** 2                 for |k| <= 2 s
        p(x | i, a) = sum over j of focus(j | i, a) * P(x - mode(i, j) - bias[a]).
    """

    bias: np.ndarray  # (n_annotators,) hundredths
    spread: np.ndarray  # (n_annotators,) hundredths

    @classmethod
    def balanced(
        cls, n_annotators: int, n_aspects: int, n_questions: int, draws: Draws
    ) -> list[Raters]:
        """The same annotators on each of several questions; only their bias differs."""
        preference = even_preferences(n_annotators, n_aspects, draws)
        spread = np.array(SPREAD)[evenly(n_annotators, len(SPREAD), draws)]
        biases = [
            np.array(BIAS)[evenly(n_annotators, len(BIAS), draws)] for _ in range(n_questions)
        ]
        return [cls(preference, bias, spread) for bias in biases]

    def rate(self, mode: np.ndarray, annotator: np.ndarray, draws: Draws) -> np.ndarray:
        """Ratings in hundredths of the parts looked at, whose modes these are, (n_rows,)."""
        spread = self.spread[annotator]
        slip = draws.below(2 * spread + 1, len(mode)) + draws.below(2 * spread + 1, len(mode))
        return mode + self.bias[annotator] + slip - 2 * spread

    def below(
        self,
        points: np.ndarray,
        parts: Parts,
        mode: np.ndarray,
        item: np.ndarray,
        annotator: np.ndarray,
    ) -> np.ndarray:
        """The probability of rating no higher than each point, (n_pairs, n_points)."""
        total = np.zeros((len(item), len(points)))
        for rows in blocks(len(item), len(points)):
            annotators, items = annotator[rows], item[rows]
            focus = self.focus(parts, items, annotators)
            for part in range(focus.shape[1]):
                centre = mode[items, part] + self.bias[annotators]
                slip = points - centre[:, None]
                below = _slips_below(slip, self.spread[annotators, None])
                total[rows] += focus[:, part, None] * below
        return total

    def density(
        self, parts: Parts, mode: np.ndarray, item: np.ndarray, annotator: np.ndarray
    ) -> np.ndarray:
        """The probability of each rating in HUNDREDTHS, (n_pairs, 201)."""
        return np.diff(self.below(HUNDREDTHS, parts, mode, item, annotator), axis=1, prepend=0.0)


def _slips_below(slip: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The probability of an error no larger than this: a sum of P, in closed form."""
    n = 2 * spread + 1
    few, many = np.clip(slip + n, 0, n), np.clip(n - 1 - slip, 0, n)
    count = np.where(slip < 0, few * (few + 1) // 2, n * n - many * (many + 1) // 2)
    return count / (n * n)
