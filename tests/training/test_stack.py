"""Networks trained side by side end as they do one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Annotations, Names, Nominal
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.densities import RatingKde
from dissensus.errors import ModelError
from dissensus.methods import (
    AnnotatorHeads,
    AnnotMix,
    Madl,
    RepeatedLabel,
    Single,
    SoftLabel,
    SoftLabelMtl,
)
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.training import Batch, Examples, Network, Outputs, Sizes, Training
from dissensus.training.loop import Trainer
from dissensus.training.stacking import cuda_graph, stack
from dissensus.training.stacking import weights as stacked_weights
from dissensus.training.stacking.groups import group_key, obstacle, stackable, train_all
from dissensus.training.stacking.optimiser import AllAtOnce, ByRow
from dissensus.training.stacking.stack import Stack
from dissensus.training.validation import Validation
from tests.crowds import feature_crowd
from tests.tiny import WORDS, tiny_bert


def run_of(method: TrainedMethod, corpus: Corpus) -> Trainer:
    """A training in float64, about to begin."""
    method.begin_fit(corpus, None, None)
    run = method.trainer(corpus, None)
    network = run.network.double()
    examples = in_float64(run.examples)
    return Trainer(
        network, run.losses, examples, run.training, run.validation, run.learned, run.kind
    )


def in_float64(examples: Examples) -> Examples:
    pooled = {role: stored.double() for role, stored in examples.pooled.items()}
    targets = {
        name: stored.double() if stored.is_floating_point() else stored
        for name, stored in examples.targets.items()
    }
    answer = {
        question: stored.astype(np.float64) if stored.dtype == np.float32 else stored
        for question, stored in examples.table.answer.items()
    }
    table = replace(examples.table, answer=answer)
    return replace(examples, pooled=pooled, targets=targets, table=table)


def weights_of(runs: list[Trainer]) -> list[dict[str, np.ndarray]]:
    return [
        {name: state.numpy().copy() for name, state in run.network.state_dict().items()}
        for run in runs
    ]


def assert_same_weights(
    runs: list[Trainer], others: list[Trainer], tolerance: float = 1e-10
) -> None:
    for one, other in zip(weights_of(runs), weights_of(others), strict=True):
        for name, stored in one.items():
            np.testing.assert_allclose(other[name], stored, rtol=0, atol=tolerance, err_msg=name)


def assert_same(make: Callable[[], list[Trainer]], tolerance: float = 1e-10) -> list[Trainer]:
    alone = make()
    for run in alone:
        run.train()
    together = make()
    assert len({group_key(run) for run in together}) == 1 and all(map(stackable, together))
    stack = Stack(together)
    stack.train()
    assert not stack.errors
    assert_same_weights(alone, together, tolerance)
    for single, stacked in zip(alone, together, strict=True):
        assert stacked.log.train == pytest.approx(single.log.train, abs=1e-9)
        assert stacked.log.rate == pytest.approx(single.log.rate, rel=1e-12)
        assert stacked.log.best_epoch == single.log.best_epoch
        assert stacked.log.validation == pytest.approx(single.log.validation, abs=1e-9)
    return together


METHODS: dict[str, Any] = {
    "single": Single,
    "soft-label": SoftLabel,
    "repeated-label": RepeatedLabel,
    "soft-label-mtl": SoftLabelMtl,
    "annotator-heads": AnnotatorHeads,
}
OPTIMISERS = ("adamw", "adam", "radam", "sgd")
SMALL: dict[str, Any] = {"encoder": "features", "hidden": (6,), "dropout": 0.4}


def members(
    method: Callable[..., TrainedMethod],
    corpora: Corpus | Sequence[Corpus],
    own: Sequence[dict[str, Any]],
    **training: Any,
) -> list[Trainer]:
    """A training for each of the members' own settings of training, each with another seed."""
    each = [corpora] * len(own) if isinstance(corpora, Corpus) else corpora
    return [
        run_of(
            method(init_seed=seed, training=Training(**{"seed": seed} | training | settings)),
            corpus,
        )
        for seed, (corpus, settings) in enumerate(zip(each, own, strict=True))
    ]


