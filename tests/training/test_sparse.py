"""Rows that are stepped by themselves end where steps of the whole table bring them."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dissensus import Annotations, Corpus, Interval, Names
from dissensus.contents import Contents
from dissensus.errors import CheckpointError
from dissensus.methods import AnnotatorHeads
from dissensus.training import (
    Batch,
    Network,
    Outputs,
    Rows,
    Training,
    sparse_kernels,
    sparse_tables,
)
from dissensus.training.loop import Trainer
from dissensus.training.sparse_tables import SparseTables
from dissensus.training.stacking.groups import stackable
from tests.training.test_checkpoint import stopped_after
from tests.training.test_stack import run_of, weights_of

N_ANNOTATORS, N_STEPS = 40, 60


class _Net(Network):
    """A table of slopes, one of shifts, and a line that everyone shares."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.slope = nn.Parameter(torch.randn(N_ANNOTATORS, 2, 3, generator=generator).double())
        self.shift = nn.Parameter(torch.randn(N_ANNOTATORS, 2, generator=generator).double())
        self.common = nn.Parameter(torch.randn(3, generator=generator).double())

    def tables(self) -> list[nn.Parameter]:
        return [self.slope, self.shift]

    def forward(self, batch: Batch) -> Outputs:
        who, shown = batch.annotators[batch.rows.annotator], batch.pooled["x"][batch.rows.item]
        own = torch.einsum("pow,pw->po", self.slope[who], shown) + self.shift[who]
        return Outputs(rows={"q": own + (shown @ self.common)[:, None]})


def _batch(step: int) -> Batch:
    """Two of ten annotators who are always there, and now and then another: most miss for long."""
    generator = np.random.default_rng(step)
    who = np.r_[generator.choice(10, 2), generator.integers(10, N_ANNOTATORS, step % 3)]
    annotators, local = np.unique(who, return_inverse=True)
    shown, answer = generator.normal(size=(4, 3)), generator.normal(size=(len(who), 2))
    item = torch.from_numpy(generator.integers(0, 4, len(who)))
    rows = Rows(item, torch.from_numpy(local), {"q": torch.from_numpy(answer)}, {})
    nothing: dict[str, Any] = {"inputs": {}, "sequence": {}, "content": {}, "focus": {}}
    return Batch(
        torch.arange(4),
        torch.ones(4),
        torch.from_numpy(annotators),
        {"x": torch.from_numpy(shown)},
        rows=rows,
        targets={},
        noise=0,
        **nothing,
    )


def _loss(network: Network, batch: Batch) -> Tensor:
    """Not linear, so that gradients depend on where weights are."""
    return (network(batch).rows["q"] - batch.rows.answer["q"]).square().log1p().sum()


def _rate(step: int) -> float:
    return 0.05 * (1.1 + np.cos(step / 9))


def _dense(optimiser: Any, network: _Net, steps: range = range(N_STEPS)) -> None:
    for step in steps:
        optimiser.param_groups[0]["lr"] = _rate(step)
        optimiser.zero_grad()
        _loss(network, _batch(step)).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()


