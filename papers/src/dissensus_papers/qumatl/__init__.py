"""Queries for annotators (Zhang et al. 2025), on panels that can decide about them.

The paper's corpora, STREET and AMER, are not public; those who have them run the conditions
`street` and `amer`. Everybody else has panels of annotators who saw the same items: pictures,
texts, speech, and simulated ones.
"""

from __future__ import annotations

from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.declared import BetterThan
from dissensus_papers.framework.text import BEYOND
from dissensus_papers.qumatl.conditions import (
    CONDITIONS,
    LESS,
    SIMULATED,
    STREET,
    STREET_PARTS,
    STREET_WITH_LESS,
)
from dissensus_papers.qumatl.corpora import SOURCES
from dissensus_papers.qumatl.models import BASE, HEADS, MODELS, ONE_LAYER, PUBLISHED, QUERIES, VIDEO

# ---- claims; each condition names the score that decides it ----

_SIMULATED, _STREET, _STREET_PARTS, _STREET_WITH_LESS, _LESS = (
    tuple(condition.name for condition in some)
    for some in (SIMULATED, STREET, STREET_PARTS, STREET_WITH_LESS, LESS)
)
_PANELS = ("cue-conflict", "speech", "hs-brexit", "convabuse", "paraphrase")
_OTHERS = {
    BASE: "classifiers without queries", "d-lema": "D-LEMA", "padl": "PADL", "madl": "MaDL",
    "embedding": "annotator embeddings", HEADS: "annotator heads",
    "annotator-majority": "each annotator's most frequent answer",
}  # fmt: skip
_COMPARED = (
    (PUBLISHED, "As published, queries", ("cue-conflict", *_STREET)),
    (VIDEO, "As published for clips, queries", ("amer",)),
    (QUERIES, "Queries in several layers", (*_PANELS, *_STREET, "amer")),
    (ONE_LAYER, "Queries in one layer", (*_PANELS, *_STREET, "amer")),
)
_LESS_DATA = (
    (PUBLISHED, "as published", _STREET_WITH_LESS),
    (QUERIES, "in several layers", (*_LESS, *_STREET_WITH_LESS)),
    (ONE_LAYER, "in one layer", _LESS),
)
CLAIMS: tuple[BetterThan, ...] = (
    *(
        BetterThan(f"{words} predict each annotator better than {others}", model, other, where)
        for model, words, where in _COMPARED
        for other, others in _OTHERS.items()
    ),
    BetterThan(
        "As published, queries predict each annotator of a text better than annotator heads",
        PUBLISHED, HEADS, ("hs-brexit-published",),
    ),
    *(
        BetterThan(
            f"Where annotators look at different parts, {words} predict each better than heads",
            model, HEADS, _SIMULATED,
        )
        for model, words in ((QUERIES, "queries"), (PUBLISHED, "queries as published"))
    ),
    BetterThan(
        f"{BEYOND}two or three layers are better than one", QUERIES, ONE_LAYER,
        (*_PANELS, *_SIMULATED, "followers"),
    ),
    BetterThan(
        "Several layers: a classifier for each annotator is better than one for all",
        QUERIES, "unified", ("cue-conflict", "ablation", *_STREET_PARTS),
    ),
    BetterThan(
        "Several layers: self-attention among annotators helps",
        QUERIES, "alone", ("cue-conflict", "ablation", *_STREET_PARTS),
    ),
    BetterThan(
        "Self-attention helps where annotators follow others", QUERIES, "alone", ("followers",)
    ),
    BetterThan(
        "Several layers: a vote of predicted annotators is better than learning the vote",
        "post-mv", "pre-mv", ("ablation", *_STREET_PARTS), "accuracy",
    ),
    *(
        BetterThan(
            f"With fewer training answers, queries {words} predict each annotator better than "
            f"{others}", model, other, where,
        )
        for model, words, where in _LESS_DATA
        for other, others in (("padl", "PADL"), (HEADS, "annotator heads"))
    ),
    BetterThan(
        f"{BEYOND}queries predict each annotator better than heads, encoders tuned",
        "queries-tuned", "heads-tuned", ("tuned",),
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
        "STREET and AMER, the paper's corpora, are not public: the others stand in for them. All "
        "models of a condition read the same frozen encoder and try as many settings on training "
        'data. "Several layers" are two or three with four heads and linear layers, 128 wide; one '
        "layer has one head, 64 or 128 wide, and its self-attention runs before any content is "
        "seen. As published: 12 layers, 768 wide, with random first weights, where the paper "
        "begins with those of InstructBLIP. On hs-brexit (168 items) the most frequent answer is "
        "nearly as accurate as any model, so cross-entropy decides there."
    ),
)
