"""What every method promises, each promise as a function that raises AssertionError."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DissensusError, ModelError
from dissensus.methods import load
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.settings import changed, draws, seeded, settings_of
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

SCALES: dict[str, Scale] = {
    "nominal": Nominal(("a", "b", "c")),
    "ordinal": Ordinal(("-2", "-1", "1", "2")),
    "interval": Interval(0, 10),
    "multi-label": MultiLabel(("joy", "fear", "anger")),
}


def example_corpus(
    kind: str = "nominal",
    n_items: int = 60,
    n_annotators: int = 4,
    seed: int = 0,
    name: str = "made-up",
) -> Corpus:
    """A corpus with one question, "q", that every annotator (p0, p1, ...) answered for every item.

    An item shows a vector of 8 features. The first feature decides the answer, shifted by the
    annotator; on a multi-label scale the second one does too.

    Example:
        >>> corpus = example_corpus("ordinal", n_items=3, n_annotators=2)
        >>> corpus["q"].answers()
        ['-1', '2', '-2', '1', '-2', '1']
    """
    scale = SCALES[kind]
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n_items, 8)).astype(np.float32)
    item = np.repeat(np.arange(n_items), n_annotators)
    annotator = np.tile(np.arange(n_annotators), n_items)
    shift = np.linspace(-1, 1, n_annotators)[annotator]
    position = features[item, 0] + shift + 0.2 * generator.normal(size=len(item))
    answers = Annotations.from_arrays(
        item,
        annotator,
        _answer(position, features[item, 1], scale),
        scale,
        annotators=Names([f"p{k}" for k in range(n_annotators)]),
    )
    contents = {"x": Contents.distinct("features", features)}
    return Corpus.build(name, Names.range(n_items), {"q": answers}, contents=contents)


def _answer(position: np.ndarray, other: np.ndarray, scale: Scale) -> np.ndarray:
    if isinstance(scale, Interval):
        return np.clip(5 + 2 * position, 0, 10)
    if isinstance(scale, MultiLabel):
        return (position > 0).astype(np.int64) + 2 * (other > 0) + 4 * (position + other > 1)
    levels = scale.n_columns
    return np.clip(np.floor(position + levels / 2), 0, levels - 1).astype(np.int64)


TOLERANCE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}  # of float32 in another order


def check_method(method: type[Method] | Method) -> None:
    """Check that a method keeps the promises that every method of dissensus keeps.

    It must learn at least one kind of scale, and may refuse others with a DissensusError. Every
    promise in `CHECKS` is checked on small corpora of features, with few epochs.

    Args:
        method: a class whose settings all have defaults, or an instance with the settings to
            check. It is not changed.

    Raises:
        AssertionError: names the first promise that is broken, and says how.

    Example:
        >>> from dissensus.methods import AnnotatorMajority
        >>> check_method(AnnotatorMajority)
    """
    example = quick(method() if isinstance(method, type) else method)
    for promise, check in CHECKS.items():
        try:
            check(example)
        except AssertionError as error:
            raise AssertionError(
                f"{example.name} breaks the promise {promise!r}: {str(error).strip()}"
            ) from error
        except Exception as error:
            error.add_note(f"{example.name}: while the promise {promise!r} was checked")
            raise


def quick(method: Method) -> Method:
    """A copy that reads features and trains for few epochs on the CPU; not fitted."""
    settings = settings_of(method)
    small: dict[str, Any] = {"encoder": "features", "tune": "nothing"}
    small |= {"training.epochs": 4, "training.batch_size": 16, "training.device": "cpu"}
    return changed(method, {name: value for name, value in small.items() if name in settings})


# ---- the promises ----


def _check_settings(method: Method) -> None:
    settings = method.get_params()
    assert isinstance(method.name, str), "the class attribute `name` is missing"
    copy = changed(method, {})
    assert copy.get_params() == settings, (
        f"a copy has the settings {copy.get_params()}, not {settings}: settings must be fields of "
        "a dataclass, and the class must not change them"
    )
    assert method.set_params(**settings) is method, "set_params does not return the method"
    with _refused(ModelError, "a setting that does not exist"):
        method.set_params(no_such_setting=1)


def _check_not_fitted(method: Method) -> None:
    with _refused(ModelError, "predict before fit"):
        changed(method, {}).predict(example_corpus())
    with tempfile.TemporaryDirectory() as folder:
        with _refused(ModelError, "save before fit"):
            changed(method, {}).save(Path(folder) / "model")


def _check_unknown_question(method: Method) -> None:
    with _refused(DissensusError, "a question that the corpus does not have"):
        changed(method, {}).fit(_corpora(method)[0], "no such question")


def _check_every_scale(method: Method) -> None:
    """Distributions, consensus and answers of annotators are valid, on every scale it learns."""
    for corpus in _corpora(method):
        fitted = changed(method, {})
        assert fitted.fit(corpus) is fitted, "fit does not return the method"
        prediction = fitted.predict(corpus)["q"]
        pairs = prediction.by_annotator
        assert pairs is not None and len(pairs) == corpus["q"].n_rows, (
            "not every pair of item and annotator of the corpus is answered"
        )
        for shares in (prediction.distribution, pairs.distribution):
            _check_shares(shares, prediction)
        prediction.scale.check(prediction.consensus)
        prediction.scale.check(pairs.value)


def _check_equal_seeds(method: Method) -> None:
    """All randomness comes from the seeds, not from the global generators."""
    for corpus in _corpora(method):
        with _random_state(1):
            first = changed(method, {}).fit(corpus).predict(corpus)
        with _random_state(2):
            second = changed(method, {}).fit(corpus).predict(corpus)
        message = "two fits with the same seeds differ: all randomness must come from the seeds"
        assert _equal(first, second), message


def _check_other_seeds(method: Method) -> None:
    """Each seed among the settings changes the predictions."""
    if not draws(method):
        return
    corpus = _corpora(method)[0]
    first = changed(method, {}).fit(corpus).predict(corpus)
    known = settings_of(method)
    for seed in ("seed", "init_seed", "training.seed"):
        if seed in known:
            other = changed(method, {seed: known[seed] + 1}).fit(corpus).predict(corpus)
            assert not _equal(first, other), f"another {seed} gives the same predictions"


def _check_annotators_alone_or_together(method: Method) -> None:
    """An annotator's answers do not depend on the other annotators in the call."""
    for corpus, fitted in _fitted(method):
        alone = _pairs(fitted.predict(corpus, annotators=["p1"]))
        for others in (["p3", "p1"], "all"):
            pairs = _pairs(fitted.predict(corpus, annotators=others))
            own = pairs.annotator == list(pairs.annotators).index("p1")
            message = "an annotator predicted alone answers differently than together with others"
            _assert_close(pairs.distribution[own], alone.distribution, message)
            _assert_close(pairs.value[own], alone.value, message)


