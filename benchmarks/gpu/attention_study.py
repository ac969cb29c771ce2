"""Where annotators and members of seed ensembles look: fits, figures and the report on them.

Annotators marked what led them to their answer: posts of `toxic_spans` with seven annotators, and a
simulated crowd of which it is known which annotator looks at what. Ensembles learn one label per
item, and no spans.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus import Corpus
from dissensus.corpus import Rationales
from dissensus.errors import DataError
from dissensus.evaluation import (
    Difference,
    corrected,
    over_both,
    over_items,
    plain,
    resampling,
    statistic_over_both,
)
from dissensus.files.folders import staged
from dissensus.metrics import (
    attention_auroc,
    chance_f1,
    heaviest,
    overlap_f1,
)
from dissensus.metrics.attention import has_place, in_role
from dissensus.prediction import MemberAttention
from dissensus.simulate import ChoiceTruth, text, truth
from dissensus_papers.seedbert.hypothesis import ANNOTATORS, KIND, SEEN, EnsembleCondition

if TYPE_CHECKING:
    from dissensus.methods import SeedEnsemble

TOXIC, TEXT = "toxic_spans", "text"
SHORT = 200  # characters: posts up to here are read whole, and quickly
N_ANNOTATORS = 7  # annotators of a post that is tested
N_TEST, N_TRAIN = 600, 3000  # posts
N_TEST_TEXTS, N_TRAIN_TEXTS = 400, 1500
N_MEMBERS = 5
SEEDS = tuple(range(5))


# ---- marked positions ----


@dataclass(frozen=True, eq=False)
class Marks:
    """The positions that each annotator marked in each item; those without any are left out."""

    marked: np.ndarray  # (n_items, most_annotators, longest) of bool
    annotator: np.ndarray  # (n_items, most_annotators) codes; -1 is padding

    @property
    def there(self) -> np.ndarray:
        """Whether a row is an annotator's, not padding, (n_items, most_annotators)."""
        return self.annotator >= 0


def laid_out(values: np.ndarray, looked: MemberAttention, fill: float = np.nan) -> np.ndarray:
    """What is known of each position, (..., n_positions), as one row for each item,
    (..., n_items, longest).

    Positions that show nothing, such as the marks that a text encoder puts at both ends, have an
    empty place and are left out.
    """
    placed = has_place(looked.places)
    item = np.repeat(np.arange(len(looked.offsets) - 1), np.diff(looked.offsets))[placed]
    lengths = np.bincount(item, minlength=len(looked.offsets) - 1)
    place = np.arange(len(item)) - (lengths.cumsum() - lengths)[item]
    shape = (*values.shape[:-1], len(lengths), int(lengths.max(initial=0)))
    table = np.full(shape, fill, dtype=float)
    table[..., item, place] = values[..., placed]
    return table


def marks(spans: Rationales, looked: MemberAttention) -> Marks:
    """The positions that annotators marked: those that one of their spans overlaps, on every axis.

    Spans without an annotator are left out, and so are those in another role than the one attended
    to, and annotators whose spans overlap no position.

    Example:
        >>> import pyarrow as pa
        >>> words = np.array([[[0.0, 3.0]], [[4.0, 9.0]], [[10.0, 12.0]]])  # of one text
        >>> looked = MemberAttention("text", np.ones((1, 3)), words, np.array([0, 3]))
        >>> names = pa.array(["q"] * 2), pa.array(["text"] * 2)
        >>> spans = Rationales(np.array([0, 0]), np.array([0, 1]), *names, np.array([0.0, 5.0]),
        ...                    np.array([3.0, 11.0]), pa.array([""] * 2))
        >>> marks(spans, looked).marked.astype(int).tolist()
        [[[1, 0, 0], [0, 1, 1]]]
    """
    own = (spans.annotator >= 0) & in_role(spans, looked.role)
    item, annotator = spans.item[own].astype(np.int64), spans.annotator[own].astype(np.int64)
    ends = laid_out(np.moveaxis(looked.places, 0, -1), looked)  # (n_axes, 2, n_items, longest)
    met = np.ones((len(item), ends.shape[-1]), dtype=bool)
    for axis, (begin, end) in enumerate(ends):
        start, stop = spans.start[own, axis, None], spans.stop[own, axis, None]
        met &= (begin[item] < stop) & (start < end[item])
    item, annotator, met = (column[met.any(axis=1)] for column in (item, annotator, met))
    pair, row = np.unique(np.stack([item, annotator]), axis=1, return_inverse=True)
    n_annotators = np.bincount(pair[0], minlength=len(looked.offsets) - 1)
    place = np.arange(pair.shape[1]) - (n_annotators.cumsum() - n_annotators)[pair[0]]
    shape = len(n_annotators), int(n_annotators.max(initial=0))
    marked = np.zeros((*shape, ends.shape[-1]), dtype=bool)
    np.logical_or.at(marked, (item, place[row.ravel()]), met)
    annotators = np.full(shape, -1)
    annotators[pair[0], place] = pair[1]
    return Marks(marked, annotators)


