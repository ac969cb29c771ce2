"""`seed-ensemble`: what differs between members, and how they vote."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dissensus as ds
from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.methods import SeedEnsemble, Single
from dissensus.methods.framework.labels import best_temperature, held_out_items, tempered
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.members import member_seed
from dissensus.methods.seed_ensemble import bag
from dissensus.training import Training
from dissensus.training.examples import batch_indices
from dissensus.training.loop import Trainer
from dissensus.training.stacking.groups import train_all
from tests.crowds import SCALES, feature_crowd
from tests.tiny import WORDS, tiny_bert
from tests.training.test_stack import assert_same_weights, in_float64

QUICK = Training(epochs=3, batch_size=16, device="cpu")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("bert") / "tiny")


def texts(n_items: int = 24) -> Corpus:
    """Texts of unequal length; the first two items show the same one, the last shows none."""
    generator = np.random.default_rng(0)
    shown: list[str | None] = [
        " ".join(generator.choice(WORDS[5:], generator.integers(1, 7))) for _ in range(n_items)
    ]
    shown[1], shown[-1] = shown[0], None
    answers = Annotations.from_arrays(
        np.arange(n_items),
        np.zeros(n_items, np.int64),
        generator.integers(0, 3, n_items),
        Nominal(("a", "b", "c")),
        items=Names.range(n_items),
    )
    contents = {"text": Contents.distinct("text", shown)}
    return Corpus.build("texts", answers.items, {"q": answers}, contents=contents)


def begun(corpus: Corpus, **settings: Any) -> tuple[SeedEnsemble, list[Trainer]]:
    """Trainings about to begin."""
    method = SeedEnsemble(**{"training": QUICK} | settings)
    method.begin_fit(corpus, None, None)
    return method, method.trainers(corpus, None)


def differing(runs: list[Trainer]) -> set[str]:
    """The weights in which members begin differently."""
    states = [run.network.state_dict() for run in runs]
    return {
        name
        for name, stored in states[0].items()
        if any(not torch.equal(stored, state[name]) for state in states[1:])
    }


def orders(runs: list[Trainer]) -> list[list[int]]:
    """The items of each member's first epoch."""
    return [
        np.concatenate(
            [cut.items for cut in batch_indices(r.examples, r.learned, r.training, r.order)]
        )
        .astype(int)
        .tolist()
        for r in runs
    ]


# ---- what differs ----


def test_members_begin_alike_but_for_the_last_layer(tiny: str) -> None:
    _, runs = begun(texts(), encoder=tiny, tune="all", hidden=(5,))
    assert differing(runs) == {"inner.head_0.weight"}
    assert len({tuple(order) for order in orders(runs)}) == 1
    assert len({run.training.noise_seed for run in runs}) == 1
    assert all(np.array_equal(run.learned, runs[0].learned) for run in runs)
    _, runs = begun(texts(), encoder=tiny, hidden=(5,))
    assert differing(runs) == {"inner.head_0.weight", "pools.0.query"}


def test_masks_are_equal_or_not(tiny: str) -> None:
    """The first batch's loss of equal networks, dropout and all."""

    def losses(vary: str) -> set[float]:
        _, runs = begun(texts(), encoder=tiny, tune="all", vary=vary, n_members=3)
        for run in runs[1:]:
            run.network.load_state_dict(runs[0].network.state_dict())
        seen = []
        for run in runs:
            run.network.train()
            cut = next(iter(batch_indices(run.examples, run.learned, run.training, None)))
            run.train_batch(cut)
            seen.append(float(run.loss_sum))
        return set(seen)

    assert len(losses("last-layer")) == len(losses("order")) == 1
    assert len(losses("dropout")) == 3


@pytest.mark.parametrize(
    ("vary", "weights", "order", "noise"),
    [
        ("order", False, True, False),
        ("dropout", False, False, True),
        ("last-layer+order", True, True, False),
        ("everything", True, True, True),
    ],
)
def test_what_varies(vary: str, weights: bool, order: bool, noise: bool) -> None:
    _, runs = begun(feature_crowd(), encoder="features", hidden=(4,), vary=vary)
    assert bool(differing(runs)) == weights
    trunk = {name for name in differing(runs) if "trunk" in name}
    assert bool(trunk) == (vary == "everything")
    assert len({tuple(result) for result in orders(runs)}) == (5 if order else 1)
    assert len({run.training.noise_seed for run in runs}) == (5 if noise else 1)


def test_bags_are_drawn_with_replacement() -> None:
    _, runs = begun(feature_crowd(), encoder="features", vary="bag", n_members=200)
    assert not differing(runs)
    for number, run in enumerate(runs[:3]):
        assert run.learned.tolist() == bag(np.arange(60), QUICK.seed, number).tolist()
        assert Counter(orders([run])[0]) == Counter(run.learned.tolist())
    distinct = np.mean([len(np.unique(run.learned)) for run in runs])
    assert distinct / 60 == pytest.approx(1 - np.exp(-1), abs=0.02)
    fitted = SeedEnsemble(encoder="features", vary="bag", training=QUICK).fit(feature_crowd())
    assert len({stored.tobytes() for stored in fitted.weights()["inner.head_0.weight"]}) == 5


