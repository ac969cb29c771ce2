"""The conditions: corpora, models, folds and seeds, and the densities that are scored."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from dissensus_papers.framework.declared import ComparisonCondition, MeasuredCondition
from dissensus_papers.individual.corpora import (
    CCC,
    READINGS,
    SEEDS,
    TWO_MODES,
    adults_to_children,
    agreement_of_annotators,
    figures_of_crowd,
    item_folds,
    of_test_items,
    parts_of,
    perspective,
    reading,
    speaker_folds,
    tasks,
)
from dissensus_papers.individual.measurements import MEASUREMENTS
from dissensus_papers.individual.models import (
    CONCORDANCES,
    CONSENSUS,
    DISTANCES,
    FLOORS,
    FURTHER,
    GRID_BASELINE,
    HEADS,
    LEARNED,
    MT,
    OBJECTIVES,
    OF_PAPER,
    OH,
    OURS,
    VARIANTS,
)

ASPECTS = ("accuracy", "fluency", "prosodic")
TWO, EMOTIONS = ASPECTS[:2], ("activation", "valence")
SPEECH = "speechocean762"
FINEST = 16  # cells
OF_ALL = ("soft@all", "plain@all")
CHOSEN, CONSTRUCTION = f"{HEADS}-noise", f"{MT}-both"  # the best variant, the paper's density
SEARCH = "a search for a better way to form densities, not a claim of the paper"
TRANSFERRED = (
    *(GRID_BASELINE, *(f"{MT}-{objective}" for objective in OBJECTIVES), f"{OH}-both"),
    *(CONSENSUS, HEADS, "prior", "annotator-median"),
)


def _condition(
    name: str, title: str, corpus: str, models: tuple[str, ...], **further: Any
) -> ComparisonCondition:
    usual = {"metrics": CCC, "seeds": SEEDS, "reference": GRID_BASELINE}
    return ComparisonCondition(name, title, corpus, models, **usual | further)


def _spoken(name: str, title: str, models: tuple[str, ...], **further: Any) -> ComparisonCondition:
    usual = {"folds": speaker_folds, "questions": TWO, "by": "speaker"}
    return _condition(name, title, SPEECH, models, **usual | further)


def _of_one(name: str, title: str, corpus: str, question: str) -> ComparisonCondition:
    """All models of the paper, for the ratings of one question."""
    models = (
        *(GRID_BASELINE, f"{GRID_BASELINE}-{FINEST}"),
        *(f"{name}-{objective}" for name in (MT, OH) for objective in OBJECTIVES),
        *(CONSENSUS, HEADS, "prior", "annotator-median"),
    )
    finest = (f"{kind}:bins={FINEST}" for kind in READINGS)
    densities = (*READINGS, *finest, *OF_ALL)
    return _condition(
        name, title, corpus, models, folds=partial(item_folds, question), questions=(question,),
        densities=densities, figures=partial(figures_of_crowd, (question,), densities),
    )  # fmt: skip


def _without_annotators(
    name: str, title: str, corpus: str, questions: tuple[str, ...], **further: Any
) -> ComparisonCondition:
    """Densities alone, where annotators are unknown."""
    models = (GRID_BASELINE, f"{GRID_BASELINE}-8", "grid-ours", CONSENSUS, "prior")
    usual = {"metrics": CCC[:1], "questions": questions, "densities": ("soft", "soft:bins=8")}
    return _condition(name, title, corpus, models, **usual, **further)


def _sentences(name: str, title: str, train: str, test: str) -> ComparisonCondition:
    folds = partial(perspective, train, test)
    return _without_annotators(name, title, "emobank", ("V", "A"), folds=folds)


def _confirmation(name: str, title: str, corpus: str, question: str) -> ComparisonCondition:
    """The best variant on another corpus with new seeds; the paper's own construction is the
    reference: heads learn answers and their density, and the density is soft, temperature 8."""
    return _condition(
        f"confirm-{name}", f"Confirmation: {title[0].lower()}{title[1:]}", corpus,
        (CONSTRUCTION, CHOSEN, f"{HEADS}-mixture", "prior"), seeds=(5, 6, 7, 8, 9),
        reference=CONSTRUCTION, folds=partial(item_folds, question), questions=(question,),
        densities=("method", "method:bins=16"),
        not_counted="of our own variant, not of the paper; it has its own claims",
    )  # fmt: skip


def _licensed(name: str, title: str, corpus: str, **further: Any) -> ComparisonCondition:
    """On the paper's own corpora, for those who have a licence."""
    densities = (*READINGS, *OF_ALL)
    return _condition(
        name, title, corpus, (*OF_PAPER, *OURS, *FLOORS), questions=EMOTIONS, densities=densities,
        figures=partial(figures_of_crowd, EMOTIONS, densities), **further,
    )  # fmt: skip


