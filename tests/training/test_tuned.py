"""An encoder that learns too: what a step depends on."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from dissensus.encoders import EncoderNetwork
from dissensus.networks.noise import draw_by_key, drawing, noise_key
from dissensus.training.fine_tuning import ATTENTION, key_attention


class _Bert(EncoderNetwork):
    def __init__(self, model: BertModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.arange(units.shape[1]) < lengths[:, None]
        vectors: Tensor = self.model(units, attention_mask=mask).last_hidden_state
        return vectors

    @property
    def blocks(self) -> list[torch.nn.Module]:
        return list(self.model.encoder.layer)


@pytest.fixture
def bert() -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        hidden_dropout_prob=0.3,
        attention_probs_dropout_prob=0.3,
    )
    return BertModel(config)  # type: ignore[no-untyped-call]


UNITS, LENGTHS = torch.arange(20).view(2, 10), torch.tensor([10, 6])


def test_keyed_attention_without_dropout_is_transformers_own(bert: BertModel) -> None:
    bert.train(False)
    plain = bert(UNITS, attention_mask=torch.arange(10) < LENGTHS[:, None])
    network = _Bert(bert)
    key_attention(network)
    assert bert.config._attn_implementation == ATTENTION
    result = network.eval()(UNITS, LENGTHS)
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(
            result[row, :length], plain.last_hidden_state[row, :length], atol=1e-5, rtol=1e-5
        )


def test_a_step_depends_on_its_key_and_not_on_torch(bert: BertModel) -> None:
    network = _Bert(bert)
    key_attention(network)
    draw_by_key(network).train()

    def run(seed: int, step: int) -> Tensor:
        with drawing(noise_key(seed, step)):
            vectors: Tensor = network(UNITS, LENGTHS)
        return vectors

    torch.manual_seed(1)
    first = run(0, 0)
    torch.manual_seed(2)
    torch.testing.assert_close(run(0, 0), first)
    assert not torch.allclose(run(0, 1), first) and not torch.allclose(run(1, 0), first)
    numbers = [part.number for part in network.modules() if hasattr(part, "number")]
    assert len(set(numbers)) == len(numbers)