# ---- one member, and members one by one ----


@pytest.mark.parametrize("settings", [{"tune": "all"}, {"pool": "mean"}, {}], ids=str)
def test_one_member_is_single(tiny: str, settings: dict[str, Any]) -> None:
    corpus = texts()
    training = replace(QUICK, seed=3)
    one = SeedEnsemble(encoder=tiny, n_members=1, init_seed=2, training=training, **settings)
    pool: Any = "attention" if not settings else "mean"
    plain = Single(
        encoder=tiny, tune=settings.get("tune", "nothing"), init_seed=2, training=training
    )
    prediction = one.fit(corpus).predict(corpus)["q"]
    expected = replace(plain, pool=pool).fit(corpus).predict(corpus)["q"]
    np.testing.assert_allclose(prediction.distribution, expected.distribution, atol=1e-6)
    np.testing.assert_array_equal(prediction.consensus, expected.consensus)


def test_linear_members_are_singles_of_other_seeds() -> None:
    """Where there is nothing but a last layer, a member begins as `single` does."""
    crowd = feature_crowd()
    fitted = SeedEnsemble(encoder="features", pool="mean", training=QUICK).fit(crowd)
    for number, member in enumerate(fitted.members_):
        seed = member_seed(0, number)
        plain = Single(encoder="features", init_seed=seed, training=QUICK).fit(crowd)
        expected = plain.predict(crowd)["q"].distribution
        np.testing.assert_allclose(member.predict(crowd)["q"].distribution, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "vary"),
    [
        pytest.param(kind, vary, marks=() if quick else pytest.mark.slow)
        for kind in SCALES
        for vary in ("last-layer", "everything", "last-layer+bag")
        for quick in (kind == "nominal" or (kind, vary) == ("interval", "everything"),)
    ],
)
def test_side_by_side_they_end_as_one_by_one(kind: str, vary: str) -> None:
    crowd = feature_crowd(kind)
    ends = []
    for together in (True, False):
        _, runs = begun(crowd, encoder="features", hidden=(4,), vary=vary, pool="mean")
        for run in runs:
            run.network.double()
        examples = in_float64(runs[0].examples)
        runs = [replace(run, examples=examples) for run in runs]
        assert train_all(runs, None if together else False) == {}
        ends.append(runs)
    assert_same_weights(ends[0], ends[1])


def test_a_stack_that_fails_is_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = feature_crowd()
    expected = SeedEnsemble(encoder="features", training=QUICK).fit(crowd).predict(crowd)

    def fail(stack: Any) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("dissensus.training.stacking.stack.Stack.train", fail)
    prediction = SeedEnsemble(encoder="features", training=QUICK).fit(crowd).predict(crowd)
    np.testing.assert_allclose(prediction["q"].distribution, expected["q"].distribution, atol=1e-5)