def _by_rows(
    tables: SparseTables, optimiser: Any, network: _Net, steps: range = range(N_STEPS)
) -> None:
    """As the loop does it; the shared line by torch's own optimiser."""
    for step in steps:
        optimiser.param_groups[0]["lr"] = _rate(step)
        optimiser.zero_grad()
        batch = _batch(step)
        with tables.rows_of(batch) as rows:
            _loss(network, batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_([network.common, *rows], 1.0)
        optimiser.step()
        tables.step(rows, _rate(step))


def _of(network: _Net, decay: float = 0.3) -> SparseTables:
    return SparseTables(network, network.tables(), decay)


@pytest.mark.parametrize(("epsilon", "tolerance"), [(1e-8, 1e-6), (1e-30, 1e-10)])
@pytest.mark.parametrize(("decay", "block"), [(0.0, 256), (0.3, 256), (0.3, 5)])
def test_adamw_is_exact_up_to_epsilon(
    decay: float, block: int, epsilon: float, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are 0.1 long here, gradients a million times epsilon."""
    if block != sparse_kernels.BLOCK:
        for name in ("note_step", "write_missed", "_followed_by"):
            body = getattr(sparse_kernels, name).py_func  # compiled code has the block built in
            monkeypatch.setattr(sparse_kernels, name, body)
        monkeypatch.setattr(sparse_kernels, "BLOCK", block)
    monkeypatch.setattr(sparse_tables, "EPSILON", epsilon)
    settings: dict[str, Any] = {"lr": 1.0, "eps": epsilon, "weight_decay": decay}
    dense, network = _Net(), _Net()
    _dense(torch.optim.AdamW(dense.parameters(), **settings), dense)
    tables = _of(network, decay)
    _by_rows(tables, torch.optim.AdamW([network.common], **settings), network)
    assert (network.slope - dense.slope).abs().max() > 1e-3  # before it has caught up
    tables.catch_up()
    for one, other in zip(dense.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


@pytest.mark.parametrize("first", [3, 100, 2000])
@pytest.mark.parametrize("gradient", [1e-9, 1e-7, 1e-4])
def test_adam_is_off_by_the_stated_share_at_most(first: int, gradient: float) -> None:
    """One weight, a gradient at each of the first steps, then an absence, step by step."""
    beta_square, epsilon, rate = 0.999, 1e-8, 0.01
    weight = nn.Parameter(torch.zeros(1, 1, dtype=torch.float64))
    optimiser = torch.optim.AdamW([weight], lr=rate, weight_decay=0.0)
    for _ in range(first):
        weight.grad = torch.full_like(weight, gradient)
        optimiser.step()
    state = {k: v.clone() for k, v in optimiser.state[weight].items()}
    network = _Net()
    tables, begun = SparseTables(network, network.tables(), 0.0), weight.item()
    spread = (state["exp_avg_sq"] / (1 - beta_square**first)).sqrt().item()
    product, allowed, moved = np.eye(2), 0.0, 0.0
    for step in range(first + 1, first + 121):
        weight.grad = torch.zeros_like(weight)
        before = weight.item()
        optimiser.step()
        tables.count = step
        kept, drift, faded = tables.missed(rate)[:3]
        product = np.array([[kept, drift], [0.0, faded]]) @ product
        longest = np.sqrt((1 + (step - first) / first) / beta_square ** (step - first)) - 1
        allowed += abs(weight.item() - before) * epsilon / (spread + epsilon) * longest
        moved += abs(weight.item() - before)
    direction = state["exp_avg"].item() / (spread + epsilon)
    caught_up = product[0] @ [begun, direction]
    assert abs(caught_up - weight.item()) <= allowed * (1 + 1e-9) + 1e-14
    if first >= 100:
        assert allowed <= 0.06 * moved * epsilon / (spread + epsilon) * (1 + 1e-9)
    if first == 2000:
        assert abs(caught_up - weight.item()) <= 0.006 * moved


def test_moments_and_weights_of_nobody_are_left_in_order() -> None:
    """Annotators who never come decay with all others, and have no direction to drift along."""
    network = _Net()
    first = network.slope.detach().clone()
    tables = _of(network)
    _by_rows(tables, torch.optim.SGD([network.common], lr=1.0), network, range(20))
    seen = {int(a) for step in range(20) for a in _batch(step).annotators}
    never = [a for a in range(N_ANNOTATORS) if a not in seen]
    tables.catch_up()
    kept = float(np.prod([1 - _rate(step) * 0.3 for step in range(20)]))
    assert never
    torch.testing.assert_close(network.slope[never], first[never] * kept)
    assert all(not moment[never].any() for moments in tables.moments for moment in moments)


def test_an_error_leaves_the_whole_tables_in_the_network() -> None:
    network = _Net()
    tables, batch = _of(network), _batch(0)
    with pytest.raises(RuntimeError, match="on purpose"), tables.rows_of(batch):
        assert len(network.slope) == len(batch.annotators)
        assert len(network.state_dict()["slope"]) == N_ANNOTATORS
        raise RuntimeError("on purpose")
    assert len(network.slope) == N_ANNOTATORS and network.rows is None


# ---- in the loop ----


def _crowd(n_items: int = 90, n_annotators: int = 120) -> Corpus:
    """As jester5k in small: most people rate a few items, some rate many."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(n_items, 6)).astype(np.float32)
    often = 1 / np.arange(1, n_annotators + 1)
    who = np.concatenate(
        [generator.choice(n_annotators, 5, False, often / often.sum()) for _ in range(n_items)]
    )
    item = np.repeat(np.arange(n_items), 5)
    place = features[item, 0] + np.sin(who) + 0.3 * generator.normal(size=len(item))
    items, annotators = Names.range(n_items), Names.range(n_annotators)
    answers = Annotations.from_arrays(
        item, who, 2 * place, Interval(-10, 10), items=items, annotators=annotators
    )
    shown = Contents.distinct("features", features)
    return Corpus.build("jokes", answers.items, {"q": answers}, contents={"x": shown})


def _method(**settings: Any) -> AnnotatorHeads:
    given: dict[str, Any] = {"epochs": 4, "batch_size": 6, "device": "cpu"} | settings
    training = Training(**given)
    return AnnotatorHeads(encoder="features", hidden=(5,), dropout=0.3, training=training)


@pytest.fixture
def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any table is large."""
    monkeypatch.setattr(sparse_tables, "LARGE", 1)


@pytest.mark.parametrize(
    "settings",
    [
        {"optimiser": "adamw", "learning_rate": 0.01, "weight_decay": 0.1},
        {"optimiser": "adam", "learning_rate": 0.01, "weight_decay": 0.0, "schedule": "constant"},
    ],
)
def test_annotator_heads_end_the_same(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four epochs of 15 batches, 60 steps, in float64. Some weights have gradients of 1e-5 early
    on; 3e-3 of a step is allowed."""
    dense = run_of(_method(**settings), _crowd())
    monkeypatch.setattr(sparse_tables, "LARGE", 1)
    by_rows = run_of(_method(**settings), _crowd())
    assert dense.sparse_tables is None and by_rows.sparse_tables is not None
    assert len(by_rows.sparse_tables.tables) == 2
    assert stackable(dense) and not stackable(by_rows)
    for run in (dense, by_rows):
        run.train()
    one, other = weights_of([dense, by_rows])
    for name, stored in one.items():
        np.testing.assert_allclose(other[name], stored, rtol=0, atol=3e-5, err_msg=name)
    assert by_rows.log.train == pytest.approx(dense.log.train, abs=3e-5)


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("n", [12, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 7, 22))])
def test_stopped_anywhere_the_end_is_the_same_to_the_bit(tmp_path: Path, n: int) -> None:
    """There are 12 batches in an epoch."""
    train, validation = _crowd().split(0.2, seed=0)
    whole = _method(save_every=0).fit(train, validation=validation)
    with stopped_after(n):
        _method(save_every=0).fit(train, validation=validation, checkpoint=tmp_path / "c")
    resumed = _method(save_every=0).fit(train, validation=validation, checkpoint=tmp_path / "c")
    for name, weights in whole.weights().items():
        np.testing.assert_array_equal(resumed.weights()[name], weights, err_msg=name)
    assert resumed.log_.validation == whole.log_.validation


