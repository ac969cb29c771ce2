"""Outcomes -> report: all figures of tables and verdicts, from the fits that are done.

A report is plain data: the tables are written from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import corrected
from dissensus.progress import progress
from dissensus_papers.framework.differences import accuracy_and_f1, correct, over, short
from dissensus_papers.framework.reports import begun_with, head
from dissensus_papers.seedbert.conditions import CONDITIONS, N_REPEATS
from dissensus_papers.seedbert.corpora import FIRST, SOURCES
from dissensus_papers.seedbert.figures import (
    ANNOTATORS,
    Figures,
    biases_of_annotators,
    in_short,
    nearer,
)
from dissensus_papers.seedbert.items import Items
from dissensus_papers.seedbert.models import (
    DEEP,
    MODELS,
    N_MEMBERS,
    SEEDS,
    SINGLE,
    TABLE_4,
    VARIANTS,
    trials,
)
from dissensus_papers.seedbert.outcome import Outcome
from dissensus_papers.seedbert.scoring import DISTANCES, MEAN, READ_OUTS, TEMPERED, VOTES
from dissensus_papers.seedbert.selection import BY, best_variant, outcomes, tried
from dissensus_papers.seedbert.studies.temperature import again, calibrated, tempering

KIND = "seedbert"
NUMBERS = (1, 3, 5, 10, 20)  # of members


def judged(path: Path) -> dict[str, Any]:
    """The report on a folder of outcomes."""
    front = begun_with(path, KIND)
    done = outcomes(path)
    about = head(path, front, (outcome.machine for outcome in done))
    figures_of = figures(path, done)
    variant = _variant(path)
    conditions = {}
    with progress("testing", len(figures_of)) as advance:
        for name, of_condition in figures_of.items():
            if of_condition.condition.kind != "again":
                conditions[name] = _judged(of_condition)
            advance(1)
    correct(test for condition in conditions.values() for test in condition["against"].values())
    return about | {
        "settings": front["facts"]["settings"],
        "done": len(done),
        "missing": _missing(done, variant[0] if variant else None),
        "choosing": _choosing(path),
        "variant": _of_variant(figures_of, variant) if variant else {},
        "calibrated": calibrated(_chosen(figures_of)),
        "again": again(_of_kind(figures_of, "again")),
        "tempering": tempering(_chosen(figures_of)),
        "number": _of_number(figures_of),
        ANNOTATORS: {
            corpus: biases_of_annotators(f.items) for corpus, f in _chosen(figures_of).items()
        },
        "kappas": _kappas(path),
        "conditions": conditions,
    }


def figures(path: Path, done: Sequence[Outcome]) -> dict[str, Figures]:
    """The conditions in which something is trained, other than to choose settings."""
    by_condition = {}
    for name, condition in CONDITIONS.items():
        own = [outcome for outcome in done if outcome.condition == name]
        if own and condition.kind != "choose":
            by_condition[name] = Figures.of(condition, Items.load(path, condition.corpus), own)
    return by_condition


def _chosen(figures_of: Mapping[str, Figures]) -> dict[str, Figures]:
    """By corpus, those with settings that were chosen."""
    return _of_kind(figures_of, "chosen")


def _of_kind(figures_of: Mapping[str, Figures], kind: str) -> dict[str, Figures]:
    """By corpus."""
    return {f.condition.corpus: f for f in figures_of.values() if f.condition.kind == kind}


def _variant(path: Path) -> tuple[str, str] | None:
    try:
        return best_variant(path)
    except DataError:
        return None  # not every variant is there


def _missing(done: Sequence[Outcome], variant: str | None) -> dict[str, Any]:
    """SeedBertCondition -> model -> how many trainings are not done, of how many."""
    there = {outcome.key for outcome in done}
    missing: dict[str, Any] = {}
    for name, condition in CONDITIONS.items():
        of_model: dict[str, list[int]] = {}
        for key in condition.keys(N_REPEATS, variant):
            counts = of_model.setdefault(key.method, [0, 0])
            counts[0] += key not in there
            counts[1] += 1
        lacking = {model: counts for model, counts in of_model.items() if counts[0]}
        if lacking:
            missing[name] = lacking
    return missing


# ---- one condition ----


def _judged(figures: Figures) -> dict[str, Any]:
    models = [model for model in MODELS if model in figures.done]
    return {
        "corpus": figures.condition.corpus,
        "n_items": len(figures.items.label),
        "values": list(figures.items.values),
        "floors": figures.floors(),
        "models": {model: figures.of_model(model) for model in models},
        "against": _table_tests(figures) if figures.condition.source.counted else {},
        "recovery": _recovery(figures),
    }


def _table_tests(figures: Figures) -> dict[str, Any]:
    """SeedBERT against each other model of Table 4, accuracy and macro-F1."""
    tests = {}
    for model in TABLE_4:
        repeats = figures.shared(SEEDS, model) if model != SEEDS else []
        if repeats:
            mine, theirs = (figures.answers(name, repeats) for name in (SEEDS, model))
            known = figures.items.label >= 0
            label, groups = figures.items.label[known], figures.items.groups[known]
            tests[model] = accuracy_and_f1(label, mine[:, known], theirs[:, known], groups)
    return tests


def _recovery(figures: Figures) -> dict[str, Any]:
    """SeedBERT's votes against one network as it is, and its read-outs against a deep ensemble's;
    not corrected."""
    deep = {read: nearer(figures, (SEEDS, read), (DEEP, read), *DISTANCES) for read in READ_OUTS}
    return {
        SINGLE: in_short(nearer(figures, (SEEDS, VOTES), (SINGLE, MEAN), *DISTANCES)),
        DEEP: {read: in_short(tests) for read, tests in deep.items() if tests},
    }


# ---- what was chosen ----


def _choosing(path: Path) -> dict[str, Any]:
    """Corpus -> model -> trials with the cross-entropy of labels, and which was best."""
    choices: dict[str, Any] = {}
    for name, condition in CONDITIONS.items():
        for model in condition.models if condition.kind == "choose" else ():
            outcomes_of_trials = tried(path, name, model)
            if not outcomes_of_trials:
                continue
            scores = [round(float(np.mean(o.scores)), 6) for o in outcomes_of_trials]
            whole = len(outcomes_of_trials) == len(trials(model))
            choices.setdefault(condition.corpus, {})[model] = {
                "trials": [
                    {"settings": o.settings, "score": score}
                    for o, score in zip(outcomes_of_trials, scores, strict=True)
                ],
                "best": int(np.argmin(scores)) if whole else None,
                "wanted": len(trials(model)),
            }
    return choices


def _of_variant(figures_of: Mapping[str, Figures], variant: tuple[str, str]) -> dict[str, Any]:
    """The variant that is nearest to annotators on the first corpus, and whether it is on others.

    Three comparisons on each corpus: with one network and a temperature, which counts; with one
    network whose answer counts five times and is smoothed as votes are; and with one as it is.
    """
    of_corpus = _chosen(figures_of)
    first = of_corpus[FIRST]
    shared = first.shared(*VARIANTS)
    scores = {
        model: {read: float(first.scores(model, read, BY, shared).mean()) for read in READ_OUTS}
        for model in VARIANTS
    }
    against_single: dict[str, Any] = {}
    for corpus, figures in of_corpus.items():
        against = {read: nearer(figures, variant, (SINGLE, read), *DISTANCES) for read in READ_OUTS}
        if SOURCES[corpus].counted and against[TEMPERED]:
            against_single[corpus] = against
    counted = [corpus for corpus in against_single if corpus != FIRST]
    tests = corrected([against_single[corpus][TEMPERED][BY] for corpus in counted])
    for corpus, test in zip(counted, tests, strict=True):
        against_single[corpus][TEMPERED][BY] = test
    return {
        "model": variant[0],
        "read": variant[1],
        "scores": scores,
        "by": {distance: _nearest(first, shared, distance) for distance in DISTANCES},
        "against": {
            corpus: {read: in_short(tests) for read, tests in against.items()}
            for corpus, against in against_single.items()
        },
    }


def _nearest(figures: Figures, repeats: Sequence[int], distance: str) -> dict[str, str]:
    """The variant and read-out that another distance would have chosen."""
    scores = {
        (model, read): float(figures.scores(model, read, distance, repeats).mean())
        for model in VARIANTS
        for read in READ_OUTS
    }
    model, read = min(scores, key=lambda which: scores[which])
    return {"model": model, "read": read}


# ---- the rest ----


def _of_number(figures_of: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> ensemble -> number of members -> figures, and what the last members add to five.

    Of ensembles of five and of twenty; fewer members are the first ones of these.
    """
    numbers: dict[str, Any] = {}
    for figures in figures_of.values():
        for model in figures.done if figures.condition.kind in ("chosen", "many") else ():
            n_members = MODELS[model].n_networks
            if MODELS[model].tuned_as != SEEDS or model in ("order", "dropout", "bag"):
                continue
            of_model = {str(n): figures.of_members(model, n) for n in NUMBERS if n <= n_members} | {
                "repeats": len(figures.done[model])
            }
            if n_members > N_MEMBERS:
                of_model["more"] = _more(figures, model)
            numbers.setdefault(figures.condition.corpus, {})[model] = of_model
    return numbers


def _more(figures: Figures, model: str) -> dict[str, Any]:
    """How much farther from annotators all members are than the first five."""
    repeats = list(figures.done[model])
    tests = {}
    for read in READ_OUTS:
        mine, theirs = (figures.scores(model, read, BY, repeats, n) for n in (None, N_MEMBERS))
        tests[read] = short(over(mine, theirs, figures.items.groups))
    return tests


def _kappas(path: Path) -> dict[str, float]:
    """Of the three questions of the paper's Table 1, where annotators' ratings were read."""
    for source in SOURCES.values():
        if source.counted:
            continue
        try:
            kappas = Items.load(path, source.name).kappas
        except DataError:
            continue  # this corpus was not run
        if len(kappas):
            return dict(zip(("any", "most", "all"), map(float, kappas), strict=True))
    return {}
