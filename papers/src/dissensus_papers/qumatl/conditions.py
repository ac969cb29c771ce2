"""The conditions: Tables 2 to 5 and 7 of the paper, on public corpora."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dissensus.corpus import Corpus
from dissensus.evaluation import Fold, k_fold, official
from dissensus_papers.framework.conditions import ComparisonCondition
from dissensus_papers.qumatl.corpora import DELETED, GAZE, SPEECH
from dissensus_papers.qumatl.models import ABLATED, COMPARED, HEADS, OF_TUNED, QUERIES
from dissensus_papers.qumatl.printed import ABLATION, SPARSE, STREET

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