def ranks(weight: np.ndarray) -> np.ndarray:
    """The rank of each position among those of its item, from 1, ties in the middle; nan stays.

    Example:
        >>> ranks(np.array([0.2, 0.7, 0.1, np.nan])).tolist()
        [2.0, 3.0, 1.0, nan]
    """
    from scipy.stats import rankdata

    missing = np.isnan(weight)
    ranked = rankdata(np.where(missing, np.inf, weight), axis=-1)
    return np.where(missing, np.nan, ranked)


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


Scored = tuple[np.ndarray, np.ndarray]  # a score, and the same by chance


@dataclass(frozen=True, eq=False)
class AttentionFigures:
    """Figures of one condition, per item: (n_items,) of annotators, (n_runs, n_items) of members.

    An annotator's set is what they marked; a member's is as many of its heaviest positions.
    """

    attention: ObservedAttention

    @cached_property
    def rank(self) -> np.ndarray:
        """Of each position among those of its item, nan: none."""
        rank = self.attention.rank.astype(float)
        return np.where(rank > 0, rank, np.nan)

    @cached_property
    def n_positions(self) -> np.ndarray:
        return (self.attention.rank[0, 0] > 0).sum(axis=-1)

    @cached_property
    def n_marked(self) -> np.ndarray:
        """(n_items, most_annotators); nan where no annotator marked anything."""
        n = self.attention.marked.sum(axis=-1).astype(float)
        return np.where(n > 0, n, np.nan)

    @cached_property
    def partner(self) -> np.ndarray:
        """Another item for each, drawn once: the next one in a random order."""
        order = np.random.default_rng(0).permutation(len(self.n_positions))
        other = np.empty_like(order)
        other[order] = np.roll(order, 1)
        return other

    # ---- sets of the same size: F1, and by chance ----

    def annotators(self, marked: np.ndarray | None = None) -> Scored:
        """Two annotators of an item; or one of them and the `marked` positions of others."""
        own = self.attention.marked
        other = own if marked is None else marked
        scores = []
        for one, two in combinations(range(own.shape[1]), 2):
            sizes = [marks[:, at].sum(axis=-1) for marks, at in ((own, one), (other, two))]
            both = (sizes[0] > 0) & (sizes[1] > 0)
            scored = (
                overlap_f1(own[:, one], other[:, two]),
                chance_f1(sizes[0], sizes[1], self.n_positions),
            )
            scores.append([np.where(both, marks, np.nan) for marks in scored])
        return _mean_of(scores)

    def members(self) -> Scored:
        """Two members, each by as many positions as annotators marked on average."""
        wanted = np.round(_mean(self.n_marked, axis=-1))
        n = np.where(np.isnan(wanted), 0, np.maximum(wanted, 1))
        sets = heaviest(self.rank, np.broadcast_to(n, self.rank.shape[:-1]))
        pairs = combinations(range(sets.shape[1]), 2)
        f1 = np.mean([overlap_f1(sets[:, one], sets[:, two]) for one, two in pairs], axis=0)
        chance = chance_f1(n, n, self.n_positions)
        return f1, np.broadcast_to(chance, f1.shape)

    def between(self, marked: np.ndarray | None = None) -> Scored:
        """A member and an annotator."""
        marked = self.attention.marked if marked is None else marked
        scores = []
        for annotator in range(marked.shape[1]):
            sizes = marked[:, annotator].sum(axis=-1)
            sets = heaviest(self.rank, np.broadcast_to(sizes, self.rank.shape[:-1]))
            f1 = overlap_f1(sets, marked[:, annotator]).mean(axis=1)  # nan: nothing marked
            chance = np.where(sizes > 0, chance_f1(sizes, sizes, self.n_positions), np.nan)
            scores.append([f1, np.broadcast_to(chance, f1.shape)])
        return _mean_of(scores)

    def elsewhere(self) -> np.ndarray:
        """What annotators marked in another item, at the same shares of its length."""
        here, there = self.n_positions, self.n_positions[self.partner]
        longest = self.attention.marked.shape[-1]
        share = (np.arange(longest) + 0.5) / np.maximum(here, 1)[:, None]
        at = np.minimum((share * there[:, None]).astype(int), longest - 1)
        moved = np.take_along_axis(self.attention.marked[self.partner], at[:, None], axis=-1)
        inside = np.arange(longest) < here[:, None]
        return moved & inside[:, None]

    # ---- weights as they are ----

    def auroc(self, rank: np.ndarray) -> np.ndarray:
        """How well weights, (..., n_items, longest), find what each annotator marked, mean
        over annotators."""
        by_annotator = self.attention.marked.swapaxes(0, 1)  # (most_annotators, n_items, longest)
        return _mean(np.stack([attention_auroc(rank, marked) for marked in by_annotator]), axis=0)

    def one(self) -> np.ndarray:
        """AUROC of the first member: a network by itself, as `single` trains it."""
        return self.auroc(self.rank[:, 0])

    def each(self) -> np.ndarray:
        """AUROC of a member, mean over members."""
        return _mean(self.auroc(self.rank), axis=1)

    def together(self) -> np.ndarray:
        """AUROC of all members' mean rank."""
        return self.auroc(ranks(self.rank.mean(axis=1)))

    def another_annotator(self) -> np.ndarray:
        """AUROC of one annotator's marks for another's: what a member can be expected to reach."""
        own = self.attention.marked
        inside = np.arange(own.shape[-1]) < self.n_positions[:, None]
        weight = np.where(inside[:, None], own, np.nan)
        scores = []
        for one, two in combinations(range(own.shape[1]), 2):
            there = own[:, one].any(axis=-1) & own[:, two].any(axis=-1)
            auroc = attention_auroc(weight[:, one], own[:, two])
            scores.append(np.where(there, auroc, np.nan))
        return _mean(np.stack(scores), axis=0)

    # ---- how far apart, item by item ----

    def alike(self) -> np.ndarray:
        """The mean rank correlation of two members' weights."""
        return _mean(np.stack(list(self._pairs_alike().values())), axis=0)

    def _pairs_alike(self) -> dict[tuple[int, int], np.ndarray]:
        """By pair of members: rank correlations, (n_runs, n_items)."""
        middle = self.rank - _mean(self.rank, axis=-1)[..., None]
        middle = np.nan_to_num(middle)
        norm = np.sqrt((middle**2).sum(axis=-1))
        by_pair = {}
        for one, two in combinations(range(middle.shape[1]), 2):
            product = (middle[:, one] * middle[:, two]).sum(axis=-1)
            below = norm[:, one] * norm[:, two]
            by_pair[one, two] = np.where(below > 0, product / np.where(below > 0, below, 1), np.nan)
        return by_pair

    def looks_apart(self) -> np.ndarray:
        """Members: 1 less their rank correlation."""
        return 1 - self.alike()

    def answers_apart(self) -> np.ndarray:
        """Members: how far their probabilities lie from their mean, squared."""
        return self.attention.probability.var(axis=1).sum(axis=-1)

    def one_unsure(self) -> np.ndarray:
        """One network by itself: the chance that two draws of its distribution differ."""
        return 1 - (self.attention.probability[:, 0] ** 2).sum(axis=-1)

    def all_unsure(self) -> np.ndarray:
        """The same of the members' mean probability."""
        return 1 - (self.attention.probability.mean(axis=1) ** 2).sum(axis=-1)

    def annotators_look_apart(self) -> np.ndarray:
        """1 less two annotators' F1, relative to chance (0: the same, 1: as by chance)."""
        f1, chance = self.annotators()
        return (1 - f1) / np.where(chance < 1, 1 - chance, np.nan)

    def annotators_answer_apart(self) -> np.ndarray:
        """The chance that two of the annotators gave different answers."""
        n = self.attention.votes.sum(axis=-1).astype(float)
        same = (self.attention.votes * (self.attention.votes - 1.0)).sum(axis=-1)
        return np.where(n > 1, 1 - same / np.where(n > 1, n * (n - 1), 1), np.nan)

    # ---- is it what makes them answer differently? ----

    def contested(self) -> np.ndarray:
        """AUROC of how far members' ranks spread: positions that some annotators marked, against
        those that all marked."""
        n_annotators = (self.n_marked > 0).sum(axis=-1)
        times = self.attention.marked.sum(axis=1)  # (n_items, longest)
        several = (n_annotators > 1)[:, None] & (times > 0)
        spread = np.where(several, self.rank.std(axis=1), np.nan)  # (n_runs, n_items, longest)
        return attention_auroc(ranks(spread), several & (times < n_annotators[:, None]))

    def members_by_answer(self) -> Scored:
        """Rank correlation of members that answer alike, and of those that do not; nan where an
        item does not have both."""
        answers = self.attention.probability.argmax(axis=-1)
        pairs = self._pairs_alike()
        same = np.stack([answers[:, one] == answers[:, two] for one, two in pairs])
        return _split(np.stack(list(pairs.values())), same)

    def annotators_by_answer(self) -> Scored:
        """F1 of annotators with the same answer, and of those with different ones."""
        marked, answer = self.attention.marked, self.attention.answer
        f1, same = [], []
        for one, two in combinations(range(marked.shape[1]), 2):
            both = (answer[:, one] >= 0) & (answer[:, two] >= 0)
            f1.append(np.where(both, overlap_f1(marked[:, one], marked[:, two]), np.nan))
            same.append(answer[:, one] == answer[:, two])
        return _split(np.stack(f1), np.stack(same))

    # ---- preferences of annotators and members ----

    def clause_of_members(self) -> np.ndarray:
        """The aspect of the clause with the highest mean rank, (n_runs, n_members, n_items)."""
        clause, aspect = self.attention.clause, self.attention.aspect
        weight = []
        for part in range(aspect.shape[1]):
            inside = np.where(clause == part, 1.0, np.nan)
            weight.append(np.nan_to_num(_mean(self.rank * inside, axis=-1), nan=-1))
        chosen = np.stack(weight).argmax(axis=0)
        return aspect[np.arange(len(aspect)), chosen]

    def clause_of_annotators(self) -> np.ndarray:
        """The aspect that each annotator looked at in each item, (n_annotators, n_items); -1
        where they did not answer."""
        clause, aspect = self.attention.clause, self.attention.aspect
        annotator = self.attention.annotator
        clauses = np.full((annotator.max() + 1, len(annotator)), -1)
        first = self.attention.marked.argmax(axis=-1)  # (n_items, most_annotators)
        part = np.take_along_axis(clause, first, axis=1)
        item, slot = np.nonzero(annotator >= 0)
        clauses[annotator[item, slot], item] = aspect[item, part[item, slot]]
        return clauses


