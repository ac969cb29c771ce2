"""The corpora of the paper's conditions, as methods read them.

Speech is read as one vector per .4 seconds; a picture as the class token of DINOv2-S and 8 x 8
cells. Models that read one vector get the class token and the mean of the cells. Of the gaze every
thirtieth sample is an item; its content is the whole trial. The two questions of a paraphrase are
read as one text, and its levels as classes: on the training part, five folds, `annotator-heads`
then predicts annotators with an accuracy of .318 (.189 as levels; .286 and .203 with each question
read apart).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus import Annotations, Corpus, Interval, Names, Nominal, Ordinal, simulate
from dissensus.contents import Contents
from dissensus.encoders import Store
from dissensus.errors import DataError
from dissensus.evaluation import Fold, k_fold
from dissensus_papers.framework.declared import Source

SPEECH, GAZE, PICTURES = "speechocean762", "eye_fixations_12coders", "cue_conflict16"
FRAMES = 20  # of Whisper, .02 seconds each, that are averaged
EVERY = 30  # samples of a trial between two items: 10 a second instead of 300
CELLS, SIDE = 16, 8  # of DINOv2-S along each side of a picture, and after averaging
DINOV2 = "dinov2-small"  # a folder that benchmarks/dinov2.py writes; facebook/... on the hub
TOKENS, WHOLE = "tokens", "whole"  # the roles of a picture
DELETED = (20, 30, 40)  # per cent of each annotator's training answers
PERSPECTIVES = ("happiness", "healthiness", "safety", "liveliness", "orderliness")
Prepared = Callable[[Corpus], Corpus]


# ---- questions and answers ----


def _only(question: str) -> Prepared:
    return lambda corpus: replace(corpus, questions={question: as_levels(corpus[question])})


def as_levels(ratings: Annotations) -> Annotations:
    """Whole ratings of an interval scale as levels of an ordinal one; others as they are."""
    scale = ratings.scale
    if not isinstance(scale, Interval):
        return ratings
    low, high = round(scale.low), round(scale.high)
    codes = ratings.answer - low
    if (codes != np.round(codes)).any():
        raise DataError("ratings must be whole numbers to be read as levels")
    levels = Ordinal(tuple(str(level) for level in range(low, high + 1)))
    return replace(ratings, scale=levels, answer=codes.astype(np.int32))


def _as_classes(corpus: Corpus) -> Corpus:
    question, answers = next(iter(corpus.questions.items()))
    assert isinstance(answers.scale, Ordinal)
    classes = replace(answers, scale=Nominal(answers.scale.values))
    return replace(corpus, questions={question: classes})


def _without(share: int, prepared: Prepared) -> Prepared:
    """The corpus without so many per cent of each annotator's training answers."""

    def deleted(corpus: Corpus) -> Corpus:
        corpus = prepared(corpus)
        scheme = next(iter(corpus.splits))
        return corpus.drop_labels(share / 100, seed=42, items=corpus.in_part("train", scheme))

    return deleted


# ---- contents ----


def _spoken(corpus: Corpus) -> Corpus:
    """Accuracy as levels, and speech as means of `FRAMES` frames of Whisper-tiny; no text."""
    from dissensus.encoders import encodings

    corpus, role = _only("accuracy")(corpus), "speech"
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
    return sequences(np.concatenate(flat), offsets)


