"""What the paper prints, its conditions, networks and how it trained them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.errors import DataError
from dissensus.evaluation import Fold, k_fold, official
from dissensus.methods import SoftLabelMtl, TrainedMethod, changed, configured, settings_of
from dissensus.training import Training

TITLE = "Fornaciari et al. (2021), soft-label multi-task learning"
MODELS = {  # as users and files spell them, and as the paper does
    "stl": "STL",
    "kl": "MTL + KL regular",
    "inverse-kl": "MTL + KL inverse",
    "ce": "MTL + Cross-Entropy",
}
BASELINE = "stl"
NEAR = 0.015  # within this of a printed accuracy we count as equal


class Printed(NamedTuple):
    """Accuracy and macro-F1 in percent, with the stars they carry over STL."""

    accuracy: float
    f1: float
    stars: str = ""  # of the accuracy
    f1_stars: str = ""


TABLES: dict[str, dict[str, Printed]] = {  # condition -> model
    "pos-cv": {
        "stl": Printed(85.73, 85.00),
        "kl": Printed(86.62, 85.90, "**", "**"),
        "inverse-kl": Printed(86.55, 85.88, "**", "**"),
        "ce": Printed(86.76, 85.98, "**", "**"),
    },
    "pos-test": {
        "stl": Printed(85.84, 74.56),
        "kl": Printed(85.93, 75.04),
        "inverse-kl": Printed(86.29, 75.04, "*"),
        "ce": Printed(86.27, 75.13, "*"),
    },
    "stemming": {
        "stl": Printed(73.59, 57.57),
        "kl": Printed(75.63, 55.58, "**"),
        "inverse-kl": Printed(77.09, 58.41, "**", "*"),
        "ce": Printed(75.26, 55.92, "**"),
    },
    "pos-cv-silver": {
        "stl": Printed(75.22, 67.01),
        "kl": Printed(75.82, 67.66, "**", "**"),
        "inverse-kl": Printed(76.00, 67.76, "**", "**"),
        "ce": Printed(75.99, 67.80, "**", "**"),
    },
    "pos-test-silver": {
        "stl": Printed(77.81, 60.59),
        "kl": Printed(78.61, 61.68, "**", "**"),
        "inverse-kl": Printed(79.16, 61.94, "**", "**"),
        "ce": Printed(78.49, 61.53, "**", "**"),
    },
    "stemming-silver": {
        "stl": Printed(71.34, 58.85),
        "kl": Printed(73.17, 57.75, "**"),
        "inverse-kl": Printed(77.47, 57.85, "**"),
        "ce": Printed(74.41, 57.06, "**"),
    },
}
EARLIER = {  # accuracy of earlier work that the paper prints next to its own
    "pos-cv": ("Jamison and Gurevych", 78.9),
    "pos-test": ("Plank et al.", 83.6),
    "stemming": ("Jamison and Gurevych", 76.6),
}
CELLS = ("both right", "only STL right", "only MTL right", "both wrong")
KURTOSIS = {  # Table 3, of STL and MTL with cross-entropy on POS tags, gold
    "both right": 6.614,
    "only STL right": 5.961,
    "only MTL right": 6.015,
    "both wrong": 5.727,
}
KURTOSIS_MODEL, KURTOSIS_CONDITION = "ce", "pos-cv"


Label = Literal["gold", "consensus"]
SEEDS = tuple(range(1000, 10001, 1000))
TAGS, STEMS = "pos_tweets", "stemming"
CORPORA = (TAGS, STEMS)
QUESTION = {TAGS: "tag", STEMS: "is the stem"}
N_FOLDS = 5


@dataclass(frozen=True)
class SoftLabelsCondition:
    """A block of the paper's tables, or one that we add (table 0).

    Args:
        label: what the main task learns: gold, or the majority of the crowd ("silver").
        chosen_by: the labels of the development part that an epoch is chosen by.
        tested: the labels that predictions are compared with, the primary ones first.
        folds: "tokens" and "tweets" are five folds of the crowd's part, "official" the separate
            test set, "fold10" the ten ready-made folds of stems.
        carried: whether Adam keeps its moments from fold to fold, as in the released code.
        drop_ties: whether items on which the crowd ties are left out everywhere.
        table: of the paper; 0 is ours.
        draws: of the paper's test of significance.
    """

    name: str
    title: str
    corpus: str
    label: Label
    chosen_by: Label
    folds: Literal["tokens", "tweets", "official", "fold10"]
    tested: tuple[Label, ...] = ("gold",)
    carried: bool = False
    drop_ties: bool = False
    table: int = 0
    draws: int = 1000

    @property
    def question(self) -> str:
        return QUESTION[self.corpus]


_CV = SoftLabelsCondition(
    "pos-cv", "POS tag, 5-fold CV", TAGS, "gold", "gold", "tokens", carried=True
)
_TEST = SoftLabelsCondition(
    "pos-test", "POS tag, separate test set", TAGS, "gold", "gold", "official"
)
_STEMS = SoftLabelsCondition("stemming", "Stemming", STEMS, "gold", "gold", "fold10", draws=10_000)

CONDITIONS: dict[str, SoftLabelsCondition] = {
    condition.name: condition
    for condition in (
        replace(_CV, table=1),
        replace(_TEST, table=1),
        replace(_STEMS, table=1),
        replace(_CV, name="pos-cv-silver", label="consensus", chosen_by="consensus", table=2),
        replace(_TEST, name="pos-test-silver", label="consensus", table=2),
        replace(
            _STEMS,
            name="stemming-silver",
            label="consensus",
            chosen_by="consensus",
            tested=("gold", "consensus"),
            drop_ties=True,
            table=2,
        ),
        replace(_CV, name="pos-cv-tweets", title="POS tag, 5-fold CV by tweet", folds="tweets"),
        replace(_CV, name="pos-cv-fresh", title="POS tag, 5-fold CV, fresh Adam", carried=False),
    )
}
PRINTED = tuple(name for name, condition in CONDITIONS.items() if condition.table)


# ---- data ----


def with_automatic(corpus: Corpus) -> Corpus:
    """The corpus with its automatic tokens (@USER, URL) as NOUN, answered by every annotator.

    The paper's file counts them so: they are learned, and their soft label is all but one-hot.
    """
    if "auto_labelled" not in corpus.item_attributes:
        return corpus
    tags = corpus["tag"]
    automatic = np.asarray(corpus.item_attributes["auto_labelled"]).astype(bool)
    items = np.flatnonzero(automatic & (tags.per_item() == 0))
    assert isinstance(tags.scale, Nominal)
    noun = tags.scale.values.index("NOUN")
    n = corpus.n_annotators
    added = Annotations.from_arrays(
        np.r_[tags.item, np.repeat(items, n)],
        np.r_[tags.annotator_codes("counting automatic tokens"), np.tile(np.arange(n), len(items))],
        np.r_[tags.answer, np.full(len(items) * n, noun)].astype(tags.answer.dtype),
        tags.scale,
        items=tags.items,
        annotators=tags.annotators,
    )
    return replace(corpus, questions={**corpus.questions, "tag": added})


def labels(corpus: Corpus, question: str, label: Label) -> np.ndarray:
    """The label of each item as a code, -1 where it has none; ties of the crowd: the first."""
    if label == "gold" and question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    given = corpus.gold[question] if label == "gold" else corpus[question].consensus("first")
    codes = np.full(corpus.n_items, -1)
    codes[given.item] = given.answer
    return codes


def tied(corpus: Corpus, question: str) -> np.ndarray:
    """Whether no answer is the most frequent one, (n_items,)."""
    counts = corpus[question].counts()
    return (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1


# ---- folds ----


def folds(corpus: Corpus, condition: SoftLabelsCondition) -> list[Fold]:
    """Training, development and test items of each fold, the same in every run."""
    if condition.folds == "tokens":
        return _by_token(corpus, condition.question)
    if condition.folds == "tweets":
        return _by_tweet(corpus, condition.question)
    whole_folds = official(corpus, "fold10" if condition.folds == "fold10" else "official")
    if not condition.drop_ties:
        return whole_folds
    kept = np.flatnonzero(~tied(corpus, condition.question))
    return [_only(fold, kept) for fold in whole_folds]


def _by_token(corpus: Corpus, question: str) -> list[Fold]:
    """Five stratified folds of single tokens: words of one tweet stand on both sides."""
    from sklearn.model_selection import StratifiedKFold

    items = _of_crowd(corpus)
    gold = labels(corpus, question, "gold")[items]
    if np.bincount(gold).max(initial=0) < N_FOLDS:  # which scikit-learn refuses
        raise DataError(f"{corpus.name}: no tag has {N_FOLDS} tokens, one for each fold")
    dealt = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(items, gold)
    folds = []
    for number, (rest, test) in enumerate(dealt):
        drawn = np.random.default_rng([0, number]).permutation(rest)[: len(items) // N_FOLDS]
        inside = np.isin(rest, drawn)
        train, development = items[rest[~inside]], items[rest[inside]]
        folds.append(Fold(f"fold {number + 1}", train, items[test], development))
    return folds


def _by_tweet(corpus: Corpus, question: str) -> list[Fold]:
    """The same with whole tweets on one side, also those of the development part."""
    items = _of_crowd(corpus)
    crowd = corpus.select(items=items)
    units = crowd.units("content")
    folds = []
    for number, fold in enumerate(k_fold(crowd, N_FOLDS, 0, "content", question)):
        tweets = np.random.default_rng([0, number]).permutation(np.unique(units[fold.train]))
        size = np.cumsum(np.bincount(units[fold.train])[tweets])
        drawn = tweets[: int(np.searchsorted(size, len(items) // N_FOLDS)) + 1]
        inside = np.isin(units[fold.train], drawn)
        train, dev = items[fold.train[~inside]], items[fold.train[inside]]
        folds.append(Fold(fold.name, train, items[fold.test], dev))
    return folds


def _of_crowd(corpus: Corpus) -> np.ndarray:
    """The part that the crowd answered: training and development, without the separate test."""
    return np.flatnonzero(corpus.in_part("train") | corpus.in_part("dev"))


def _only(fold: Fold, kept: np.ndarray) -> Fold:
    assert fold.validation is not None
    train, test, development = (
        np.intersect1d(part, kept) for part in (fold.train, fold.test, fold.validation)
    )
    return replace(fold, train=train, test=test, validation=development)


LOSSES: dict[str, Any] = {"stl": "none", "kl": "kl", "inverse-kl": "inverse-kl", "ce": "ce"}
TRAINING = Training(
    epochs=10,
    batch_size=1024,
    shuffle=False,
    optimiser="adam",
    learning_rate=1e-3,
    schedule="constant",
    weight_decay=0.0,
    warm_up=0.0,
    clip=math.inf,
    choose_by="macro-F1",
    ties="last",
)
LATER: dict[str, Any] = {  # settings that kept outcomes lack, and what they had
    "training.dropout_seed": None,
    "training.averaged": 0.0,
    "training.plateau_factor": 0.5,
    "training.smallest_gain": 0.0,
    "training.decay_biases": True,
    "training.least_steps": 0,
}


def methods(
    condition: SoftLabelsCondition,
    glove: str | Path | None,
    settings: Sequence[tuple[str, str]] = (),
) -> dict[str, SoftLabelMtl]:
    """STL and the three MTL models of a condition, without a seed.

    Args:
        settings: other ones, name and value as typed.
    """
    by_model = {}
    for model, soft_loss in LOSSES.items():
        plain = SoftLabelMtl(
            encoder=_encoder(condition, glove, settings),
            tune="all",
            label=condition.label,
            target="softmax-vote",
            soft_loss=soft_loss,
            branch="output" if condition.corpus == STEMS else "attention",
            dropout=0.1,
            training=TRAINING,
        )
        other = changed(plain, _typed(settings))
        assert isinstance(other, SoftLabelMtl)
        by_model[model] = other
    return by_model


def _encoder(
    condition: SoftLabelsCondition, glove: str | Path | None, settings: Sequence[tuple[str, str]]
) -> str | dict[str, str]:
    if condition.corpus == STEMS:
        return {"word": "character-cnn", "stem": "character-cnn:copy=2"}  # a network for each
    if glove is not None:
        return f"tagger:{glove}"
    if any(name == "encoder" for name, _ in settings):
        return "auto"
    raise DataError(
        f"{condition.name} reads words: name a file of vectors with --glove (make glove)"
    )


def _typed(settings: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Settings that were typed, as values."""
    known = settings_of(configured(SoftLabelMtl, list(settings)))
    return {name: known[name] for name, _ in settings}


def saved_settings(method: TrainedMethod) -> dict[str, Any]:
    """The settings of a method to save: without the device, and the folder of word vectors."""
    settings = settings_of(method)
    if isinstance(settings["encoder"], str) and settings["encoder"].startswith("tagger:"):
        settings["encoder"] = f"tagger:{Path(settings['encoder'].partition(':')[2]).name}"
    untold = {"training.device", "training.save_every", "training.compile"}
    untold |= {name for name, value in LATER.items() if settings[name] == value}
    return {name: value for name, value in settings.items() if name not in untold}
