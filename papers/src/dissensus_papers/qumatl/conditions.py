"""The conditions: public panels, simulated ones whose best possible scores are known, and the
paper's own corpora for those who have them."""

from __future__ import annotations

from functools import partial
from typing import Any

from dissensus.evaluation import official
from dissensus_papers.framework.declared import ComparisonCondition, Printed
from dissensus_papers.qumatl.corpora import (
    DELETED,
    GAZE,
    PERSPECTIVES,
    PICTURES,
    SPEECH,
    TEXTS,
    TOKENS,
    WHOLE,
    best_possible,
    folds,
    last_fifth,
)
from dissensus_papers.qumatl.models import (
    ABLATIONS,
    BASE,
    COMPARED,
    FLOORS,
    HEADS,
    OF_TOKENS,
    ONE_LAYER,
    PUBLISHED,
    QUERIES,
    TUNED_MODELS,
    VIDEO,
)

SEEDS = (0, 1, 2, 3, 4)
ACCURACY, CROSS_ENTROPY = "annotator accuracy, weighted", "annotator cross-entropy"
METRICS = (
    "annotator accuracy", ACCURACY, "annotator macro-F1", "annotator weighted F1", CROSS_ENTROPY,
    "DIC", "DIC, all pairs",
)  # fmt: skip

# ---- figures of the paper: Tables 2 to 5 and 7 of STREET by perspective, AMER ----


def _by_perspective(metric: str, rows: dict[str, tuple[float, ...]]) -> tuple[Printed, ...]:
    return tuple(
        {model: {metric: figures[at]} for model, figures in rows.items()}
        for at in range(len(PERSPECTIVES))
    )


STREET_ACCURACY = _by_perspective("annotator accuracy", {
    BASE: (0.42, 0.47, 0.47, 0.53, 0.47), "d-lema": (0.54, 0.57, 0.47, 0.51, 0.47),
    "padl": (0.58, 0.59, 0.52, 0.58, 0.55), "madl": (0.56, 0.58, 0.46, 0.50, 0.48),
    PUBLISHED: (0.63, 0.64, 0.58, 0.62, 0.61),
})  # fmt: skip
STREET_DIC = _by_perspective("DIC, all pairs", {
    "d-lema": (0.62, 0.59, 0.36, 0.51, 0.61), "padl": (0.48, 0.52, 0.32, 0.43, 0.57),
    "madl": (0.45, 0.45, 0.29, 0.39, 0.59), PUBLISHED: (0.43, 0.38, 0.24, 0.27, 0.54),
})  # fmt: skip
STREET_LESS = _by_perspective(  # 40 % of the training answers deleted
    "annotator accuracy",
    {"padl": (0.44, 0.42, 0.37, 0.43, 0.41), PUBLISHED: (0.55, 0.53, 0.49, 0.52, 0.54)},
)
AMER = {  # as AAAI-26 prints it; answers that are missing count as right there
    BASE: {"annotator accuracy": 0.28},
    "d-lema": {"annotator accuracy": 0.78, "DIC, all pairs": 0.42},
    "padl": {"annotator accuracy": 0.79, "DIC, all pairs": 0.36},
    "madl": {"annotator accuracy": 0.80, "DIC, all pairs": 0.31},
    VIDEO: {"annotator accuracy": 0.84, "DIC, all pairs": 0.23},
}

# ---- conditions ----

SOME = (HEADS, ONE_LAYER, QUERIES, PUBLISHED)
_TRIALS = 8  # all settings of each model
MANY_ITEMS = {PUBLISHED: {"training.batch_size": 64, "training.epochs": 15}}
_FEWER: dict[str, Any] = {"trials": 2, "seeds": SEEDS[:2]}  # where the published model takes part


def _condition(
    name: str, title: str, corpus: str, models: tuple[str, ...] = COMPARED, **further: Any
) -> ComparisonCondition:
    usual: dict[str, Any] = {
        "metrics": METRICS, "seeds": SEEDS, "reference": QUERIES, "trials": _TRIALS,
        "folds": official, "scoring": CROSS_ENTROPY, "decided_by": CROSS_ENTROPY,
    }  # fmt: skip
    return ComparisonCondition(name, title, corpus, models, **usual | further)


def _pictures(name: str, title: str, models: tuple[str, ...], **further: Any) -> Any:
    """Queries attend to the tokens of a picture; other models read one vector."""
    reads = {m: TOKENS if m in OF_TOKENS else WHOLE for m in models if m not in FLOORS}
    more = further.pop("of_model", {})
    of_model = {
        model: {"encoder": {role: "features"}, **more.get(model, {})}
        for model, role in reads.items()
    }
    usual: dict[str, Any] = {"corpus": PICTURES, "by": "shape_source", "decided_by": ACCURACY}
    return _condition(name, title, models=models, of_model=of_model, **usual | further)


def _simulated(name: str, title: str, corpus: str, **further: Any) -> ComparisonCondition:
    usual: dict[str, Any] = {
        "models": SOME, "folds": last_fifth, "figures": best_possible,
        "of_model": MANY_ITEMS, "decided_by": ACCURACY,
    }  # fmt: skip
    return _condition(name, title, corpus, **usual | _FEWER | further)


