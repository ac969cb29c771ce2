"""Where annotators and members of seed ensembles look: fits, figures and the report on them.

Annotators marked what led them to their answer: posts of `toxic_spans` with seven annotators, and a
simulated crowd of which it is known which annotator looks at what. Ensembles learn one label per
item, and no spans.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from member_attention import MemberAttention, member_attention

from dissensus import Corpus
from dissensus.corpus import Rationales
from dissensus.errors import DataError
from dissensus.evaluation import (
    Difference,
    over_both,
    over_items,
    plain,
    resampling,
    statistic_over_both,
)
from dissensus.files.folders import staged
from dissensus.metrics import (
    chance_f1,
    heaviest,
    overlap_f1,
)
from dissensus.metrics.attention import has_place, in_role
from dissensus.simulate import text
from dissensus_papers.framework.reports import short

if TYPE_CHECKING:
    from dissensus.methods import SeedEnsemble

TOXIC, TEXT = "toxic_spans", "text"
SHORT = 200  # characters: posts up to here are read whole, and quickly
N_ANNOTATORS = 7  # annotators of a post that is tested
N_TEST, N_TRAIN = 600, 3000  # posts
N_TEST_TEXTS, N_TRAIN_TEXTS = 400, 1500
N_MEMBERS = 5
SEEDS = tuple(range(5))


# ---- conditions ----


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
    def whole_title(self) -> str:
        """Also by what it is seen where members look."""
        if self.pool == "mean":
            seen_by = "size of gradient x input" if self.by_size else "gradient x input"
        else:
            seen_by = "attention" if self.tune == "all" else "attention, frozen"
        return f"{self.title} [{seen_by}]"


_FROZEN: dict[str, Any] = {"tune": "nothing", "pool": "attention", "epochs": 20}
_POOL: dict[str, Any] = {"pool": "attention"}
_SLOW: dict[str, Any] = {"rates": (5e-6, 5e-6)}
CONDITIONS: dict[str, EnsembleCondition] = {
    name: EnsembleCondition(name, title, vary, **settings)
    for name, title, vary, settings in (
        ("seeds", "last layer (SeedBERT)", "last-layer", {}),
        ("order", "order and dropout", "order+dropout", {}),
        ("deep", "everything (deep ensemble)", "everything", {}),
        ("pool-seeds", "last layer and query", "last-layer", _POOL),
        ("pool-order", "order and dropout", "order+dropout", _POOL),
        ("pool-deep", "everything", "everything", _POOL),
        ("paper-rate", "last layer, rates of 5e-6", "last-layer", _SLOW),
        ("frozen-seeds", "last layer and query", "last-layer", _FROZEN),
        ("frozen-order", "order and dropout", "order+dropout", _FROZEN),
        ("frozen-deep", "everything", "everything", _FROZEN),
    )
}
SEEN: dict[str, EnsembleCondition] = CONDITIONS | {  # trained once, and seen in one more way
    f"size-{name}": replace(condition, name=f"size-{name}", by_size=True)
    for name, condition in CONDITIONS.items()
    if condition.pool == "mean"
}


# ---- marked positions ----


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


def marks(spans: Rationales, looked: MemberAttention) -> np.ndarray:
    """The positions that annotators marked, (n_items, most_annotators, longest): those that one of
    their spans overlaps, on every axis.

    Spans without an annotator are left out, and so are those in another role than the one attended
    to, and annotators whose spans overlap no position.

    Example:
        >>> import pyarrow as pa
        >>> words = np.array([[[0.0, 3.0]], [[4.0, 9.0]], [[10.0, 12.0]]])  # of one text
        >>> looked = MemberAttention("text", np.ones((1, 3)), words, np.array([0, 3]))
        >>> names = pa.array(["q"] * 2), pa.array(["text"] * 2)
        >>> spans = Rationales(np.array([0, 0]), np.array([0, 1]), *names, np.array([0.0, 5.0]),
        ...                    np.array([3.0, 11.0]), pa.array([""] * 2))
        >>> marks(spans, looked).astype(int).tolist()
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
    return marked


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
    votes: np.ndarray  # (n_items, n_values) of all annotators
    seconds: np.ndarray  # () of training

    def save(self, path: Path) -> None:
        """Write a file, whole or not at all."""
        with staged(path) as new, new.open("wb") as file:
            np.savez_compressed(file, **{f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: Path) -> ObservedAttention:
        """Read a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**{f.name: arrays[f.name] for f in fields(cls)})


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
    (at,) = member_attention(method, parts.test)[parts.question]
    weight = at.weight
    members = [member.predict(parts.test)[parts.question] for member in method.members_]
    if parts.towards is not None and condition.pool == "mean":
        answers = np.stack([prediction.consensus for prediction in members]) == parts.towards
        weight = weight * np.repeat(np.where(answers, 1, -1), np.diff(at.offsets), axis=1)
    return weight, np.stack([prediction.distribution for prediction in members]), at


def _annotators(parts: StudyParts, at: MemberAttention) -> dict[str, np.ndarray]:
    """What annotators of the test items marked and answered."""
    assert parts.test.rationales is not None
    votes = parts.test[parts.question].counts().astype(np.int16)
    return {"marked": marks(parts.test.rationales, at), "votes": votes}


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

    def annotators_look_apart(self) -> np.ndarray:
        """1 less two annotators' F1, relative to chance (0: the same, 1: as by chance)."""
        f1, chance = self.annotators()
        return (1 - f1) / np.where(chance < 1, 1 - chance, np.nan)

    def annotators_answer_apart(self) -> np.ndarray:
        """The chance that two of the annotators gave different answers."""
        n = self.attention.votes.sum(axis=-1).astype(float)
        same = (self.attention.votes * (self.attention.votes - 1.0)).sum(axis=-1)
        return np.where(n > 1, 1 - same / np.where(n > 1, n * (n - 1), 1), np.nan)


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


# ---- the report ----


def looks(folder: Path) -> dict[str, Any]:
    """What every file CORPUS.CONDITION.npz of a folder shows, by corpus and condition: the part
    "looks" of SeedBERT's report."""
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
    judged = {}
    for corpus, of_condition in sorted(figures_of.items(), reverse=True):
        f1, _ = (figures := next(iter(of_condition.values()))).annotators()
        elsewhere, _ = figures.annotators(figures.elsewhere())
        judged[corpus] = {
            "n_items": len(figures.n_positions),
            "annotators": {
                "f1": float(np.nanmean(f1)),
                "shuffled": short(over_items(f1, elsewhere)),
            },
            "conditions": {
                name: _of_condition(name, of_condition[name])
                for name in SEEN
                if name in of_condition
            },
        }
    return dict(plain(judged))


def _of_condition(name: str, figures: AttentionFigures) -> dict[str, Any]:
    between, _ = figures.between()
    elsewhere, _ = figures.between(figures.elsewhere())
    answers = figures.attention.probability.argmax(axis=-1)  # (n_runs, n_members, n_items)
    label = figures.attention.votes.argmax(axis=1)
    looked, answered = figures.annotators_look_apart(), figures.annotators_answer_apart()
    length = figures.n_positions
    return {
        "title": SEEN[name].whole_title,
        "accuracy": float((answers == label).mean()),
        "f1": float(np.nanmean(figures.members()[0])),
        "shuffled": short(over_both(between, elsewhere)),
        "look": short(_correlated(looked, figures.looks_apart(), length)),
        "answer": short(_correlated(answered, figures.answers_apart(), length)),
        "one": short(_correlated(answered, figures.one_unsure(), length)),
    }


def _correlated(observed: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Difference:
    """Spearman's correlation over items, corrected for a variable."""
    mine, theirs = rank_correlation(observed, other, given)
    return statistic_over_both(
        resampling.correlation(mine, theirs), resampling.nothing(len(mine), len(theirs))
    )
