"""PADL: what all annotators share, how each deviates from it, and how uncertain both are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.methods.framework.truth_method import TruthMethod, TruthNet
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import positions_in_batch, uniforms
from dissensus.scales import MultiLabel, Scale
from dissensus.training import Batch, Loss, Network, Outputs, Sizes

SHARED = ", of all annotators"  # is added to the name of an output of the shared branch


class _Noise(nn.Module):
    """Draws from normal distributions, one for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def forward(self, mean: Tensor, spread: Tensor) -> Tensor:
        share = uniforms(tuple(mean.shape), self.number, mean.float())
        share = share.clamp(2.0**-25, 1 - 2.0**-24)  # the normal quantile of 0 and 1 is infinite
        return mean + spread * torch.special.ndtri(share).to(mean.dtype)


class _Branch(nn.Module):
    """What one question needs besides its mean logits.

    Tables have a row for each annotator: of the features of the deviation and of the uncertainty,
    and of the layers over them.
    """

    def __init__(self, scale: Scale, n_annotators: int, width: int, hidden: int) -> None:
        super().__init__()
        self.scale, n_outputs = scale, likelihood(scale).n_outputs
        self.features = nn.Sequential(nn.Linear(width, hidden), nn.LayerNorm(hidden), nn.ReLU())
        self.spread = nn.Linear(hidden + n_outputs, n_outputs)
        self.own_features = nn.Parameter(_drawn(n_annotators, width, hidden))
        self.own_layers = nn.Parameter(_drawn(n_annotators, hidden + n_outputs, n_outputs))
        self.own_biases = nn.Parameter(torch.zeros(n_annotators, 2, n_outputs))
        self.noise, self.own_noise = _Noise(), _Noise()

    def forward(self, features: Tensor, mean: Tensor, item: Tensor, annotator: Tensor) -> list[Any]:
        """Mean and spread of the logits of items, (n_items, n_outputs), then of rows."""
        attention = 1 + uncertainty(self.scale, mean.detach()).unsqueeze(-1)  # (n_items, 1)
        of_items = torch.cat([attention * self.features(features), mean], dim=-1)
        spread = self.spread(of_items).abs()
        own_mean = mean[item]
        parts = []
        for number in range(2):  # the deviation, then its uncertainty
            table = self.own_features[annotator, number]  # (n_rows, width, hidden)
            own = torch.einsum("rw,rwh->rh", features[item], table)
            own = attention[item] * F.layer_norm(own, own.shape[-1:]).relu()
            own = torch.cat([own, own_mean], dim=-1)
            layer, bias = self.own_layers[annotator, number], self.own_biases[annotator, number]
            parts.append(torch.einsum("rw,rwo->ro", own, layer) + bias)
            own_mean = own_mean + parts[0] if number == 0 else own_mean
        return [mean, spread, own_mean, parts[1].abs()]


def _drawn(n_annotators: int, *shape: int) -> Tensor:
    """First weights of two linear layers of each annotator, as torch draws them."""
    limit = 1 / math.sqrt(shape[0])
    return torch.empty(2, n_annotators, *shape).uniform_(-limit, limit).transpose(0, 1).contiguous()


def uncertainty(scale: Scale, logits: Tensor) -> Tensor:
    """The entropy of each distribution as a share of the largest one, (n,)."""
    if isinstance(scale, MultiLabel):
        shares = torch.stack([logits, -logits], dim=-1).sigmoid()
        entropy = -torch.xlogy(shares, shares).sum(dim=-1).mean(dim=-1)
        return entropy / math.log(2)
    shares = logits.softmax(dim=-1)
    return -torch.xlogy(shares, shares).sum(dim=-1) / math.log(max(2, shares.shape[-1]))


class _PadlNet(TruthNet):
    def __init__(self, sizes: Sizes, method: Padl) -> None:
        super().__init__(sizes, method)
        for number, scale in enumerate(sizes.scales.values()):
            branch = _Branch(scale, sizes.n_annotators, self.trunk.width, method.branch_hidden)
            self.add_module(f"branch_{number}", branch)

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        item = batch.rows.item
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows: dict[str, Tensor] = {}
        for number, (question, logits) in enumerate(truth.items()):
            branch = self.get_submodule(f"branch_{number}")
            mean, spread, own_mean, own_spread = branch(features, logits, item, annotator)
            shared, own = mean[item], own_mean
            if self.training:
                assert isinstance(branch, _Branch)
                with positions_in_batch(batch.places.get("rows")):
                    shared = branch.noise(shared, spread[item])
                    own = branch.own_noise(own, own_spread)
            rows |= {question: own, f"{question}{SHARED}": shared}
        return rows


@dataclass(eq=False)
class Padl(TruthMethod):
    """Learns what annotators share, each annotator's deviation from it, and how uncertain both are.

    The shared branch has a mean and a spread of the logits of an item; each annotator adds a
    deviation to the mean, and has a spread. Features count more where the shared branch is
    uncertain. In training, both branches draw logits from normal distributions and learn every
    answer; predictions are those of the means. An item's distribution is that of the shared branch
    (`read="truth"`). This is PADL for classification instead of segmentation, as QuMATL compares
    with it. Prefer `AnnotatorHeads` with few answers per annotator.

    Args:
        branch_hidden: the width of the features of each annotator's deviation and uncertainty.

    Layer normalisation replaces batch normalisation, whose state cannot be stacked.

    Reference: Liao et al. (2024), Modeling Annotator Preference and Stochastic Annotation Error for
    Medical Image Segmentation, arXiv 2111.13410; Zhang et al. (2025), QuMATL, arXiv 2503.15237.
    """

    branch_hidden: int = 16
    name: ClassVar[str] = "padl"
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal", "multi-label")
    ranges: ClassVar[dict[str, str]] = {"branch_hidden": "1 or more"}

    def network(self, sizes: Sizes) -> Network:
        return _PadlNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        def function(loss: Loss, outputs: Outputs, batch: Batch) -> Tensor:
            """Of the answers as the shared branch predicts them."""
            shared = outputs.rows[f"{loss.name}{SHARED}"]
            return loss.function(Outputs(rows={loss.name: shared}), batch)

        own = super().losses(sizes)
        names = {loss: f"{loss.name}{SHARED}" for loss in own}
        shared = (replace(loss, name=names[loss], function=partial(function, loss)) for loss in own)
        return (*own, *shared)
