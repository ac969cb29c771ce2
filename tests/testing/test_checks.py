"""`check_method` finds what a method does wrong, and names the promise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.methods import Answers, Method, RepeatedLabel
from dissensus.scales import Nominal
from dissensus.testing import CHECKS, check_method, quick
from dissensus.training import Batch, Network, Outputs, Sizes


@dataclass(eq=False)
class Shares(Method):
    """The shares of the answers in training: a method that keeps every promise."""

    name: ClassVar[str] = "shares"
    shares_: dict[str, np.ndarray] = field(init=False, repr=False)

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        questions = self.learned_.questions
        self.shares_ = {q: np.nanmean(corpus[q].distribution(), axis=0) for q in questions}

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        answers = {}
        for question, scale in self.learned_.questions.items():
            shares = np.tile(self.shares_[question], (corpus.n_items, 1))
            answers[question] = Answers(shares, scale.consensus(shares).astype(scale.dtype))
        return answers

    def weights(self) -> dict[str, np.ndarray]:
        return dict(self.shares_)

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.shares_ = weights


def test_a_method_that_keeps_every_promise_passes() -> None:
    check_method(Shares)
    check_method(Shares())


class OnlyNominal(Shares):
    def check_question(self, corpus: Corpus, question: str) -> None:
        super().check_question(corpus, question)
        if not isinstance(corpus[question].scale, Nominal):
            raise DataError(f"shares learns nominal answers only, {question!r} is not nominal")


def test_a_method_may_refuse_scales_but_not_all() -> None:
    check_method(OnlyNominal)


class RefusesAll(Shares):
    def check_question(self, corpus: Corpus, question: str) -> None:
        raise DataError("no")


@dataclass(eq=False)
class ChangesSettings(Shares):
    rate: float = 0.1

    def __post_init__(self) -> None:
        self.rate = self.rate / 2


class NotNormalised(Shares):
    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        answers = super().predict_items(corpus)
        return {q: Answers(given.distribution / 2, given.value) for q, given in answers.items()}


class DrawsGlobally(Shares):
    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        super().learn_from(corpus, validation)
        for shares in self.shares_.values():
            shares[:] = np.random.random(len(shares))
            shares /= shares.sum()


@dataclass(eq=False)
class IgnoresItsSeed(Shares):
    seed: int = 0


class LooksAtOtherItems(Shares):
    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        answers = {}
        for question, given in super().predict_items(corpus).items():
            even, share = 1 / given.distribution.shape[1], 1 / (1 + corpus.n_items)
            mixed = (1 - share) * given.distribution + share * even
            answers[question] = Answers(mixed, given.value)
        return answers


class ForgetsWhatItLearned(Shares):
    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.shares_ = {name: shares[::-1].copy() for name, shares in weights.items()}


class _NoisyNetwork(Network):
    def __init__(self, inner: Network) -> None:
        super().__init__()
        self.inner = inner

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.inner.prepare(pooled)

    def forward(self, batch: Batch) -> Outputs:
        outputs: Outputs = self.inner.forward(batch)
        noise = {name: raw + 0.1 * torch.randn_like(raw) for name, raw in outputs.items.items()}
        return Outputs(items=noise)


class PredictsWithNoise(RepeatedLabel):
    def network(self, sizes: Sizes) -> Network:
        return _NoisyNetwork(super().network(sizes))


@pytest.mark.parametrize(
    ("method", "promise", "reason"),
    [
        (RefusesAll, "unknown question", "it refuses every scale (nominal: no; "),
        (ChangesSettings, "settings", "a copy has the settings {'rate': 0.0125}, not {'rate'"),
        (NotNormalised, "every scale", "a distribution does not sum to 1"),
        (
            DrawsGlobally,
            "equal seeds",
            "two fits with the same seeds differ: all randomness must come",
        ),
        (IgnoresItsSeed, "other seeds", "another seed gives the same predictions"),
        (LooksAtOtherItems, "items alone or together", "items predicted without the others have"),
        (ForgetsWhatItLearned, "save and load", "a loaded model differs"),
        (PredictsWithNoise, "equal seeds", "two fits with the same seeds differ"),
    ],
)
def test_a_broken_promise_is_named(method: type[Method], promise: str, reason: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_method(method)
    message = str(caught.value)
    assert message.startswith(f"{method.name} breaks the promise {promise!r}: ")
    assert reason in message


class Crashes(Shares):
    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        raise ZeroDivisionError


def test_another_error_says_what_was_checked() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        check_method(Crashes)
    assert caught.value.__notes__ == ["shares: while the promise 'every scale' was checked"]


def test_a_method_that_is_checked_does_not_change() -> None:
    method = RepeatedLabel(hidden=(3,))
    before = method.get_params()
    copy = quick(method)
    assert method.get_params() == before and copy.get_params()["hidden"] == (3,)
    CHECKS["settings"](copy)
    assert not hasattr(copy, "learned_")