@pytest.mark.parametrize(("kept", "read"), [(1, 1 << 60), (1 << 60, 1)])
def test_a_state_of_whole_tables_is_none_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, read: int
) -> None:
    """As where a training goes on without the GPU that it was begun on."""
    crowd, folder = _crowd(), tmp_path / "c"
    monkeypatch.setattr(sparse_tables, "LARGE", kept)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "end_epoch", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            _method(save_every=0.0).fit(crowd, checkpoint=folder)
    monkeypatch.setattr(sparse_tables, "LARGE", read)
    says = (
        f"^{folder}: saved on another device, or by another version of dissensus, which steps "
        "large tables of annotators in another way; resume there, or remove it and train again$"
    )
    with pytest.raises(CheckpointError, match=says):
        _method(save_every=0.0).fit(crowd, checkpoint=folder)


def test_where_there_is_a_closed_form() -> None:
    def by_rows(device: str = "cpu", **settings: Any) -> bool:
        return SparseTables.of(_Net(), Training(**settings), torch.device(device)) is not None

    assert by_rows() and by_rows(optimiser="adam", weight_decay=0)
    others: list[dict[str, Any]] = [
        {"optimiser": "sgd"}, {"optimiser": "adam"}, {"optimiser": "radam", "weight_decay": 0},
        {"losses": "interleaved"}, {"averaged": 0.5}, {"device": "cuda"},
    ]  # fmt: skip
    assert not any(by_rows(**settings) for settings in others)
