"""The conditions: corpora, models, folds and seeds, and the densities that are scored."""

from __future__ import annotations

from functools import partial
from typing import Any

from dissensus_papers.framework.declared import ComparisonCondition
from dissensus_papers.individual.corpora import (
    CCC,
    EMOTIONS,
    IMPRESSIONS,
    SEEDS,
    SIGNED,
    TWO,
    Folds,
    adults_to_children,
    choir_to_others,
    figures_of,
    first_to_second,
    folds_by,
    parts_of,
    reading,
)
from dissensus_papers.individual.models import (
    ACROSS,
    BOTH,
    CONCORDANCES,
    DISTANCES,
    GRID,
    MODELS,
    TVD,
)

READINGS = ("soft", "method", "plain")  # at test, from what annotators are predicted to answer
OF_ALL = "soft@all"
ENCODERS = {  # of the paper, by their names on the hub
    "speech": "facebook/wav2vec2-base",
    "text": "google/bert_uncased_L-4_H-512_A-8",
}


def _condition(
    name: str, title: str, corpus: str, questions: tuple[str, ...], folds: Folds, **more: Any
) -> ComparisonCondition:
    usual = {"densities": READINGS, "reference": GRID, "metrics": CCC, "seeds": SEEDS}
    settings = usual | more
    figures = partial(figures_of, questions, settings["densities"], folds)
    return ComparisonCondition(
        name, title, corpus, tuple(MODELS), folds=folds, questions=questions, figures=figures,
        **settings,
    )  # fmt: skip


def _licensed(
    name: str, title: str, corpus: str, folds: Folds, densities: tuple[str, ...], **more: Any
) -> ComparisonCondition:
    """On the paper's own corpora, for those who have a licence."""
    return _condition(
        name, title, corpus, EMOTIONS, folds, densities=densities, licensed=True,
        settings={"encoder": ENCODERS}, **{"by": "speaker"} | more,
    )  # fmt: skip


def _across(name: str, title: str) -> ComparisonCondition:
    """Trained on MSP-Improv, tested on another corpus; all annotators are new."""
    baseline, individual = ACROSS[name]
    printed = {reading(EMOTIONS, "soft"): {GRID: {TVD: baseline}, BOTH: {TVD: individual}}}
    return _licensed(name, title, name, first_to_second, READINGS, printed_in=printed)


WITH_ALL = (*READINGS, OF_ALL)  # where not every annotator rated every item
SIMULATED = ("valence", "activation")
CONDITIONS: tuple[ComparisonCondition, ...] = (
    _condition("speech", "Accuracy and fluency of speech", "speechocean762", TWO,
               partial(folds_by, "speaker"), by="speaker"),
    _condition("voices", "Impressions of voices", "nsc_voices", tuple(IMPRESSIONS),
               partial(folds_by, None), densities=WITH_ALL),
    _condition("patterns", "Patterns of cells", "ca_patterns216", ("complexity", "beauty"),
               partial(folds_by, None), densities=WITH_ALL),
    _condition("music", "Music, two signs", "trompa_mer", SIGNED, partial(folds_by, None),
               densities=WITH_ALL),
    _condition("simulated", "Simulated texts, half of them with two modes", "simulated", SIMULATED,
               partial(folds_by, None), not_counted="simulated, so that annotators do differ"),
    # trained on one corpus or part, tested on another as it is
    _condition("children", "Trained on adults, tested on children", "speechocean762", TWO,
               adults_to_children, by="speaker"),
    _condition("telephone", "Trained on voices, tested on other voices over telephone",
               "voices-telephone", tuple(IMPRESSIONS), first_to_second, by="speaker"),
    _condition("selections", "Trained on choirs, tested on other music", "trompa_mer", SIGNED,
               choir_to_others),
    # the paper's own corpora
    _licensed(
        "improv", "MSP-Improv, as published", "msp_improv",
        partial(parts_of, "paper", "train", "validation", "test"), WITH_ALL,
        by="item",  # the test part has two speakers
        printed_in={
            **dict(zip(EMOTIONS, CONCORDANCES, strict=True)),
            **{reading(EMOTIONS, text): DISTANCES[text] for text in DISTANCES},
        },
    ),
    _licensed("podcast", "MSP-Podcast, first test part", "msp_podcast",
              partial(parts_of, "official", "train", "dev", "test1"), WITH_ALL),
    _across("improv-podcast", "Trained on MSP-Improv, tested on MSP-Podcast"),
    _across("improv-iemocap", "Trained on MSP-Improv, tested on IEMOCAP"),
    _across("improv-muse", "Trained on MSP-Improv, tested on MuSE"),
)  # fmt: skip
