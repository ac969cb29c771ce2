"""Queries for annotators (Zhang et al. 2025) on public panels, next to our figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
from dissensus_papers.framework.declared import BetterThan, ComparisonCondition, Model, Source
from dissensus_papers.framework.reports import to_json

QUERIES, BASE, HEADS = "queries", "base", "heads"
NO_PRIOR = {"spread": math.inf}
TUNED = {
    "tune": "all",
    "training.encoder_learning_rate": 5e-5,
    "training.learning_rate": 1e-3,
    "training.epochs": 8,
}

_BASELINES = {
    BASE: Model("Base", "base-heads"),
    "d-lema": Model("D-LEMA", "d-lema"),
    "padl": Model("PADL", "padl"),
    "madl": Model("MaDL", "madl"),
}
_FURTHER = {
    "embedding": Model("Annotator embedding", "annotator-embedding", NO_PRIOR),
    HEADS: Model("Annotator heads", "annotator-heads", NO_PRIOR),
}
_OURS = {QUERIES: Model("Annotator queries", "annotator-queries", NO_PRIOR)}
_TUNED = {
    f"{name}-tuned": Model(
        f"{model.title}, encoder tuned", model.method, {**model.settings, **TUNED}
    )
    for name, model in ((HEADS, _FURTHER[HEADS]), (QUERIES, _OURS[QUERIES]))
}
_ABLATIONS = {
    "unified": Model("w/ U-cls", "annotator-queries", NO_PRIOR | {"classifier": "shared"}),
    "alone": Model("w/o S-Attn", "annotator-queries", NO_PRIOR | {"self_attention": False}),
    "pre-mv": Model("Pre-mv", "annotator-queries", NO_PRIOR | {"learn": "majority"}),
    "post-mv": Model("Post-mv", "annotator-queries", NO_PRIOR | {"vote": "majority"}),
}
_FLOORS = {
    "prior": Model("Prior", "prior"),
    "annotator-majority": Model("Each annotator's most frequent answer", "annotator-majority"),
}
MODELS: dict[str, Model] = _BASELINES | _FURTHER | _OURS | _TUNED | _ABLATIONS | _FLOORS
COMPARED = (*_BASELINES, *_FURTHER, *_OURS, *_FLOORS)
ABLATED = (QUERIES, *_ABLATIONS)
OF_TUNED = tuple(_TUNED)


PRINTED_ACCURACY, DIC = "annotator accuracy", "DIC, all pairs"
STREET = {
    BASE: {PRINTED_ACCURACY: 0.472},
    "d-lema": {PRINTED_ACCURACY: 0.512, DIC: 0.538},
    "padl": {PRINTED_ACCURACY: 0.564, DIC: 0.464},
    "madl": {PRINTED_ACCURACY: 0.516, DIC: 0.434},
    QUERIES: {PRINTED_ACCURACY: 0.616, DIC: 0.372},
}
ABLATION = {
    QUERIES: {PRINTED_ACCURACY: 0.616},
    "unified": {PRINTED_ACCURACY: 0.520},
    "alone": {PRINTED_ACCURACY: 0.522},
    "pre-mv": {"accuracy": 0.596},
    "post-mv": {"accuracy": 0.604},
}
SPARSE = {
    20: {"padl": {PRINTED_ACCURACY: 0.504}, QUERIES: {PRINTED_ACCURACY: 0.586}},
    30: {"padl": {PRINTED_ACCURACY: 0.454}, QUERIES: {PRINTED_ACCURACY: 0.556}},
    40: {"padl": {PRINTED_ACCURACY: 0.414}, QUERIES: {PRINTED_ACCURACY: 0.526}},
}


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


def _without(share: float, prepared: Prepared) -> Prepared:
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
            source.folder, source.corpus, _without(share / 100, source.prepared)
        )
        for name, source in _TEXTS.items()
        for share in DELETED
    },
}


SEEDS = (0, 1, 2, 3, 4)
TRIALS = 6
CHOSEN_BY = "annotator cross-entropy"
METRICS = (
    "annotator accuracy",
    "annotator accuracy, weighted",
    "annotator macro-F1",
    "annotator weighted F1",
    "annotator cross-entropy",
    "DIC",
    "DIC, all pairs",
)
CONSENSUS = ("accuracy", *METRICS)
ABLATED_ON = "HS-Brexit"


def _folds(by: str | None = None) -> Any:
    def folds(corpus: Corpus) -> list[Fold]:
        return k_fold(corpus, 5, by=by, stratify=next(iter(corpus.questions)))

    return folds


def _condition(
    name: str,
    title: str,
    corpus: str,
    models: tuple[str, ...] = COMPARED,
    **further: Any,
) -> ComparisonCondition:
    settings: Mapping[str, Any] = {
        "metrics": METRICS,
        "seeds": SEEDS,
        "reference": QUERIES,
        "trials": TRIALS,
        "scoring": CHOSEN_BY,
        "printed": STREET,
    }
    return ComparisonCondition(name, title, corpus, models, **{**settings, **further})


def _sparse(corpus: str, share: int) -> ComparisonCondition:
    return _condition(
        f"{corpus.lower()}-{share}",
        f"{corpus}, {share} % of each annotator's training answers deleted",
        f"{corpus}-{share}",
        ("padl", HEADS, QUERIES),
        folds=official,
        printed=SPARSE[share],
        not_counted="answers are deleted; compared with the whole corpus",
    )


COUNTED = (
    _condition("hs-brexit", "Hate speech", "HS-Brexit", folds=official),
    _condition("convabuse", "Severity of abuse, five levels", "ConvAbuse", folds=official),
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
ABLATIONS = (
    _condition(
        "ablation", "Ablation, hate speech", ABLATED_ON, ABLATED, folds=official,
        metrics=CONSENSUS, printed=ABLATION,
        not_counted="parts of one model are compared",
    ),
)  # fmt: skip
TUNED_CONDITIONS = (
    _condition(
        "tuned", "Hate speech, encoder tuned", "HS-Brexit", OF_TUNED, folds=official, trials=0,
        reference="heads-tuned", not_counted="the encoder is tuned, settings are not chosen",
    ),
)  # fmt: skip
PRINTED = (
    _condition(
        "armis", "Misogyny, in Arabic", "ArMIS", folds=official,
        not_counted="no encoder of Arabic is at hand",
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
SPARSE_CONDITIONS = tuple(
    _sparse(corpus, share) for corpus in ("HS-Brexit", "ConvAbuse") for share in DELETED
)
CONDITIONS: tuple[ComparisonCondition, ...] = (
    *COUNTED, *ABLATIONS, *TUNED_CONDITIONS, *SPARSE_CONDITIONS, *PRINTED,
)  # fmt: skip


ACCURACY = "annotator accuracy, weighted"
EVERYWHERE = tuple(condition.name for condition in COUNTED)
FEWER_ANSWERS = tuple(condition.name for condition in SPARSE_CONDITIONS)

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
            QUERIES, other, ACCURACY, FEWER_ANSWERS,
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
