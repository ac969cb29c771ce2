"""Figures that no model has to be fitted for: how far annotators agree, and halves of a crowd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, rating_densities
from dissensus.metrics import DENSITY_METRICS
from dissensus.metrics.continuous import concordance
from dissensus_papers.framework.conditions import Figures

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


def figures_of_crowd(
    questions: Sequence[str], densities: Sequence[str]
) -> Callable[[Corpus], Figures]:
    """Of many annotators: the mean of their concordances with the others, and how far the density
    of a random half of them is from that of the other half, for each reading.

    Halves have more noise than all annotators together: a model of all may be nearer.
    """

    def figures(corpus: Corpus) -> Figures:
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

    return figures


def halves(corpus: Corpus, questions: Sequence[str], bins: int) -> dict[str, float]:
    """The distances between the densities of two random halves of the ratings of each item."""
    joint = corpus.joint(*questions)
    order = np.random.default_rng(0).permutation(len(joint.item))
    order = order[np.argsort(joint.item[order], kind="stable")]
    item = joint.item[order]
    nth = np.arange(len(item)) - np.searchsorted(item, item)
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
