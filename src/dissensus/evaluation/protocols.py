"""Protocols: the official split, k folds, repeated k folds.

A protocol returns folds, always the same ones for the same seed. Items of one group
(`Corpus.units`) are never divided between training and test, unless an official split does so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, as_numbers

PROTOCOLS = ("official", "k-fold", "repeated")
VALIDATED = ("dev", "validation", "valid", "val")  # names of a part to choose the best epoch on
TESTED = ("test", *VALIDATED)  # the first that has answers or gold labels
N_BINS = 5  # bins of equally many items, to balance the ratings of folds


@dataclass(frozen=True, eq=False)
class Fold:
    """Training and test items, as codes of the corpus.

    `run` counts the repetitions of a protocol: the folds of one run test every item once.
    """

    name: str
    train: np.ndarray  # (n_train,) sorted codes
    test: np.ndarray  # (n_test,)
    validation: np.ndarray | None = None  # to choose the best epoch on, if a split has it
    run: int = 0
    notes: tuple[str, ...] = ()  # problems with the fold, a line each

    def parts(self, corpus: Corpus) -> tuple[Corpus, Corpus, Corpus | None]:
        """The training, test and (if there is one) validation corpus."""
        validation = None if self.validation is None else corpus.select(items=self.validation)
        return corpus.select(items=self.train), corpus.select(items=self.test), validation


def official(
    corpus: Corpus, scheme: str = "official", test: str | None = None, by: str | None = None
) -> list[Fold]:
    """The folds of a split that is part of the corpus.

    A split into train, dev and test is one fold that is validated on dev; without a test part, dev
    is the test part. A split without a part "train" has predefined folds: each is the test part
    once, with the next one for validation.

    Args:
        test: the part to test on, if not the default.
        by: how items are grouped, as in `Corpus.units`; notes say if the split divides a group.

    Example:
        >>> answers = Annotations.from_rows([(f"t{k}", "ann", "yes") for k in range(4)])
        >>> parts = {"official": ["train", "train", "dev", "test"]}
        >>> corpus = Corpus.build("mine", answers.items, {"q": answers}, splits=parts)
        >>> [fold.test.tolist() for fold in official(corpus)]
        [[3]]
    """
    parts = corpus.parts(scheme)
    if not parts:
        raise DataError(
            f"{corpus.name}: no split {scheme!r}; its splits: {listed(corpus.splits) or 'none'}; "
            "use k folds"
        )
    if "train" not in parts:
        folds = _predefined_folds(corpus, scheme, parts)
    else:
        folds = [_train_and_test(corpus, scheme, parts, test)]
    return [_with_notes(corpus, fold, by, corpus.questions) for fold in folds]


def k_fold(
    corpus: Corpus, k: int = 5, seed: int = 0, by: str | None = None, stratify: str | None = None
) -> list[Fold]:
    """k folds of about equally many items; each is the test part once.

    Args:
        by: how items are grouped, as in `Corpus.units`: the grouping attribute or the content.
        stratify: a question. In every fold, about the same share of items has each value as its
            majority (ratings: each fifth of the means; sets: each value). Groups are distributed
            one by one, the largest first, each to the fold with the fewest items of its values.

    Example:
        >>> rows = [(f"t{k}", "ann", "yes" if k < 4 else "no") for k in range(8)]
        >>> answers = Annotations.from_rows(rows)
        >>> corpus = Corpus.build("mine", answers.items, {"q": answers})
        >>> [len(fold.test) for fold in k_fold(corpus, k=4, stratify="q")]
        [2, 2, 2, 2]
    """
    return repeated(corpus, k, 1, seed, by, stratify)


def repeated(
    corpus: Corpus,
    k: int = 5,
    times: int = 2,
    seed: int = 0,
    by: str | None = None,
    stratify: str | None = None,
) -> list[Fold]:
    """`k_fold` several times with different folds; the first time equals `k_fold`."""
    if times < 1:
        raise DataError(f"times must be at least 1, found {times}")
    units = np.unique(corpus.units(by), return_inverse=True)[1].reshape(-1)
    n_units = int(units.max(initial=-1)) + 1
    _check_k(corpus, k, n_units)
    strata = _strata(corpus, stratify)
    counts = np.zeros((n_units, strata.shape[1]))
    np.add.at(counts, units, strata)
    questions = corpus.questions if stratify is None else [stratify]
    folds = []
    for run in range(times):
        fold_of_item = _distributed(counts, np.bincount(units, minlength=n_units), k, [seed, run])[
            units
        ]
        for number in range(k):
            again = f"run {run + 1}, " if times > 1 else ""
            inside = fold_of_item == number
            name = f"{again}fold {number + 1}"
            fold = Fold(name, np.flatnonzero(~inside), np.flatnonzero(inside), run=run)
            folds.append(_with_notes(corpus, fold, by, questions))
    return folds


def nested(
    corpus: Corpus,
    fold: Fold,
    k: int = 5,
    seed: int = 0,
    by: str | None = None,
    stratify: str | None = None,
) -> list[Fold]:
    """k folds of a fold's training items, to choose settings without using its test items."""
    inner = k_fold(corpus.select(items=fold.train), k, seed, by, stratify)
    return [
        replace(
            part,
            name=f"{fold.name}, inner {part.name}",
            train=fold.train[part.train],
            test=fold.train[part.test],
            run=fold.run,
        )
        for part in inner
    ]