def _check_order_of_pairs(method: Method) -> None:
    """Pairs are answered in the order in which they are given."""
    corpus, fitted = next(_fitted(method))
    wanted = [("7", "p2"), ("3", "p0"), ("7", "p0")]
    pairs = _pairs(fitted.predict(corpus, annotators=wanted))
    codes = zip(pairs.item, pairs.annotator, strict=True)
    names = [(corpus.items[item], pairs.annotators[annotator]) for item, annotator in codes]
    assert names == wanted, f"the pairs {wanted} are answered in the order {names}"
    every = _pairs(fitted.predict(corpus, annotators="all")).distribution
    every = every.reshape(corpus.n_items, corpus.n_annotators, -1)
    _assert_close(pairs.distribution, every[[7, 3, 7], [2, 0, 0]], "pairs get others' answers")


def _check_items_alone_or_together(method: Method) -> None:
    """An item's distribution does not depend on the other items in the call."""
    for corpus, fitted in _fitted(method):
        every = fitted.predict(corpus)["q"].distribution
        some = np.array([3, 17, 40])
        alone = fitted.predict(corpus.select(items=some))["q"].distribution
        message = "items predicted without the others have another distribution"
        _assert_close(alone, every[some], message)


def _check_save_and_load(method: Method) -> None:
    """A saved model predicts the same to the bit, and its folder contains no code."""
    for corpus, fitted in _fitted(method):
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent) / "model"
            fitted.save(folder)
            files = {path.name for path in folder.iterdir()} - {"log.csv"}
            assert files == {"README.md", "config.json", "model.safetensors"}, (
                f"the folder of a model contains {sorted(files)}"
            )
            loaded = load(folder, type(method))
        assert loaded.get_params() == fitted.get_params(), "a loaded model has other settings"
        assert _equal(fitted.predict(corpus), loaded.predict(corpus)), "a loaded model differs"


def _check_small_corpora(method: Method) -> None:
    """One annotator, one item, or the same answer everywhere are enough to learn from."""
    kind = _kinds(method)[0]
    for corpus in (example_corpus(kind, n_annotators=1), example_corpus(kind, n_items=1)):
        prediction = changed(method, {}).fit(corpus).predict(corpus)["q"]
        _check_shares(prediction.distribution, prediction)
    constant = example_corpus(kind)
    constant["q"].answer[:] = 1
    prediction = changed(method, {}).fit(constant).predict(constant)["q"]
    _check_shares(prediction.distribution, prediction)
    if kind in ("nominal", "ordinal"):
        assert (prediction.consensus == 1).all(), "the one answer in training is not predicted"


