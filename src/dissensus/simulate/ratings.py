"""Short texts, rated on valence and activation by annotators of different bias and spread."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.names import Names
from dissensus.scales import Interval
from dissensus.simulate.assembly import Shown, annotator_names, as_lists
from dissensus.simulate.crowd import Attention, Draws, Parts, assign, check_sizes, shuffled
from dissensus.simulate.raters import Raters
from dissensus.simulate.text import ASPECTS, write_texts
from dissensus.simulate.truth import (
    RatingsTruth,
    mean_by_annotator,
    part_attributes,
    part_lists,
    rater_attributes,
)
from dissensus.simulate.words import FEELINGS

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
    check_sizes(n_items, n_annotators, labels_per_item, len(FEELINGS), seed)
    draws = Draws(seed)
    raters = Raters.balanced(n_annotators, len(ASPECTS), len(QUESTIONS), draws)
    parts = _draw_one_or_two(raters[0], n_items, draws)
    texts, start, stop = write_texts(parts, tuple(FEELINGS), draws)
    shown = Shown("text", *Contents.distinct("text", texts), ASPECTS, parts, start, stop)
    item, annotator = assign(n_items, n_annotators, labels_per_item, draws)
    looked = raters[0].look(parts, item, annotator, draws)
    names, questions, facts = annotator_names(n_annotators), {}, {}
    for question, of_question in zip(QUESTIONS, raters, strict=True):
        known = RatingsTruth(
            of_question, parts, start, stop, ASPECTS, modes_of(parts, question), Interval(-1, 1)
        )
        answer = of_question.rate(known.mode[item, looked], annotator, draws) / 100
        questions[question] = Annotations.from_arrays(
            item,
            annotator,
            answer,
            known.scale,
            items=Names.range(n_items),
            annotators=names,
            response=np.arange(len(item)),
            extra={"distribution": as_lists(known.distribution(item, annotator, np.float32))},
        )
        errors = known.errors_of(item, annotator)[0]
        facts[f"best_error.{question}"] = mean_by_annotator(errors, annotator, n_annotators)
    return Corpus.build(
        "simulated-ratings",
        Names.range(n_items),
        questions,
        annotators=names,
        contents={"text": (shown.contents, shown.content)},
        item_attributes=part_attributes(parts, ASPECTS, tuple(FEELINGS), start, stop)
        | {
            f"parts.{question}": part_lists(
                parts, pa.array(modes_of(parts, question)[parts.there] / 100)
            )
            for question in QUESTIONS
        },
        annotator_attributes=rater_attributes(dict(zip(QUESTIONS, raters, strict=True)), ASPECTS)
        | facts,
        rationales=shown.rationales(QUESTIONS, item, annotator, looked),
        notes=(
            f"simulated: preset ratings, {n_items} items, {n_annotators} annotators, "
            f"{labels_per_item} ratings per item, seed {seed}",
        ),
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
