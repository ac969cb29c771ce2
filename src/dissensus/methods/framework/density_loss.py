"""The loss of a density: that of the predicted ratings of an item's annotators, or a direct one."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, n_uniforms, rating_densities
from dissensus.errors import ModelError, listed
from dissensus.methods.framework.losses import item_weight, positions
from dissensus.networks.noise import drawing, positions_in_batch, uniforms
from dissensus.training import Batch, Loss, Outputs, Sizes

SMALLEST = 1e-8  # mass that is added to each cell before its logarithm is taken
TARGET = "density"  # the name of the target; `density.weight` is 1 where an item has one
# outputs of items, if a network has them: logarithms of what the settings of the density are
# multiplied by
TEMPERATURE, FACTOR = "temperature", "factor"


def check_density(method: str, questions: tuple[str, ...]) -> None:
    """Refuse more questions than a density has."""
    if len(questions) > 2:
        raise ModelError(
            f"{method}: a density has one question or two, not {len(questions)} "
            f"({listed(questions)}); choose them: fit(corpus, questions) or --question"
        )


def density_targets(corpus: Corpus, questions: tuple[str, ...], bins: int) -> dict[str, np.ndarray]:
    """The density of the ratings of each item with at least one, and which items have some."""
    densities = rating_densities(corpus, questions, bins, fewest=1)
    mass = np.zeros((corpus.n_items, *densities.shape), np.float32)
    weight = np.zeros(corpus.n_items, np.float32)
    items = corpus.items.codes(densities.items)
    mass[items], weight[items] = densities.mass, 1
    return {TARGET: mass, f"{TARGET}.weight": weight}


def direct_density_loss() -> Loss:
    """The cross-entropy of the masses that a network predicts for an item, as logits."""

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        logits = outputs.items[TARGET]  # (n_items, n_cells)
        return -(batch.targets[TARGET].flatten(1) * logits.log_softmax(dim=1)).sum(dim=1)

    return Loss(TARGET, "item", loss, weight=lambda batch: item_weight(TARGET, batch))


def annotator_density_loss(
    sizes: Sizes, kde: RatingKde, most: int, left_out: int | None = None
) -> Loss:
    """The cross-entropy of the density of what the item's annotators are predicted to answer.

    Args:
        most: annotators of an item, at most; the answers of others do not count.
        left_out: the code of an annotator whose answers do not count.
    """
    scales = sizes.scales

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        rated = torch.stack([weight > 0 for weight in batch.rows.weight.values()]).all(dim=0)
        if left_out is not None:
            rated = rated & (batch.annotators[batch.rows.annotator] != left_out)
        predicted = [positions(scale, outputs.rows[question]) for question, scale in scales.items()]
        ratings, present = by_item(
            torch.stack(predicted, dim=1), rated, batch.rows.item, len(batch.items), most
        )
        shape = (len(batch.items), kde.observations, n_uniforms(most, len(scales)))
        with drawing(batch.noise), positions_in_batch(batch.places.get("items")):
            draws = uniforms(shape, 0, ratings)
        learned = {
            name: getattr(kde, name) * outputs.items[name].mean().exp()
            for name in (TEMPERATURE, FACTOR)
            if name in outputs.items
        }
        mass = kde.density(ratings, present, uniforms=draws, **learned)
        target = batch.targets[TARGET].to(mass.dtype)
        return -(target * (mass + SMALLEST).log()).flatten(1).sum(dim=1)

    return Loss(TARGET, "item", loss, weight=lambda batch: item_weight(TARGET, batch))


def by_item(
    values: Tensor, counts: Tensor, item: Tensor, n_items: int, most: int
) -> tuple[Tensor, Tensor]:
    """Values of rows, (n_rows, width), as a padded table: (n_items, most, width), and where it has
    values, (n_items, most).

    No shape depends on the data, so that it can be vmapped and captured in a CUDA graph.

    Args:
        counts: (n_rows,), False for rows that are left out.
        item: (n_rows,), the item of each row.
    """
    own = (item == torch.arange(n_items, device=item.device)[:, None]) & counts  # (n_items, n_rows)
    nth = (own * own.cumsum(dim=1)).sum(dim=0) - 1  # (n_rows,) among the rows of its item
    fits = counts & (nth < most)
    place = torch.where(fits, item * most + nth, n_items * most)  # the last place is dropped
    index = place[:, None].expand(-1, values.shape[1])
    table = values.new_zeros(n_items * most + 1, values.shape[1]).scatter(0, index, values)
    filled = values.new_zeros(n_items * most + 1).scatter(0, place, fits.to(values.dtype))
    return (
        table[:-1].reshape(n_items, most, values.shape[1]),
        filled[:-1].reshape(n_items, most) > 0,
    )


def most_answers(corpora: list[Corpus], questions: tuple[str, ...], limit: int) -> int:
    """The most annotators who answered all questions about one item, at most `limit`."""
    counts = [np.bincount(corpus.joint(*questions).item).max(initial=1) for corpus in corpora]
    return int(min(max(counts), limit))
