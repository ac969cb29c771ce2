"""The corpora, their folds, and figures that no model has to be fitted for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus import Annotations, Corpus, Names, simulate
from dissensus.contents import Contents
from dissensus.datasets import usable_clips
from dissensus.densities import RatingKde, rating_densities
from dissensus.evaluation import Fold, k_fold, nested
from dissensus.metrics import DENSITY_METRICS, concordance
from dissensus_papers.framework.declared import Figures, Source, some_annotators

N_JOKERS = 250  # of 5,000 annotators: each rated about 72 of the 100 jokes
PERSPECTIVES, SIDES = ("reader", "writer"), ("V", "A")
PERSPECTIVE, PIECE = "perspective", "piece"
TWO_MODES = "simulated-ratings"


def perspectives(corpus: Corpus) -> Corpus:
    """EmoBank with an item for each sentence and perspective, and the questions V and A of both.

    So a model of what readers feel can be tested on what writers felt.
    """
    if PERSPECTIVE in corpus.item_attributes:
        return corpus
    n = corpus.n_items
    items = Names([f"{name}, {side}" for side in PERSPECTIVES for name in corpus.items])
    twice = pa.array(np.tile(np.arange(n), 2))
    return Corpus.build(
        corpus.name,
        items,
        {question: _of_both(corpus, question, items) for question in SIDES},
        contents={
            role: (contents, np.tile(corpus.content[role], 2))
            for role, contents in corpus.contents.items()
        },
        item_attributes={
            PERSPECTIVE: np.repeat(PERSPECTIVES, n).tolist(),
            **{key: values.take(twice) for key, values in corpus.item_attributes.items()},
        },
        splits={name: parts.take(twice) for name, parts in corpus.splits.items()},
        group=corpus.group,
        left_out=(),
        notes=corpus.notes,
    )


def _of_both(corpus: Corpus, question: str, items: Names) -> Annotations:
    """The answers of readers and writers to one question, to items of their own."""
    parts = [corpus[f"{perspective} {question}"] for perspective in PERSPECTIVES]
    item = np.concatenate([part.item + at * corpus.n_items for at, part in enumerate(parts)])
    answer = np.concatenate([part.answer for part in parts])
    response = np.concatenate([np.asarray(part.response) for part in parts])
    return Annotations.from_arrays(
        item, None, answer, parts[0].scale, items=items, response=response
    )


def described_pieces(corpus: Corpus) -> Corpus:
    """VGMIDI with one vector for each piece: how notes are distributed, instead of their mean.

    Pieces without notes are left out.
    """
    if PIECE in corpus.contents:
        return corpus
    corpus = corpus.select(items=corpus.content["notes"] >= 0)
    seconds = np.asarray(corpus.item_attributes["seconds"].to_numpy(zero_copy_only=False), float)
    notes = corpus.contents["notes"]
    pieces = [np.array(notes[code], dtype=float) for code in corpus.content["notes"]]
    vectors = np.stack([describe_notes(*each) for each in zip(pieces, seconds, strict=True)])
    contents, codes = Contents.distinct("features", vectors.astype(np.float32))
    return replace(corpus, contents={PIECE: contents}, content={PIECE: codes})


def describe_notes(notes: np.ndarray, seconds: float) -> np.ndarray:
    """What a piece sounds like, as numbers of about the same size.

    Args:
        notes: (n_notes, 5), as the loader has them: place, length, pitch, velocity, track.
    """
    place, length, pitch, velocity, track = notes.T
    classes = np.bincount(pitch.astype(int) % 12, length, minlength=12)
    octave, loudness = (pitch - 60) / 12, (velocity - 64) / 32
    steps = np.diff(octave[np.argsort(place, kind="stable")]) if len(notes) > 1 else np.zeros(1)
    shares, tonic = classes / max(classes.sum(), 1e-9), int(classes.argmax())
    return np.array(
        [
            *(f(column) for column in (np.log(length + 0.01), octave, loudness)
              for f in (np.mean, np.std)),
            np.abs(steps).mean(),
            np.log(len(notes) / max(seconds, 1.0)),
            np.log(max(seconds, 1.0)),
            np.log(len(np.unique(track))),
            *np.sort(shares),  # of any key
            *(shares[(tonic + step) % 12] for step in (3, 4)),  # the minor and the major third
        ]
    )  # fmt: skip


SOURCES: dict[str, Source] = {
    "speechocean762": Source("speechocean762", "sentences"),
    "nli_variation": Source("nli_variation"),
    "jester5k": Source("jester5k", prepared=lambda corpus: some_annotators(corpus, N_JOKERS)),
    "faces_3dsk": Source("faces_3dsk"),
    "emobank": Source("emobank", "emobank", prepared=perspectives),
    "vgmidi": Source("vgmidi", prepared=described_pieces),
    **{  # the clips that the paper uses, with its two questions
        name: Source(name, prepared=lambda corpus: usable_clips(corpus, ("activation", "valence")))
        for name in ("msp_improv", "msp_podcast")
    },
    TWO_MODES: Source("", simulated=lambda: simulate.ratings(seed=1)),
}


SEEDS = (0, 1, 2, 3, 4)
N_FOLDS = 5
OF_AGE = 18

Folds = Callable[[Corpus], list[Fold]]


def speaker_folds(corpus: Corpus) -> list[Fold]:
    """Five folds by speaker; a fifth of the training speakers chooses the epoch."""
    folds = k_fold(corpus, N_FOLDS, by="speaker", stratify=next(iter(corpus.questions)))
    return [_with_validation(corpus, fold, "speaker") for fold in folds]


def item_folds(question: str, corpus: Corpus) -> list[Fold]:
    """Five folds by item, balanced by a question; a fifth of the training part chooses the epoch.

    Items with the same content, or of the same group, are in one part.
    """
    folds = k_fold(corpus, N_FOLDS, stratify=question)
    return [_with_validation(corpus, fold, None) for fold in folds]


def adults_to_children(corpus: Corpus) -> list[Fold]:
    """Training on speakers from 18 years, test on younger ones."""
    age = corpus.item_attributes["age"].to_numpy(zero_copy_only=False)
    return [_transfer(corpus, "adults to children", age >= OF_AGE, age < OF_AGE, "speaker")]


def tasks(first: Iterable[str], second: Iterable[str], corpus: Corpus) -> list[Fold]:
    """Training on the items of some tasks, test on those of others."""
    task = np.array(corpus.item_attributes["task"].to_pylist())
    train, test = (np.isin(task, [*some]) for some in (first, second))
    name = f"{'+'.join(first)} to {'+'.join(second)}"
    return [_transfer(corpus, name, train, test, None)]


def perspective(train: str, test: str, corpus: Corpus) -> list[Fold]:
    """The official split of EmoBank: trained on the ratings of one perspective, tested on those of
    another."""
    whose = np.array(corpus.item_attributes[PERSPECTIVE].to_pylist())
    rated = corpus[next(iter(corpus.questions))].per_item() > 0

    def part(name: str, side: str) -> np.ndarray:
        return np.flatnonzero(corpus.in_part(name) & rated & (whose == side))

    name = f"{train} to {test}"
    return [Fold(name, part("train", train), part("test", test), part("dev", train))]


def parts_of(split: str, train: str, validation: str, test: str, corpus: Corpus) -> list[Fold]:
    """One fold: the parts of a split that the corpus is distributed with."""
    of_item = np.array(corpus.splits[split].to_pylist(), dtype=object)
    parts = (np.flatnonzero(of_item == part) for part in (train, test, validation))
    learned, tested, chosen = parts
    return [Fold(test, learned, tested, chosen)]


def _transfer(
    corpus: Corpus, name: str, train: np.ndarray, test: np.ndarray, by: str | None
) -> Fold:
    fold = Fold(name, np.flatnonzero(train), np.flatnonzero(test))
    return _with_validation(corpus, fold, by)


def _with_validation(corpus: Corpus, fold: Fold, by: str | None) -> Fold:
    inner = nested(corpus, fold, N_FOLDS, by=by)[0]
    return replace(fold, train=inner.train, validation=inner.test)


CCC = ("CCC", "annotator CCC", "annotator CCC, mean")
READINGS = ("soft", "plain", "fixed")  # at test, from what annotators are predicted to answer
OTHERS = "annotators, by the mean of the others"
HALVES = "half of the annotators, by the other half"
FEWEST = 10  # ratings of an annotator with a concordance


def reading(questions: Sequence[str], text: str) -> str:
    """The name of the table of a density reading."""
    return f"{' x '.join(questions)} ({text})"


def agreement_of_annotators(corpus: Corpus) -> Figures:
    """How well an annotator's ratings agree with the mean of the others, per annotator."""
    return {question: _of_question(corpus[question]) for question in corpus.questions}


