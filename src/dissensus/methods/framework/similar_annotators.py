"""Learn what annotators did not answer from those who answer alike (SimLabel).

A cell is a pair of item and annotator without an answer. It is a row like any other, of weight 0
for the question itself, and of weight 1 under the name of the question with `CELL`. There its
"answer" is how similar the annotator is to each of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dissensus.agreement import kappa_matrix
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Batch, Loss, Outputs, Sizes
from dissensus.training.examples import Table

CELL = ", not answered"  # is added to the name of the question
MOST_ANNOTATORS = 256
CONFIDENT = 0.6  # from here on, the most probable answer becomes the label
HALF = 0.5  # of the epochs: then labels are set
LAST = 0.9999  # cells are learned to the end, but do not count in the choice of an epoch


def check_similar(method: Any, corpus: Corpus, questions: tuple[str, ...]) -> None:
    """Refuse what cannot be learned from similar annotators."""
    if method.loss != "likelihood" or method.objective != "answers":
        raise ModelError("similar needs loss=likelihood and objective=answers; or set similar=0")
    if corpus.n_annotators > MOST_ANNOTATORS:
        raise ModelError(
            f"similar compares all annotators with one another: {MOST_ANNOTATORS} at most, "
            f"{corpus.name} has {corpus.n_annotators}; set similar=0"
        )
    for question in questions:
        kind = corpus[question].scale.kind
        if kind not in ("nominal", "ordinal"):
            raise ModelError(
                f"{method.name}: similar needs nominal or ordinal answers, but {question!r} is "
                f"{kind}; set similar=0"
            )


def similarities(corpus: Corpus, question: str) -> np.ndarray:
    """Cohen's kappa of every two annotators, at least 0, and 0 where it is undefined."""
    kappa = np.nan_to_num(kappa_matrix(corpus[question])).clip(min=0)
    np.fill_diagonal(kappa, 0)
    return np.asarray(kappa.astype(np.float32))


def with_cells(table: Table, corpus: Corpus, questions: tuple[str, ...]) -> Table:
    """The rows of a corpus, and those of all cells of its annotators with answers."""
    annotators = np.unique(table.annotator[table.annotator < corpus.n_annotators])
    items = np.unique(table.item)
    keys = (items[:, None] * corpus.n_annotators + annotators).ravel()
    own = table.annotator < corpus.n_annotators  # an aggregate annotator has no cells
    answered = table.item[own] * corpus.n_annotators + table.annotator[own]
    item, annotator = np.divmod(np.setdiff1d(keys, answered), corpus.n_annotators)
    both = _with_rows(table, item, annotator, {})
    for question in questions:
        known = np.zeros((max(both.annotator.max() + 1, corpus.n_annotators), corpus.n_annotators))
        known[: corpus.n_annotators] = similarities(corpus, question)
        both.answer[f"{question}{CELL}"] = known[both.annotator].astype(np.float32)
        empty = (both.weight[question] == 0) & (both.annotator < corpus.n_annotators)
        both.weight[f"{question}{CELL}"] = empty.astype(np.float32)
    return both


def cell_losses(sizes: Sizes, weight: float) -> tuple[Loss, ...]:
    """The divergence of the prediction of each cell from what similar annotators are predicted to
    answer, who did answer the item."""
    both = product(sizes.scales, (False, True))
    return tuple(_cell_loss(sizes, question, weight, set_labels) for question, set_labels in both)


def _cell_loss(sizes: Sizes, question: str, factor: float, set_labels: bool) -> Loss:
    family = likelihood(sizes.scales[question])

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.rows[question]
        target = soft_targets(family.distribution(raw.detach()), question, batch)
        if set_labels:
            target = labelled(target)
        divergence = torch.xlogy(target, target) - target * family.log_masses(raw)
        return factor * divergence.sum(dim=-1)

    during, name = (HALF, LAST) if set_labels else (0.0, HALF), f"{question}{CELL}"
    return Loss(name, "row", loss, lambda batch: batch.rows.weight[name], during)


def soft_targets(shares: Tensor, question: str, batch: Batch) -> Tensor:
    """For each row, the mean predicted distribution of the annotators who answered its item,
    weighted by their similarity, (n_rows, n_values); all 0 if none is similar.

    Args:
        shares: predicted distributions of all rows, (n_rows, n_values).
    """
    rows, n_annotators = batch.rows, len(batch.annotators)
    answered = (rows.weight[question] > 0).to(shares.dtype)
    similarity = rows.answer[f"{question}{CELL}"]  # (n_rows, n_annotators of the corpus)
    known = F.pad(similarity, (0, 1))  # an aggregate annotator is similar to none
    similarity = known[:, batch.annotators.clamp(max=similarity.shape[1])]
    with_one = torch.cat([shares, torch.ones_like(shares[:, :1])], dim=-1) * answered[:, None]
    cells = shares.new_zeros(len(batch.items) * n_annotators, with_one.shape[-1])
    cells = cells.index_add(0, rows.item * n_annotators + rows.annotator, with_one)
    of_items = cells.view(len(batch.items), n_annotators, -1)[rows.item]
    sums = torch.einsum("rk,rkc->rc", similarity, of_items)
    return sums[:, :-1] / sums[:, -1:].clamp(min=1e-6)


def labelled(target: Tensor) -> Tensor:
    """Targets that are certain enough as labels: 1 for the most probable answer."""
    n_values = target.shape[-1]
    entropy = -torch.xlogy(target, target).sum(dim=-1) / math.log(max(2, n_values))
    most, answer = target.max(dim=-1)
    label = F.one_hot(answer, n_values).to(target.dtype)
    return torch.where((most * (1 - entropy) > CONFIDENT).unsqueeze(-1), label, target)


def with_aggregate(table: Table, corpus: Corpus, code: int) -> Table:
    """The rows of a corpus, and one more for each item: its consensus as the answer of `code`."""
    consensus = {question: corpus[question].consensus() for question in table.answer}
    items = np.unique(np.concatenate([labels.item for labels in consensus.values()]))
    return _with_rows(table, items, np.full(len(items), code), consensus)


def _with_rows(
    table: Table, item: np.ndarray, annotator: np.ndarray, labels: Mapping[str, Annotations]
) -> Table:
    """The rows of a table and further ones, answered by the labels of their items, if any."""
    order = np.argsort(np.r_[table.item, item], kind="stable")
    both = Table(np.r_[table.item, item][order], np.r_[table.annotator, annotator][order], {}, {})
    for question, answer in table.answer.items():
        further = np.zeros((len(item), *answer.shape[1:]), answer.dtype)
        weight = np.zeros(len(item), np.float32)
        if question in labels:
            of_items = labels[question]
            rows = np.searchsorted(item, of_items.item)
            further[rows], weight[rows] = likelihood(of_items.scale).target(of_items.answer), 1
        both.answer[question] = np.concatenate([answer, further])[order]
        both.weight[question] = np.r_[table.weight[question], weight][order]
    return both
