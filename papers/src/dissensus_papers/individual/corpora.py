"""The corpora: ratings of annotators with names, two without, and two that are licensed.

What is prepared can be prepared again; it stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus import simulate
from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.clip_ratings import usable_clips
from dissensus.names import Names
from dissensus_papers.framework.corpora import Source

N_JOKERS = 250  # of 5,000 annotators: each rated about 72 of the 100 jokes
PERSPECTIVES, SIDES = ("reader", "writer"), ("V", "A")
PERSPECTIVE, PIECE = "perspective", "piece"
TWO_MODES = "simulated-ratings"


def some_annotators(corpus: Corpus, n: int = N_JOKERS) -> Corpus:
    """A random sample of the annotators, always the same."""
    if corpus.n_annotators <= n:
        return corpus
    drawn = np.random.default_rng(0).permutation(corpus.n_annotators)[:n]
    return corpus.select(annotators=np.sort(drawn))


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
    shifts = [at * corpus.n_items for at in range(len(parts))]
    responses = [part.response for part in parts]
    return Annotations.from_arrays(
        np.concatenate([part.item + shift for part, shift in zip(parts, shifts, strict=True)]),
        None,
        np.concatenate([part.answer for part in parts]),
        parts[0].scale,
        items=items,
        response=np.concatenate([np.asarray(response) for response in responses]),
    )


def published_clips(corpus: Corpus) -> Corpus:
    """The clips of a licensed corpus that the paper uses, with its two questions."""
    return usable_clips(corpus, ("activation", "valence"))


def described_pieces(corpus: Corpus) -> Corpus:
    """VGMIDI with one vector for each piece: how notes are distributed, instead of their mean.

    Pieces without notes are left out.
    """
    if PIECE in corpus.contents:
        return corpus
    corpus = corpus.select(items=corpus.content["notes"] >= 0)
    seconds = np.asarray(corpus.item_attributes["seconds"].to_numpy(zero_copy_only=False), float)
    notes = corpus.contents["notes"]
    vectors = np.stack(
        [
            describe_notes(np.array(notes[code], dtype=float), seconds[at])
            for at, code in enumerate(corpus.content["notes"])
        ]
    )
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
    return np.array(
        [
            *(f(column) for column in (np.log(length + 0.01), octave, loudness)
              for f in (np.mean, np.std)),
            np.abs(steps).mean(),
            np.log(len(notes) / max(seconds, 1.0)),
            np.log(max(seconds, 1.0)),
            np.log(len(np.unique(track))),
            *np.sort(classes / max(classes.sum(), 1e-9)),  # of any key
            *_third(classes),
        ]
    )  # fmt: skip


def _third(classes: np.ndarray) -> tuple[float, float]:
    """The shares of the minor and the major third above the most frequent pitch class."""
    tonic, total = int(classes.argmax()), max(float(classes.sum()), 1e-9)
    return tuple(float(classes[(tonic + step) % 12]) / total for step in (3, 4))  # type: ignore[return-value]


SOURCES: dict[str, Source] = {
    "speechocean762": Source("speechocean762", "sentences"),
    "nli_variation": Source("nli_variation"),
    "jester5k": Source("jester5k", prepared=some_annotators),
    "faces_3dsk": Source("faces_3dsk"),
    "emobank": Source("emobank", "emobank", prepared=perspectives),
    "vgmidi": Source("vgmidi", prepared=described_pieces),
    "msp_improv": Source("msp_improv", prepared=published_clips),
    "msp_podcast": Source("msp_podcast", prepared=published_clips),
    TWO_MODES: Source("", simulated=lambda: simulate.ratings(seed=1)),
}
