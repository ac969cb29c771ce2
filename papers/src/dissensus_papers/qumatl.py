"""Queries for annotators (Zhang et al. 2025) on public panels, next to our figures.

The paper's corpus, STREET, is not public. Panels whose annotators saw the same items take its
place. Speech is read as one vector per .4 seconds. The two questions of a paraphrase are read as
one text, and its levels as classes: on the training part, five folds, `annotator-heads` then
predicts annotators with an accuracy of .318 (.189 as levels; .286 and .203 with each question read
apart). Of the gaze every thirtieth sample is an item; its content is the whole trial. Of LabelMe
the 1,000 pictures with answers are used: those of its test part have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus import Annotations, Corpus, Interval, Nominal, Ordinal
from dissensus.contents import Contents
from dissensus.encoders import Store
from dissensus.errors import DataError
from dissensus.evaluation import Fold, k_fold, official
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.declared import (
    BetterThan,
    ComparisonCondition,
    Model,
    Source,
    some_annotators,
)
from dissensus_papers.framework.reports import to_json

# ---- models: the paper's and its baselines, on one frozen encoder, and ours ----

QUERIES, BASE, HEADS = "queries", "base", "heads"
NO_PRIOR = {"spread": math.inf}
TUNED = {
    "tune": "all",
    "training.encoder_learning_rate": 5e-5,
    "training.learning_rate": 1e-3,
    "training.epochs": 8,
}


def _queries(title: str, method: str = "annotator-queries", **settings: Any) -> Model:
    return Model(title, method, NO_PRIOR | settings)


_COMPARED = {
    BASE: Model("Base", "base-heads"),
    "d-lema": Model("D-LEMA", "d-lema"),
    "padl": Model("PADL", "padl"),
    "madl": Model("MaDL", "madl"),
    "embedding": Model("Annotator embedding", "annotator-embedding", NO_PRIOR),
    HEADS: Model("Annotator heads", "annotator-heads", NO_PRIOR),
    QUERIES: _queries("Annotator queries"),
}
_TUNED = {
    f"{name}-tuned": replace(
        _COMPARED[name], title=f"{_COMPARED[name].title}, encoder tuned", settings=NO_PRIOR | TUNED
    )
    for name in (HEADS, QUERIES)
}
_ABLATIONS = {
    "unified": _queries("w/ U-cls", "qumatl_ablations:SharedClassifier"),
    "alone": _queries("w/o S-Attn", self_attention=False),
    "pre-mv": _queries("Pre-mv", "qumatl_ablations:LearnedMajority"),
    "post-mv": _queries("Post-mv", "qumatl_ablations:PredictedMajority"),
}
_FLOORS = {
    "prior": Model("Prior", "prior"),
    "annotator-majority": Model("Each annotator's most frequent answer", "annotator-majority"),
}
MODELS: dict[str, Model] = _COMPARED | _TUNED | _ABLATIONS | _FLOORS
COMPARED = (*_COMPARED, *_FLOORS)

# ---- figures of the paper: STREET, means over its five questions (Tables 2, 4, 5, 7) ----

_ACCURACY, _DIC = "annotator accuracy", "DIC, all pairs"
STREET = {
    BASE: {_ACCURACY: 0.472},
    "d-lema": {_ACCURACY: 0.512, _DIC: 0.538},
    "padl": {_ACCURACY: 0.564, _DIC: 0.464},
    "madl": {_ACCURACY: 0.516, _DIC: 0.434},
    QUERIES: {_ACCURACY: 0.616, _DIC: 0.372},
}
ABLATION = {
    QUERIES: {_ACCURACY: 0.616},
    "unified": {_ACCURACY: 0.520},
    "alone": {_ACCURACY: 0.522},
    "pre-mv": {"accuracy": 0.596},
    "post-mv": {"accuracy": 0.604},
}
SPARSE = {  # per cent of each annotator's training answers that are deleted
    20: {"padl": {_ACCURACY: 0.504}, QUERIES: {_ACCURACY: 0.586}},
    30: {"padl": {_ACCURACY: 0.454}, QUERIES: {_ACCURACY: 0.556}},
    40: {"padl": {_ACCURACY: 0.414}, QUERIES: {_ACCURACY: 0.526}},
}
DELETED = tuple(SPARSE)

# ---- corpora ----

SPEECH, GAZE = "speechocean762", "eye_fixations_12coders"
Prepared = Callable[[Corpus], Corpus]
FRAMES = 20  # of Whisper, .02 seconds each, that are averaged
EVERY = 30  # samples of a trial between two items: 10 a second instead of 300
PANEL = 50  # of the 400 annotators of a trait of faces_3dsk: each rated half of the 100 pictures


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


def _spoken(corpus: Corpus) -> Corpus:
    """Ratings of accuracy as levels, and speech as mean vectors of `FRAMES` frames of Whisper-tiny;
    the text is not read."""
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
    vectors = pa.FixedSizeListArray.from_arrays(np.concatenate(flat).ravel(), store.width)
    values = pa.ListArray.from_arrays(offsets, vectors.cast(pa.list_(pa.float32())))
    return Contents("features", values)


def _as_classes(corpus: Corpus) -> Corpus:
    """Levels as classes."""
    question, answers = next(iter(corpus.questions.items()))
    assert isinstance(answers.scale, Ordinal)
    classes = replace(answers, scale=Nominal(answers.scale.values))
    return replace(corpus, questions={question: classes})


def _answered(corpus: Corpus) -> Corpus:
    """The items that have an answer, and the annotators who gave one."""
    (answers,) = corpus.questions.values()
    return corpus.select(items=answers.per_item() > 0, annotators=answers.per_annotator() > 0)


def _attractive(corpus: Corpus) -> Corpus:
    """Ratings of attractiveness as levels, by `PANEL` annotators, always the same; each trait has
    its own annotators."""
    return some_annotators(_answered(_only("att")(corpus)), PANEL)


def _without(share: int, prepared: Prepared) -> Prepared:
    """The corpus without so many per cent of each annotator's training answers."""

    def deleted(corpus: Corpus) -> Corpus:
        corpus = prepared(corpus)
        return corpus.drop_labels(share / 100, seed=42, items=corpus.in_part("train"))

    return deleted


