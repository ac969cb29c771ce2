"""GLAD: annotators have an ability, items a difficulty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.aggregation.em import Expected, HiddenTruth, LocalAnswers, alike


@dataclass(eq=False)
class Glad(HiddenTruth):
    """An answer is right with the logistic of the annotator's ability times the item's ease.

    `ability_` is (n_annotators,), negative for annotators who answer against the truth;
    `difficulty_` is (n_items,), 1 / ease. Abilities and log-eases have a normal prior around 1,
    the values that occur a flat one. With a history, the prior of an annotator's ability is
    centred on the earlier ability.

    Each maximisation improves the eases with fixed abilities, item by item, then the
    abilities with fixed eases, by Newton's steps that are never taken downhill.

    Args:
        sweeps: how often that is done in an iteration.

    Reference: Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more.
    """

    sweeps: int = 2
    name: ClassVar[str] = "glad"
    state: ClassVar[str] = "ability_"
    ability_: np.ndarray = field(init=False, repr=False)
    log_ease_: np.ndarray = field(init=False, repr=False)
    objective_: list[float] = field(init=False, repr=False)  # log-posterior after each iteration
    _right: np.ndarray = field(init=False, repr=False)
    _usual: np.ndarray = field(init=False, repr=False)  # the prior's middle of each ability

    @property
    def difficulty_(self) -> np.ndarray:
        return np.exp(-self.log_ease_)

    def _shape(self, n_values: int) -> tuple[int, ...]:
        return ()

    def _begin(self, answers: LocalAnswers, voted: Expected) -> None:
        self.prior_ = alike(voted.mass)
        self._usual = self._from_history(np.ones(answers.n_annotators), "ability_")
        self.ability_ = self._usual.copy()
        self.log_ease_ = np.ones(answers.n_items)
        self.objective_ = []
        self._right = np.empty(len(answers.cell))

    def _pass(self, answers: LocalAnswers) -> tuple[float, float]:
        from dissensus.aggregation.kernels import expect_difficulty

        def work(first: int, last: int) -> tuple[float, float]:
            result: tuple[float, float] = expect_difficulty(
                first,
                last,
                answers.offsets,
                answers.cell,
                self.ability_,
                self.log_ease_,
                self.prior_,
                answers.known,
                answers.posterior,
                self._right,
            )
            return result

        likelihoods, changes = zip(*answers.each(work), strict=True)
        likelihood = sum(likelihoods)
        square = ((self.ability_ - self._usual) ** 2).sum() + ((self.log_ease_ - 1) ** 2).sum()
        self.objective_.append(float(likelihood - 0.5 * square))
        for _ in range(self.sweeps):
            self._improve_ease(answers)
            self._improve_ability(answers)
        return likelihood, max(changes)

    def _improve_ease(self, answers: LocalAnswers) -> None:
        from dissensus.aggregation.kernels import improve_ease

        arrays = answers.offsets, answers.cell, answers.n_values, self._right
        answers.each(
            lambda first, last: improve_ease(first, last, *arrays, self.ability_, self.log_ease_, 2)
        )

    def _improve_ability(self, answers: LocalAnswers) -> None:
        """One Newton's step for all annotators; halved where it would lead downhill."""
        slope, curve, value = self._slopes(answers, self.ability_)
        step = (slope / curve).clip(-2, 2)
        for _ in range(8):
            worse = self._slopes(answers, self.ability_ + step)[2] < value - 1e-12
            if not worse.any():
                break
            step = np.where(worse, step / 2, step)
        else:
            step = np.where(worse, 0, step)
        self.ability_ = self.ability_ + step

    def _slopes(self, answers: LocalAnswers, ability: np.ndarray) -> np.ndarray:
        """Slope, curve and value of the objective in each ability, (3, n_annotators)."""
        from dissensus.aggregation.kernels import ability_slope

        def work(first: int, last: int) -> np.ndarray:
            sums = np.zeros((answers.n_annotators, 3))
            arrays = answers.offsets, answers.cell, answers.n_values, self._right
            ability_slope(first, last, *arrays, ability, self.log_ease_, sums)
            return sums

        slope, curve, value = sum(answers.each(work), np.zeros((answers.n_annotators, 3))).T
        off = ability - self._usual
        return np.stack([slope - off, curve + 1, value - 0.5 * off**2])
