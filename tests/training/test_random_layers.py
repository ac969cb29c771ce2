"""Layers that draw: nn.Dropout is trained in a stack as alone, any other is never stacked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.methods import Single
from dissensus.networks.heads import Head
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Batch, Network, Outputs, Sizes, Training
from dissensus.training.loop import Trainer
from dissensus.training.stacking.groups import train_all
from tests.crowds import feature_crowd
from tests.training.test_stack import assert_same, run_of, weights_of

WIDTH = 6
TRAINING = Training(epochs=3, batch_size=8, device="cpu")


class _PlainNet(Network):
    """As a newcomer writes it, in plain torch."""

    def __init__(self, sizes: Sizes, layer: nn.Module) -> None:
        super().__init__()
        (self.role,) = sizes.widths
        self.layers = nn.Sequential(
            nn.Linear(sizes.widths[self.role], WIDTH), nn.ReLU(), layer, nn.Linear(WIDTH, WIDTH)
        )
        self.after = nn.Dropout(0.2)
        self.head = Head(WIDTH, likelihood(sizes.scales["q"]), sizes.start.get("q"))

    def forward(self, batch: Batch) -> Outputs:
        features = self.after(self.layers(batch.pooled[self.role]))
        return Outputs(items={"q": self.head(features)})


class _Hidden(nn.Module):
    """Draws by a function, which no list of layers shows."""

    def forward(self, values: Tensor) -> Tensor:
        return F.dropout(values, 0.3, self.training)


class _Noisy(nn.Module):
    def forward(self, values: Tensor) -> Tensor:
        return values + torch.randn_like(values) if self.training else values


@dataclass(eq=False)
class _Plain(Single):
    """A method whose network has a layer of our choice."""

    name: ClassVar[str] = "plain"
    layer: Callable[[], nn.Module] = nn.Dropout

    def network(self, sizes: Sizes) -> Network:
        return _PlainNet(sizes, self.layer())


def _trainers(layer: Callable[[], nn.Module], **settings: Any) -> list[Trainer]:
    crowd = feature_crowd("nominal", n_items=37)
    training = replace(TRAINING, **settings)
    methods = [
        _Plain(
            encoder="features", init_seed=seed, training=replace(training, seed=seed), layer=layer
        )
        for seed in range(3)
    ]
    return [run_of(method, crowd) for method in methods]


@pytest.mark.parametrize("epochs", [1, 4])
def test_nn_dropout_in_a_new_method_gives_the_same_in_a_stack_and_alone(epochs: int) -> None:
    assert_same(lambda: _trainers(nn.Dropout, epochs=epochs))


LAYERS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "channels": (lambda: nn.Dropout1d(0.3), "layer 'layers.2' (Dropout1d)"),
    "alpha": (lambda: nn.AlphaDropout(0.3), "layer 'layers.2' (AlphaDropout)"),
    "inside": (lambda: nn.Sequential(nn.ReLU(), _Hidden()), "layer 'layers.2.1' (_Hidden)"),
    "noise": (_Noisy, "layer 'layers.2' (_Noisy)"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_another_random_layer_is_trained_one_after_another(name: str) -> None:
    layer, where = LAYERS[name]
    alone, requested = _trainers(layer), _trainers(layer)
    for trainer in alone:
        trainer.train()
    assert train_all(requested) == {}
    for one, other in zip(weights_of(alone), weights_of(requested), strict=True):
        for key, weights in one.items():
            np.testing.assert_array_equal(other[key], weights, err_msg=key)
    for trainer in requested:
        assert trainer.notes == [
            f"trained one after another, not as a stack: {where} draws from torch's random "
            "generator; nn.Dropout can be stacked"
        ]
    assert all(trainer.notes == [] for trainer in alone)


def test_a_layer_that_vmap_does_not_know_is_trained_one_after_another() -> None:
    requested = _trainers(nn.RReLU)
    assert train_all(requested) == {} and all(len(trainer.log.train) == 3 for trainer in requested)
    reason = "layer 'layers.2' (RReLU) cannot run under vmap"
    assert requested[0].notes == [f"trained one after another, not as a stack: {reason}"]
