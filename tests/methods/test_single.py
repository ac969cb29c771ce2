"""Label smoothing of `single`, and what agreement does to its labels."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from dissensus import Annotations, Corpus, Names
from dissensus.contents import Contents
from dissensus.errors import ModelError
from dissensus.methods import Single
from dissensus.methods.framework.losses import label_losses
from dissensus.methods.single import confusions
from dissensus.training import Outputs, Sizes, Training
from tests.crowds import SCALES, feature_crowd


def _loss(kind: str, target: torch.Tensor, raw: torch.Tensor, smoothing: float) -> torch.Tensor:
    built = label_losses(Sizes({"q": SCALES[kind]}, 0, {}), smoothing)[0]
    batch: Any = SimpleNamespace(targets={"q": target})
    return built.function(Outputs(items={"q": raw}), batch)


def test_a_smoothed_loss_is_torchs() -> None:
    generator = torch.manual_seed(0)
    raw = torch.randn(7, 3, dtype=torch.float64, generator=generator)
    target = torch.tensor([0, 1, 2, 0, 1, 2, 0])
    for smoothing in (0.0, 0.1, 0.7):
        expected = F.cross_entropy(raw, target, reduction="none", label_smoothing=smoothing)
        np.testing.assert_allclose(_loss("nominal", target, raw, smoothing), expected)
    chosen = torch.randint(0, 2, (7, 3), generator=generator).double()
    smooth = F.binary_cross_entropy_with_logits(raw, 0.9 * chosen + 0.05, reduction="none")
    np.testing.assert_allclose(_loss("multi-label", chosen, raw, 0.1), smooth.mean(dim=1))


@pytest.mark.parametrize(("kind", "sure"), [("nominal", 0.8), ("ordinal", 0.775)])
def test_it_is_never_surer_than_the_smoothing_lets_it(kind: str, sure: float) -> None:
    crowd = feature_crowd(kind)
    crowd["q"].answer[:] = 1
    training = Training(epochs=200, learning_rate=0.02, device="cpu")
    fitted = Single(encoder="features", dropout=0, label_smoothing=0.3, training=training)
    result = fitted.fit(crowd).predict(crowd)["q"].distribution
    np.testing.assert_allclose(result[:, 1], sure, atol=0.01)


# ---- agreement ----


def test_confusions_are_counted_over_ordered_pairs() -> None:
    corpus = feature_crowd(n_items=50)["q"]
    counts = np.zeros((3, 3))
    for item in range(50):
        given = corpus.answer[corpus.item == item]
        for first, second in itertools.permutations(given, 2):
            counts[first, second] += 1 / (len(given) - 1)
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(confusions(corpus), expected)


def test_a_mistake_that_people_make_counts_less() -> None:
    crowd = feature_crowd(n_items=50)
    method = Single(encoder="features", cost_sensitive=True)
    method.begin_fit(crowd, None, None)
    built, shared = method.targets(crowd), confusions(crowd["q"])
    raw = torch.randn(50, 3, dtype=torch.float64, generator=torch.manual_seed(0))
    label, output = built["q"], raw.argmax(1).numpy()
    plain = F.cross_entropy(raw, torch.from_numpy(label), reduction="none").numpy()
    cost = np.where(output == label, 1, 1 - shared[label, output])
    assert 0 < cost.min() < 0.9
    batch: Any = SimpleNamespace(targets={k: torch.from_numpy(v) for k, v in built.items()})
    loss = method.losses(Sizes({"q": SCALES["nominal"]}, 0, {}))[0]
    result = loss.function(Outputs(items={"q": raw}), batch)
    np.testing.assert_allclose(result, plain * cost, rtol=1e-6)


def test_cost_sensitive_training_learns() -> None:
    crowd = feature_crowd(n_items=200)
    training = Training(epochs=20, learning_rate=0.02, device="cpu")
    fitted = Single(encoder="features", cost_sensitive=True, training=training).fit(crowd)
    output = fitted.predict(crowd)["q"].consensus
    assert (output == crowd["q"].consensus().answer).mean() > 0.7
    with pytest.raises(ModelError) as caught:
        Single(encoder="features", cost_sensitive=True).fit(feature_crowd("multi-label"))
    assert str(caught.value) == (
        "made-up: cost_sensitive needs nominal or ordinal answers; 'q' has multi-label ones"
    )


def _shares() -> Corpus:
    """Items on which 4, 3, 2 and 2 of 4 agree, and one with gold only."""
    votes = [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 0, 1], [0, 0, 1, 1]]
    item = np.repeat(np.arange(4), 4)
    answers = Annotations.from_arrays(
        item, np.tile(np.arange(4), 4), np.ravel(votes), SCALES["nominal"], items=Names.range(5)
    )
    gold = Annotations.from_arrays(
        np.arange(5), None, np.array([0, 1, 2, 0, 1]), SCALES["nominal"], items=Names.range(5)
    )
    shown = Contents.distinct("features", np.eye(5, dtype=np.float32))
    return Corpus.build(
        "shares", Names.range(5), {"q": answers}, contents={"x": shown}, gold={"q": gold}
    )


def _learned(**settings: Any) -> tuple[list[int], list[float]]:
    """The items that are learned from, and what each counts."""
    corpus = _shares()
    method = Single(encoder="features", **settings)
    method.begin_fit(corpus, None, None)
    weight = method.targets(corpus)["q.weight"]
    return method.learns(corpus).tolist(), weight.tolist()


def test_items_on_which_too_few_agree_are_left_out() -> None:
    assert _learned(min_agreement=0.5) == ([0, 1, 2, 3], [1, 1, 1, 1, 0])
    assert _learned(min_agreement=0.75) == ([0, 1], [1, 1, 0, 0, 0])
    assert _learned(min_agreement=1.0) == ([0], [1, 0, 0, 0, 0])
    assert _learned(min_agreement=0.75, label="gold") == ([0, 1, 4], [1, 1, 0, 0, 1])


def test_items_count_as_much_as_people_agree() -> None:
    assert _learned(weight_by_agreement=True) == ([0, 1, 2, 3], [1, 0.75, 0.5, 0.5, 0])
    of_gold = _learned(weight_by_agreement=True, label="gold", min_agreement=0.6)
    assert of_gold == ([0, 1, 4], [1, 0.75, 0, 0, 1])
