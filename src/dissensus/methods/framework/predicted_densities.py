"""Densities of predictions: of the ratings of annotators, or of the distributions of items."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities import Grid, RatingKde, n_uniforms, pool
from dissensus.errors import DataError, listed
from dissensus.methods.framework.answers import Answers
from dissensus.methods.framework.individual import PairPredictor
from dissensus.methods.framework.pairs import Pairs
from dissensus.prediction import JointDensity
from dissensus.scales import Interval, Ordinal, Scale

NUMBERS_AT_ONCE = 1 << 24  # of random draws and histograms


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


def density_of_annotators(
    predictor: PairPredictor, voters: Pairs, code: np.ndarray, kde: RatingKde
) -> JointDensity:
    """The density of what the voters of each item are predicted to answer.

    All items share their random numbers, so that a density does not depend on other items.

    Args:
        voters: sorted by item; every item has some.
        code: the training code of each pair's annotator, -1 without an answer in training.
    """
    scales = predictor.learned.questions
    check_scales(scales)
    n_items = predictor.corpus.n_items
    starts = np.searchsorted(voters.item, np.arange(n_items + 1))
    most = int(np.diff(starts).max(initial=1))
    draws = None
    if kde.sampling == "random":
        generator = np.random.default_rng(0)
        first = generator.random((kde.observations, 1 + len(scales)))
        of_annotators = np.random.default_rng(1).random((most, kde.observations)).T
        draws = np.concatenate([first, of_annotators], axis=1)
    grid = kde.grid(len(scales))
    each = max(grid.n_cells, kde.observations * (n_uniforms(most, len(scales)) + sum(grid.shape)))
    at_once = max(1, NUMBERS_AT_ONCE // each)
    parts = []
    for first_item in range(0, n_items, at_once):
        items = range(first_item, min(first_item + at_once, n_items))
        rows = np.arange(starts[items[0]], starts[items[-1] + 1])
        answers = predictor.answers(voters.take(rows), code[rows])
        rated = np.stack([_positions(scale, answers[q]) for q, scale in scales.items()], axis=1)
        item = voters.item[rows] - items[0]
        nth = np.arange(len(rows)) - (starts[items[0] : items[-1] + 1] - starts[items[0]])[item]
        ratings = np.zeros((len(items), most, len(scales)))
        present = np.zeros((len(items), most), dtype=bool)
        ratings[item, nth], present[item, nth] = rated, True
        parts.append(_density(kde, ratings, present, draws))
    shape = (kde.bins,) * len(scales)
    mass = np.concatenate(parts) if parts else np.zeros((0, *shape))
    return JointDensity(tuple(scales), tuple(scales.values()), predictor.corpus.items, mass)


def density_of_items(
    scales: Mapping[str, Scale], corpus: Corpus, answers: Mapping[str, Answers], bins: int
) -> JointDensity:
    """The product of the distributions that are predicted for the questions, as if independent."""
    check_scales(scales)
    marginals = [_rebinned(answers[question].distribution, bins) for question in scales]
    mass = marginals[0]
    if len(marginals) == 2:
        mass = marginals[0][:, :, None] * marginals[1][:, None, :]
    return JointDensity(tuple(scales), tuple(scales.values()), corpus.items, mass)


def _density(
    kde: RatingKde, ratings: np.ndarray, present: np.ndarray, draws: np.ndarray | None
) -> np.ndarray:
    """Of all items at the same time, with torch."""
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def tensor(values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(device)

    uniforms = None
    if draws is not None:
        uniforms = tensor(draws).expand(len(ratings), *draws.shape)
    with torch.inference_mode():
        mass = kde.density(tensor(ratings), tensor(present), uniforms)
    return np.asarray(mass.cpu().numpy())


def _positions(scale: Scale, answers: Answers) -> np.ndarray:
    """Predicted ratings on [-1, 1]: the value, or the expected level."""
    if isinstance(scale, Interval):
        return scale.to_unit(answers.value)
    return answers.distribution @ np.linspace(-1, 1, scale.n_columns)


def _rebinned(distribution: np.ndarray, bins: int) -> np.ndarray:
    """The mass over equal parts of a scale, in another number of them."""
    n = distribution.shape[1]
    return np.asarray(pool(distribution, Grid((n,)), bins)) if n >= 2 else distribution
