"""Outcomes and facts about items in a folder; their distance from annotators; choices by them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus, Nominal
from dissensus.errors import DataError
from dissensus.evaluation import Key, folder_name, plain
from dissensus.files import read_json, reading, staged, write_json, writing
from dissensus.methods import best_temperature, tempered
from dissensus.metrics import smoothed_votes, soft
from dissensus_papers.framework.paper import load_outcomes, refuse_other_data
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    FIRST,
    MODELS,
    N_MEMBERS,
    SOURCES,
    VARIANTS,
    biases,
    fold_of_items,
    folds,
    trials,
)

ARRAYS = "answers.npz"
MOST = 30.0  # of all log-odds that are kept


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a model's networks answer to every item, each when it is tested; or how a trial went.

    Probabilities are as they come from the networks: a temperature is chosen when they are judged,
    by what they answer to the items that were set aside in training.

    Example:
        >>> Outcome("single", 0, "HS-Brexit").key
        Key(method='single', seed=0, fold='HS-Brexit')
    """

    model: str
    repeat: int  # or the number of a trial
    condition: str
    mass: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))  # (k, n_items, n_values)
    votes: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # (m, n_items)
    aside: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # (2, n): fold, item
    aside_mass: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))  # (k, n, n_values)
    scores: list[float] = field(default_factory=list)  # of a trial: label's cross-entropy, by fold
    settings: dict[str, Any] = field(default_factory=dict)
    machine: str = ""
    seconds: float = 0.0
    reason: str = ""  # why it failed, if it did

    @property
    def key(self) -> Key:
        return Key(self.model, self.repeat, self.condition)

    def save(self, folder: str | Path) -> None:
        """Write it into a folder of fits, as a folder of its own, whole or not at all."""
        content = {name: value for name, value in vars(self).items() if name not in _ARRAYS}
        with writing(Path(folder) / folder_name(self.key), "fit") as own:
            if self.mass.size:
                arrays = {name: log_odds(getattr(self, name)) for name in _ARRAYS[:2]}
                arrays |= {
                    "votes": self.votes.astype(np.int8),
                    "aside": self.aside.astype(np.int32),
                }
                np.savez_compressed(own / ARRAYS, **arrays)  # type: ignore[arg-type]
            write_json(own, "fit", plain(content))

    @classmethod
    def load(cls, folder: str | Path) -> Outcome:
        content, path = read_json(folder, "fit"), Path(folder) / ARRAYS
        with reading(Path(folder)):
            known = {name: content[name] for name in cls.__dataclass_fields__ if name in content}
            if path.exists():
                with np.load(path) as arrays:
                    known |= {name: arrays[name] for name in _ARRAYS[2:]}
                    known |= {name: masses(arrays[name]) for name in _ARRAYS[:2]}
            return cls(**known)


_ARRAYS = ("mass", "aside_mass", "votes", "aside")


def log_odds(mass: np.ndarray) -> np.ndarray:
    """Of each value against the last one, in half precision: what 0.9999 and 0.99999 differ by
    stays there.

    Example:
        >>> log_odds(np.array([[0.75, 0.25]])).tolist()
        [[1.0986328125]]
    """
    logs = np.log(mass.clip(np.finfo(float).tiny))
    return (logs[..., :-1] - logs[..., -1:]).clip(-MOST, MOST).astype(np.float16)


def masses(odds: np.ndarray) -> np.ndarray:
    """From log-odds to probabilities."""
    logs = np.concatenate([odds.astype(float), np.zeros((*odds.shape[:-1], 1))], axis=-1)
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