def _check_several_questions(method: Method) -> None:
    """Several questions are learned together; items may have no answer, or no content."""
    crowds = {kind: example_corpus(kind, 12, 3) for kind in _kinds(method)}
    answers = {kind: crowd["q"].take(crowd["q"].item != 4) for kind, crowd in crowds.items()}
    shown = [np.arange(6) + np.sin(np.arange(6) * k) for k in range(11)]
    contents: list[Any] = [*(vector.astype(np.float32) for vector in shown), None]
    items = next(iter(crowds.values())).items
    role = {"x": Contents.distinct("features", contents)}
    corpus = Corpus.build("several", items, answers, contents=role)
    fitted = changed(method, {}).fit(corpus)
    predictions = fitted.predict(corpus, consensus="all")
    assert list(predictions) == list(answers), f"the questions {list(answers)} were learned"
    raw = fitted.predict({"x": contents})
    for question, prediction in predictions.items():
        _check_shares(prediction.distribution, prediction)
        message = "contents without a corpus get another distribution than the same in a corpus"
        _assert_close(raw[question].distribution, prediction.distribution, message)


def _check_annotators_without_answers(method: Method) -> None:
    """Annotators without an answer in training are left out of the consensus of all."""
    if not method.individual:
        return
    corpus = _corpora(method)[0]
    answers = corpus["q"]
    train = answers.take(answers.annotator_codes(method.name) != 3)
    contents = {role: (of_role, corpus.content[role]) for role, of_role in corpus.contents.items()}
    few = Corpus.build(corpus.name, corpus.items, {"q": train}, contents=contents)
    fitted = changed(method, {}).fit(few)
    prediction = fitted.predict(few, annotators="all", consensus="all")["q"]
    pairs = _pairs({"q": prediction})
    assert len(pairs) == 3 * corpus.n_items, "'all' includes an annotator without an answer"
    if fitted.predicts_truth:
        return
    by_item = pairs.distribution.reshape(corpus.n_items, 3, -1)
    weights = fitted.vote_weights("q", Answers(pairs.distribution, pairs.value)).reshape(-1, 3)
    mean = np.einsum("ia,iac->ic", weights / weights.sum(axis=1, keepdims=True), by_item)
    message = "the consensus of all is not the mean of the annotators with an answer in training"
    _assert_close(prediction.distribution, mean, message)


def _check_attention(method: Method) -> None:
    """Attention is refused by a method that does not have it; weights of a pair sum to 1."""
    corpus, fitted = next(_fitted(method))
    if not method.shows_attention:
        with _refused(ModelError, "attention that the method does not have"):
            fitted.predict(corpus, attention=True)
        return
    wanted = [("7", "p2"), ("3", "p0"), ("7", "p0")]
    prediction = fitted.predict(corpus, annotators=wanted, attention=True)["q"]
    for attention in prediction.attention:
        maps = [attention.of_pair(pair) for pair in range(len(wanted))]
        totals = np.array([weight.sum() for weight in maps])
        _assert_close(totals, np.ones(len(wanted)), "the attention of a pair does not sum to 1")
        assert min(weight.min() for weight in maps) >= 0, "attention is negative"
        of_one = fitted.predict(corpus, annotators=wanted[:1], attention=True)["q"].attention
        (alone,) = (one for one in of_one if one.role == attention.role)
        message = "attention depends on the other pairs that are predicted"
        _assert_close(alone.of_pair(0), maps[0], message)


def _check_resume(method: Method) -> None:
    """A training that is stopped resumes from its checkpoint and ends the same to the bit."""
    if not _is_trained(method):
        return
    from dissensus.training.loop import Trainer

    corpus = _corpora(method)[0]
    trained = changed(method, {"training.save_every": 0})
    whole = changed(trained, {}).fit(corpus).predict(corpus)
    train_batch, n_batches = Trainer.train_batch, iter(range(10_000))

    def stopped(trainer: Trainer, batch: Any) -> None:
        if next(n_batches) == 5:
            raise KeyboardInterrupt
        train_batch(trainer, batch)

    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "checkpoint"
        try:
            with patch.object(Trainer, "train_batch", stopped):
                changed(trained, {}).fit(corpus, checkpoint=folder)
        except KeyboardInterrupt:
            assert folder.exists(), "a training that is stopped leaves no checkpoint"
        resumed = changed(trained, {}).fit(corpus, checkpoint=folder)
        assert _equal(whole, resumed.predict(corpus)), "a resumed training ends differently"
        resumed.forget_checkpoint()
        assert not folder.exists(), "forget_checkpoint leaves the checkpoint"


