"""The loop against a plain torch loop, and its settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor

from dissensus import simulate
from dissensus.encoders import encodings
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads
from dissensus.metrics import METRICS
from dissensus.training import Batch, Examples, Loss, Network, Outputs, Training, fit
from dissensus.training.examples import Table, batch_indices
from dissensus.training.loop import ordered_sums
from dissensus.training.validation import Validation, mean_loss
from tests.crowds import feature_crowd

annotator_accuracy = METRICS["annotator accuracy"]


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
    return Examples.of_corpus(
        corpus, encodings(corpus, "features"), Table.of_corpus(corpus, ("q",))
    )


ROW_LOSS = Loss("q", "row", _square, weight=lambda batch: batch.rows.weight["q"])


def _plain_steps(
    examples: Examples, optimiser: Any, weight: Tensor, rates: list[float], in_turn: bool = False
) -> list[float]:
    """The losses of a plain torch loop, a step for each rate; in turn: of errors and of places."""
    vectors = examples.pooled["x"][examples.entry["x"]]
    answers, item = (torch.from_numpy(v) for v in (examples.table.answer["q"], examples.table.item))
    losses = []
    for step, rate in enumerate(rates):
        optimiser.param_groups[0]["lr"] = rate
        optimiser.zero_grad()
        place = vectors @ weight
        loss = place.mean() if in_turn and step % 2 else (place[item] - answers).pow(2).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_([weight], 0.5)
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("optimiser", "schedule", "shares"),
    [
        ("adamw", "cosine", [1 / 3, 2 / 3, 1, 1 / 2]),
        ("adam", "linear", [1 / 3, 2 / 3, 1, 1 / 2]),
        ("radam", "constant", [1 / 3, 2 / 3, 1, 1]),
        ("sgd", "constant", [1 / 3, 2 / 3, 1, 1]),
    ],
)
def test_the_loop_steps_as_a_plain_one_does(
    optimiser: str, schedule: str, shares: list[float]
) -> None:
    settings: dict[str, Any] = {"optimiser": optimiser, "schedule": schedule}
    training = Training(
        epochs=4, batch_size=24, warm_up=0.5, weight_decay=0.1, clip=0.5, **settings
    )
    examples, network = _examples(), _Line()
    log = fit(network, (ROW_LOSS,), examples, training, learned=np.arange(24))
    weight = torch.nn.Parameter(torch.zeros(8))
    kinds: dict[str, Any] = {
        "adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "radam": torch.optim.RAdam,
        "sgd": partial(torch.optim.SGD, momentum=0.9),
    }  # fmt: skip
    plain, rates = kinds[optimiser]([weight], weight_decay=0.1), [1e-3 * share for share in shares]
    assert log.train == pytest.approx(_plain_steps(examples, plain, weight, rates), rel=1e-5)
    torch.testing.assert_close(network.weight, weight)
    assert log.rate == pytest.approx(rates)


def test_weights_average_rows_and_a_zero_weight_is_not_there() -> None:
    examples = _examples()
    cut = (np.arange(4), np.arange(16), np.repeat(np.arange(4), 4), np.ones(4, np.float32))
    batch = examples.batch(*cut)
    network = _Line()
    network.weight.data += 0.1
    whole = _square(network(batch), batch)
    batch.rows.weight["q"] = torch.tensor([0.0, 2.0] * 8)
    expected = whole[1::2].mean()
    torch.testing.assert_close(batch.loss(network(batch), (ROW_LOSS,)), expected)
    over_batch = Loss("b", "batch", lambda outputs, batch: outputs.items["q"].sum())
    both = batch.loss(network(batch), (ROW_LOSS, over_batch))
    torch.testing.assert_close(both, expected + network(batch).items["q"].sum())


def test_with_a_validation_corpus_the_best_epoch_is_kept() -> None:
    examples, other = _examples(), _examples(8)
    training = Training(epochs=30, learning_rate=3.0, patience=4, warm_up=0)
    network = _Line()
    judge = Validation("loss", lambda: mean_loss(network, (ROW_LOSS,), other, training), False)
    log = fit(network, (ROW_LOSS,), examples, training, judge, learned=np.arange(24))
    assert log.best_epoch == 1 + int(np.argmin(log.validation))
    assert len(log.validation) <= log.best_epoch + 4
    cut = (np.arange(8), np.arange(32), np.repeat(np.arange(8), 4), np.ones(8, np.float32))
    batch = other.batch(*cut)
    kept = batch.loss(network(batch), (ROW_LOSS,)).item()
    assert kept == pytest.approx(min(log.validation), rel=1e-5)


def test_training_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    AnnotatorHeads(encoder="features", training=Training(epochs=1)).fit(feature_crowd())
    torch.testing.assert_close(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("settings", "figures", "kept"),
    [
        ({"plateau": 2}, [3.0, 2.0, 2.5, 2.1, 1.0, 1.0, 1.0, 1.0], 5),
        # the best epoch is kept, although its gain is too small to count
        ({"plateau": 3, "plateau_factor": 0.1, "smallest_gain": 0.08},
         [3.0, 2.0, 1.95, 1.93, 1.92, 1.91, 1.5, 1.45, 1.45, 1.45], 8),
    ],
)  # fmt: skip
def test_on_a_plateau_the_rate_is_lowered_as_by_torch(
    settings: dict[str, Any], figures: list[float], kept: int
) -> None:
    training = Training(
        epochs=len(figures), batch_size=24, warm_up=0, schedule="plateau", **settings
    )
    scores = iter(figures)
    judge = Validation("made up", lambda: next(scores), False)
    log = fit(_Line(), (ROW_LOSS,), _examples(), training, judge, learned=np.arange(24))
    assert (log.best_epoch, log.chosen_by) == (kept, "made up")
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-3)
    plain = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=training.plateau_factor, patience=training.plateau - 1,
        threshold=training.smallest_gain, threshold_mode="abs", eps=0,
    )  # fmt: skip
    rates = []
    for figure in figures:
        rates.append(optimiser.param_groups[0]["lr"])
        plain.step(figure)
    assert log.rate == pytest.approx(rates) and rates[-1] < 1e-3


@pytest.mark.parametrize("higher", [False, True])
@pytest.mark.parametrize(("gain", "n_epochs", "kept"), [(0.0, 8, 6), (0.15, 5, 5), (0.5, 3, 3)])
def test_gains_that_are_too_small_do_not_delay_the_end(
    higher: bool, gain: float, n_epochs: int, kept: int
) -> None:
    figures = iter([1.0, 0.9, 0.8, 0.7, 0.69, 0.68, float("nan"), 0.9, 0.9])
    sign = -1 if higher else 1
    training = Training(epochs=9, batch_size=24, patience=2, smallest_gain=gain)
    judge = Validation("made up", lambda: sign * next(figures), higher)
    log = fit(_Line(), (ROW_LOSS,), _examples(), training, judge, learned=np.arange(24))
    assert (len(log.validation), log.best_epoch) == (n_epochs, kept)


def test_interleaved_losses_have_a_step_each() -> None:
    examples = _examples()
    other = Loss("b", "batch", lambda outputs, batch: outputs.items["q"].mean())
    training = Training(
        epochs=1, batch_size=24, warm_up=0, clip=0.5, optimiser="sgd", losses="interleaved"
    )
    network = _Line()
    fit(network, (ROW_LOSS, other), examples, training, learned=np.arange(24))
    weight = torch.nn.Parameter(torch.zeros(8))
    plain = torch.optim.SGD([weight], momentum=0.9, weight_decay=0.01)
    _plain_steps(examples, plain, weight, [1e-3, 5e-4], in_turn=True)
    torch.testing.assert_close(network.weight, weight)


def test_batches_by_content_hold_what_shows_the_same_together() -> None:
    crowd = feature_crowd(n_items=60)
    crowd.content["x"][:] = np.arange(60) % 10
    examples = Examples.of_corpus(
        crowd, encodings(crowd, "features"), Table.of_corpus(crowd, ("q",))
    )
    training = Training(batch_size=12, batch_by="content")
    seen = list(batch_indices(examples, np.arange(60), training, np.random.default_rng(0)))
    assert sorted(np.concatenate([cut.items for cut in seen]).tolist()) == list(range(60))
    assert [len(set(crowd.content["x"][cut.items].tolist())) for cut in seen] == [2] * 5
    other = next(batch_indices(examples, np.arange(60), training, np.random.default_rng(1)))
    assert other.items.tolist() != seen[0].items.tolist()


def test_a_metric_chooses_the_epoch() -> None:
    train, validation = feature_crowd("nominal", n_items=120).split(0.3, seed=0)
    training = Training(epochs=6, choose_by="annotator accuracy")
    fitted = AnnotatorHeads(encoder="features", training=training).fit(train, validation=validation)
    log = fitted.log_
    assert log.chosen_by == "annotator accuracy"
    assert log.validation[log.best_epoch - 1] == max(log.validation)
    again = annotator_accuracy(fitted.predict(validation)["q"], validation["q"])
    assert again == pytest.approx(max(log.validation))


@pytest.mark.parametrize(("ties", "kept"), [("first", 2), ("last", 4)])
def test_of_equally_good_epochs_the_first_or_the_last_is_kept(
    ties: Literal["first", "last"], kept: int
) -> None:
    figures = iter([0.3, 0.5, float("nan"), 0.5, 0.4])
    method = AnnotatorHeads(encoder="features", training=Training(epochs=5, ties=ties))
    crowd = feature_crowd(n_items=30)
    method.begin_fit(crowd, "q", None)
    run = method.trainer(crowd, None)
    run.validation = Validation("figure", lambda: next(figures), True)
    assert run.train().best_epoch == kept


def test_too_little_memory_says_which_batch_to_try() -> None:
    def hungry(outputs: Outputs, batch: Batch) -> torch.Tensor:
        return torch.zeros(1 << 50)

    training = Training(batch_size=24)
    with pytest.raises(ModelError, match="out of memory with 24 items in a batch; try --set train"):
        fit(_Line(), (Loss("b", "batch", hungry),), _examples(), training, learned=np.arange(24))


def test_without_shuffling_every_epoch_is_as_the_corpus_stands() -> None:
    examples = _examples()
    training = Training(batch_size=5, shuffle=False, max_rows_per_item=3)
    order = np.random.default_rng(0)
    for _ in range(2):
        result = list(batch_indices(examples, np.arange(2, 24), training, order))
        items = np.concatenate([cut.items for cut in result])
        assert items.tolist() == np.repeat(np.arange(2, 24), 2).tolist()  # four rows: two pieces
        assert np.concatenate([cut.rows for cut in result]).tolist() == list(range(8, 96))


def test_weights_are_averaged_over_the_last_steps() -> None:
    """Two steps an epoch, five epochs; of the ten steps the last four."""
    seen: list[torch.Tensor] = []

    class Watched(_Line):
        def forward(self, batch: Batch) -> Outputs:
            if self.training:
                seen.append(self.weight.detach().clone())  # before each step
            return super().forward(batch)

    examples, judged = _examples(), []
    plain = Training(epochs=5, batch_size=12, learning_rate=0.1)
    last, averaged = Watched(), _Line()
    fit(last, (ROW_LOSS,), examples, plain, learned=np.arange(24))
    seen.append(last.weight.detach().clone())

    def noted() -> float:
        judged.append(averaged.weight.detach().clone())
        return -float(len(judged))  # better in every epoch

    training = replace(plain, averaged=0.4)
    judge = Validation("loss", noted, False)
    fit(averaged, (ROW_LOSS,), examples, training, judge, learned=np.arange(24))
    torch.testing.assert_close(averaged.weight.detach(), torch.stack(seen[-4:]).mean(dim=0))
    means = [seen[2], seen[4], seen[6], torch.stack(seen[7:9]).mean(dim=0)]
    for result, wanted in zip(judged, [*means, averaged.weight.detach()], strict=True):
        torch.testing.assert_close(result, wanted)
    without = _Line()
    fit(without, (ROW_LOSS,), examples, training, learned=np.arange(24))
    torch.testing.assert_close(without.weight, averaged.weight)


# ---- the same seed gives the same bytes, with several threads too ----


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def gradient_of_repeated_rows() -> np.ndarray:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(0, 50, (20_000,), generator=generator)
    features = torch.zeros(50, 64, requires_grad=True)
    loss = (features[rows] * torch.randn(20_000, 64, generator=generator)).sum()
    (gradient,) = torch.autograd.grad(loss, features)
    return gradient.numpy()


@pytest.mark.usefixtures("two_threads")
def test_gradients_of_repeated_rows_are_summed_in_the_same_order() -> None:
    with ordered_sums(torch.device("cpu")):
        gradients = [gradient_of_repeated_rows() for _ in range(5)]
    assert all(np.array_equal(gradients[0], other) for other in gradients[1:])
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.usefixtures("two_threads")
def test_trainings_with_the_same_seed_have_the_same_weights() -> None:
    corpus = simulate.text(n_items=120, n_annotators=6, labels_per_item=4)
    weights = [
        AnnotatorHeads(encoder="characters", init_seed=0, training=Training(epochs=1, seed=0))
        .fit(corpus)
        .weights()
        for _ in range(3)
    ]
    for name, first in weights[0].items():
        assert all(np.array_equal(first, other[name]) for other in weights[1:]), name
