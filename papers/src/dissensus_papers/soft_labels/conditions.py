"""The paper's conditions: which data, which labels, which folds; every rule of its protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import Fold, k_fold, official
from dissensus.scales import Nominal

Label = Literal["gold", "consensus"]
SEEDS = tuple(range(1000, 10001, 1000))
TAGS, STEMS = "pos_tweets", "stemming"
CORPORA = (TAGS, STEMS)
QUESTION = {TAGS: "tag", STEMS: "is the stem"}
N_FOLDS = 5


def read(data: Path) -> dict[str, Corpus]:
    """The corpora of the paper that a folder contains, or the one corpus that it is."""
    from dissensus import datasets

    there = [data / name for name in CORPORA if (data / name).is_dir()]
    corpora = {}
    for path in there or [data]:
        corpus = datasets.read(path)
        if corpus.name not in CORPORA:
            raise DataError(f"{path}: holds {corpus.name!r}, not {' or '.join(CORPORA)}")
        corpora[corpus.name] = corpus
    return corpora


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