@dataclass(frozen=True, eq=False)
class EvaluationProtocol:
    """Folds, with facts to save and a description to print."""

    folds: list[Fold]
    facts: dict[str, Any]  # what determines the folds, saved with results
    description: str  # a line


def choose_protocol(
    corpus: Corpus,
    kind: str | None = None,
    *,
    folds: int = 5,
    times: int = 2,
    by: str | None = None,
    scheme: str = "official",
    test: str | None = None,
) -> EvaluationProtocol:
    """The folds of a protocol: "official", "k-fold" or "repeated".

    By default the official split if it has a part to test on, with answers or gold labels; else k
    folds, stratified by the first question.

    Args:
        folds: how many, for k-fold and repeated.
        times: repetitions, for repeated.
        by: how items are grouped, as in `Corpus.units`.
        scheme: the split to use as the official one.
        test: the part of it to test on; test, else dev, if left out.
    """
    if kind not in (None, *PROTOCOLS):
        raise DataError(f"no protocol {kind!r}; there are {', '.join(PROTOCOLS)}")
    part = test or _tested_part(corpus, scheme)
    if kind is None:
        kind = "official" if part is not None else "k-fold"
    grouped: dict[str, Any] = {} if by is None else {"by": by}
    if kind == "official":
        fold_list = official(corpus, scheme, part, by)
        known = {"kind": kind, "scheme": scheme, "test": part or "each part"}
        return EvaluationProtocol(fold_list, known | grouped, _official_line(corpus, fold_list))
    first = next(iter(corpus.questions))
    times = times if kind == "repeated" else 1
    fold_list = repeated(corpus, folds, times, 0, by, first)
    facts = {"kind": kind, "folds": folds, "times": times, "seed": 0, "stratify": first} | grouped
    again = f", repeated {times} times" if times > 1 else ""
    line = f"{folds} folds of {corpus.n_items} items{again}"
    if corpus.parts(scheme):
        line += ", without regard to the official split"
    return EvaluationProtocol(fold_list, facts, line)


def _tested_part(corpus: Corpus, scheme: str) -> str | None:
    """The part of a split to test on: one that has answers or gold labels."""
    parts = corpus.parts(scheme)
    if "train" not in parts:
        return None
    for part in TESTED:
        if part in parts and any(answers_and_gold(corpus.part(part, scheme))):
            return part
    return None


def answers_and_gold(corpus: Corpus) -> tuple[bool, bool]:
    """Whether the corpus has answers, and whether it has gold labels for its questions."""
    gold = [corpus.gold[question] for question in corpus.questions if question in corpus.gold]
    return (
        any(answers.n_rows for answers in corpus.questions.values()),
        any(labels.n_rows for labels in gold),
    )


def _official_line(corpus: Corpus, folds: list[Fold]) -> str:
    if len(folds) > 1:
        return f"official split: {len(folds)} predefined folds"
    train, test, validation = folds[0].parts(corpus)
    name = folds[0].name.rpartition(": ")[2]
    line = f"official split: training on {counted(train.n_items, 'item')}, testing on "
    line += f"{test.n_items} ({name}{_only_gold(test)})"
    if validation is not None:
        line += f", validation on {validation.n_items}{_only_gold(validation, ' (', ')')}"
    return line


def _only_gold(part: Corpus, before: str = ": ", after: str = "") -> str:
    only = answers_and_gold(part) == (False, True)
    return f"{before}gold labels, no answers{after}" if only else ""


# ---- official parts ----


def _train_and_test(corpus: Corpus, scheme: str, parts: list[str], test: str | None) -> Fold:
    others = [part for part in parts if part != "train"]
    if not others:
        raise DataError(f"{corpus.name}: split {scheme!r} has only a part 'train'; use k folds")
    if test is not None and test not in others:
        raise DataError(f"{corpus.name}: no part {test!r} to test on; choose from {listed(others)}")
    tested = test or next((part for part in TESTED if part in others), None)
    if tested is None:
        raise DataError(f"{corpus.name}: no part to test on; choose one of {listed(others)}")
    validating = [part for part in VALIDATED if part in others and part != tested]
    train, inside = corpus.in_part("train", scheme), corpus.in_part(tested, scheme)
    validation = corpus.in_part(validating[0], scheme) if validating else None
    return Fold(
        f"{scheme}: {tested}",
        np.flatnonzero(train),
        np.flatnonzero(inside),
        None if validation is None else np.flatnonzero(validation),
    )


