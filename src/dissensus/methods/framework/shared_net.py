"""Networks of methods that predict the same for all annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn

from dissensus.errors import ModelError
from dissensus.networks.attention import AttentionBlock, AttentionPool
from dissensus.networks.heads import Head, Trunk
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import Dropout
from dissensus.training import Batch, Network, Outputs, Sizes
from dissensus.training.fine_tuning import positions_of_items

Branch = Literal["output", "attention"]


class SharedNet(Network):
    """One head per question over a shared trunk, for items.

    Args:
        branch: the layers of each task that are not shared: the "output" layer, or "attention"
            too, as in Fornaciari et al. (2021): a shared attention block over the pooled vectors,
            not standardised, then a block and two linear layers for each task.
        tasks: name -> question; several tasks may predict one question. One for each question if
            left out.
    """

    def __init__(
        self,
        sizes: Sizes,
        hidden: tuple[int, ...],
        dropout: float,
        branch: Branch = "output",
        tasks: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.tasks = tuple(tasks or sizes.scales)
        self.trunk: Trunk | _AttentiveTrunk = Trunk.over(sizes.widths, hidden, dropout)
        if branch == "attention":
            if hidden:
                raise ModelError(f"hidden needs branch='output', found {hidden}")
            self.trunk = _AttentiveTrunk(sizes.widths, dropout)
        for number, task in enumerate(self.tasks):
            question, width = tasks[task] if tasks else task, self.trunk.width
            own: list[nn.Module] = []
            if branch == "attention":  # then two linear layers without an activation between them
                own = [AttentionBlock(width, dropout=dropout), nn.Linear(width, width // 2)]
                width //= 2
            head = Head(width, likelihood(sizes.scales[question]), sizes.start.get(question))
            self.add_module(f"head_{number}", nn.Sequential(*own, head) if own else head)

    def forward(self, batch: Batch) -> Outputs:
        return Outputs(items=self.answers(self.trunk(batch.pooled)))

    def answers(self, features: Tensor) -> dict[str, Tensor]:
        """The outputs of all heads for features (n_items, width)."""
        return {
            task: self.get_submodule(f"head_{number}")(features)
            for number, task in enumerate(self.tasks)
        }


class PoolingNet(Network):
    """A `SharedNet` over vectors pooled by attention, with a learned query for each role."""

    def __init__(self, sizes: Sizes, inner: SharedNet) -> None:
        super().__init__()
        self.inner = inner
        self.roles = tuple(sizes.widths)
        self.pools = nn.ModuleList(AttentionPool(width) for width in sizes.widths.values())

    def forward(self, batch: Batch) -> Outputs:
        pooled = {role: vectors for role, (vectors, _) in self.attended(batch).items()}
        return self.inner(replace(batch, pooled=pooled))

    def attended(self, batch: Batch) -> dict[str, tuple[Tensor, Tensor]]:
        """By role, the pooled vectors, (n_items, width), and the weights of the positions of each
        item's content, (n_items, length)."""
        pooled = {}
        for role, pool in zip(self.roles, self.pools, strict=True):
            sequence, content = batch.sequence[role], batch.content[role]
            positions = positions_of_items(sequence, content, batch.focus.get(role))
            pooled[role] = pool(sequence.vectors[content.clamp(min=0)], positions)
        return pooled


def redraw_last_layer(network: Network, seed: int) -> None:
    """Draw new first weights for the heads of a network, and for its pooling queries, if any.

    The other weights do not change.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for part in network.modules():
            if isinstance(part, Head | AttentionPool):
                part.draw()


class _AttentiveTrunk(nn.Module):
    """An attention block over the pooled vectors of all roles, which are not standardised."""

    def __init__(self, widths: Mapping[str, int], dropout: float) -> None:
        super().__init__()
        self.roles = tuple(widths)
        self.width = sum(widths.values())
        self.block = AttentionBlock(self.width, dropout=dropout)
        self.dropout = Dropout(dropout)

    def forward(self, pooled: dict[str, Tensor]) -> Tensor:
        joined = torch.cat([pooled[role] for role in self.roles], dim=-1)
        features: Tensor = self.dropout(self.block(joined))
        return features
