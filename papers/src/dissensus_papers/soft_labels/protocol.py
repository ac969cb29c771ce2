"""What the paper prints, its conditions, data and folds, its networks and how it trained them.

Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), Beyond Black & White: Leveraging
Annotator Disagreement via Soft-Label Multi-Task Learning, doi 10.18653/v1/2021.naacl-main.204.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.errors import DataError
from dissensus.evaluation import Fold, k_fold, official
from dissensus.training import Training

if TYPE_CHECKING:
    from dissensus.methods import SoftLabelMtl, TrainedMethod

MODELS = {  # as users and files spell them, and as the paper does
    "stl": "STL", "kl": "MTL + KL regular", "inverse-kl": "MTL + KL inverse",
    "ce": "MTL + Cross-Entropy",
}  # fmt: skip
BASELINE, INVERSE = "stl", "inverse-kl"
N_TAGS, N_ANNOTATORS = 12, 177  # of the tweets
NEAR = 0.015  # an accuracy that is this much below a printed one counts as equal


class Printed(NamedTuple):
    """Accuracy and macro-F1 in percent, with the stars they carry over STL."""

    accuracy: float
    f1: float
    stars: str = ""  # of the accuracy
    f1_stars: str = ""


def _printed(*rows: tuple[Any, ...]) -> dict[str, Printed]:
    return {model: Printed(*row) for model, row in zip(MODELS, rows, strict=True)}


S = "**"
PRINTED_TABLES: dict[str, dict[str, Printed]] = {  # condition -> model
    "pos-cv": _printed((85.73, 85.00), (86.62, 85.90, S, S), (86.55, 85.88, S, S),
                       (86.76, 85.98, S, S)),
    "pos-test": _printed((85.84, 74.56), (85.93, 75.04), (86.29, 75.04, "*"), (86.27, 75.13, "*")),
    "stemming": _printed((73.59, 57.57), (75.63, 55.58, S), (77.09, 58.41, S, "*"),
                         (75.26, 55.92, S)),
    "pos-cv-silver": _printed((75.22, 67.01), (75.82, 67.66, S, S), (76.00, 67.76, S, S),
                              (75.99, 67.80, S, S)),
    "pos-test-silver": _printed((77.81, 60.59), (78.61, 61.68, S, S), (79.16, 61.94, S, S),
                                (78.49, 61.53, S, S)),
    "stemming-silver": _printed((71.34, 58.85), (73.17, 57.75, S), (77.47, 57.85, S),
                                (74.41, 57.06, S)),
}  # fmt: skip
EARLIER = {  # accuracy of earlier work that the paper prints next to its own
    "pos-cv": ("Jamison and Gurevych", 78.9), "pos-test": ("Plank et al.", 83.6),
    "stemming": ("Jamison and Gurevych", 76.6),
}  # fmt: skip
CELLS = ("both right", "only STL right", "only MTL right", "both wrong")
KURTOSIS_MODEL, KURTOSIS_CONDITION = "ce", "pos-cv"
KURTOSIS = (6.614, 5.961, 6.015, 5.727)  # Table 3, of the cells, STL and this MTL model, gold

# ---- conditions ----

Label = Literal["gold", "consensus"]
SEEDS = tuple(range(1000, 10001, 1000))
TAGS, STEMS = CORPORA = ("pos_tweets", "stemming")
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
        form: of the network of stems: as in the released code, or as the paper describes it.
        table: of the paper; 0 is ours.
        draws: of the paper's test of significance.
    """

    name: str
    title: str
    corpus: str
    folds: Literal["tokens", "tweets", "official", "fold10"]
    label: Label = "gold"
    chosen_by: Label = "gold"
    tested: tuple[Label, ...] = ("gold",)
    carried: bool = False
    drop_ties: bool = False
    form: Literal["code", "text"] = "code"
    table: int = 0
    draws: int = 1000

    @property
    def question(self) -> str:
        return QUESTION[self.corpus]


