"""Texts whose clauses have different emotions; annotators look at different clauses."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.scales import Nominal
from dissensus.simulate.crowd import Draws, Parts, Sizes, circle
from dissensus.simulate.truth import SimulatedContents, labelled

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
FEELINGS: dict[str, list[str]] = _WORDS["feelings"]  # five adjectives, then three nouns each
EVENTS: dict[str, dict[str, list[str]]] = _WORDS["events"]  # aspect -> emotion -> three events
SYNONYMS: dict[str, list[str]] = _WORDS["synonyms"]
N_ADJECTIVES = 5
N_EVENTS = 3  # of an aspect and an emotion
FIRST_CHOSEN = ("joy", "sadness", "anger", "fear", "calm", "surprise", "boredom", "disgust")
WITH_ADJECTIVE = (  # {0} is the event, {1} the feeling
    "{0}, which made me {1}",
    "{0}, which left me {1}",
    "{0} and I was {1}",
    "I was {1} because {0}",
    "I felt {1} when {0}",
    "I was so {1} when {0}",
)
WITH_NOUN = (
    "{0}, which filled me with {1}",
    "{0} and I felt {1}",
    "I was full of {1} when {0}",
    "I felt {1} because {0}",
)
JOINTS = ("; ", ", but ", ", and ", ", while ")


def events(emotion: str) -> list[list[str]]:
    """Three events for each aspect in turn, each in all its wordings."""
    every = [event for by_emotion in EVENTS.values() for event in by_emotion[emotion]]
    choices = ([(word, *SYNONYMS.get(word, ())) for word in event.split(" ")] for event in every)
    return [[" ".join(words) for words in product(*each)] for each in choices]


ASPECTS = tuple(EVENTS)  # what a clause can be about
LARGE = 5_000_000  # items, beyond which the texts may need more than 2**31 bytes


def text(
    n_items: int = 1000,
    n_annotators: int = 10,
    labels_per_item: int = 5,
    n_values: int = 6,
    seed: int = 0,
) -> Corpus:
    """A corpus of texts with several emotions, and annotators whose tendencies are known.

    Each text has three or four clauses. A clause is about one aspect (work, food, ...) and states
    one emotion; two clauses of a text share theirs, the others differ while there are enough.
    Annotators are asked for *the* emotion: each looks mostly at clauses about the aspects they
    prefer, prefers certain answers and is careless now and then. `Crowd` states the distribution
    of their answers in closed form:

        p(v) = (1 - noise) * sum over clauses of focus(clause) * reading(v | clause)
               + noise * lean(v)

    The truth is saved with the corpus, and `truth` reads it back for any pair:

    - the question's `extra["distribution"]`: p of each row's item and annotator;
    - rationales of kind "focus": the clause that the annotator looked at when answering, drawn
      from their focus (a careless answer ignores it);
    - annotators' attributes: `noise` (share), `lean.VALUE` (weights; lean(v) is their share),
      `focus.ASPECT` (preferences; focus is in proportion to 16 ** preference) and
      `best_accuracy`, the most that any predictor can expect on this annotator's rows: the mean
      of max p(v); null for an annotator without rows;
    - items' attributes: `parts.aspect`, `parts.value`, `parts.start`, `parts.stop`, one entry
      per clause.

    With the default sizes the best possible accuracy is .83, and .51 without knowing the
    annotator. From four annotators on, attention to where annotators look on average finds an
    annotator's own clause with an AUROC of at most .65.

    The preset is frozen: sizes and seed determine every text and answer in every version.

    Args:
        labels_per_item: how many annotators label each item; all get the same number of items, or
            one more.
        n_values: how many emotions there are, two to eight.

    Example:
        >>> corpus = text(n_items=100)
        >>> corpus["emotion"].n_rows, corpus["emotion"].scale.values[:3]
        (500, ('joy', 'surprise', 'fear'))
        >>> corpus.text_of(0)[:51]
        'I felt peace because my sister and I sat in silence'
    """
    sizes = Sizes(n_items, n_annotators, labels_per_item, n_values, seed)
    return labelled("text", "emotion", sizes, emotion_scale, ASPECTS, show_texts)


def emotion_scale(n_values: int) -> Nominal:
    """Emotions in their order around the circumplex; the distance counts steps on the circle.

    Example:
        >>> emotion_scale(3).values
        ('joy', 'anger', 'sadness')
        >>> emotion_scale(6).distance[0].tolist()
        [0.0, 1.0, 2.0, 3.0, 2.0, 1.0]
    """
    chosen = FIRST_CHOSEN[:n_values]
    values = tuple(emotion for emotion in FEELINGS if emotion in chosen)
    return Nominal(values, circle(n_values))


def show_texts(parts: Parts, scale: Nominal, draws: Draws) -> SimulatedContents:
    """A text of each item, with a clause for each part."""
    kind = pa.large_string() if len(parts) > LARGE else pa.string()
    there = parts.there
    clauses = _write_clauses(parts.aspect[there], parts.value[there], scale.values, kind, draws)
    clause = np.where(there, there.cumsum().reshape(there.shape), 0)  # 0: the empty one
    joint = np.where(there, 1 + draws.below(len(JOINTS), *there.shape), 0)
    joint[:, 0] = 0
    joints = pa.array(("", *JOINTS), kind)
    columns, lengths = [], []
    for place in range(there.shape[1]):
        columns += [_take(joints, joint[:, place]), _take(clauses, clause[:, place])]
        lengths += [pc.utf8_length(column).to_numpy() for column in columns[-2:]]
    ends = np.stack(lengths, axis=1).cumsum(axis=1, dtype=np.int32)
    whole = _joined(*columns, pa.scalar(".", kind))
    first = pc.utf8_upper(pc.utf8_slice_codeunits(whole, 0, 1))
    texts = _joined(first, pc.utf8_slice_codeunits(whole, 1))
    return SimulatedContents("text", *Contents.distinct("text", texts), ends[:, ::2], ends[:, 1::2])


def _write_clauses(
    aspect: np.ndarray, value: np.ndarray, values: tuple[str, ...], kind: Any, draws: Draws
) -> Any:
    """An empty clause, then one for each aspect and emotion, in varied wording."""
    n = len(aspect)
    event_wordings = [wordings for name in values for wordings in events(name)]
    feeling_words = [word for name in values for word in FEELINGS[name]]
    n_wordings = np.array([len(wordings) for wordings in event_wordings])
    event = (value * len(ASPECTS) + aspect) * N_EVENTS + draws.below(N_EVENTS, n)
    wording = (n_wordings.cumsum() - n_wordings)[event] + draws.below(n_wordings[event], n)
    feeling = draws.below(len(feeling_words) // len(values), n)
    template = np.where(
        feeling < N_ADJECTIVES,
        draws.below(len(WITH_ADJECTIVE), n),
        len(WITH_ADJECTIVE) + draws.below(len(WITH_NOUN), n),
    )
    feeling += n_wordings.sum() + value * (len(feeling_words) // len(values))
    texts = [text for wordings in event_wordings for text in wordings]
    slots = pa.array(texts + feeling_words, kind)
    templates = WITH_ADJECTIVE + WITH_NOUN
    pieces = [form.replace("{1}", "{0}").split("{0}") for form in templates]
    opening, middle, _ = zip(*pieces, strict=True)
    event_first = np.array([form.index("{0}") < form.index("{1}") for form in templates])
    clauses = _joined(
        _take(pa.array(opening, kind), template),
        _take(slots, np.where(event_first[template], wording, feeling)),
        _take(pa.array(middle, kind), template),
        _take(slots, np.where(event_first[template], feeling, wording)),
    )
    return pa.concat_arrays([pa.array([""], kind), clauses])


def _take(array: Any, codes: np.ndarray) -> Any:
    return array.take(pa.array(codes))


def _joined(*columns: Any) -> Any:
    """Join columns of pieces to texts."""
    return pc.binary_join_element_wise(*columns, pa.scalar("", columns[0].type))