def _check_stacked_equals_alone(method: Method) -> None:
    """Fits in a stack end as each of them would alone, up to rounding."""
    if not _is_trained(method):
        return
    from dissensus.methods.framework.stacked_fits import Job, fit_many

    for corpus in _corpora(method):
        alone = [seeded(method, seed).fit(corpus).predict(corpus) for seed in range(3)]
        jobs = [Job(seeded(method, seed), corpus) for seed in range(3)]
        stacked = [fitted.predict(corpus) for fitted in fit_many(jobs)]
        for single, member in zip(alone, stacked, strict=True):
            message = "a fit in a stack ends differently than alone"
            _assert_close(member["q"].distribution, single["q"].distribution, message, atol=1e-4)


CHECKS: dict[str, Callable[[Method], None]] = {  # by their names, such as "equal seeds"
    check.__name__.removeprefix("_check_").replace("_", " "): check
    for check in (
        _check_settings, _check_not_fitted, _check_unknown_question, _check_every_scale,
        _check_equal_seeds, _check_other_seeds, _check_annotators_alone_or_together,
        _check_order_of_pairs, _check_items_alone_or_together, _check_save_and_load,
        _check_small_corpora, _check_several_questions, _check_annotators_without_answers,
        _check_attention, _check_resume, _check_stacked_equals_alone,
    )
}  # fmt: skip


# ---- helpers ----


def _kinds(method: Method) -> list[str]:
    """The kinds of scale that the method does not refuse."""
    learned, reasons = [], []
    for kind in SCALES:
        try:
            changed(method, {}).check(example_corpus(kind))
            learned.append(kind)
        except DissensusError as error:
            reasons.append(f"{kind}: {error}")
    assert learned, f"it refuses every scale ({'; '.join(reasons)})"
    return learned


def _corpora(method: Method) -> list[Corpus]:
    return [example_corpus(kind) for kind in _kinds(method)]


def _fitted(method: Method) -> Iterator[tuple[Corpus, Method]]:
    """The corpora, each with a method that is fitted to it."""
    return ((corpus, changed(method, {}).fit(corpus)) for corpus in _corpora(method))


def _is_trained(method: Method) -> bool:
    from dissensus.methods.framework.trained import TrainedMethod

    return isinstance(method, TrainedMethod)


@contextmanager
def _refused(error: type[Exception], what: str) -> Iterator[None]:
    try:
        yield
    except error:
        return
    raise AssertionError(f"{what} is not refused with a {error.__name__}")


@contextmanager
def _random_state(seed: int) -> Iterator[None]:
    """Within the block, the global generators of numpy and torch start from this seed."""
    import torch

    state = np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)
        try:
            yield
        finally:
            np.random.set_state(state)


def _pairs(predictions: Predictions | dict[str, Prediction]) -> Any:
    pairs = predictions["q"].by_annotator
    assert isinstance(pairs, ByAnnotator), "no pair of item and annotator is answered"
    assert pairs.distribution is not None, "answers of annotators have no distribution"
    return pairs


def _check_shares(shares: np.ndarray | None, prediction: Prediction) -> None:
    assert shares is not None, "answers have no distribution"
    assert np.isfinite(shares).all(), "a distribution contains nan or infinite numbers"
    columns = prediction.scale.n_columns
    assert shares.shape[1:] == (columns,), (
        f"a distribution has {shares.shape[1:]} columns, the scale {columns}"
    )
    assert (shares >= 0).all(), "a distribution contains negative shares"
    if isinstance(prediction.scale, MultiLabel):
        assert (shares <= 1).all(), "a share of a multi-label scale is above 1"
    else:
        _assert_close(shares.sum(axis=1), np.ones(len(shares)), "a distribution does not sum to 1")


def _arrays(predictions: Predictions) -> Iterator[np.ndarray]:
    for prediction in predictions.values():
        yield from (prediction.distribution, prediction.consensus)
        if prediction.by_annotator is not None:
            yield prediction.by_annotator.value
            if prediction.by_annotator.distribution is not None:
                yield prediction.by_annotator.distribution


def _equal(first: Predictions, second: Predictions) -> bool:
    both = zip(_arrays(first), _arrays(second), strict=True)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in both)


def _assert_close(actual: Any, expected: Any, message: str, **tolerance: float) -> None:
    np.testing.assert_allclose(actual, expected, **TOLERANCE | tolerance, err_msg=message)