def _of_question(answers: Annotations) -> dict[str, dict[str, float]]:
    """Concordance as given, and as if all used the scale alike: then it is the correlation."""
    figures, given, alike = {}, [], []
    for name, own, others in against_others(answers):
        given.append(concordance(own, others))
        alike.append(float(np.corrcoef(own, others)[0, 1]))
        figures[f"annotator {name}, by the mean of the others"] = {CCC[2]: given[-1]}
    mean, correlation = float(np.mean(given)), float(np.mean(alike))
    figures[OTHERS] = {CCC[0]: mean, CCC[2]: mean}
    figures["the same, if all used the scale alike"] = {CCC[0]: correlation, CCC[2]: correlation}
    return figures


def of_test_items(folds: Folds, figures: Callable[[Corpus], Figures], corpus: Corpus) -> Figures:
    """Figures of the items that are tested, instead of all."""
    return figures(corpus.select(items=np.concatenate([fold.test for fold in folds(corpus)])))


def figures_of_crowd(questions: Sequence[str], densities: Sequence[str], corpus: Corpus) -> Figures:
    """Of many annotators: the mean of their concordances with the others, and how far the density
    of a random half of them is from that of the other half, for each reading.

    Halves have more noise than all annotators together: a model of all may be nearer.
    """
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for question in questions:
        if corpus[question].annotator is not None:
            mean = _mean_concordance(corpus[question])
            rows[question] = {OTHERS: {CCC[0]: mean, CCC[2]: mean}}
    by_bins: dict[int, dict[str, float]] = {}
    for text in densities:
        bins = RatingKde.from_text(text.partition("@")[0]).bins
        if bins not in by_bins:
            by_bins[bins] = halves(corpus, questions, bins)
        rows[reading(questions, text)] = {HALVES: by_bins[bins]}
    return rows


