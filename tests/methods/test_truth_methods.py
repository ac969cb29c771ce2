"""Methods with a model of the truth: their formulas in numpy, and what they find in a crowd."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import log_softmax, logsumexp, softmax

from dissensus import Corpus
from dissensus.methods import AnnotatorConfusions, AnnotMix, JointEm, Madl, build, method
from dissensus.methods.framework.truth_method import TruthMethod
from dissensus.testing import quick
from dissensus.training import Outputs, Training
from tests.crowds import SCALES, confused_crowd, feature_crowd, few_answers, others_slow

NAMES = ("crowd-layer", "conal", "union-net", "annotator-confusions", "geo-f", "geo-w", "joint-em",
         "madl", "annot-mix")  # fmt: skip
TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}


def _fitted(name: str, corpus: Corpus, **settings: Any) -> TruthMethod:
    fitted = quick(build(name).set_params(**settings)).fit(corpus)
    assert isinstance(fitted, TruthMethod)
    return fitted


def _features(corpus: Corpus) -> np.ndarray:
    return np.stack([corpus.contents["x"][code] for code in corpus.content["x"]])


def _log_truth(weights: dict[str, np.ndarray], features: np.ndarray) -> tuple[Any, Any]:
    """The hidden layer of the items, and the logarithm of the distribution of their classes."""
    standard = (features - weights["trunk.mean"]) / weights["trunk.spread"]
    hidden = np.maximum(standard @ weights["trunk.layers.1.weight"].T
                        + weights["trunk.layers.1.bias"], 0)  # fmt: skip
    logits = hidden @ weights["truth_0.weight"].T + weights["truth_0.bias"]
    return hidden, log_softmax(logits, axis=-1)


def _seen(log_truth: np.ndarray, log_confusion: np.ndarray) -> np.ndarray:
    """p(answer) of each annotator, (n_items, n_annotators, n_values), by a sum over classes."""
    if log_confusion.ndim == 3:
        log_confusion = np.broadcast_to(log_confusion, (len(log_truth), *log_confusion.shape))
    return np.exp(logsumexp(log_truth[:, None, :, None] + log_confusion, axis=2))


# ---- the formulas ----


def _crowd_layer(weights: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    _, log_truth = _log_truth(weights, features)
    logits = [np.exp(log_truth) @ matrix for matrix in weights["matrix_0"]]
    return softmax(np.stack(logits, axis=1), axis=-1)


def _conal(weights: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    hidden, log_truth = _log_truth(weights, features)
    items = hidden @ weights["item.weight"].T + weights["item.bias"]
    logits = np.zeros((len(items), len(weights["annotators"]), 3))
    for i, of_item in enumerate(items):
        for a, own in enumerate(weights["annotators"]):
            cosine = of_item @ own / np.linalg.norm(of_item) / np.linalg.norm(own)
            share = 1 / (1 + np.exp(-cosine))
            matrix = share * weights["common_0"] + (1 - share) * weights["own_0"][a]
            logits[i, a] = np.exp(log_truth[i]) @ matrix
    return softmax(logits, axis=-1)


def _annotator_confusions(weights: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    _, log_truth = _log_truth(weights, features)
    return _seen(log_truth, log_softmax(weights["shared_0"] + weights["own_0"], axis=-1))


def _joint_em(weights: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    _, log_truth = _log_truth(weights, features)
    return _seen(log_truth, log_softmax(weights["confusion_0"], axis=-1))


def _madl(weights: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    hidden, log_truth = _log_truth(weights, features)
    items = hidden @ weights["item.weight"].T + weights["item.bias"]

    def normalised(values: np.ndarray, layer: str) -> np.ndarray:
        spread = np.sqrt(values.var() + 1e-5)
        scaled = (values - values.mean()) / spread
        return np.asarray(scaled * weights[f"{layer}.weight"] + weights[f"{layer}.bias"])

    confusion = np.zeros((len(items), len(weights["annotators"]), 9))
    for i, of_item in enumerate(items):
        for a, own in enumerate(weights["annotators"]):
            both = own + of_item
            product = np.array([both @ matrix @ both for matrix in weights["product"]])
            joined = np.concatenate([own, of_item, product])
            inner = joined @ weights["layers.0.weight"].T + weights["layers.0.bias"]
            inner = np.maximum(normalised(inner, "layers.1"), 0)
            inner = inner @ weights["layers.3.weight"].T + weights["layers.3.bias"]
            embedding = np.maximum(normalised(inner, "layers.4") + own, 0)
            confusion[i, a] = (
                weights["confusion_0.weight"] @ embedding + weights["confusion_0.bias"]
            )
    log_confusion = log_softmax(confusion.reshape(*confusion.shape[:2], 3, 3), axis=-1)
    return _seen(log_truth, log_confusion)


def _annot_mix(weights: dict[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    hidden, log_truth = _log_truth(weights, features)
    items = hidden @ weights["item.weight"].T + weights["item.bias"]
    confusion = np.zeros((len(items), len(weights["annotators"]), 9))
    for i, of_item in enumerate(items):
        for a, own in enumerate(weights["annotators"]):
            joined = np.concatenate([of_item, own])
            inner = weights["layers.0.weight"] @ joined + weights["layers.0.bias"]
            inner = (inner - inner.mean()) / np.sqrt(inner.var() + 1e-5)
            inner = np.maximum(inner * weights["layers.1.weight"] + weights["layers.1.bias"], 0)
            confusion[i, a] = weights["confusion_0.weight"] @ inner + weights["confusion_0.bias"]
    log_confusion = log_softmax(confusion.reshape(*confusion.shape[:2], 3, 3), axis=-1)
    return _seen(log_truth, log_confusion)


FORMULAS = {
    "crowd-layer": _crowd_layer,
    "conal": _conal,
    "union-net": _annotator_confusions,
    "geo-f": _annotator_confusions,
    "geo-w": _annotator_confusions,
    "annotator-confusions": _annotator_confusions,
    "joint-em": _joint_em,
    "madl": _madl,
    "annot-mix": _annot_mix,
}


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_the_formula(name: str) -> None:
    corpus = feature_crowd(n_items=30)
    fitted = _fitted(name, corpus)
    prediction = fitted.predict(corpus, annotators="all")["q"]
    weights, features = fitted.weights(), _features(corpus)
    expected = FORMULAS[name](weights, features)  # (n_items, n_annotators, n_values)
    assert prediction.by_annotator is not None
    result = prediction.by_annotator.distribution
    assert result is not None
    np.testing.assert_allclose(result.reshape(expected.shape), expected, **TOLERANCE)
    truth = np.exp(_log_truth(weights, features)[1])
    np.testing.assert_allclose(prediction.distribution, truth, **TOLERANCE)
    fitted.read = "annotators"
    mean = fitted.predict(corpus, consensus="all")["q"].distribution
    np.testing.assert_allclose(mean, expected.mean(axis=1), **TOLERANCE)


# ---- what they find ----


@pytest.mark.slow
@pytest.mark.parametrize("name", others_slow(NAMES, ["annotator-confusions"]))
def test_the_truth_and_the_confusions_are_found(name: str) -> None:
    """Six of 18 annotators guess and three exchange classes: a vote is right in 78 %."""
    train, confusion = confused_crowd()
    test, _ = confused_crowd(seed=1)
    gold = test.gold["q"].answer
    fitted = build(name).set_params(encoder="features")
    fitted.fit(train)
    prediction = fitted.predict(test, annotators="all", same_annotators=True)["q"]
    assert np.mean(prediction.consensus == gold) > 0.88
    pairs = prediction.by_annotator
    assert pairs is not None and pairs.distribution is not None
    by_annotator = pairs.distribution.reshape(test.n_items, 18, 3)
    values = np.stack([by_annotator[gold == value].mean(axis=0) for value in range(3)], axis=1)
    assert np.abs(values - confusion).mean() < 0.13  # .22 if nothing is learned
    right = np.trace(values, axis1=1, axis2=2) / 3
    assert right[:9].min() > right[9:15].max()  # those who guess are recognised
    assert values[15:, 1, 0].min() > values[15:, 1, 1].max()  # the second class is called the first


def test_madl_weighs_annotators_with_one_embedding_as_one() -> None:
    network: Any = _fitted("madl", feature_crowd(n_annotators=5)).network_
    with torch.no_grad():
        network.bandwidth.fill_(1.5)
        network.annotators[:] = 100 * torch.eye(16)[:5]
        network.annotators[2] = network.annotators[1]
    weights = network.weights().detach().numpy()
    np.testing.assert_allclose(weights, np.array([1, 0.5, 0.5, 1, 1]) / 0.8, rtol=1e-6)
    expected = stats.gamma.logpdf(1.5, a=1.25, scale=1 / 0.25)
    assert network.log_prior().item() == pytest.approx(expected, rel=1e-6)


def test_madl_starts_with_the_accuracy_that_is_set() -> None:
    training = Training(epochs=1, learning_rate=1e-9, device="cpu")
    fitted = Madl(encoder="features", accuracy=0.9, training=training).fit(feature_crowd())
    confusion = softmax(fitted.weights()["confusion_0.bias"].reshape(3, 3), axis=1)
    np.testing.assert_allclose(confusion, 0.05 + 0.85 * np.eye(3), atol=1e-6)


@pytest.mark.slow
def test_few_answers_keep_a_confusion_close_to_the_shared_one() -> None:
    own = AnnotatorConfusions(encoder="features").fit(few_answers()).weights()["own_0"]
    norms = np.sqrt((own**2).sum(axis=(1, 2)))
    assert norms[9] < norms[10:15].min()  # of those who guess too


def test_joint_em_minimises_the_likelihood_of_all_answers_to_an_item() -> None:
    """Its gradient is that of EM: of the expected log-likelihood under the posterior classes."""
    generator = np.random.default_rng(0)
    logits = torch.tensor(generator.normal(size=(4, 3)), requires_grad=True)
    raw = torch.tensor(generator.normal(size=(7, 3, 3)), requires_grad=True)
    item, answer = np.array([0, 0, 1, 2, 2, 2, 2]), generator.integers(0, 3, 7)
    weight = np.array([1.0, 1, 1, 1, 1, 1, 0])  # the last one is padding, as is the last item
    batch: Any = SimpleNamespace(
        share=torch.ones(4),
        rows=SimpleNamespace(
            item=torch.tensor(item),
            answer={"q": torch.tensor(answer)},
            weight={"q": torch.tensor(weight)},
        ),
    )
    outputs = Outputs({"q, confusion": raw.log_softmax(dim=-1)}, {"q": logits})
    (loss,) = JointEm().losses(SimpleNamespace(scales={"q": None}))  # type: ignore[arg-type]
    value, total = loss.weighted(outputs, batch)
    value.backward()  # type: ignore[no-untyped-call]

    log_truth = log_softmax(logits.detach().numpy(), axis=1)
    log_confusion = log_softmax(raw.detach().numpy(), axis=2)
    likelihood, posterior = 0.0, np.zeros((4, 3))
    for i in range(3):
        joint = log_truth[i] + sum(
            (log_confusion[r, :, answer[r]] for r in range(6) if item[r] == i), np.zeros(3)
        )
        likelihood += logsumexp(joint)
        posterior[i] = softmax(joint)
    assert total.item() == 3 and value.item() == pytest.approx(-likelihood)
    expected = np.exp(log_truth) - posterior  # of -sum posterior * log truth, by the logits
    expected[3] = 0
    assert logits.grad is not None and raw.grad is not None
    np.testing.assert_allclose(logits.grad.numpy(), expected, atol=1e-12)
    rows = posterior[item][:, :, None] * (np.exp(log_confusion) - np.eye(3)[answer][:, None])
    np.testing.assert_allclose(raw.grad.numpy(), rows * weight[:, None, None], atol=1e-12)


def test_annot_mix_minimises_the_loss_of_both_answers() -> None:
    generator = np.random.default_rng(0)
    raw, share = generator.normal(size=(4, 3)), generator.random(4)
    answer, other = np.array([0, 2, 1, 1]), np.array([1, 1, 0, 2])
    shares = np.stack([share, (1 - share) * [1, 1, 0, 1]], axis=1)  # the third has no other answer
    rows: Any = SimpleNamespace(
        answer={"q": torch.tensor(answer)}, weight={"q": torch.tensor([1.0, 1.0, 1.0, 0.0])}
    )
    outputs = Outputs(
        {
            "q": torch.tensor(raw),
            "q, answer that is mixed in": torch.tensor(other),
            "q, shares of both answers": torch.tensor(shares),
        }
    )
    sizes: Any = SimpleNamespace(scales={"q": SCALES["nominal"]})
    (loss,) = AnnotMix(pretrain=0.0).losses(sizes)
    value, total = loss.weighted(outputs, SimpleNamespace(rows=rows))  # type: ignore[arg-type]
    log_shares = log_softmax(raw, axis=1)
    soft = shares[:, :1] * np.eye(3)[answer] + shares[:, 1:] * np.eye(3)[other]
    assert (value / total).item() == pytest.approx(-(soft * log_shares)[:3].sum() / 3)


@pytest.mark.parametrize("name", ["conal", "union-net", "geo-f", "geo-w"])
def test_the_loss_of_a_batch_is_that_of_the_paper(name: str) -> None:
    """With weights that are drawn at random, without dropout."""
    corpus = feature_crowd(n_items=20, n_annotators=5)
    fitted = _fitted(name, corpus, dropout=0.0)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in fitted.network_.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator))
    item, annotator = np.arange(12), np.arange(12) % 5
    rows = corpus["q"].take(np.flatnonzero(np.isin(corpus["q"].item, item)))
    item, annotator, answer = rows.item, rows.annotator_codes("test"), rows.answer
    batch: Any = SimpleNamespace(
        pooled={"x": torch.tensor(_features(corpus)[:12]).float()},
        share=torch.ones(12),
        annotators=torch.arange(5),
        targets={},
        rows=SimpleNamespace(
            item=torch.tensor(item),
            annotator=torch.tensor(annotator),
            answer={"q": torch.tensor(answer.astype(np.int64))},
            weight={"q": torch.ones(len(item))},
        ),
    )
    network: Any = fitted.network_.train()
    (loss,) = fitted.losses(fitted.sizes_)
    value, total = loss.weighted(network.forward(batch), batch)
    weights = fitted.weights()
    log_truth = _log_truth(weights, _features(corpus)[:12])[1]
    answers = FORMULAS[name](weights, _features(corpus)[:12])
    expected = -np.log(answers[item, annotator, answer]).mean()
    if name == "conal":  # minus the norms of all differences
        differences = weights["own_0"] - weights["common_0"]
        expected -= 1e-5 * sum(np.linalg.norm(matrix) for matrix in differences)
    else:
        logits = weights["shared_0"] + weights["own_0"]  # (n_annotators, truth, answer)
        n_answers = np.bincount(corpus["q"].annotator_codes("test"), minlength=5)
        prior = (weights["own_0"] ** 2).sum(axis=(1, 2)) / n_answers / 2 / 10**2
    if name == "union-net":  # over the pairs of annotators and answers, for each class
        joint = softmax(logits.transpose(1, 0, 2).reshape(3, -1), axis=1)
        union = np.exp(log_truth) @ joint  # (n_items, n_annotators * n_values)
        expected = -np.log(union[item, annotator * 3 + answer]).mean()
    elif name != "conal":
        matrices = softmax(logits, axis=2)
        stacked = np.concatenate([matrix.T for matrix in matrices])  # W, (5 * 3, 3)
        probabilities, n = (np.exp(log_truth), 12) if name == "geo-f" else (stacked, 5)
        gram = probabilities.T @ probabilities / n + 1e-4 * np.eye(3)
        expected += prior[annotator].mean() - 0.001 * np.log(np.linalg.det(gram))
    assert (value / total).item() == pytest.approx(expected, rel=1e-4)


# ---- what is refused ----


@pytest.mark.parametrize("layer", ["weights", "biases", "weights+biases"])
def test_layers_with_a_vector_for_each_annotator(layer: str) -> None:
    corpus = feature_crowd()
    fitted = _fitted("crowd-layer", corpus, layer=layer)
    weights = fitted.weights()
    truth = np.exp(_log_truth(weights, _features(corpus))[1])[:, None]
    expected = truth * weights.get("weights_0", 1) + weights.get("biases_0", 0)
    pairs = fitted.predict(corpus, annotators="all")["q"].by_annotator
    assert pairs is not None and pairs.distribution is not None
    result = pairs.distribution.reshape(expected.shape)
    np.testing.assert_allclose(result, softmax(expected, axis=-1), **TOLERANCE)


@pytest.mark.parametrize("share", [0.0, 1 - 2.0**-24])
def test_padl_draws_finite_logits_at_the_ends(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`uniforms` draws its largest number about once in 17 million times: in every longer fit."""
    monkeypatch.setattr(
        "dissensus.methods.padl.uniforms", lambda shape, number, like: like.new_full(shape, share)
    )
    corpus = feature_crowd("nominal")
    prediction = next(iter(quick(method("padl")()).fit(corpus).predict(corpus).values()))
    assert prediction.distribution is not None and np.isfinite(prediction.distribution).all()
