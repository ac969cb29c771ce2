"""Hidden layers over pooled vectors, one head for all annotators, and one head per annotator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.errors import ModelError
from dissensus.networks.likelihoods import Likelihood
from dissensus.networks.noise import Dropout


class Trunk(nn.Module):
    """Hidden layers over the pooled vectors of all roles, standardised as in training."""

    standardises = True
    mean: Tensor
    spread: Tensor

    def __init__(
        self, roles: Sequence[str], width: int, hidden: Sequence[int], dropout: float
    ) -> None:
        super().__init__()
        if not 0 <= dropout < 1 or any(size < 1 for size in hidden):
            raise ModelError(
                f"dropout must be at least 0 and below 1, and hidden layers at least 1 wide; found "
                f"{dropout} and {tuple(hidden)}"
            )
        self.roles = tuple(roles)
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))
        self.layers = nn.Sequential(Dropout(dropout), *hidden_layers(width, hidden, dropout))
        self.width = [width, *hidden][-1]

    @classmethod
    def over(cls, widths: Mapping[str, int], hidden: Sequence[int], dropout: float) -> Trunk:
        """Over the vectors of all roles, by the width of each."""
        return cls(list(widths), sum(widths.values()), hidden, dropout)

    def standardise(self, pooled: dict[str, Tensor]) -> None:
        """Standardise vectors from now on, by the mean and the standard deviation of these."""
        if not self.standardises:
            return
        joined = self._joined(pooled)
        spread = joined.std(dim=0, correction=0)
        self.mean.copy_(joined.mean(dim=0))
        self.spread.copy_(torch.where(spread > 1e-6, spread, torch.ones_like(spread)))

    def forward(self, pooled: dict[str, Tensor]) -> Tensor:
        features: Tensor = self.layers((self._joined(pooled) - self.mean) / self.spread)
        return features

    def _joined(self, pooled: dict[str, Tensor]) -> Tensor:
        if len(self.roles) == 1:
            return pooled[self.roles[0]]
        return torch.cat([pooled[role] for role in self.roles], dim=-1)


def hidden_layers(width: int, hidden: Sequence[int], dropout: float) -> nn.Sequential:
    """Linear layers with ReLU and dropout, one for each width in `hidden`."""
    layers: list[nn.Module] = []
    for before, size in zip([width, *hidden], hidden, strict=False):
        layers += [nn.Linear(before, size), nn.ReLU(), Dropout(dropout)]
    return nn.Sequential(*layers)


class Head(nn.Module):
    """A linear layer for the outputs of a likelihood, and a bias only for its constants."""

    def __init__(self, width: int, likelihood: Likelihood, start: np.ndarray | None) -> None:
        super().__init__()
        self.n_constants = likelihood.n_constants
        self.weight = nn.Parameter(torch.zeros(likelihood.n_outputs, width))
        first = np.zeros(likelihood.width) if start is None else start
        self.bias = nn.Parameter(torch.as_tensor(first, dtype=torch.float32))
        self.draw()

    def draw(self) -> None:
        """Draw new weights, from torch's generator of the CPU."""
        with torch.no_grad():
            self.weight.copy_(nn.init.normal_(torch.empty(self.weight.shape), std=0.02))

    def forward(self, features: Tensor) -> Tensor:
        if not self.n_constants:
            return F.linear(features, self.weight, self.bias)
        return F.pad(F.linear(features, self.weight), (0, self.n_constants)) + self.bias


class AnnotatorHeads(nn.Module):
    """One linear head per annotator, evaluated for labelled pairs only.

    With `common`, a head that all annotators share is added to each, so that an annotator with few
    answers stays close to the others; without it, each head is independent.

    With a `rank`, the weights of an annotator's own head are a sum of `rank` basis heads, weighted
    by the annotator's embedding. They are 0 at first; biases are each annotator's own.

    Args:
        start: biases to start from, first those of all annotators together, then of each.
    """

    def __init__(
        self,
        n_annotators: int,
        width: int,
        likelihood: Likelihood,
        start: np.ndarray | None,
        common: bool,
        rank: int = 0,
    ) -> None:
        super().__init__()
        self.n_constants = likelihood.n_constants
        n_outputs = likelihood.n_outputs
        first = None if start is None else start[0]
        self.common = Head(width, likelihood, first) if common else None
        self.rank = rank
        if rank:
            self.basis = nn.Parameter(torch.zeros(rank, n_outputs, width))
        else:
            self.weight = nn.Parameter(torch.zeros(n_annotators, n_outputs, width))
        if not common and not rank:
            nn.init.normal_(self.weight, std=0.02)
        bias = torch.zeros(n_annotators, n_outputs + self.n_constants)
        if start is not None:
            bias += torch.as_tensor(start[1:] - start[:1] * common, dtype=torch.float32)
        self.bias = nn.Parameter(bias)

    def tables(self) -> list[nn.Parameter]:
        """Parameters with a row for each annotator."""
        return [self.bias] if self.rank else [self.weight, self.bias]

    def squares(self, annotators: Tensor, embedding: Tensor | None = None) -> Tensor:
        """The squared deviation of these annotators' heads from 0, (n_annotators,): of the bias,
        and of the weights times their number, so that both count alike in the output.

        Args:
            embedding: of these annotators, (n_annotators, rank), if there is a rank.
        """
        squares = self.bias[annotators].square().sum(dim=-1)
        if not self.rank:
            weights = self.weight[annotators]
            return squares + weights.shape[-1] * weights.square().sum(dim=(-2, -1))
        basis = self.basis.flatten(1)
        products = basis @ basis.T  # (rank, rank)
        of_weights = torch.einsum("ar,rs,as->a", embedding, products, embedding)
        return squares + self.basis.shape[-1] * of_weights

    def forward(
        self, features: Tensor, item: Tensor, annotator: Tensor, embedding: Tensor | None = None
    ) -> Tensor:
        """Raw outputs of the pairs (item, annotator), (n_pairs, n_outputs + n_constants).

        Args:
            embedding: of each pair's annotator, (n_pairs, rank), if there is a rank.
        """
        if self.rank:
            of_items = torch.einsum("row,iw->iro", self.basis, features)  # (n_items, rank, outputs)
            own = torch.einsum("pro,pr->po", of_items[item], embedding)
        else:
            own = torch.einsum("pow,pw->po", self.weight[annotator], features[item])
        raw = F.pad(own, (0, self.n_constants)) if self.n_constants else own
        raw = raw + self.bias[annotator]
        return raw if self.common is None else raw + self.common(features)[item]