def nth_of(codes: np.ndarray) -> np.ndarray:
    """How often each code stands before its place, from 0.

    Example:
        >>> nth_of(np.array([7, 3, 7, 7, 3])).tolist()
        [0, 0, 1, 2, 1]
    """
    order = np.argsort(codes, kind="stable")
    ordered, nth = codes[order], np.empty(len(codes), dtype=int)
    nth[order] = np.arange(len(codes)) - np.searchsorted(ordered, ordered)
    return nth


def halves(corpus: Corpus, questions: Sequence[str], bins: int) -> dict[str, float]:
    """The distances between the densities of two random halves of the ratings of each item."""
    joint = corpus.joint(*questions)
    order = np.random.default_rng(0).permutation(len(joint.item))
    order = order[np.argsort(joint.item[order], kind="stable")]
    nth = nth_of(joint.item[order])
    first, second = (
        rating_densities(_with_rows(corpus, questions, order[nth % 2 == side]), questions, bins)
        for side in (0, 1)
    )
    return {name: metric(first, second) for name, metric in DENSITY_METRICS.items()}


def _with_rows(corpus: Corpus, questions: Sequence[str], rows: np.ndarray) -> Corpus:
    """A corpus with some of the joint answers to some questions."""
    joint = corpus.joint(*questions)
    answers = {
        question: Annotations.from_arrays(
            joint.item[rows],
            None,
            joint.answers[question][rows],
            corpus[question].scale,
            items=corpus.items,
            response=np.arange(len(rows)),
        )
        for question in questions
    }
    return replace(corpus.select(questions=tuple(questions)), questions=answers)


def _mean_concordance(answers: Annotations) -> float:
    each = [
        concordance(own, others)
        for _, own, others in against_others(answers)
        if len(own) >= FEWEST and own.std() > 0
    ]
    return float(np.mean(each)) if each else float("nan")


def against_others(answers: Annotations) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """For each annotator their ratings, and the means of the others on the same items."""
    ratings = _matrix(answers)
    n, total = np.sum(~np.isnan(ratings), axis=1), np.nansum(ratings, axis=1)
    pairs = []
    for at, name in enumerate(answers.annotators):
        there = ~np.isnan(ratings[:, at]) & (n > 1)
        own = ratings[there, at]
        pairs.append((name, own, (total[there] - own) / (n[there] - 1)))
    return pairs


def _matrix(answers: Annotations) -> np.ndarray:
    """Ratings as (n_items, n_annotators), nan where there is none."""
    ratings = np.full((answers.n_items, answers.n_annotators), np.nan)
    ratings[answers.item, answers.annotator_codes("agreement")] = answers.answer
    return ratings
