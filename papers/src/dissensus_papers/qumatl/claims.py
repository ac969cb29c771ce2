"""The claims of the paper, and what becomes of them."""

from __future__ import annotations

from dissensus_papers.framework.verdicts import BetterThan
from dissensus_papers.qumatl.conditions import COUNTED, SPARSE_CONDITIONS
from dissensus_papers.qumatl.models import BASE, HEADS, QUERIES

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