# ---- facts about the items of a corpus ----


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a corpus: the annotators' answers, the label of each item, and the folds. They
    are saved with the outcomes: a report reads no corpus, and outcomes of other data are refused.
    """

    corpus: str
    values: tuple[str, ...]
    counts: np.ndarray  # (n_items, n_values) how many annotators gave each answer
    label: np.ndarray  # (n_items,) codes
    groups: np.ndarray  # (n_items,) the content or conversation
    folds: np.ndarray  # (n_repeats, n_items) the fold that tests each
    biases: np.ndarray  # (n_annotators, n_values) how often each gives which answer
    kappas: np.ndarray  # of any, most, all; empty but for emotions

    @classmethod
    def of(cls, corpus: Corpus, kappas: dict[str, float]) -> Items:
        source = SOURCES[corpus.name]
        annotations = corpus[source.question]
        label = np.full(corpus.n_items, -1)
        majority = annotations.consensus("first")
        label[majority.item] = majority.answer
        return cls(
            corpus.name,
            tuple(str(value) for value in annotations.scale.values),  # type: ignore[attr-defined]
            annotations.counts(),
            label,
            np.unique(corpus.units(), return_inverse=True)[1].reshape(-1),
            np.stack([fold_of_items(dealt, corpus.n_items) for dealt in folds(corpus, source)]),
            biases(corpus, source.question),
            np.array([kappas[name] for name in ("any", "most", "all") if kappas]),
        )

    @property
    def shares(self) -> np.ndarray:
        """The share of annotators that gave each answer, (n_items, n_values)."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def keep(self, folder: Path) -> None:
        """Write them; refuse a folder that was begun with other data."""
        path = _file(folder, self.corpus)
        content = {name: np.asarray(each) for name, each in vars(self).items() if name != "corpus"}
        if path.exists():
            kept = Items.load(folder, self.corpus)
            known = not len(self.kappas) or len(kept.kappas)  # a kit has no ratings
            compared = {n: each for n, each in content.items() if n != "kappas"}
            compared |= {"kappas": self.kappas} if known and len(self.kappas) else {}
            differing = [n for n, each in compared.items() if not _same(each, getattr(kept, n))]
            refuse_other_data(folder, self.corpus, differing, "the data")
            if known:
                return
        path.parent.mkdir(exist_ok=True)
        with staged(path) as new, new.open("wb") as file:
            np.savez_compressed(file, **content)  # type: ignore[arg-type]

    @classmethod
    def load(cls, folder: str | Path, corpus: str) -> Items:
        path = _file(folder, corpus)
        if not path.exists():
            raise DataError(f"{path}: missing; run the paper into this folder again")
        with reading(path), np.load(path) as arrays:
            content = {n: arrays[n] for n in cls.__dataclass_fields__ if n != "corpus"}
            return cls(corpus, **content | {"values": tuple(map(str, content["values"]))})


def _file(folder: str | Path, corpus: str) -> Path:
    return Path(folder) / "corpora" / f"{corpus}.npz"


def _same(first: np.ndarray, second: Any) -> bool:
    second = np.asarray(second)
    if first.shape != second.shape or first.dtype.kind == "U":
        return bool(np.array_equal(first, second))
    return bool(np.allclose(first, second, equal_nan=True))


# ---- distances from the annotators, item by item ----

VOTES, MEAN, TEMPERED = "votes", "mean", "tempered"
READ_OUTS = (VOTES, MEAN, TEMPERED)  # the shares of votes, mean probabilities, those tempered
CAUTIOUS = "cautious"  # tempered, but never surer; as methods do it since these were read
DISTANCES = {"cross-entropy": soft.cross_entropy, "JSD": soft.jsd, "TVD": soft.tvd}
BY = "cross-entropy"  # how "nearest to the annotators' answers" is measured


def vote_counts(outcome: Outcome, n_values: int, n_members: int | None = None) -> np.ndarray:
    """How many members give which answer, (n_items, n_values).

    A single network counts as five members that all answer the same: what votes owe to the half
    that is added to them can be separated from the effect of members that differ.
    """
    members = outcome.votes[:n_members]
    if not len(members):
        members = np.repeat(outcome.mass.mean(axis=0).argmax(axis=1)[None], N_MEMBERS, axis=0)
    return np.stack([(members == value).sum(axis=0) for value in range(n_values)], axis=1)


def temperatures(
    outcome: Outcome, items: Items, n_members: int | None = None, lowest: float = 0.0
) -> list[float]:
    """Of each fold, by the labels of the items that were set aside there."""
    scale, chosen = Nominal(items.values), []
    for fold in np.unique(outcome.aside[0]):
        inside = outcome.aside[0] == fold
        mean = outcome.aside_mass[:n_members, inside].mean(axis=0)
        label = items.label[outcome.aside[1][inside]]
        chosen.append(best_temperature(scale, mean, label, lowest))
    return chosen