_TEXTS = {
    "HS-Brexit": Source("lewidi2023", "HS-Brexit", _only("hate")),
    "ConvAbuse": Source("lewidi2023", "ConvAbuse", _only("severity")),
}
SOURCES: dict[str, Source] = {
    **_TEXTS,
    "Paraphrase": Source("lewidi2025", "Paraphrase", _as_classes),
    SPEECH: Source(SPEECH, "sentences", _spoken),
    GAZE: Source(GAZE, prepared=lambda c: c.select(items=np.arange(0, len(c.items), EVERY))),
    "ArMIS": Source("lewidi2023", "ArMIS"),
    "faces_3dsk": Source("faces_3dsk", prepared=_attractive),
    "labelme_crowds": Source("labelme_crowds", prepared=_answered),
    **{
        f"{name}-{share}": replace(source, prepared=_without(share, source.prepared))
        for name, source in _TEXTS.items()
        for share in DELETED
    },
}

# ---- conditions: Tables 2 to 5 and 7 of the paper, on public corpora ----

SEEDS = (0, 1, 2, 3, 4)
METRICS = (
    "annotator accuracy", "annotator accuracy, weighted", "annotator macro-F1",
    "annotator weighted F1", "annotator cross-entropy", "DIC", "DIC, all pairs",
)  # fmt: skip


def _folds(by: str | None = None) -> Callable[[Corpus], list[Fold]]:
    return lambda corpus: k_fold(corpus, 5, by=by, stratify=next(iter(corpus.questions)))


def _condition(
    name: str, title: str, corpus: str, models: tuple[str, ...] = COMPARED, **further: Any
) -> ComparisonCondition:
    usual: dict[str, Any] = {
        "metrics": METRICS, "seeds": SEEDS, "reference": QUERIES, "trials": 6, "folds": official,
        "scoring": "annotator cross-entropy", "printed": STREET,
    }  # fmt: skip
    return ComparisonCondition(name, title, corpus, models, **usual | further)


