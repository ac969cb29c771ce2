"""Densities of predictions: of the ratings of annotators, or of the distributions of items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities import Grid, RatingKde, n_uniforms, pool
from dissensus.errors import DataError, listed
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.pairs import PairPredictor, Pairs
from dissensus.prediction import JointDensity
from dissensus.scales import Interval, Ordinal, Scale

NUMBERS_AT_ONCE = 1 << 24  # of random draws and histograms
PAIRS_AT_ONCE = 1 << 15


def check_scales(scales: Mapping[str, Scale]) -> None:
    """Refuse questions that have no density."""
    if len(scales) > 2:
        raise DataError(
            f"a density has one question or two; the model answers {len(scales)} "
            f"({listed(scales)}): train it on the questions of the density"
        )
    for question, scale in scales.items():
        if not isinstance(scale, Interval | Ordinal):
            raise DataError(
                f"a density needs ordinal or interval answers; {question!r} is {scale.kind}"
            )


@dataclass(frozen=True, eq=False)
class PredictedRatings:
    """What the annotators of some items are predicted to answer, on [-1, 1]."""

    ratings: np.ndarray  # (n_items, most annotators, n_questions)
    present: np.ndarray  # (n_items, most annotators), False for padding

    @staticmethod
    def of_pairs(
        predictor: PairPredictor,
        pairs: Pairs,
        code: np.ndarray,
        items: range,
        most: int,
    ) -> PredictedRatings:
        """Of all pairs, which are sorted by item and about these items.

        Args:
            code: the training code of each pair's annotator, -1 without an answer in training.
            most: annotators of an item, at most.
        """
        scales, answers = predictor.learned.questions, predictor.answers(pairs, code)
        item = pairs.item - items.start
        nth = np.arange(len(pairs)) - np.searchsorted(item, item)  # among the pairs of its item
        ratings = np.zeros((len(items), most, len(scales)))
        present = np.zeros((len(items), most), dtype=bool)
        present[item, nth] = True
        for axis, (question, scale) in enumerate(scales.items()):
            ratings[item, nth, axis] = answers[question].positions(scale)
        return PredictedRatings(ratings, present)

    def density(self, kde: RatingKde) -> np.ndarray:
        """The density of each item, with torch, for as many items at a time as fit in memory.

        All items share their random numbers, so that a density does not depend on other items.
        """
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        n_items, most, n_questions = self.ratings.shape
        # the random numbers of an annotator do not depend on how many there are
        n = kde.observations
        first = np.random.default_rng(0).random((n, 1 + n_questions))
        of_annotators = np.random.default_rng(1).random((most, n)).T
        draws = torch.from_numpy(np.concatenate([first, of_annotators], axis=1)).to(device)
        grid = kde.grid(n_questions)
        each = kde.observations * (n_uniforms(most, n_questions) + sum(grid.shape))
        at_once, parts = max(1, NUMBERS_AT_ONCE // max(grid.n_cells, each)), []
        tensors = [torch.from_numpy(each) for each in (self.ratings, self.present)]
        for at in range(0, n_items, at_once):
            ratings, present = (each[at : at + at_once].to(device) for each in tensors)
            uniforms = draws.expand(len(ratings), *draws.shape)
            with torch.inference_mode():
                mass = kde.density(ratings, present, uniforms=uniforms)
            parts.append(np.asarray(mass.cpu().numpy()))
        return np.concatenate(parts) if parts else np.zeros((0, *(kde.bins,) * n_questions))


def density_of_annotators(
    predictor: PairPredictor, voters: Pairs, code: np.ndarray, kde: RatingKde
) -> JointDensity:
    """The density of what the voters of each item are predicted to answer.

    Args:
        voters: sorted by item; every item has some.
        code: the training code of each pair's annotator, -1 without an answer in training.
    """
    scales = predictor.learned.questions
    check_scales(scales)
    n_items = predictor.corpus.n_items
    starts = np.searchsorted(voters.item, np.arange(n_items + 1))
    most = int(np.diff(starts).max(initial=1))
    at_once, parts = max(1, PAIRS_AT_ONCE // most), []
    for first in range(0, n_items, at_once):
        items = range(first, min(first + at_once, n_items))
        rows = slice(starts[first], starts[items.stop])
        predicted = PredictedRatings.of_pairs(predictor, voters.take(rows), code[rows], items, most)
        parts.append(predicted.density(kde))
    mass = np.concatenate(parts) if parts else np.zeros((0, *(kde.bins,) * len(scales)))
    return JointDensity(tuple(scales), tuple(scales.values()), predictor.corpus.items, mass)


def density_of_items(
    scales: Mapping[str, Scale], corpus: Corpus, answers: Mapping[str, Answers], bins: int
) -> JointDensity:
    """The product of the distributions that are predicted for the questions, as if independent."""
    check_scales(scales)
    marginals = [answers[question].distribution for question in scales]
    marginals = [m if m.shape[1] < 2 else pool(m, Grid(m.shape[1:]), bins) for m in marginals]
    mass = marginals[0]
    if len(marginals) == 2:
        mass = marginals[0][:, :, None] * marginals[1][:, None, :]
    return JointDensity(tuple(scales), tuple(scales.values()), corpus.items, mass)