def test_a_training_that_was_stopped_goes_on(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three members the first is over and the second under way."""
    corpus, training = texts(), replace(QUICK, save_every=0.0)
    whole = SeedEnsemble(encoder=tiny, tune="all", n_members=3, training=training).fit(corpus)
    steps, before = [0], Trainer.train_batch

    def stop(run: Trainer, cut: Any) -> None:
        steps[0] += 1
        if steps[0] == 9:
            raise KeyboardInterrupt
        before(run, cut)

    stopped = SeedEnsemble(encoder=tiny, tune="all", n_members=3, training=training)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_batch", stop)
        with pytest.raises(KeyboardInterrupt):
            stopped.fit(corpus, checkpoint=tmp_path / "state")
    assert {p.name for p in (tmp_path / "state").iterdir()} == {"member-0", "member-1"}
    examples, steps[0] = [0], 100

    def count(run: Trainer, cut: Any) -> None:
        examples[0] += 1
        before(run, cut)

    monkeypatch.setattr(Trainer, "train_batch", count)
    resumed = SeedEnsemble(encoder=tiny, tune="all", n_members=3, training=training)
    resumed.fit(corpus, checkpoint=tmp_path / "state")
    assert examples[0] == 10  # of 18
    for name, stored in whole.weights().items():
        np.testing.assert_array_equal(stored, resumed.weights()[name])
    resumed.forget_checkpoint()
    assert not (tmp_path / "state").exists()


# ---- the vote ----


def test_ties_go_to_the_most_probable_of_the_tied() -> None:
    """The vote of four singles with made-up answers, on every item; by counting."""
    crowd, generator = feature_crowd(), np.random.default_rng(0)
    fitted = SeedEnsemble(encoder="features", n_members=4, training=QUICK).fit(crowd)
    outputs = [
        Answers(shares, shares.argmax(axis=1))
        for shares in generator.dirichlet(np.ones(3), (4, 300))
    ]
    result, n_ties = fitted.combined("q", outputs).value, 0
    mean = np.mean([answers.distribution for answers in outputs], axis=0)
    for item in range(300):
        votes = Counter(int(answers.value[item]) for answers in outputs)
        tied = [value for value, n in votes.items() if n == max(votes.values())]
        n_ties += len(tied) > 1
        assert result[item] == max(tied, key=lambda value: mean[item, value])
    assert n_ties > 50


@pytest.mark.parametrize("kind", SCALES)
def test_both_read_outs_come_from_the_members(kind: str) -> None:
    crowd = feature_crowd(kind)
    fitted = SeedEnsemble(encoder="features", training=QUICK).fit(crowd)
    mean = fitted.predict(crowd)["q"]
    alone = [member.predict(crowd)["q"] for member in fitted.members_]
    assert mean.members is not None and mean.members.shape == (5, 60)
    np.testing.assert_array_equal(mean.members, [output.consensus for output in alone])
    np.testing.assert_allclose(
        mean.distribution, np.mean([output.distribution for output in alone], axis=0)
    )
    votes = fitted.set_params(read="votes").predict(crowd)["q"]
    np.testing.assert_array_equal(votes.consensus, mean.consensus)
    for item in range(60):
        stored = mean.scale.one_hot(mean.members[:, item])
        np.testing.assert_allclose(votes.distribution[item], stored.mean(axis=0))


def test_how_often_members_disagree_is_noted() -> None:
    crowd = feature_crowd()
    fitted = SeedEnsemble(encoder="features", pool="mean", training=QUICK).fit(crowd)
    members = fitted.predict(crowd)["q"].members
    assert members is not None
    share = np.mean([len(set(column)) > 1 for column in members.T.tolist()])
    line = f"'q': the 5 members disagree on {100 * share:.1f} % of 60 items"
    assert fitted.notes_ == [line]
    assert fitted.fit(crowd).notes_ == [line.replace("items", "training items")]
    rated = feature_crowd("interval")
    fitted = SeedEnsemble(encoder="features", pool="mean", training=QUICK).fit(rated)
    members = fitted.predict(rated)["q"].members
    assert members is not None
    assert fitted.notes_ == [
        f"'q': the 5 members differ by {members.std(axis=0).mean():.3g} (standard deviation) in "
        "the ratings of 60 items"
    ]


@pytest.mark.slow
def test_linear_members_on_a_frozen_encoder_end_alike_attention_does_not() -> None:
    """One optimum, to which every member goes, if it is given the time."""
    generator = np.random.default_rng(0)
    shown = [generator.normal(size=(6, 5)).astype(np.float32) for _ in range(80)]
    label = np.array([int(content.max(axis=0)[0] > 1.2) for content in shown])
    answers = Annotations.from_arrays(
        np.arange(80), np.zeros(80, np.int64), label, Nominal(("no", "yes")), items=Names.range(80)
    )
    values = {"x": Contents.distinct("features", shown)}
    corpus = Corpus.build("peaks", answers.items, {"q": answers}, contents=values)
    training = Training(epochs=150, batch_size=80, learning_rate=0.05, device="cpu")

    def spread(pool: Any) -> float:
        method = SeedEnsemble(encoder="features", pool=pool, dropout=0.0, training=training)
        method.fit(corpus)
        outputs = [member.predict(corpus)["q"].distribution for member in method.members_]
        return float(np.std(outputs, axis=0).mean())

    assert spread("mean") < 0.001 < 0.005 < spread("auto")


# ---- the temperature ----


def test_the_mean_is_tempered_by_labels_set_aside(tmp_path: Path) -> None:
    crowd = feature_crowd()
    fitted = SeedEnsemble(
        encoder="features", vary="everything", temperature=True, held_out=0.3, training=QUICK
    ).fit(crowd)
    aside = held_out_items(crowd, 0.3, QUICK.seed)
    output = fitted.predict(crowd)["q"].distribution
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(
        ds.load(tmp_path / "model").predict(crowd)["q"].distribution, output
    )
    result = fitted.temperature_.pop("q")
    bare = fitted.predict(crowd)["q"].distribution
    np.testing.assert_allclose(output, tempered(SCALES["nominal"], bare, result))
    label = crowd["q"].consensus().answer
    assert result == pytest.approx(best_temperature(SCALES["nominal"], bare[aside], label[aside]))
    _, runs = begun(crowd, encoder="features", vary="order+bag", temperature=True, held_out=0.3)
    assert all(not np.isin(run.learned, aside).any() for run in runs)
