"""Do members of a seed ensemble look at different parts where annotators do? The fits of it.

The paper supposes that annotators differ because they attend to different parts, and that networks
with other initial weights do the same. Both are compared with annotators that marked what led them
to their answer: posts of `toxic_spans` with seven annotators, and a simulated crowd of which it is
known which annotator looks at what. Ensembles learn one label per item, and no spans.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus import Corpus
from dissensus.errors import DataError, listed
from dissensus.metrics import laid_out, marks
from dissensus.prediction import MemberAttention
from dissensus.simulate import ChoiceTruth, text, truth
from dissensus.staging import staged

if TYPE_CHECKING:
    from dissensus.methods import SeedEnsemble

TOXIC, TEXT = "toxic_spans", "text"
SHORT = 200  # characters: posts up to here are read whole, and quickly
N_ANNOTATORS = 7  # annotators of a post that is tested
N_TEST, N_TRAIN = 600, 3000  # posts
N_TEST_TEXTS, N_TRAIN_TEXTS = 400, 1500
N_MEMBERS = 5
SEEDS = tuple(range(5))


@dataclass(frozen=True)
class EnsembleCondition:
    """What differs between members, and how it is seen where they look."""

    name: str
    title: str
    vary: str
    tune: Literal["all", "nothing"] = "all"
    pool: Literal["mean", "attention"] = "mean"  # "mean": gradient times input tells
    rates: tuple[float, float] = (1e-3, 1e-4)  # of what is new, and of the encoder
    epochs: int = 3
    by_size: bool = False  # whether weights count whatever they speak for

    @property
    def seen_by(self) -> str:
        if self.pool == "mean":
            return "size of gradient x input" if self.by_size else "gradient x input"
        return "attention" if self.tune == "all" else "attention, frozen"


_FROZEN: dict[str, Any] = {"tune": "nothing", "pool": "attention", "epochs": 20}
_POOL: dict[str, Any] = {"pool": "attention"}
CONDITIONS: dict[str, EnsembleCondition] = {
    condition.name: condition
    for condition in (
        EnsembleCondition("seeds", "last layer (SeedBERT)", "last-layer"),
        EnsembleCondition("order", "order and dropout", "order+dropout"),
        EnsembleCondition("deep", "everything (deep ensemble)", "everything"),
        EnsembleCondition("pool-seeds", "last layer and query", "last-layer", **_POOL),
        EnsembleCondition("pool-order", "order and dropout", "order+dropout", **_POOL),
        EnsembleCondition("pool-deep", "everything", "everything", **_POOL),
        EnsembleCondition(
            "paper-rate", "last layer, rates of 5e-6", "last-layer", rates=(5e-6, 5e-6)
        ),
        EnsembleCondition("frozen-seeds", "last layer and query", "last-layer", **_FROZEN),
        EnsembleCondition("frozen-order", "order and dropout", "order+dropout", **_FROZEN),
        EnsembleCondition("frozen-deep", "everything", "everything", **_FROZEN),
    )
}
SEEN: dict[str, EnsembleCondition] = (
    CONDITIONS
    | {  # what is trained once, and seen in one more way
        f"size-{name}": replace(condition, name=f"size-{name}", by_size=True)
        for name, condition in CONDITIONS.items()
        if condition.pool == "mean"
    }
)


def named(names: str | None, default: Sequence[str]) -> list[EnsembleCondition]:
    """Conditions by their names, with commas between."""
    wanted = list(default) if names is None else [name.strip() for name in names.split(",")]
    strange = [name for name in wanted if name not in CONDITIONS]
    if strange:
        raise DataError(f"no condition {listed(strange)}; there is {listed(CONDITIONS)}")
    return [CONDITIONS[name] for name in wanted]


# ---- what is learned and tested ----


@dataclass(frozen=True, eq=False)
class StudyParts:
    """Two parts of a corpus, its question, and the answer that spans support (None: each one's)."""

    train: Corpus
    test: Corpus
    question: str
    towards: int | None = None

    def first(self, n_train: int, n_test: int) -> StudyParts:
        """Fewer items of both, for trying things out."""
        train, test = (
            corpus.select(items=np.arange(min(n, corpus.n_items)))
            for corpus, n in ((self.train, n_train), (self.test, n_test))
        )
        return StudyParts(train, test, self.question, self.towards)


def toxic_parts(corpus: Corpus, n_train: int = N_TRAIN, n_test: int = N_TEST) -> StudyParts:
    """Short posts of `toxic_spans`: test items have seven annotators."""
    annotations = corpus["toxic"]
    shown = corpus.contents["text"].values.take(pa.array(corpus.content["text"]))
    short = pc.utf8_length(shown).to_numpy() <= SHORT
    n_annotators = np.bincount(annotations.item, minlength=corpus.n_items)
    order = np.random.default_rng(0).permutation(corpus.n_items)
    tested = order[(short & (n_annotators == N_ANNOTATORS))[order]][:n_test]
    new = ~np.isin(corpus.content["text"], corpus.content["text"][tested])
    several = order[(short & new & (n_annotators == N_ANNOTATORS))[order]]
    others = order[(short & new & (n_annotators != N_ANNOTATORS))[order]]
    learned = np.r_[several, others][:n_train]
    train, test = (corpus.select(items=np.sort(items)) for items in (learned, tested))
    return StudyParts(train, test, "toxic", towards=1)


def text_parts(n_train: int = N_TRAIN_TEXTS, n_test: int = N_TEST_TEXTS) -> StudyParts:
    """The simulated crowd: ten annotators prefer different clauses; five answer each text."""
    corpus = text(n_items=n_train + n_test)
    tested = np.arange(corpus.n_items) >= n_train
    new = ~np.isin(corpus.content["text"], corpus.content["text"][tested])
    return StudyParts(
        corpus.select(items=np.flatnonzero(~tested & new)),
        corpus.select(items=np.flatnonzero(tested)),
        "emotion",
    )


# ---- where annotators and members looked ----


@dataclass(frozen=True, eq=False)
class ObservedAttention:
    """Where annotators and the members of several ensembles looked in the test items, and their
    answers. Positions are padded to the longest item, annotators to the most of an item."""

    rank: np.ndarray  # (n_runs, n_members, n_items, longest) of each position by weight; 0: none
    size: np.ndarray  # the same by the weight's size, where it has a sign; else no runs
    probability: np.ndarray  # (n_runs, n_members, n_items, n_values)
    marked: np.ndarray  # (n_items, most_annotators, longest) of bool
    answer: np.ndarray  # (n_items, most_annotators) of annotators with marks; -1: padding
    votes: np.ndarray  # (n_items, n_values) of all annotators
    clause: np.ndarray  # (n_items, longest) the part of a simulated text; -1: none
    aspect: np.ndarray  # (n_items, most_parts) of each part; -1: none
    annotator: np.ndarray  # (n_items, most_annotators) codes of those with marks; -1: padding
    truth: (
        np.ndarray
    )  # (2, n_items) how far annotators look and answer apart by the true probabilities
    seconds: np.ndarray  # () of training

    def save(self, path: Path) -> None:
        """Write a file, whole or not at all."""
        with staged(path) as new, new.open("wb") as file:
            np.savez_compressed(
                file, **{_stored(f.name): getattr(self, f.name) for f in fields(self)}
            )

    @classmethod
    def load(cls, path: Path) -> ObservedAttention:
        """Read a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**{f.name: arrays[_stored(f.name)] for f in fields(cls)})


def _stored(name: str) -> str:
    """The name of an array in files."""
    return "person" if name == "annotator" else name


def train_and_observe(
    condition: EnsembleCondition,
    parts: StudyParts,
    *,
    encoder: str = "minilm",
    seeds: Sequence[int] = SEEDS,
    n_members: int = N_MEMBERS,
    training: Mapping[str, Any] | None = None,
) -> ObservedAttention:
    """Train one ensemble for each seed, stacked, and record where their members look.

    Args:
        training: other settings of training, such as precision or epochs.
    """
    from dissensus.methods import Job, fit_many, worth_stacking

    begin = time.perf_counter()
    methods = [ensemble(condition, encoder, seed, n_members, training or {}) for seed in seeds]
    jobs = [Job(method, parts.train, parts.question) for method in methods]
    fit_many(jobs, stack=None if worth_stacking(methods[0]) else False)
    seconds = time.perf_counter() - begin
    seen = [_seen(method, condition, parts) for method in methods]
    weight = np.stack([laid_out(weight, at) for weight, _, at in seen])
    return ObservedAttention(
        _small_ranks(weight),
        _small_ranks(np.abs(weight[: len(seen) if condition.pool == "mean" else 0])),
        np.stack([probability for _, probability, _ in seen]).astype(np.float32),
        **_annotators(parts, seen[0][2]),
        seconds=np.array(seconds),
    )


def _small_ranks(weight: np.ndarray) -> np.ndarray:
    """Ranks in whole numbers, of equal weights the first the lower; 0: no position."""
    order = np.argsort(weight, axis=-1, kind="stable")  # nan last
    ranks = np.argsort(order, axis=-1) + 1
    small = np.uint8 if weight.shape[-1] < 256 else np.uint16
    return np.where(np.isnan(weight), 0, ranks).astype(small)


def ensemble(
    condition: EnsembleCondition,
    encoder: str,
    seed: int,
    n_members: int,
    training: Mapping[str, Any],
) -> SeedEnsemble:
    """The method of a condition, not fitted yet; member k of seed s is drawn from 100 s + k."""
    from dissensus.methods import SeedEnsemble
    from dissensus.training import Training

    fresh, slow = condition.rates
    settings = {"epochs": condition.epochs, "learning_rate": fresh, "encoder_learning_rate": slow}
    return SeedEnsemble(
        n_members=n_members,
        vary=condition.vary,
        encoder=encoder,
        tune=condition.tune,
        pool=condition.pool,
        dropout=0.1,
        training=Training(**settings | {"seed": 100 * seed} | dict(training)),
        init_seed=100 * seed,
    )


def _seen(
    method: SeedEnsemble, condition: EnsembleCondition, parts: StudyParts
) -> tuple[np.ndarray, np.ndarray, MemberAttention]:
    """The members' weights of positions, their probabilities, and where positions lie.

    What speaks for an answer speaks against the other of two; weights are turned towards the one
    that annotators' spans are about.
    """
    prediction = method.predict(parts.test, attention=True)[parts.question]
    (at,), weight = prediction.member_attention, prediction.member_attention[0].weight
    members = [member.predict(parts.test)[parts.question] for member in method.members_]
    if parts.towards is not None and condition.pool == "mean":
        answers = np.stack([prediction.consensus for prediction in members]) == parts.towards
        weight = weight * np.repeat(np.where(answers, 1, -1), np.diff(at.offsets), axis=1)
    return weight, np.stack([prediction.distribution for prediction in members]), at


def _annotators(parts: StudyParts, at: MemberAttention) -> dict[str, np.ndarray]:
    """What annotators of the test items marked and answered, and the truth of a simulated crowd."""
    test, annotations = parts.test, parts.test[parts.question]
    assert test.rationales is not None
    marked = marks(test.rationales, at)
    answers = np.full((test.n_items, test.n_annotators), -1, np.int16)
    answers[annotations.item, annotations.annotator_codes("spans")] = annotations.answer
    item = np.arange(test.n_items)[:, None]
    answered = {
        "marked": marked.marked,
        "annotator": marked.annotator.astype(np.int16),
        "answer": np.where(marked.there, answers[item, marked.annotator], -1).astype(np.int16),
        "votes": annotations.counts().astype(np.int16),
    }
    return answered | _simulated(parts, at)


def _simulated(parts: StudyParts, at: MemberAttention) -> dict[str, np.ndarray]:
    """The parts that positions lie in, and how far apart two annotators look and answer by the
    true probabilities of a simulated crowd: the chance that both are in different places."""
    n_items, longest = laid_out(at.weight[:1], at).shape[1:]
    if "parts.start" not in parts.test.item_attributes:
        nothing = np.full((n_items, 1), -1, np.int8)
        return {
            "clause": np.full((n_items, longest), -1, np.int8),
            "aspect": nothing,
            "truth": np.full((2, n_items), np.nan),
        }
    known = truth(parts.test)
    assert isinstance(known, ChoiceTruth)
    start, stop = laid_out(np.moveaxis(at.places[:, 0], 0, -1), at)  # (n_items, longest) each
    inside = (start[:, None] < known.stop[..., None]) & (known.start[..., None] < stop[:, None])
    apart = [1 - (p**2).sum(axis=1) for p in (known.blind_focus(), known.blind_distribution())]
    return {
        "clause": np.where(inside.any(axis=1), inside.argmax(axis=1), -1).astype(np.int8),
        "aspect": known.parts.aspect.astype(np.int8),
        "truth": np.stack(apart),
    }


def description_of(condition: EnsembleCondition) -> dict[str, Any]:
    """A condition for JSON."""
    return asdict(condition) | {"seen_by": condition.seen_by}