_CV = SoftLabelsCondition("pos-cv", "POS tag, 5-fold CV", TAGS, "tokens", carried=True)
_TEST = SoftLabelsCondition("pos-test", "POS tag, separate test set", TAGS, "official")
_STEMS = SoftLabelsCondition("stemming", "Stemming", STEMS, "fold10", draws=10_000)
CONDITIONS: dict[str, SoftLabelsCondition] = {
    condition.name: condition
    for condition in (
        *(replace(each, table=1) for each in (_CV, _TEST, _STEMS)),
        replace(_CV, name="pos-cv-silver", label="consensus", chosen_by="consensus", table=2),
        replace(_TEST, name="pos-test-silver", label="consensus", table=2),
        replace(
            _STEMS, name="stemming-silver", label="consensus", chosen_by="consensus",
            tested=("gold", "consensus"), drop_ties=True, table=2,
        ),
        replace(_CV, name="pos-cv-tweets", title="POS tag, 5-fold CV by tweet", folds="tweets"),
        replace(_CV, name="pos-cv-fresh", title="POS tag, 5-fold CV, fresh Adam", carried=False),
        replace(_STEMS, name="stemming-text", title="Stemming, network of the text", form="text"),
    )
}  # fmt: skip
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
    item, annotator, answer = np.repeat(items, n), np.tile(np.arange(n), len(items)), tags.answer
    person = tags.annotator_codes("counting automatic tokens")
    added = Annotations.from_arrays(
        np.r_[tags.item, item], np.r_[person, annotator],
        np.r_[answer, np.full(len(item), noun)].astype(answer.dtype), tags.scale, items=tags.items,
        annotators=tags.annotators,
    )  # fmt: skip
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
    if condition.folds in ("tokens", "tweets"):
        return (_by_token if condition.folds == "tokens" else _by_tweet)(corpus, condition.question)
    whole_folds = official(corpus, condition.folds)
    if not condition.drop_ties:
        return whole_folds
    kept = np.flatnonzero(~tied(corpus, condition.question))
    names, within = ("train", "test", "validation"), []
    for fold in whole_folds:
        parts: dict[str, Any] = {n: np.intersect1d(getattr(fold, n), kept) for n in names}
        within.append(replace(fold, **parts))
    return within


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


# ---- networks, as settings of `soft-label-mtl` ----

LOSSES: dict[str, Any] = {"stl": "none", "kl": "kl", "inverse-kl": "inverse-kl", "ce": "ce"}
TRAINING = Training(
    epochs=10, batch_size=1024, shuffle=False, optimiser="adam", learning_rate=1e-3,
    schedule="constant", weight_decay=0.0, warm_up=0.0, clip=math.inf, choose_by="macro-F1",
    ties="last",
)  # fmt: skip
LATER: dict[str, Any] = {  # settings that kept outcomes lack, and what they had
    "training.dropout_seed": None, "training.averaged": 0.0, "training.plateau_factor": 0.5,
    "training.smallest_gain": 0.0, "training.least_steps": 0,
}  # fmt: skip


def methods(
    condition: SoftLabelsCondition,
    glove: str | Path | None,
    settings: Sequence[tuple[str, str]] = (),
) -> dict[str, SoftLabelMtl]:
    """STL and the three MTL models of a condition, without a seed.

    Args:
        settings: other ones, name and value as typed.
    """
    from dissensus.methods import SoftLabelMtl, changed, configured, settings_of

    encoder: Any
    if condition.corpus == STEMS:
        form = ":form=text" * (condition.form == "text")
        copy = f"{form}:copy=2"  # a network for each
        encoder = {"word": f"character-cnn{form}", "stem": f"character-cnn{copy}"}
    elif glove is not None:
        encoder = f"tagger:{glove}"
    elif any(name == "encoder" for name, _ in settings):
        encoder = "auto"
    else:
        raise DataError(
            f"{condition.name} reads words: name a file of vectors with --glove (make glove)"
        )
    known = settings_of(configured(SoftLabelMtl, list(settings)))
    typed = {name: known[name] for name, _ in settings}
    usual: dict[str, Any] = {
        "encoder": encoder, "tune": "all", "label": condition.label, "target": "softmax-vote",
        "branch": "output" if condition.corpus == STEMS else "attention", "dropout": 0.1,
    }  # fmt: skip
    by_model: dict[str, Any] = {
        model: changed(SoftLabelMtl(**usual, soft_loss=soft_loss, training=TRAINING), typed)
        for model, soft_loss in LOSSES.items()
    }
    return by_model


def saved_settings(method: TrainedMethod) -> dict[str, Any]:
    """The settings of a method to save: without the device, and the folder of word vectors."""
    from dissensus.methods import settings_of

    settings = settings_of(method)
    if isinstance(settings["encoder"], str) and settings["encoder"].startswith("tagger:"):
        settings["encoder"] = f"tagger:{Path(settings['encoder'].partition(':')[2]).name}"
    untold = {"training.device", "training.save_every", "training.compile"}
    untold |= {name for name, value in LATER.items() if settings[name] == value}
    return {name: value for name, value in settings.items() if name not in untold}