def _predefined_folds(corpus: Corpus, scheme: str, parts: list[str]) -> list[Fold]:
    numbers = as_numbers(parts)
    if numbers is not None:  # "10" comes after "9"
        parts = [part for _, part in sorted(zip(numbers, parts, strict=True))]
    if len(parts) < 3:
        raise DataError(
            f"{corpus.name}: split {scheme!r} has neither a part 'train' nor three folds; "
            f"its parts: {listed(parts)}"
        )
    inside = {part: corpus.in_part(part, scheme) for part in parts}
    anywhere = np.logical_or.reduce(list(inside.values()))
    folds = []
    for number, part in enumerate(parts):
        next_part = inside[parts[(number + 1) % len(parts)]]
        masks = anywhere & ~inside[part] & ~next_part, inside[part], next_part
        train, test, validation = (np.flatnonzero(mask) for mask in masks)
        folds.append(Fold(f"{scheme}: {part}", train, test, validation))
    return folds


# ---- k folds ----


def _check_k(corpus: Corpus, k: int, n_units: int) -> None:
    if k < 2:
        raise DataError(f"cross-validation has at least 2 folds, found {k}")
    if k > n_units:
        alone = "" if n_units == corpus.n_items else ", or split by 'item'"
        most = f"use at most {n_units}" if n_units > 1 else "at least 2 are needed"
        raise DataError(
            f"{corpus.name}: {counted(corpus.n_items, 'item')} in {counted(n_units, 'group')} "
            f"cannot be divided into {k} folds; {most}{alone}"
        )


def _strata(corpus: Corpus, question: str | None) -> np.ndarray:
    """What is balanced: (n_items, n_strata), the last stratum for items without answers."""
    if question is None:
        return np.ones((corpus.n_items, 1))
    annotations = corpus[question]
    values = _majority(annotations)
    return np.column_stack([values, ~values.any(axis=1)]).astype(float)


def _majority(annotations: Annotations) -> np.ndarray:
    """Each item's majority value, (n_items, n_values), or fifth of the mean ratings."""
    label = annotations.consensus(ties="first")
    if isinstance(annotations.scale, Interval):
        edges = np.quantile(label.answer, np.arange(1, N_BINS) / N_BINS) if label.n_rows else []
        shown = np.eye(N_BINS, dtype=bool)[np.searchsorted(edges, label.answer, side="right")]
    else:
        shown = annotations.scale.one_hot(label.answer).astype(bool)
    majority = np.zeros((annotations.n_items, shown.shape[1]), dtype=bool)
    majority[label.item] = shown
    return majority


def _distributed(counts: np.ndarray, sizes: np.ndarray, k: int, seed: list[int]) -> np.ndarray:
    """The fold of each unit: the largest first, each to the fold with the least of its values.

    Rare values have more weight. Of equal folds, the one with the fewest items is taken.
    """
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(len(counts))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    weight = 1 / np.maximum(counts.sum(axis=0), 1)
    of_folds, filled = np.zeros((k, counts.shape[1])), np.zeros(k)
    fold = np.zeros(len(counts), dtype=np.int64)
    for unit in order:
        cost = of_folds @ (counts[unit] * weight)
        best = np.flatnonzero(cost <= cost.min() + 1e-12)
        fold[unit] = chosen = best[filled[best].argmin()]
        of_folds[chosen] += counts[unit]
        filled[chosen] += sizes[unit]
    return fold


# ---- notes ----


def _with_notes(corpus: Corpus, fold: Fold, by: str | None, questions: Iterable[str]) -> Fold:
    """The fold with notes on groups that it divides and values that are missing on one side."""
    units = corpus.units(by)
    shared, what = np.isin(units[fold.test], units[fold.train]), by or corpus.group or "content"
    of = f"{shared.sum()} of {len(fold.test)} test items"
    notes = [f"{of} share their {what} with training items"] if shared.any() else []
    for question in questions:
        notes += _missing_values(corpus[question], fold, question)
    return replace(fold, notes=tuple(notes))


def _missing_values(annotations: Annotations, fold: Fold, question: str) -> list[str]:
    """Values that are the majority of some item, but of no training item or no test item."""
    scale = annotations.scale
    if not isinstance(scale, Nominal | Ordinal | MultiLabel):
        return []
    majority = _majority(annotations)
    notes = []
    for side, codes in (("training", fold.train), ("test", fold.test)):
        inside = majority[codes].any(axis=0)
        gone = majority.any(axis=0) & ~inside & inside.any()  # a part without answers has none
        if gone.any():
            values = listed([scale.values[code] for code in np.flatnonzero(gone)])
            notes.append(f"{question}: no {side} item has the majority {values}")
    return notes