def preference(chosen: np.ndarray, aspect: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """How much annotators (or members) differ in the aspects that they prefer, and by chance.

    The standard deviation, over annotators, of the share of items in which an aspect is chosen,
    of those that have it; mean over aspects. By chance: the choices of an item are shuffled
    between its annotators.

    Args:
        chosen: aspects, (n_annotators, n_items); -1 where there is no choice.
        aspect: those of the item's parts, (n_items, most_parts).
    """
    generator = np.random.default_rng(seed)
    dealt = chosen.copy()
    for item in range(chosen.shape[1]):
        looked = np.flatnonzero(chosen[:, item] >= 0)
        dealt[looked, item] = generator.permutation(chosen[looked, item])
    return _preferred(chosen, aspect), _preferred(dealt, aspect)


def _preferred(chosen: np.ndarray, aspect: np.ndarray) -> float:
    spread = []
    for code in range(aspect.max() + 1):
        could = (aspect == code).any(axis=1) & (chosen >= 0)
        share = (could & (chosen == code)).sum(axis=1) / np.maximum(could.sum(axis=1), 1)
        spread.append(share.std())
    return float(np.mean(spread))


def rank_correlation(observed: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Scored:
    """Ranks over items whose plain correlation is Spearman's, of annotators and of every run.

    Args:
        observed: of annotators, (n_items,); items with nan are left out.
        other: (n_runs, n_items).
        given: a variable that both are corrected for, (n_items,), by linear regression of ranks.
    """
    defined = ~np.isnan(observed) & ~np.isnan(other).any(axis=0)
    mine, theirs = ranks(observed[defined]), ranks(other[:, defined])
    if given is None:
        return mine, theirs
    line = ranks(given[defined].astype(float))
    return _freed(mine, line), _freed(theirs, line)


def _freed(rank: np.ndarray, line: np.ndarray) -> np.ndarray:
    line = line - line.mean()
    centred = rank - rank.mean(axis=-1, keepdims=True)
    if not line.any():  # all items have the same length
        return centred
    slope = centred @ line / (line @ line)
    return np.asarray(centred - np.multiply.outer(slope, line))


def _split(scores: np.ndarray, same: np.ndarray) -> Scored:
    """The mean over pairs (first axis) of those that are the same and those that are not, where
    there are both."""
    alike = _mean(np.where(same, scores, np.nan), axis=0)
    apart = _mean(np.where(same, np.nan, scores), axis=0)
    both = ~np.isnan(alike) & ~np.isnan(apart)
    return np.where(both, alike, np.nan), np.where(both, apart, np.nan)


def _mean_of(scored: list[list[np.ndarray]]) -> Scored:
    """The mean over pairs of scores, and of what chance gives."""
    score, chance = (np.stack(parts) for parts in zip(*scored, strict=True))
    return _mean(score, axis=0), _mean(chance, axis=0)


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean of what is not nan; nan where there is nothing."""
    there = ~np.isnan(values)
    n = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)


APART: dict[str, Callable[[AttentionFigures], np.ndarray]] = {
    "looks": AttentionFigures.looks_apart,
    "answers": AttentionFigures.answers_apart,
    "one": AttentionFigures.one_unsure,
    "all": AttentionFigures.all_unsure,
}


# ---- the report ----

AGAINST = ("order", "deep")  # what plain seeds are compared with
KINDS = ("", "size-", "pool-", "frozen-")  # of networks, and of seeing where they look


def report(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Judge every file CORPUS.CONDITION.npz of a folder.

    Args:
        about: command, date, commit and machine.
    """
    figures_of: dict[str, dict[str, AttentionFigures]] = {}
    for path in sorted(folder.glob("*.*.npz")):
        corpus, condition = path.name.split(".")[:2]
        attention = ObservedAttention.load(path)
        figures_of.setdefault(corpus, {})[condition] = AttentionFigures(attention)
        if len(attention.size):
            figures_of[corpus][f"size-{condition}"] = AttentionFigures(
                replace(attention, rank=attention.size)
            )
    if not figures_of:
        raise DataError(f"{folder}: nothing is trained yet: no CORPUS.CONDITION.npz")
    judged = {
        corpus: _of_corpus(of_condition)
        for corpus, of_condition in sorted(figures_of.items(), reverse=True)
    }
    _correct(judged)
    return {"paper": KIND, **about, "corpora": plain(judged)}


def _of_corpus(figures_of: Mapping[str, AttentionFigures]) -> dict[str, Any]:
    any_one = next(iter(figures_of.values()))
    every = {name: figures_of[name] for name in SEEN if name in figures_of}
    return {
        "n_items": len(any_one.n_positions),
        ANNOTATORS: _of_annotators(any_one),
        "conditions": {name: _of_condition(name, figures) for name, figures in every.items()},
        "against": {
            f"{kind}{name}": _compared(every[f"{kind}seeds"], every[f"{kind}{name}"])
            for kind in KINDS
            for name in AGAINST
            if f"{kind}seeds" in every and f"{kind}{name}" in every
        },
    }


def _of_annotators(figures: AttentionFigures) -> dict[str, Any]:
    f1, chance = figures.annotators()
    elsewhere, _ = figures.annotators(figures.elsewhere())
    votes = figures.attention.votes
    return {
        "agreement": _scored(over_items(f1, chance), f1, chance),
        "shuffled": over_items(f1, elsewhere).to_dict(),
        "auroc": float(np.nanmean(figures.another_annotator())),
        "answers_apart": float(np.nanmean(figures.annotators_answer_apart())),
        "largest": float((votes.argmax(axis=1) == votes.sum(axis=0).argmax()).mean()),
        "by_answer": over_items(*figures.annotators_by_answer()).to_dict(),
    } | ({"preference": _preferences(figures)[0]} if _is_simulated(figures) else {})


def _of_condition(name: str, figures: AttentionFigures) -> dict[str, Any]:
    """Everything of one condition; a Difference becomes a dict."""
    f1, chance = figures.members()
    between, by_chance = figures.between()
    elsewhere, _ = figures.between(figures.elsewhere())
    of_annotators, _ = figures.annotators()
    one, together = figures.one(), figures.together()
    answers = figures.attention.probability.argmax(axis=-1)  # (n_runs, n_members, n_items)
    label = figures.attention.votes.argmax(axis=1)
    judged: dict[str, Any] = {
        "condition": asdict(SEEN[name]) | {"seen_by": SEEN[name].seen_by},
        "n_runs": len(answers),
        "n_members": answers.shape[1],
        "seconds": float(figures.attention.seconds),
        "accuracy": float((answers == label).mean()),
        "answers_differ": float((answers != answers[:, :1]).any(axis=1).mean()),
        "members": _scored(over_both(f1, chance), f1, chance),
        "between": _scored(over_both(between, by_chance), between, by_chance),
        "shuffled": over_both(between, elsewhere).to_dict(),
        "closer": over_both(f1, np.broadcast_to(of_annotators, f1.shape)).to_dict(),
        "alike": _over(figures.alike(), 0).to_dict(),
        "auroc": {
            "one": _over(one, 0.5).to_dict(),
            "each": _over(figures.each(), 0.5).to_dict(),
            "together": _over(together, 0.5).to_dict(),
            "gain": over_both(together, one).to_dict(),
        },
        "contested": _over(figures.contested(), 0.5).to_dict(),
        "by_answer": over_both(*figures.members_by_answer()).to_dict(),
        "apart": _item_by_item(figures),
    }
    if _is_simulated(figures):
        judged["preference"] = _preferences(figures)[1]
    return judged


def _scored(over: Difference, score: np.ndarray, chance: np.ndarray) -> dict[str, Any]:
    """The mean score, the mean by chance, and the difference."""
    there = ~np.isnan(score) & ~np.isnan(chance)
    means = {"mean": float(score[there].mean()), "chance": float(chance[there].mean())}
    return means | {"over": over.to_dict()}


def _over(scores: np.ndarray, value: float) -> Difference:
    return over_both(scores, np.where(np.isnan(scores), np.nan, value))


# ---- item by item ----


def _targets(figures: AttentionFigures) -> dict[str, np.ndarray]:
    """How far apart annotators are in each item: as they marked and answered, and by the true
    probabilities of a simulated crowd."""
    targets = {
        "looks": figures.annotators_look_apart(),
        "answers": figures.annotators_answer_apart(),
    }
    if _is_simulated(figures):
        targets |= dict(zip(("true looks", "true answers"), figures.attention.truth, strict=True))
    return targets


def _item_by_item(figures: AttentionFigures) -> dict[str, Any]:
    """Spearman's correlation over items of how far members are apart and how far annotators
    are: plain, corrected for the item's length, and less that of one network's uncertainty."""
    correlations: dict[str, Any] = {}
    for target, observed in _targets(figures).items():
        of_target: dict[str, Any] = {}
        for name, apart in APART.items():
            of_target[name] = {
                "plain": _correlated(observed, apart(figures), None).to_dict(),
                "given length": _correlated(
                    observed, apart(figures), figures.n_positions
                ).to_dict(),
            }
        of_target["members over one"] = _more_correlated(observed, figures, "answers", "one")
        of_target["all over one"] = _more_correlated(observed, figures, "all", "one")
        correlations[target] = of_target
    return correlations


def _correlated(observed: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Difference:
    mine, theirs = rank_correlation(observed, other, given)
    return statistic_over_both(
        resampling.correlation(mine, theirs), resampling.nothing(len(mine), len(theirs))
    )


def _more_correlated(
    observed: np.ndarray, figures: AttentionFigures, one: str, two: str
) -> dict[str, Any]:
    both = [APART[name](figures) for name in (one, two)]
    missing = np.isnan(both).any(axis=(0, 1))
    sides = [
        rank_correlation(np.where(missing, np.nan, observed), ensemble, None) for ensemble in both
    ]
    return statistic_over_both(*(resampling.correlation(*side) for side in sides)).to_dict()


def _compared(seeds: AttentionFigures, other: AttentionFigures) -> dict[str, Any]:
    """Plain seeds less another ensemble: how similarly members look, whether they find what
    annotators marked, and how well their differences predict those of annotators."""
    tests = {
        "alike": over_both(seeds.alike(), other.alike()).to_dict(),
        "auroc": over_both(seeds.together(), other.together()).to_dict(),
    }
    for target, name in (("looks", "looks"), ("answers", "answers"), ("answers", "all")):
        observed = _targets(seeds)[target]
        sides = [
            rank_correlation(observed, APART[name](figures), None) for figures in (seeds, other)
        ]
        if sides[0][0].shape == sides[1][0].shape:
            test = statistic_over_both(*(resampling.correlation(*side) for side in sides))
            tests[f"{name} for {target}"] = test.to_dict()
    return tests


def _correct(judged: Mapping[str, Any]) -> None:
    """Holm's correction over the correlations that the verdicts rest on, all at once."""
    rests = [
        condition["apart"][target][target]["given length"]
        for of_corpus in judged.values()
        for condition in of_corpus["conditions"].values()
        for target in (("looks",) if condition["condition"]["by_size"] else ("looks", "answers"))
    ]
    tests = [Difference(**given | {"notes": tuple(given["notes"])}) for given in rests]
    for given, test in zip(rests, corrected(tests), strict=True):
        given["adjusted"] = test.adjusted


# ---- a simulated crowd ----


def _is_simulated(figures: AttentionFigures) -> bool:
    return not np.isnan(figures.attention.truth).any()


def _preferences(figures: AttentionFigures) -> tuple[dict[str, float], dict[str, float]]:
    """How much annotators differ in the aspects they look at, and members; each with chance."""
    aspect = figures.attention.aspect
    annotators = preference(figures.clause_of_annotators(), aspect)
    members = [preference(chosen, aspect) for chosen in figures.clause_of_members()]
    spread, chance = np.mean(members, axis=0)
    return (
        {"spread": annotators[0], "chance": annotators[1]},
        {"spread": float(spread), "chance": float(chance)},
    )
