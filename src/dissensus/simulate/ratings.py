"""Short texts, rated on valence and activation by annotators of different bias and spread."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.scales import Interval, Nominal
from dissensus.simulate.crowd import Attention, Draws, Parts, Raters, Sizes, assign, shuffled
from dissensus.simulate.text import ASPECTS, FEELINGS, show_texts
from dissensus.simulate.truth import (
    RatingsTruth,
    answers,
    build,
    mean_by_annotator,
    part_attributes,
    part_lists,
    preferences,
)

QUESTIONS = ("valence", "activation")
MODES = {  # where an emotion lies on the circumplex: valence and activation in hundredths
    "joy": (50, 25),
    "surprise": (20, 55),
    "fear": (-30, 50),
    "anger": (-45, 40),
    "disgust": (-55, 10),
    "sadness": (-50, -30),
    "boredom": (-25, -55),
    "calm": (45, -40),
}
OPPOSITE = (3, 5)  # steps around the circumplex between the two emotions of an item, from and to


def ratings(
    n_items: int = 1000, n_annotators: int = 10, labels_per_item: int = 5, seed: int = 0
) -> Corpus:
    """A corpus of texts rated on valence and activation, by annotators with known tendencies.

    Half of the texts have one clause, half have two, about different aspects (work, food, ...)
    and with emotions from opposite sides of the circumplex: their ratings have two modes, because
    each annotator looks mostly at the clause about the aspect they prefer, and rates it. Both
    questions have a scale from -1 to 1 and are answered together (`response`) after one look. An
    annotator has a bias on each question and a spread. `Raters` states the density of their
    ratings in closed form, in hundredths, with k the error of an annotator of spread s:

        P(k) = (2 s + 1 - |k|) / (2 s + 1) ** 2                 for |k| <= 2 s
        p(x) = sum over clauses of focus(clause) * P(x - mode(clause) - bias)

    The truth is saved with the corpus, and `truth(corpus, question)` reads it back for any pair:

    - each question's `extra["distribution"]`: the mass of p on the scale's grid, for each row;
    - rationales of kind "focus": the clause that the annotator looked at, for both questions;
    - annotators' attributes: `bias.QUESTION`, `spread` (the s above, in units of the scale),
      `focus.ASPECT` (preferences; focus is in proportion to 16 ** preference) and
      `best_error.QUESTION`, the lowest mean absolute error that any predictor can expect on this
      annotator's rows, that of the median of p; null for an annotator without rows;
    - items' attributes: `parts.aspect`, `parts.value` (emotion), `parts.start`, `parts.stop`,
      `parts.valence` and `parts.activation` (modes), one entry per clause.

    With the default sizes the lowest possible mean absolute error is .07 for valence and .07 for
    activation, and .21 and .22 without knowing the annotator.

    The preset is frozen: sizes and seed determine every text and rating in every version.

    Args:
        labels_per_item: how many annotators rate each item; all get the same number of items, or
            one more.

    Example:
        >>> corpus = ratings(n_items=100)
        >>> corpus.joint("valence", "activation").answers["valence"][:3].tolist()
        [-0.6, -0.67, -0.13]
        >>> corpus.text_of(0)[:50]
        'We lost the house to the lender and I felt sadness'
    """
    sizes = Sizes(n_items, n_annotators, labels_per_item, len(FEELINGS), seed).checked()
    draws = Draws(seed)
    raters = Raters.balanced(n_annotators, len(ASPECTS), len(QUESTIONS), draws)
    parts = _draw_one_or_two(raters[0], n_items, draws)
    contents = show_texts(parts, Nominal(tuple(FEELINGS)), draws)
    item, annotator = assign(sizes, draws)
    looked = raters[0].look(parts, item, annotator, draws)
    questions, best, modes = {}, {}, {}
    for question, crowd in zip(QUESTIONS, raters, strict=True):
        mode, scale = modes_of(parts, question), Interval(-1, 1)
        known = RatingsTruth(crowd, parts, contents.start, contents.stop, ASPECTS, mode, scale)
        answer = crowd.rate(mode[item, looked], annotator, draws) / 100
        mass = known.distribution(item, annotator, np.float32)
        response = np.arange(len(item))
        questions[question] = answers(
            item, annotator, answer, scale, sizes, mass, response=response
        )
        errors = known.errors_of(item, annotator)[0]
        best[f"best_error.{question}"] = mean_by_annotator(errors, annotator, n_annotators)
        modes[f"parts.{question}"] = part_lists(parts, pa.array(mode[parts.there] / 100))
    biases = {f"bias.{q}": crowd.bias / 100 for q, crowd in zip(QUESTIONS, raters, strict=True)}
    return build(
        "ratings",
        f"{labels_per_item} ratings per item, seed {seed}",
        questions,
        contents,
        known,
        looked,
        part_attributes(known, tuple(FEELINGS)) | modes,
        {**biases, "spread": raters[0].spread / 100, **preferences(raters[0], ASPECTS), **best},
    )


def modes_of(parts: Parts, question: str) -> np.ndarray:
    """Where the emotion of each part lies on a question, in hundredths, (n_items, most parts)."""
    column = QUESTIONS.index(question)
    table = np.array([mode[column] for mode in MODES.values()])
    return np.where(parts.there, table[parts.value], 0)


def _draw_one_or_two(crowd: Attention, n_items: int, draws: Draws) -> Parts:
    """One clause, or two with opposite emotions, about aspects that divide the crowd."""
    sets = crowd.even_sets(2)
    aspect = shuffled(sets[draws.below(len(sets), n_items)], draws)
    first = draws.below(len(MODES), n_items)
    apart = OPPOSITE[0] + draws.below(OPPOSITE[1] - OPPOSITE[0] + 1, n_items)
    value = np.stack([first, (first + apart) % len(MODES)], axis=1)
    single = draws.below(2, n_items) == 0
    for table in (aspect, value):
        table[single, 1] = -1
    return Parts(aspect, value)