COUNTED = (
    _condition("hs-brexit", "Hate speech", "HS-Brexit"),
    _condition("convabuse", "Severity of abuse, five levels", "ConvAbuse"),
    _condition(
        "paraphrase", "Paraphrases, eleven classes", "Paraphrase", folds=_folds(),
        settings={"encoder": {"Question1+Question2": "minilm"}},
    ),
    _condition(
        "speech", "Accuracy of speech, eleven levels", SPEECH, folds=_folds("speaker"), by="speaker"
    ),
    _condition(
        "gaze", "Fixations of the eye", GAZE, folds=_folds("trial"), by="trial",
        settings={"reads": "content"},
    ),
)  # fmt: skip
SPARSE_CONDITIONS = tuple(
    _condition(
        f"{corpus.lower()}-{share}",
        f"{corpus}, {share} % of each annotator's training answers deleted",
        f"{corpus}-{share}", ("padl", HEADS, QUERIES), printed=SPARSE[share],
        not_counted="answers are deleted; compared with the whole corpus",
    )
    for corpus in _TEXTS
    for share in DELETED
)  # fmt: skip
PRINTED = (
    _condition(
        "armis", "Misogyny, in Arabic", "ArMIS", not_counted="no encoder of Arabic is at hand"
    ),
    _condition(
        "faces", "Attractiveness of faces", "faces_3dsk", folds=_folds(),
        not_counted="100 pictures; 50 of 400 annotators",
    ),
    _condition(
        "labelme", "Scenes", "labelme_crowds", folds=_folds(), seeds=SEEDS[:3], trials=0,
        not_counted="pictures are single vectors, with nothing to attend to; settings are not "
        "chosen",
    ),
)  # fmt: skip
CONDITIONS: tuple[ComparisonCondition, ...] = (
    *COUNTED,
    _condition(
        "ablation", "Ablation, hate speech", "HS-Brexit", (QUERIES, *_ABLATIONS),
        metrics=("accuracy", *METRICS), printed=ABLATION,
        not_counted="parts of one model are compared",
    ),
    _condition(
        "tuned", "Hate speech, encoder tuned", "HS-Brexit", tuple(_TUNED), trials=0,
        reference="heads-tuned", not_counted="the encoder is tuned, settings are not chosen",
    ),
    *SPARSE_CONDITIONS,
    *PRINTED,
)  # fmt: skip

# ---- claims ----

ACCURACY = "annotator accuracy, weighted"
EVERYWHERE, _FEWER = (tuple(c.name for c in some) for some in (COUNTED, SPARSE_CONDITIONS))
_OTHERS = {
    BASE: "classifiers without queries",
    "d-lema": "D-LEMA",
    "padl": "PADL",
    "madl": "MaDL",
    "embedding": "annotator embeddings",
    HEADS: "annotator heads",
    "annotator-majority": "each annotator's most frequent answer",
}
CLAIMS: tuple[BetterThan, ...] = (
    *(
        BetterThan(
            f"Queries predict each annotator better than {words} ({metric})",
            QUERIES, other, metric, EVERYWHERE,
        )
        for metric in (ACCURACY, "annotator macro-F1", "annotator cross-entropy", "DIC")
        for other, words in _OTHERS.items()
    ),
    BetterThan(
        "A classifier for each annotator is better than one for all",
        QUERIES, "unified", ACCURACY, ("ablation",),
    ),
    BetterThan(
        "Self-attention among annotators helps", QUERIES, "alone", ACCURACY, ("ablation",)
    ),
    BetterThan(
        "Beyond the paper: queries predict each annotator better than heads, encoders tuned",
        "queries-tuned", "heads-tuned", "annotator macro-F1", ("tuned",),
    ),
    *(
        BetterThan(
            f"With fewer training answers, queries predict each annotator better than {words}",
            QUERIES, other, ACCURACY, _FEWER,
        )
        for other, words in (("padl", "PADL"), (HEADS, "annotator heads"))
    ),
    BetterThan(
        "A vote of predicted annotators is better than learning the vote",
        "post-mv", "pre-mv", "accuracy", ("ablation",),
    ),
)  # fmt: skip

PAPER = ComparisonPaper(
    name="qumatl",
    title=(
        "Zhang, Lian, Liu, Takebe & Nakashima (2025), QuMATL: Query-based Multi-annotator Tendency "
        "Learning"
    ),
    sources=SOURCES,
    models=MODELS,
    blocks=CONDITIONS,
    claims=CLAIMS,
    notes=(
        "The paper's figures are means over the five questions of STREET, which is not public; "
        "ours are of other corpora. All models read the same frozen encoder; the settings of each "
        "are chosen on training data, with the same number of trials."
    ),
)
named, report, run, shown = PAPER.named, PAPER.report, PAPER.run, PAPER.shown

__all__ = ["CONDITIONS", "MODELS", "PAPER", "SOURCES", "named", "report", "run", "shown", "to_json"]