def sequences(vectors: np.ndarray, offsets: Any) -> Contents:
    """Contents of vectors (n, width), which begin at the offsets."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    values = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), lists)
    return Contents("features", values.cast(pa.list_(pa.list_(pa.float32()))))


def seen(corpus: Corpus) -> Corpus:
    """Pictures as the tokens of DINOv2-S: `TOKENS`, the class token and the means of 2 x 2 cells;
    `WHOLE`, the class token and the mean of all cells, one vector."""
    from dissensus.encoders import encodings

    if TOKENS in corpus.contents:
        return corpus
    name = DINOV2 if Path(DINOV2).is_dir() else f"facebook/{DINOV2}"
    ((role, encoding),) = encodings(corpus, {role: name for role in corpus.contents}).items()
    contents = tokens(encoding.store())
    return replace(corpus, contents=contents, content=dict.fromkeys(contents, encoding.content))


def tokens(store: Store) -> dict[str, Contents]:
    """The contents of pictures, of the class token and the cells of each."""
    vectors = np.asarray(store.vectors, np.float32).reshape(-1, 1 + CELLS**2, store.width)
    n, times = len(vectors), CELLS // SIDE
    cells = vectors[:, 1:].reshape(n, SIDE, times, SIDE, times, -1).mean(axis=(2, 4))
    parts = np.concatenate([vectors[:, :1], cells.reshape(n, SIDE**2, -1)], axis=1)
    whole = np.concatenate([vectors[:, 0], cells.mean(axis=(1, 2))], axis=1)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(whole.ravel()), whole.shape[1])
    offsets = np.arange(n + 1) * parts.shape[1]
    return {
        TOKENS: sequences(parts.reshape(-1, parts.shape[2]), offsets),
        WHOLE: Contents("features", rows.cast(pa.list_(pa.float32()))),
    }


# ---- simulated panels, whose best possible scores are known ----

N_SIMULATED, N_LED = 5000, 60  # items, and training answers of each follower
N_LEADERS, N_FOLLOWERS = 8, 16


def followers(n_items: int = N_SIMULATED, seed: int = 7) -> Corpus:
    """Eight leaders answer the simulated texts of the training part, all of them; sixteen followers
    answer as the plurality of three leaders would (the first of the three if all differ): `N_LED`
    texts of the training part and all of the test part, the last fifth."""
    led = simulate.text(n_items, N_LEADERS, N_LEADERS, seed=seed)
    answers, n_train = led["emotion"], n_items - n_items // 5
    leader, n_values = answers.annotator_codes("followers"), _distributions(answers).shape[1]
    p = np.empty((n_items, N_LEADERS, n_values))
    p[answers.item, leader] = _distributions(answers)
    draws, learned = np.random.default_rng(seed), answers.item < n_train
    of_leaders = (answers.item, leader, answers.answer, p[answers.item, leader])
    columns = [tuple(column[learned] for column in of_leaders)]
    for number in range(N_FOLLOWERS):
        first, second, third = p[:, draws.permutation(N_LEADERS)[:3]].swapaxes(0, 1)
        both = second * third  # (n_items, n_values)
        others = both.sum(axis=1, keepdims=True) - both
        plurality = first * (1 - others) + (1 - first) * both
        own = np.r_[np.sort(draws.permutation(n_train)[:N_LED]), np.arange(n_train, n_items)]
        share = plurality[own] / plurality[own].sum(axis=1, keepdims=True)
        answer = (share.cumsum(axis=1) < draws.random((len(own), 1))).sum(axis=1)
        answer = answer.clip(max=n_values - 1)  # a sum may end a little below 1
        columns.append((own, np.full(len(own), N_LEADERS + number), answer, share))
    item, annotator, answer, share = map(np.concatenate, zip(*columns, strict=True))
    names = [*(f"leader-{k}" for k in range(1, N_LEADERS + 1)),
             *(f"follower-{k:02}" for k in range(1, N_FOLLOWERS + 1))]  # fmt: skip
    lists = pa.FixedSizeListArray.from_arrays(pa.array(share.ravel()), n_values)
    given = Annotations.from_arrays(
        item, annotator, answer.astype(np.int32), answers.scale,
        items=answers.items, annotators=Names(names), extra={"distribution": lists},
    )  # fmt: skip
    contents = {role: (led.contents[role], led.content[role]) for role in led.contents}
    return Corpus.build(
        "followers", led.items, {"emotion": given}, annotators=given.annotators, contents=contents
    )


def _distributions(answers: Annotations) -> np.ndarray:
    """The distribution that each answer was drawn from, (n_rows, n_values)."""
    flat = answers.extra["distribution"].flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, float).reshape(answers.n_rows, -1)


def last_fifth(corpus: Corpus) -> list[Fold]:
    """One fold, which is tested on the last fifth of the items."""
    items = np.arange(corpus.n_items)
    n_train = corpus.n_items - corpus.n_items // 5
    return [Fold("last fifth", items[:n_train], items[n_train:])]


def best_possible(corpus: Corpus) -> dict[str, dict[str, dict[str, float]]]:
    """What is the most that can be expected on the last fifth, where answers were drawn from known
    distributions."""
    ((question, answers),) = corpus.questions.items()
    tested = answers.item >= corpus.n_items - corpus.n_items // 5
    p = _distributions(answers)[tested]
    annotator = answers.annotator_codes("best possible")[tested]
    n = np.bincount(annotator)

    def mean(numbers: np.ndarray) -> float:
        return float((np.bincount(annotator, numbers)[n > 0] / n[n > 0]).mean())

    entropy = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
    right = p.max(axis=1)
    figures = {
        "annotator accuracy": mean(right), "annotator accuracy, weighted": float(right.mean()),
        "annotator cross-entropy": float(entropy.mean()),
    }  # fmt: skip
    return {question: {"best possible": figures}}


# ---- all of them ----


def folds(by: str | None = None) -> Callable[[Corpus], list[Fold]]:
    return lambda corpus: k_fold(corpus, 5, by=by, stratify=next(iter(corpus.questions)))


def _simulated(preset: Callable[..., Corpus], prepared: Prepared = lambda c: c) -> Source:
    return Source("", simulated=partial(preset, N_SIMULATED, seed=1), prepared=prepared)


TEXTS: Mapping[str, Source] = {
    "HS-Brexit": Source("lewidi2023", "HS-Brexit", _only("hate")),
    "ConvAbuse": Source("lewidi2023", "ConvAbuse", _only("severity")),
}
STREET = Source("street")
SOURCES: dict[str, Source] = {
    PICTURES: Source(PICTURES, "conflict", seen),
    f"{PICTURES}-texture": Source(PICTURES, "texture", seen),
    **TEXTS,
    "Paraphrase": Source("lewidi2025", "Paraphrase", _as_classes),
    SPEECH: Source(SPEECH, "sentences", _spoken),
    GAZE: Source(GAZE, prepared=lambda c: c.select(items=np.arange(0, len(c.items), EVERY))),
    "simulated-text": _simulated(simulate.text),
    "simulated-image": _simulated(simulate.image, seen),
    "simulated-sequence": _simulated(simulate.sequence),
    "followers": Source("", simulated=followers),
    "street": STREET,
    "street-40": replace(STREET, prepared=_without(40, STREET.prepared)),
    "amer": Source("amer"),
    **{
        f"{name}-{share}": replace(source, prepared=_without(share, source.prepared))
        for name, source in TEXTS.items()
        for share in DELETED
    },
}
