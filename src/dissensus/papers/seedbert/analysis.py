"""Outcomes -> report: everything that tables and verdicts say, of whatever is done so far.

A report is plain data: the tables are written from it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import corrected
from dissensus.papers.framework.differences import accuracy_and_f1, correct, over, short
from dissensus.papers.framework.reports import begun_with, head
from dissensus.papers.seedbert.conditions import CONDITIONS, N_REPEATS
from dissensus.papers.seedbert.corpora import FIRST, SOURCES
from dissensus.papers.seedbert.figures import Figures, biases_of_annotators, nearer, told
from dissensus.papers.seedbert.items import Items
from dissensus.papers.seedbert.models import (
    DEEP,
    MODELS,
    N_MEMBERS,
    SEEDS,
    SINGLE,
    TABLE_4,
    VARIANTS,
    trials,
)
from dissensus.papers.seedbert.outcome import Outcome
from dissensus.papers.seedbert.scoring import DISTANCES, MEAN, READ_OUTS, TEMPERED, VOTES
from dissensus.papers.seedbert.selection import BY, best_variant, outcomes, tried
from dissensus.papers.seedbert.studies.temperature import again, calibrated, tempering
from dissensus.progress import progress

KIND = "seedbert"
NUMBERS = (1, 3, 5, 10, 20)  # of members


def judged(path: Path) -> dict[str, Any]:
    """The report on a folder of outcomes."""
    front = begun_with(path, KIND)
    done = outcomes(path)
    about = head(path, front, (outcome.machine for outcome in done))
    found = figures(path, done)
    variant = _variant(path)
    conditions = {}
    with progress("testing", len(found)) as advance:
        for name, of_condition in found.items():
            if of_condition.condition.kind != "again":
                conditions[name] = _judged(of_condition)
            advance(1)
    correct(test for condition in conditions.values() for test in condition["against"].values())
    return about | {
        "settings": front["facts"]["settings"],
        "done": len(done),
        "missing": _missing(done, variant[0] if variant else None),
        "choosing": _choosing(path),
        "variant": _of_variant(found, variant) if variant else {},
        "calibrated": calibrated(_chosen(found)),
        "again": again(_of_kind(found, "again")),
        "tempering": tempering(_chosen(found)),
        "number": _of_number(found),
        "people": {corpus: biases_of_annotators(f.items) for corpus, f in _chosen(found).items()},
        "kappas": _kappas(path),
        "conditions": conditions,
    }


def figures(path: Path, done: Sequence[Outcome]) -> dict[str, Figures]:
    """The conditions in which something is trained, other than to choose settings."""
    found = {}
    for name, condition in CONDITIONS.items():
        own = [outcome for outcome in done if outcome.condition == name]
        if own and condition.kind != "choose":
            found[name] = Figures.of(condition, Items.load(path, condition.corpus), own)
    return found


def _chosen(found: Mapping[str, Figures]) -> dict[str, Figures]:
    """By corpus, those with settings that were chosen."""
    return _of_kind(found, "chosen")


def _of_kind(found: Mapping[str, Figures], kind: str) -> dict[str, Figures]:
    """By corpus."""
    return {f.condition.corpus: f for f in found.values() if f.condition.kind == kind}


def _variant(path: Path) -> tuple[str, str] | None:
    try:
        return best_variant(path)
    except DataError:
        return None  # not every variant is there


def _missing(done: Sequence[Outcome], variant: str | None) -> dict[str, Any]:
    """Condition -> model -> how many trainings are not done, of how many."""
    there = {outcome.key for outcome in done}
    found: dict[str, Any] = {}
    for name, condition in CONDITIONS.items():
        of_model: dict[str, list[int]] = {}
        for key in condition.keys(N_REPEATS, variant):
            held = of_model.setdefault(key.method, [0, 0])
            held[0] += key not in there
            held[1] += 1
        lacking = {model: held for model, held in of_model.items() if held[0]}
        if lacking:
            found[name] = lacking
    return found


# ---- one condition ----


def _judged(found: Figures) -> dict[str, Any]:
    models = [model for model in MODELS if model in found.done]
    return {
        "corpus": found.condition.corpus,
        "n_items": len(found.items.label),
        "values": list(found.items.values),
        "floors": found.floors(),
        "models": {model: found.of_model(model) for model in models},
        "against": _table_tests(found) if found.condition.source.counted else {},
        "recovery": _recovery(found),
    }


def _table_tests(found: Figures) -> dict[str, Any]:
    """SeedBERT against each other model of Table 4, accuracy and macro-F1."""
    made = {}
    for model in TABLE_4:
        repeats = found.shared(SEEDS, model) if model != SEEDS else []
        if repeats:
            mine, theirs = (found.answers(name, repeats) for name in (SEEDS, model))
            known = found.items.label >= 0
            label, groups = found.items.label[known], found.items.groups[known]
            made[model] = accuracy_and_f1(label, mine[:, known], theirs[:, known], groups)
    return made


def _recovery(found: Figures) -> dict[str, Any]:
    """SeedBERT's votes beside one network as it is, and its read-outs beside a deep ensemble's;
    not corrected."""
    deep = {read: nearer(found, (SEEDS, read), (DEEP, read), *DISTANCES) for read in READ_OUTS}
    return {
        SINGLE: told(nearer(found, (SEEDS, VOTES), (SINGLE, MEAN), *DISTANCES)),
        DEEP: {read: told(tests) for read, tests in deep.items() if tests},
    }


# ---- what was chosen ----


def _choosing(path: Path) -> dict[str, Any]:
    """Corpus -> model -> trials with the cross-entropy of labels, and which was best."""
    made: dict[str, Any] = {}
    for name, condition in CONDITIONS.items():
        for model in condition.models if condition.kind == "choose" else ():
            found = tried(path, name, model)
            if not found:
                continue
            scores = [round(float(np.mean(o.scores)), 6) for o in found]
            whole = len(found) == len(trials(model))
            made.setdefault(condition.corpus, {})[model] = {
                "trials": [
                    {"settings": o.settings, "score": score}
                    for o, score in zip(found, scores, strict=True)
                ],
                "best": int(np.argmin(scores)) if whole else None,
                "wanted": len(trials(model)),
            }
    return made


def _of_variant(found: Mapping[str, Figures], variant: tuple[str, str]) -> dict[str, Any]:
    """The variant that is nearest to people on the first corpus, and whether that is so on others.

    Three comparisons on each corpus: with one network and a temperature, which counts; with one
    network whose answer counts five times and is smoothed as votes are; and with one as it is.
    """
    of_corpus = _chosen(found)
    first = of_corpus[FIRST]
    shared = first.shared(*VARIANTS)
    scores = {
        model: {read: float(first.scores(model, read, BY, shared).mean()) for read in READ_OUTS}
        for model in VARIANTS
    }
    made: dict[str, Any] = {}
    for corpus, held in of_corpus.items():
        against = {read: nearer(held, variant, (SINGLE, read), *DISTANCES) for read in READ_OUTS}
        if SOURCES[corpus].counted and against[TEMPERED]:
            made[corpus] = against
    counted = [corpus for corpus in made if corpus != FIRST]
    tests = corrected([made[corpus][TEMPERED][BY] for corpus in counted])
    for corpus, test in zip(counted, tests, strict=True):
        made[corpus][TEMPERED][BY] = test
    return {
        "model": variant[0],
        "read": variant[1],
        "scores": scores,
        "by": {distance: _nearest(first, shared, distance) for distance in DISTANCES},
        "against": {
            corpus: {read: told(held) for read, held in against.items()}
            for corpus, against in made.items()
        },
    }


def _nearest(found: Figures, repeats: Sequence[int], distance: str) -> dict[str, str]:
    """The variant and read-out that another distance would have chosen."""
    scores = {
        (model, read): float(found.scores(model, read, distance, repeats).mean())
        for model in VARIANTS
        for read in READ_OUTS
    }
    model, read = min(scores, key=lambda which: scores[which])
    return {"model": model, "read": read}


# ---- the rest ----


def _of_number(found: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> ensemble -> number of members -> figures, and what the last members add to five.

    Of ensembles of five and of twenty; fewer members are the first ones of these.
    """
    made: dict[str, Any] = {}
    for held in found.values():
        for model in held.done if held.condition.kind in ("chosen", "many") else ():
            n_members = MODELS[model].n_networks
            if MODELS[model].tuned_as != SEEDS or model in ("order", "dropout", "bag"):
                continue
            of_model = {str(n): held.of_members(model, n) for n in NUMBERS if n <= n_members} | {
                "repeats": len(held.done[model])
            }
            if n_members > N_MEMBERS:
                of_model["more"] = _more(held, model)
            made.setdefault(held.condition.corpus, {})[model] = of_model
    return made


def _more(held: Figures, model: str) -> dict[str, Any]:
    """How much farther from people all members are than the first five."""
    repeats = list(held.done[model])
    tests = {}
    for read in READ_OUTS:
        mine, theirs = (held.scores(model, read, BY, repeats, n) for n in (None, N_MEMBERS))
        tests[read] = short(over(mine, theirs, held.items.groups))
    return tests


def _kappas(path: Path) -> dict[str, float]:
    """Of the three questions of the paper's Table 1, where people's ratings were read."""
    for source in SOURCES.values():
        if source.counted:
            continue
        try:
            found = Items.load(path, source.name).kappas
        except DataError:
            continue  # this corpus was not asked for
        if len(found):
            return dict(zip(("any", "most", "all"), map(float, found), strict=True))
    return {}