@pytest.mark.parametrize(
    ("name", "optimiser"),
    [
        pytest.param(name, optimiser, marks=() if quick else pytest.mark.slow)
        for name in METHODS
        for optimiser in OPTIMISERS
        for quick in (optimiser == "adamw" or name == "annotator-heads",)
    ],
)
def test_seeds_side_by_side_are_seeds_one_by_one(name: str, optimiser: str) -> None:
    """Four epochs of five batches, 20 steps; dropout and all."""
    method, crowd = partial(METHODS[name], **SMALL), feature_crowd("nominal", n_items=37)
    assert_same(
        lambda: members(method, crowd, [{}] * 3, epochs=4, batch_size=8, optimiser=optimiser)
    )


@pytest.mark.parametrize(
    ("optimiser", "kind"),
    [
        pytest.param(optimiser, kind, marks=() if quick else pytest.mark.slow)
        for optimiser in OPTIMISERS
        for kind in (ByRow, AllAtOnce)
        for quick in (optimiser == "adamw" or kind is AllAtOnce,)
    ],
)
def test_members_decay_each_by_their_own_and_so_do_plateaus(
    optimiser: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacked_weights, "stacked_optimiser", kind)
    method, crowd = partial(AnnotatorHeads, **SMALL), feature_crowd("nominal", n_items=37)
    own: list[dict[str, Any]] = [
        {"weight_decay": 0.3, "plateau_factor": 0.1},
        {"weight_decay": 0.1, "smallest_gain": 0.02},
        {"weight_decay": 0.0, "plateau_factor": 0.9, "smallest_gain": 0.5},
    ]
    together = assert_same(
        lambda: members(
            method, crowd, own, epochs=5, batch_size=8, learning_rate=0.02, schedule="plateau",
            plateau=1, optimiser=optimiser,
        )
    )  # fmt: skip
    assert len({run.log.rate[-1] for run in together}) == 3


@pytest.mark.parametrize("kind", ["ordinal", "interval", "multi-label"])
@pytest.mark.parametrize("name", ["single", "annotator-heads"])
def test_every_scale(name: str, kind: str) -> None:
    method, crowd = partial(METHODS[name], encoder="features"), feature_crowd(kind, n_items=30)
    assert_same(lambda: members(method, crowd, [{}] * 2, epochs=3, batch_size=8))


@pytest.mark.parametrize("name", ["single", "annotator-heads"])
def test_other_folds_rates_clips_stops_and_plateaus_for_each(name: str) -> None:
    """Corpora of unequal size, so that members make unequal numbers of steps."""
    whole = feature_crowd("nominal", n_items=60)
    folds = [whole.select(items=np.arange(60) % 4 != fold) for fold in (0, 1)]
    folds.append(whole.select(items=np.arange(60) < 21))
    own: list[dict[str, Any]] = [
        {"learning_rate": 0.02, "clip": 0.05, "epochs": 6, "schedule": "plateau", "plateau": 1},
        {"learning_rate": 0.001, "clip": 5.0, "epochs": 4, "weight_decay": 0.3, "warm_up": 0.5},
        {"learning_rate": 0.3, "epochs": 9, "patience": 2, "schedule": "constant"},
    ]

    def make() -> list[Trainer]:
        runs = members(partial(METHODS[name], encoder="features"), folds, own, batch_size=8)
        for run in runs:
            figures = iter([3.0, 2.0, 2.5, 2.6, 2.7, 1.0, 1.0, 1.0, 1.0])
            run.validation = Validation("made up", partial(next, figures), False)
        return runs

    assert [len(run.log.train) for run in assert_same(make)] == [6, 4, 4]


def test_each_averages_as_many_of_its_steps_as_it_will() -> None:
    """Judged after every epoch, or not; one of them not at all."""
    method, crowd = partial(SoftLabel, encoder="features"), feature_crowd("nominal", n_items=37)

    def make() -> list[Trainer]:
        own = [{"averaged": share} for share in (0.0, 0.3, 0.9)]
        runs = members(method, crowd, own, epochs=4, batch_size=8)
        runs[2].validation = Validation("size", partial(_size, runs[2].network), True)
        return runs

    assert_same(make)


