"""The corpora of the paper: panels whose annotators saw the same items.

Speech is read as one vector per .4 seconds. The two questions of a paraphrase are read as one text,
and its levels as classes: on the training part, five folds, `annotator-heads` then predicts
annotators with an accuracy of .318 (.189 as levels; .286 and .203 with each question read apart).
Of the gaze every thirtieth sample is an item; its content is the whole trial. Of LabelMe the 1,000
pictures with answers are used: those of its test part have none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.encoders.framework.store import Store
from dissensus.errors import DataError
from dissensus.scales import Interval, Nominal, Ordinal
from dissensus_papers.framework.corpora import Source

SPEECH, GAZE = "speechocean762", "eye_fixations_12coders"
Prepared = Callable[[Corpus], Corpus]
FRAMES = 20  # of Whisper, .02 seconds each, that are averaged
EVERY = 30  # samples of a trial between two items: 10 a second instead of 300
PANEL = 50  # of the 400 annotators of a trait of faces_3dsk: each rated half of the 100 pictures
DELETED = (20, 30, 40)  # per cent of each annotator's training answers


def _only(question: str) -> Prepared:
    return lambda corpus: replace(corpus, questions={question: corpus[question]})


def _levels_of(question: str) -> Prepared:
    return lambda corpus: replace(corpus, questions={question: as_levels(corpus[question])})


def _spoken(corpus: Corpus) -> Corpus:
    """Ratings of accuracy as levels, and speech as vectors."""
    return _with_frames(_levels_of("accuracy")(corpus))


def as_levels(ratings: Annotations) -> Annotations:
    """Whole ratings of an interval scale as levels of an ordinal one."""
    scale = ratings.scale
    if not isinstance(scale, Interval):
        return ratings
    low, high = round(scale.low), round(scale.high)
    codes = ratings.answer - low
    if (codes != np.round(codes)).any():
        raise DataError("ratings must be whole numbers to be read as levels")
    levels = Ordinal(tuple(str(level) for level in range(low, high + 1)))
    return replace(ratings, scale=levels, answer=codes.astype(np.int32))


def _with_frames(corpus: Corpus) -> Corpus:
    """Speech as mean vectors of `FRAMES` frames of Whisper-tiny; the text is not read."""
    from dissensus.encoders import encodings

    role = "speech"
    contents = corpus.contents[role]
    if contents.kind != "features":
        contents = averaged(encodings(corpus, {role: "whisper-tiny"})[role].store())
    return replace(corpus, contents={role: contents}, content={role: corpus.content[role]})


def averaged(store: Store) -> Contents:
    """The mean of every `FRAMES` positions of each content."""
    flat, offsets = [], [0]
    for start, stop in pairwise(store.offsets):
        begins = np.arange(start, stop, FRAMES)
        counts = np.diff(np.append(begins, stop))
        sums = np.add.reduceat(store.vectors[start:stop].astype(np.float32), begins - start)
        flat.append(sums / counts[:, None])
        offsets.append(offsets[-1] + len(begins))
    vectors = pa.FixedSizeListArray.from_arrays(np.concatenate(flat).ravel(), store.width)
    values = pa.ListArray.from_arrays(offsets, vectors.cast(pa.list_(pa.float32())))
    return Contents("features", values)


def _as_classes(corpus: Corpus) -> Corpus:
    """Levels as classes."""
    question, answers = next(iter(corpus.questions.items()))
    assert isinstance(answers.scale, Ordinal)
    classes = replace(answers, scale=Nominal(answers.scale.values))
    return replace(corpus, questions={question: classes})


def _thinned(corpus: Corpus) -> Corpus:
    """The samples that are items."""
    return corpus.select(items=np.arange(0, len(corpus.items), EVERY))


def _answered(corpus: Corpus) -> Corpus:
    """The items that have an answer, and the annotators who gave one."""
    (answers,) = corpus.questions.values()
    return corpus.select(items=answers.per_item() > 0, annotators=answers.per_annotator() > 0)


def _attractive(corpus: Corpus) -> Corpus:
    """Ratings of attractiveness as levels, by `PANEL` annotators, always the same; each trait has
    its own annotators."""
    corpus = _answered(_levels_of("att")(corpus))
    if corpus.n_annotators <= PANEL:
        return corpus
    drawn = np.random.default_rng(0).permutation(corpus.n_annotators)[:PANEL]
    return corpus.select(annotators=np.sort(drawn))


def _sparse(share: float, prepared: Prepared) -> Prepared:
    """The corpus without this share of each annotator's training answers."""

    def deleted(corpus: Corpus) -> Corpus:
        corpus = prepared(corpus)
        return corpus.drop_labels(share, seed=42, items=corpus.in_part("train"))

    return deleted


_TEXTS = {
    "HS-Brexit": Source("lewidi2023", "HS-Brexit", _only("hate")),
    "ConvAbuse": Source("lewidi2023", "ConvAbuse", _only("severity")),
}
SOURCES: dict[str, Source] = {
    **_TEXTS,
    "Paraphrase": Source("lewidi2025", "Paraphrase", _as_classes),
    SPEECH: Source(SPEECH, "sentences", _spoken),
    GAZE: Source(GAZE, prepared=_thinned),
    "ArMIS": Source("lewidi2023", "ArMIS"),
    "faces_3dsk": Source("faces_3dsk", prepared=_attractive),
    "labelme_crowds": Source("labelme_crowds", prepared=_answered),
    **{
        f"{name}-{share}": Source(
            source.folder, source.corpus, _sparse(share / 100, source.prepared)
        )
        for name, source in _TEXTS.items()
        for share in DELETED
    },
}
