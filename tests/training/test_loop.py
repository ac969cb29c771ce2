"""The loop against a plain torch loop, and its settings."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dissensus.encoders import readings
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads
from dissensus.training import Batch, Examples, Loss, Network, Outputs, Training, fit
from dissensus.training.examples import Table
from dissensus.training.loop import total_loss
from tests.crowds import feature_crowd


class _Line(Network):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(8))

    def forward(self, batch: Batch) -> Outputs:
        place = batch.pooled["x"] @ self.weight
        return Outputs(rows={"q": place[batch.rows.item]}, items={"q": place})


def _square(outputs: Outputs, batch: Batch) -> torch.Tensor:
    return (outputs.rows["q"] - batch.rows.answer["q"]) ** 2


def _examples(n_items: int = 24) -> Examples:
    corpus = feature_crowd("interval", n_items=n_items)
    return Examples.of_corpus(corpus, readings(corpus, "features"), Table.of_corpus(corpus, ("q",)))


ROW_LOSS = Loss("q", "row", _square, weight=lambda batch: batch.rows.weight["q"])


def test_the_loop_steps_as_a_plain_one_does() -> None:
    examples = _examples()
    training = Training(epochs=3, batch_size=24, warm_up=0, weight_decay=0.1, clip=0.5)
    network = _Line()
    log = fit(network, (ROW_LOSS,), examples, training, learned=np.arange(24))

    weight = torch.nn.Parameter(torch.zeros(8))
    optimiser = torch.optim.AdamW([weight], lr=1e-3, weight_decay=0.1)
    vectors = examples.pooled["x"][examples.entry["x"]]
    answers = torch.from_numpy(examples.table.answer["q"])
    for step in range(3):
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * 0.5 * (1 + np.cos(np.pi * step / 3))
        optimiser.zero_grad()
        loss = ((vectors @ weight)[torch.from_numpy(examples.table.item)] - answers).pow(2).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_([weight], 0.5)
        optimiser.step()
        assert log.train[step] == pytest.approx(loss.item(), rel=1e-5)
    torch.testing.assert_close(network.weight, weight)


def test_weights_average_rows_and_a_zero_weight_is_not_there() -> None:
    examples = _examples()
    cut = (np.arange(4), np.arange(16), np.repeat(np.arange(4), 4), np.ones(4, np.float32))
    batch = examples.batch(*cut, 0)
    network = _Line()
    network.weight.data += 0.1
    whole = _square(network(batch), batch)
    batch.rows.weight["q"] = torch.tensor([0.0, 2.0] * 8)
    expected = whole[1::2].mean()
    torch.testing.assert_close(total_loss(network, (ROW_LOSS,), batch), expected)
    over_batch = Loss("b", "batch", lambda outputs, batch: outputs.items["q"].sum())
    both = total_loss(network, (ROW_LOSS, over_batch), batch)
    torch.testing.assert_close(both, expected + network(batch).items["q"].sum())


def test_with_a_validation_corpus_the_best_epoch_is_kept() -> None:
    examples, other = _examples(), _examples(8)
    training = Training(epochs=30, learning_rate=3.0, patience=4, warm_up=0)
    network = _Line()
    log = fit(network, (ROW_LOSS,), examples, training, other, learned=np.arange(24))
    assert log.best_epoch == 1 + int(np.argmin(log.validation))
    assert len(log.validation) <= log.best_epoch + 4
    cut = (np.arange(8), np.arange(32), np.repeat(np.arange(8), 4), np.ones(8, np.float32))
    kept = total_loss(network, (ROW_LOSS,), other.batch(*cut, 0)).item()
    assert kept == pytest.approx(min(log.validation), rel=1e-5)


def test_divergence_is_an_error_in_one_line() -> None:
    method = AnnotatorHeads(encoder="features", training=Training(learning_rate=1e30, epochs=3))
    message = r"training diverged in epoch \d: the loss is (nan|inf); lower the learning rate"
    with pytest.raises(ModelError, match=message):
        method.fit(feature_crowd("interval"))


def test_settings_out_of_range_are_refused() -> None:
    message = "training settings out of range: epochs = 0, learning_rate = -1"
    with pytest.raises(ModelError, match=message):
        Training(epochs=0, learning_rate=-1)


def test_training_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    AnnotatorHeads(encoder="features", training=Training(epochs=1)).fit(feature_crowd())
    torch.testing.assert_close(torch.rand(3), expected)