ONE_QUESTION = (
    _of_one("inference", "How likely a hypothesis is", "nli_variation", "rating"),
    _of_one("jokes", "How funny jokes are, 250 annotators", "jester5k", "rating"),
    *(
        _of_one(f"faces-{trait}", f"Faces: {words}", "faces_3dsk", trait)
        for trait, words in (
            ("att", "attractive"),
            ("dom", "dominant"),
            ("health", "healthy"),
            ("sexdim", "feminine or masculine"),
            ("trust", "trustworthy"),
        )
    ),
)
CONFIRMATION = (
    *(_confirmation(each.name, each.title, each.corpus, (each.questions or ("",))[0])
      for each in ONE_QUESTION),
    _confirmation("two-modes", "Simulated texts, half of them with two modes", TWO_MODES,
                  "valence"),
)  # fmt: skip
_FURTHER = _spoken(
    "further", "Past the paper: mixtures, moments, copies of a common head",
    (CHOSEN, CONSTRUCTION, *FURTHER), reference=CHOSEN, densities=("method", "method:bins=8"),
    not_counted=SEARCH,
)  # fmt: skip
_TASKS = partial(tasks, ("snli", "mnli"), ("dnc", "joci"))
_MUSIC = ("valence", "arousal")
CONDITIONS: tuple[ComparisonCondition | MeasuredCondition, ...] = (
    _spoken(
        "speech", "Accuracy and fluency of speech", (*OF_PAPER, *OURS, *FLOORS),
        densities=(*READINGS, *(f"{kind}:bins=8" for kind in READINGS)),
        printed_in={
            **dict(zip(TWO, CONCORDANCES, strict=True)),
            **{reading(TWO, text): DISTANCES[text] for text in DISTANCES},
        },
        figures=agreement_of_annotators,
    ),
    _spoken(
        "aspects", "Three aspects of speech",
        (CONSENSUS, f"{MT}-answers", f"{OH}-answers", HEADS, "onehot", *FLOORS),
        reference=CONSENSUS, questions=ASPECTS, figures=agreement_of_annotators,
    ),
    _spoken(
        "variants", "Past the paper: calibrated densities",
        (GRID_BASELINE, f"{GRID_BASELINE}-8", CONSTRUCTION, *VARIANTS, *FLOORS),
        reference=CONSTRUCTION, densities=("method", "method:bins=8", "fixed", "fixed:bins=8"),
        not_counted=SEARCH,
    ),
    _FURTHER,
    replace(
        _FURTHER, name="learned-temperature", title="Past the paper: a learned temperature",
        models=(CHOSEN, CONSTRUCTION, LEARNED),
    ),
    _spoken(
        "tuned", "Three aspects of speech, settings chosen by trials", (CONSENSUS, HEADS),
        seeds=SEEDS[:3], reference=CONSENSUS, questions=ASPECTS,
        trials=8,  # for each fit, on its training speakers
        not_counted="the same question as in aspects, with settings chosen on training data",
    ),
    *ONE_QUESTION,
    # trained on one part of a corpus, tested on another as it is
    _spoken(
        "children", "Trained on adults, tested on children", TRANSFERRED,
        folds=adults_to_children, densities=READINGS,
        figures=partial(of_test_items, adults_to_children, agreement_of_annotators),
    ),
    _condition(
        "tasks", "Trained on SNLI and MNLI, tested on DNC and JOCI", "nli_variation", TRANSFERRED,
        folds=_TASKS, questions=("rating",), densities=READINGS + OF_ALL,
        figures=partial(
            of_test_items, _TASKS, partial(figures_of_crowd, ("rating",), READINGS + OF_ALL)
        ),
    ),
    _sentences("writers", "Trained on readers, tested on writers", "reader", "writer"),
    _sentences("readers", "Densities of readers", "reader", "reader"),
    _sentences("writers-own", "Densities of writers", "writer", "writer"),
    _without_annotators(
        "music", "Valence and arousal of pieces of music", "vgmidi", _MUSIC,
        folds=partial(item_folds, "valence"),
        figures=partial(figures_of_crowd, _MUSIC, ("soft", "soft:bins=8")),
    ),
    *CONFIRMATION,
    *MEASUREMENTS,
    _licensed(
        "improv", "MSP-Improv, as published", "msp_improv",
        folds=partial(parts_of, "paper", "train", "validation", "test"),
        printed_in={
            **dict(zip(EMOTIONS, CONCORDANCES, strict=True)),
            **{reading(EMOTIONS, text): DISTANCES[text] for text in DISTANCES},
        },
    ),
    _licensed(
        "podcast", "MSP-Podcast 1.11, first test part", "msp_podcast",
        folds=partial(parts_of, "official", "train", "dev", "test1"),
    ),
)  # fmt: skip
