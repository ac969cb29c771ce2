"""Queries for annotators (Zhang et al. 2025), on panels that can decide about them.

The paper's corpora, STREET and AMER, are not public; those who have them run the conditions
`street` and `amer`. Everybody else has panels of annotators who saw the same items: pictures,
texts, speech, and simulated ones.
"""

from __future__ import annotations

from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.declared import BetterThan
from dissensus_papers.framework.reports import to_json
from dissensus_papers.framework.text import BEYOND
from dissensus_papers.qumatl.conditions import (
    ACCURACY,
    CONDITIONS,
    CROSS_ENTROPY,
    LESS,
    SIMULATED,
    STREET,
    STREET_PARTS,
    STREET_WITH_LESS,
)
from dissensus_papers.qumatl.corpora import SOURCES, SPEECH
from dissensus_papers.qumatl.models import BASE, HEADS, MODELS, ONE_LAYER, PUBLISHED, QUERIES, VIDEO

# ---- claims, and the score that decides each condition ----

F1 = "annotator macro-F1"
_SIMULATED, _STREET, _STREET_PARTS, _STREET_WITH_LESS, _LESS = (
    tuple(condition.name for condition in some)
    for some in (SIMULATED, STREET, STREET_PARTS, STREET_WITH_LESS, LESS)
)
DECIDED = {  # with the most frequent answer, accuracy is .869 on hs-brexit, and .884 at best
    ACCURACY: ("cue-conflict", "speech", *_STREET, "amer"),
    CROSS_ENTROPY: ("hs-brexit", "convabuse", "paraphrase"),
    F1: ("hs-brexit", "convabuse"),
}
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
            f"Queries in several layers predict each annotator better than {words} ({metric})",
            QUERIES, other, metric, conditions,
        )
        for metric, conditions in DECIDED.items()
        for other, words in _OTHERS.items()
    ),
    *(
        BetterThan(
            f"As published, queries predict each annotator better than {words}",
            PUBLISHED, other, ACCURACY, ("cue-conflict-published", *_STREET),
        )
        for other, words in _OTHERS.items()
    ),
    BetterThan(
        "As published, queries predict each annotator of a text better than annotator heads",
        PUBLISHED, HEADS, CROSS_ENTROPY, ("hs-brexit-published",),
    ),
    *(
        BetterThan(
            f"As published for clips, queries predict each annotator better than {words}",
            VIDEO, other, ACCURACY, ("amer",),
        )
        for other, words in _OTHERS.items()
    ),
    *(
        BetterThan(
            f"Where annotators look at different parts, {words} predict each better than heads",
            model, HEADS, ACCURACY, _SIMULATED,
        )
        for model, words in ((QUERIES, "queries"), (PUBLISHED, "queries as published"))
    ),
    BetterThan(
        f"{BEYOND}two or three layers are better than one", QUERIES, ONE_LAYER, ACCURACY,
        ("cue-conflict", "speech", *_SIMULATED, "followers"),
    ),
    BetterThan(
        "Several layers: a classifier for each annotator is better than one for all",
        QUERIES, "unified", ACCURACY, ("cue-conflict", "ablation", *_STREET_PARTS),
    ),
    BetterThan(
        "Several layers: self-attention among annotators helps",
        QUERIES, "alone", ACCURACY, ("cue-conflict", "ablation", *_STREET_PARTS),
    ),
    BetterThan(
        "Self-attention helps where annotators follow others",
        QUERIES, "alone", ACCURACY, ("followers",),
    ),
    BetterThan(
        "Several layers: a vote of predicted annotators is better than learning the vote",
        "post-mv", "pre-mv", "accuracy", ("ablation", *_STREET_PARTS),
    ),
    *(
        BetterThan(
            f"With fewer training answers, queries in several layers predict each annotator better "
            f"than {words} ({metric})",
            QUERIES, other, metric, conditions,
        )
        for metric, conditions in ((CROSS_ENTROPY, _LESS), (ACCURACY, _STREET_WITH_LESS))
        for other, words in (("padl", "PADL"), (HEADS, "annotator heads"))
    ),
    BetterThan(
        f"{BEYOND}queries predict each annotator better than heads, encoders tuned",
        "queries-tuned", "heads-tuned", F1, ("tuned",),
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
        'All models of a condition read the same frozen encoder. "Several layers" are two or three '
        "with four heads and linear layers; each model chooses among eight settings, its "
        "sizes among them, on training data, and tries as many as the others. As published, "
        "queries begin with random weights: the paper begins with those of InstructBLIP."
    ),
)
named, report, run, shown = PAPER.named, PAPER.report, PAPER.run, PAPER.shown

__all__ = [
    "CLAIMS", "CONDITIONS", "MODELS", "PAPER", "SOURCES", "SPEECH", "named", "report", "run",
    "shown", "to_json",
]  # fmt: skip