def distribution(
    outcome: Outcome, items: Items, read: str, n_members: int | None = None
) -> np.ndarray:
    """The distribution of answers that a model predicts, (n_items, n_values); of its first members
    if `n_members` is given."""
    if read == VOTES:
        counts = vote_counts(outcome, len(items.values), n_members)
        return counts / counts.sum(axis=1, keepdims=True)
    mean = outcome.mass[:n_members].mean(axis=0)
    if read == MEAN:
        return np.asarray(mean)
    distributions, scale = np.empty_like(mean), Nominal(items.values)
    of_item = items.folds[outcome.repeat]
    lowest = 1.0 if read == CAUTIOUS else 0.0
    for fold, temperature in enumerate(temperatures(outcome, items, n_members, lowest)):
        distributions[of_item == fold] = tempered(scale, mean[of_item == fold], temperature)
    return distributions


def answers(outcome: Outcome, n_values: int, n_members: int | None = None) -> np.ndarray:
    """The one answer to each item, (n_items,): the majority of the members, and of tied values the
    one of the highest mean probability; of a single network the most probable."""
    mean = outcome.mass[:n_members].mean(axis=0)
    counts = vote_counts(outcome, n_values, n_members) if len(outcome.votes) else 0
    return np.asarray((counts + 0.5 * mean).argmax(axis=1))


def score_of_items(
    outcome: Outcome, items: Items, read: str, n_members: int | None = None
) -> dict[str, np.ndarray]:
    """How far the distribution is from the annotators' at each item: distance -> (n_items,).

    A cross-entropy of votes is that of votes with one half added to every value.
    """
    mass = distribution(outcome, items, read, n_members)
    distances = {name: distance(items.shares, mass) for name, distance in DISTANCES.items()}
    if read == VOTES:
        counts = vote_counts(outcome, len(items.values), n_members)
        distances["cross-entropy"] = soft.cross_entropy(items.shares, smoothed_votes(counts))
    return distances


# ---- choices: settings by trials on training folds, a variant on the first corpus ----


def outcomes(folder: str | Path, condition: str | None = None) -> list[Outcome]:
    """The outcomes of all fits in a folder, or of one condition."""
    return load_outcomes(folder, Outcome.load, CONDITIONS, MODELS, condition)


def tried(folder: str | Path, condition: str, model: str) -> list[Outcome]:
    """The trials of a model that are done, in their order."""
    keys = [Key(model, number, condition) for number in range(len(trials(model)))]
    there = [Path(folder) / "fits" / folder_name(key) for key in keys]
    return [Outcome.load(path) for path in there if (path / "fit.json").exists()]


def chosen(folder: str | Path, condition: str, model: str) -> dict[str, Any]:
    """The settings under which the labels of held-out training items were likeliest."""
    done = tried(folder, condition, model)
    if len(done) < len(trials(model)):
        raise DataError(f"{folder}: {condition} is not done for {model}; run it first")
    return dict(min(done, key=lambda outcome: float(np.mean(outcome.scores))).settings)


def best_variant(folder: str | Path) -> tuple[str, str]:
    """The variant and read-out that are nearest to the annotators' answers, on the first corpus.

    By cross-entropy, the mean over items and all repetitions that every variant has.
    """
    items = Items.load(folder, FIRST)
    done = [o for o in outcomes(folder, FIRST) if o.model in VARIANTS]
    shared = set.intersection(*({o.repeat for o in done if o.model == v} for v in VARIANTS))
    if not shared:
        raise DataError(f"{folder}: no repetition of {FIRST} has every variant yet")
    scores: dict[tuple[str, str], list[float]] = {}
    for outcome in (outcome for outcome in done if outcome.repeat in shared):
        for read in READ_OUTS:
            score = score_of_items(outcome, items, read)[BY].mean()
            scores.setdefault((outcome.model, read), []).append(float(score))
    return min(scores, key=lambda which: float(np.mean(scores[which])))