CUE_CONFLICT = _pictures(
    "cue-conflict", "Which of sixteen objects: thirty people in three panels",
    (*COMPARED, "alone", "unified", PUBLISHED), folds=partial(official, scheme="source"),
    of_model={PUBLISHED: {"training.batch_size": 16}}, **_FEWER | {"seeds": SEEDS},
)  # fmt: skip
TEXT_AND_SPEECH = (
    _condition("hs-brexit", "Hate speech", "HS-Brexit"),
    _condition("convabuse", "Severity of abuse, five levels", "ConvAbuse"),
    _condition(
        "paraphrase", "Paraphrases, eleven classes", "Paraphrase", folds=folds(),
        settings={"encoder": {"Question1+Question2": "minilm"}},
    ),
    _condition(
        "speech", "Accuracy of speech, eleven levels", SPEECH, folds=folds("speaker"), by="speaker",
        decided_by=ACCURACY,
    ),
)  # fmt: skip
PUBLISHED_TEXT = _condition(
    "hs-brexit-published", "Hate speech, with the published model", "HS-Brexit",
    (*SOME, "annotator-majority"), **_FEWER,
)  # fmt: skip
SIMULATED = (
    _simulated("simulated-text", "Simulated texts", "simulated-text"),
    _pictures(
        "simulated-image", "Simulated pictures", SOME, corpus="simulated-image", by=None,
        folds=last_fifth, figures=best_possible, of_model=MANY_ITEMS, **_FEWER,
    ),
    _simulated(
        "simulated-sequence", "Simulated sequences", "simulated-sequence",
        settings={"positions": 48},
    ),
)  # fmt: skip
FOLLOWERS = _simulated(
    "followers", "Simulated texts: sixteen follow the plurality of three leaders each",
    "followers", models=(HEADS, ONE_LAYER, QUERIES, "alone"), seeds=SEEDS[:3], trials=_TRIALS,
)  # fmt: skip
PARTS = _condition(
    "ablation", "Parts of the model, hate speech", "HS-Brexit", (QUERIES, *ABLATIONS),
    metrics=("accuracy", *METRICS),
)  # fmt: skip
LESS = tuple(
    _condition(
        f"{corpus.lower()}-{share}",
        f"{corpus}, {share} % of each annotator's training answers deleted",
        f"{corpus}-{share}", ("padl", HEADS, ONE_LAYER, QUERIES),
    )
    for corpus in TEXTS
    for share in DELETED
)  # fmt: skip

# ---- the paper's own corpora ----

_OF_PAPER: dict[str, Any] = {
    "trials": 4, "folds": partial(official, scheme="paper"), "decided_by": ACCURACY,
    "licensed": True,
}  # fmt: skip
STREET = tuple(
    _condition(
        f"street-{question}", f"STREET, {question}", "street", (*COMPARED, PUBLISHED),
        questions=(question,), reference=PUBLISHED, **_OF_PAPER,
        printed={model: {**accuracy[model], **dic.get(model, {})} for model in accuracy},
    )
    for question, accuracy, dic in zip(PERSPECTIVES, STREET_ACCURACY, STREET_DIC, strict=True)
)  # fmt: skip
STREET_PARTS = tuple(
    _condition(
        f"parts-street-{question}", f"STREET, {question}: parts of the model", "street",
        (QUERIES, *ABLATIONS), metrics=("accuracy", *METRICS), questions=(question,), **_OF_PAPER,
    )
    for question in PERSPECTIVES
)  # fmt: skip
STREET_WITH_LESS = tuple(
    _condition(
        f"less-street-{question}", f"STREET, {question}: 40 % of training answers deleted",
        "street-40", ("padl", HEADS, QUERIES, PUBLISHED), questions=(question,), printed=printed,
        **_OF_PAPER,
    )
    for question, printed in zip(PERSPECTIVES, STREET_LESS, strict=True)
)  # fmt: skip
AMER_CONDITION = _condition(
    "amer", "AMER", "amer", (*COMPARED, VIDEO), reference=VIDEO, printed=AMER, **_OF_PAPER,
    of_model={VIDEO: {"frame_positions": 16}},
    settings={"encoder": {"video": "efficientnet-lite0:positions=cell"}},
)  # fmt: skip

CONDITIONS: tuple[ComparisonCondition, ...] = (
    CUE_CONFLICT, *TEXT_AND_SPEECH, PUBLISHED_TEXT, *SIMULATED, FOLLOWERS, PARTS, *LESS,
    _condition(
        "tuned", "Hate speech, encoder tuned", "HS-Brexit", tuple(TUNED_MODELS), trials=0,
        reference="heads-tuned", not_counted="the encoder is tuned, settings are not chosen",
    ),
    _pictures(
        "cue-texture", "The ten people who were asked for the texture, by themselves",
        (HEADS, ONE_LAYER, QUERIES, *FLOORS), corpus=f"{PICTURES}-texture",
        folds=folds("shape_source"), **_FEWER,
        not_counted="three of the ten answered by shape against the instruction",
    ),
    _condition(
        "gaze", "Fixations of the eye", GAZE, folds=folds("trial"), by="trial",
        settings={"reads": "content"},
        not_counted="an item is one sample of its trial: other models read this sample alone, "
        "queries have to find it among all",
    ),
    *STREET, *STREET_PARTS, *STREET_WITH_LESS, AMER_CONDITION,
)  # fmt: skip