def _size(network: torch.nn.Module) -> float:
    return float(sum(stored.detach().abs().sum() for stored in network.parameters()))


def test_items_with_very_many_answers() -> None:
    """They are divided between batches; the first member ends first."""
    method, crowd = AnnotatorHeads, feature_crowd("nominal", n_items=12, n_annotators=20)
    own = [{"epochs": 2}, {"epochs": 3}]
    assert_same(lambda: members(method, crowd, own, batch_size=4, max_rows_per_item=7))


def test_one_that_diverges_leaves_the_others_alone() -> None:
    crowd, own = feature_crowd("interval"), [{"learning_rate": r} for r in (1e-3, 1e30, 2e-3)]
    runs, alone = (members(AnnotatorHeads, crowd, own, epochs=3) for _ in range(2))
    errors = train_all(runs)
    assert list(errors) == [1] and isinstance(errors[1], ModelError)
    assert "training diverged in epoch" in str(errors[1])
    alone[2].train()
    assert runs[2].log.train == pytest.approx(alone[2].log.train, abs=1e-9)


def test_an_error_of_torch_ends_only_its_own_training(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = members(AnnotatorHeads, feature_crowd(), [{}, {}], epochs=1)
    error = RuntimeError("an illegal memory access was encountered")

    def fail() -> None:
        raise error

    monkeypatch.setattr(runs[0], "train_epochs", lambda *_: fail())
    assert train_all(runs, stack=False) == {0: error}
    assert runs[1].finished
    error.__cause__ = error  # as `raise error from error` makes it
    monkeypatch.setattr(runs[1], "train_epochs", lambda *_: fail())
    assert train_all(runs, stack=False) == {0: error, 1: error}


def test_what_is_not_alike_is_not_stacked() -> None:
    crowd = feature_crowd()
    runs = [
        run_of(Single(encoder="features", hidden=hidden, training=Training(epochs=1)), crowd)
        for hidden in ((), (4,), (4,))
    ]
    assert group_key(runs[0]) != group_key(runs[1]) and group_key(runs[1]) == group_key(runs[2])
    soft = run_of(SoftLabel(encoder="features", training=Training(epochs=1)), crowd)
    assert group_key(soft) != group_key(runs[0])  # the same network, another loss
    training = Training(epochs=2, losses="interleaved")
    in_turn = run_of(Single(encoder="features", training=training), crowd)
    in_turn.losses += tuple(replace(loss, during=(0.0, 0.5)) for loss in in_turn.losses)
    assert obstacle(in_turn) == "some epochs have more losses than others"
    assert train_all([*runs, in_turn]) == {}
    assert all(len(run.log.train) == run.training.epochs for run in [*runs, in_turn])
    assert torch.isfinite(runs[0].network.state_dict()["head_0.weight"]).all()


def text_crowd(n_items: int, seed: int) -> Corpus:
    """Texts of unequal length, some of them shown twice, with two annotators' answers."""
    generator = np.random.default_rng(seed)
    texts = [
        " ".join(generator.choice(WORDS[5:], generator.integers(1, 9))) for _ in range(n_items)
    ]
    items = Names.range(n_items)
    answers = Annotations.from_arrays(
        np.repeat(np.arange(n_items), 2),
        np.tile([0, 1], n_items),
        generator.integers(0, 3, 2 * n_items),
        Nominal(("a", "b", "c")),
        items=items,
    )
    shown = Contents.distinct("text", [*texts[:-4], *texts[:4]])
    return Corpus.build("texts", items, {"q": answers}, contents={"text": shown})


@pytest.mark.parametrize(
    ("name", "tune"),
    [
        ("single", "all"),
        ("annotator-heads", 1),
        pytest.param("single", 1, marks=pytest.mark.slow),
        pytest.param("annotator-heads", "all", marks=pytest.mark.slow),
    ],
)
def test_fine_tuned_transformers_too(tmp_path: Path, name: str, tune: str | int) -> None:
    folder = tiny_bert(tmp_path / "bert", dropout=0.3)
    folds = [text_crowd(26, 0), text_crowd(26, 0), text_crowd(19, 1)]
    method, own = partial(METHODS[name], encoder=folder, tune=tune), [{}, {"clip": 0.1}, {}]
    assert_same(
        lambda: members(
            method, folds, own, epochs=4, batch_size=6, encoder_learning_rate=1e-3, layer_decay=0.5,
            learning_rate=0.01,
        )
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", ["single", "annotator-heads", "adamw", "sgd"])
def test_compiled_steps_are_the_same(case: str, tmp_path: Path) -> None:
    """Compiling takes minutes on a CPU. A method whose dropouts are numbered otherwise, or a second
    stack, runs with the code of the first."""
    if case in METHODS:
        encoder = tiny_bert(tmp_path / "bert", dropout=0.3)
        method = partial(METHODS[case], encoder=encoder, tune="all")
        crowds = [text_crowd(26, 0), text_crowd(26, 0), text_crowd(19, 0)]
        own: list[dict[str, Any]] = [{}, {"clip": 0.1}, {}]
        settings: dict[str, Any] = {
            "batch_size": 6,
            "encoder_learning_rate": 1e-3,
            "learning_rate": 0.01,
        }
    else:
        method, own = partial(Single, encoder="features", dropout=0.4), [{"seed": 0}] * 2
        crowds = [feature_crowd("nominal", n_items=37)] * 2
        settings = {"batch_size": 8, "optimiser": case}
    alone, together, again = (
        members(method, crowds, own, epochs=3, compile=compile, **settings)
        for compile in (False, True, True)
    )
    for run in alone:
        run.train()
    for runs in (together, again):
        Stack(runs).train()
    assert_same_weights(alone, together)
    assert_same_weights(together, again, tolerance=0)


def test_members_that_see_the_same_batches_stop_when_they_will() -> None:
    crowd, own = feature_crowd("nominal", n_items=37), [{"epochs": n} for n in (5, 2, 4)]

    def make() -> list[Trainer]:
        runs = members(partial(Single, **SMALL), crowd, own, batch_size=8, seed=0)
        return [replace(run, examples=runs[0].examples) for run in runs]

    assert [len(run.log.train) for run in assert_same(make)] == [5, 2, 4]


def test_dropout_alone_may_differ() -> None:
    crowd = feature_crowd("nominal", n_items=37)

    def make() -> list[Trainer]:
        method = Single(encoder="features", hidden=(6,))
        trainings = [Training(epochs=2, batch_size=8, dropout_seed=s) for s in (None, 3, 0)]
        return [run_of(replace(method, training=training), crowd) for training in trainings]

    first, second, third = weights_of(assert_same(make))
    assert all(np.allclose(first[name], third[name], rtol=0, atol=1e-10) for name in first)
    assert not np.allclose(first["head_0.weight"], second["head_0.weight"], atol=1e-6)


class _Replayed:
    """In place of a CUDA graph on a machine without a GPU: to replay is to compute again."""

    def __init__(self, step: Callable[[], None]) -> None:
        self.replay = step


class _Stream:
    def wait_stream(self, other: object) -> None: ...


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[torch.device]:
    """An entry for each step that was captured."""
    devices = []

    def capture(step: Callable[[], None], device: torch.device) -> _Replayed:
        devices.append(device)
        return _Replayed(step)

    for module in (cuda_graph, stack):
        monkeypatch.setattr(module, "capture", capture)
    for name in ("Stream", "current_stream"):
        monkeypatch.setattr(torch.cuda, name, _Stream)
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    return devices


@pytest.mark.slow
def test_annotators_with_a_validation_part_are_captured_once(captured: list[torch.device]) -> None:
    """Items have unequal numbers of answers, and members validation parts of their own."""
    crowd = feature_crowd("interval", n_items=60)
    answers = crowd["q"]
    order = np.random.default_rng(0).random(answers.n_rows) < np.linspace(0.3, 1, answers.n_rows)
    crowd = replace(crowd, questions={"q": answers.take(order)})

    def make() -> list[Trainer]:
        runs = []
        for seed in range(3):
            part = np.arange(60) % 4 == seed
            training = Training(epochs=5 + seed, batch_size=8, seed=seed, losses="interleaved")
            method = AnnotatorHeads(
                encoder="features",
                objective="both",
                init_seed=seed,
                training=training,
                kde=RatingKde(observations=40),
            )
            train, validation = crowd.select(items=~part), crowd.select(items=part)
            method.begin_fit(train, None, None)
            runs.append(method.trainer(train, method.align(validation)))
        return runs

    alone, stacked = make(), make()
    for run in alone:
        run.train()
    Stack(stacked, graph=True).train()
    assert len(captured) == 2  # a step, and the validation
    for one, other in zip(alone, stacked, strict=True):
        assert other.log.validation == pytest.approx(one.log.validation, abs=1e-5)
        assert other.log.best_epoch == one.log.best_epoch


@pytest.mark.parametrize("in_parts", [False, True])
def test_captured_steps_are_the_same(in_parts: bool, captured: list[torch.device]) -> None:
    """A long member that ends early changes the shapes, so that a step is captured again; losses of
    a part of the training do not."""
    crowd = feature_crowd("nominal", n_items=37)
    crowds = [crowd, crowd, crowd.select(items=np.arange(37) < 12)]
    own: list[dict[str, Any]] = [{}, {}, {"epochs": 4}]
    method: Any = partial(Single, encoder="features", hidden=(4,))
    settings: dict[str, Any] = {"epochs": 3, "batch_size": 8, "averaged": 0.5}
    if in_parts:
        crowds, own, settings = [crowd] * 2, [{"seed": 0}] * 2, {"epochs": 4, "batch_size": 8}
        method = partial(Madl, encoder="features", hidden=(6,), pretrain=0.5)
    alone, stacked = (members(method, crowds, own, **settings) for _ in range(2))
    for run in alone:
        run.train()
    Stack(stacked, graph=True).train()
    assert len(captured) == (1 if in_parts else 2)
    assert_same_weights(alone, stacked)


IN_PARTS: dict[str, Any] = {
    "madl": partial(Madl, pretrain=0.4),
    "annot-mix": partial(AnnotMix, pretrain=0.4),
}


@pytest.mark.parametrize(
    ("name", "optimiser", "kind"),
    [
        ("madl", "adamw", ByRow),
        ("madl", "sgd", AllAtOnce),
        ("madl", "radam", AllAtOnce),
        pytest.param("madl", "sgd", ByRow, marks=pytest.mark.slow),
        pytest.param("annot-mix", "radam", ByRow, marks=pytest.mark.slow),
    ],
)
def test_losses_of_a_part_of_the_training_are_the_same(
    name: str, optimiser: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights that no loss reaches yet are not stepped, nor decayed. Members have unequal numbers
    of epochs."""
    monkeypatch.setattr(stacked_weights, "stacked_optimiser", kind)
    method, crowd = partial(IN_PARTS[name], **SMALL), feature_crowd("nominal", n_items=37)
    own = [{"epochs": epochs} for epochs in (5, 4, 7)]
    settings: dict[str, Any] = {"batch_size": 8, "optimiser": optimiser, "weight_decay": 0.3}
    assert_same(lambda: members(method, crowd, own, **settings))


class _Shifted(Network):
    """A network whose answers are shifted by one number, which is learned."""

    def __init__(self, inner: Network) -> None:
        super().__init__()
        self.inner, self.shift = inner, torch.nn.Parameter(torch.zeros(()))

    def forward(self, batch: Batch) -> Outputs:
        rows = self.inner.forward(batch).rows
        return Outputs({name: raw + self.shift for name, raw in rows.items()})


class _ShiftedHeads(AnnotatorHeads):
    def network(self, sizes: Sizes) -> Network:
        return _Shifted(super().network(sizes))


@pytest.mark.parametrize("kind", [ByRow, AllAtOnce])
def test_a_weight_that_is_one_number(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacked_weights, "stacked_optimiser", kind)
    method = partial(_ShiftedHeads, encoder="features")
    crowd = feature_crowd("interval", n_items=20)
    make = partial(members, method, crowd, [{"seed": 0}] * 2, epochs=2, batch_size=8)
    together = assert_same(make, tolerance=1e-8)
    assert all(run.network.shift != 0 for run in together)
