"""Whether members look and answer apart where annotators do: `ObservedAttention -> report`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import (
    Difference,
    corrected,
    over_both,
    over_items,
    plain,
    resampling,
    statistic_over_both,
)
from dissensus_papers.seedbert.studies.hypothesis.ensembles import (
    SEEN,
    ObservedAttention,
    description_of,
)
from dissensus_papers.seedbert.studies.hypothesis.figures import (
    APART,
    AttentionFigures,
    preference,
    rank_correlation,
)

AGAINST = ("order", "deep")  # what plain seeds are compared with
KINDS = ("", "size-", "pool-", "frozen-")  # of networks, and of seeing where they look
KIND = "seedbert-hypothesis"
ANNOTATORS = "people"  # the key of their figures in saved reports


def report(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Judge every file CORPUS.CONDITION.npz of a folder.

    Args:
        about: command, date, commit and machine.
    """
    figures_of: dict[str, dict[str, AttentionFigures]] = {}
    for path in sorted(folder.glob("*.*.npz")):
        corpus, condition = path.name.split(".")[:2]
        attention = ObservedAttention.load(path)
        figures_of.setdefault(corpus, {})[condition] = AttentionFigures(attention)
        if len(attention.size):
            figures_of[corpus][f"size-{condition}"] = AttentionFigures(
                replace(attention, rank=attention.size)
            )
    if not figures_of:
        raise DataError(f"{folder}: nothing is trained yet: no CORPUS.CONDITION.npz")
    judged = {
        corpus: _of_corpus(of_condition)
        for corpus, of_condition in sorted(figures_of.items(), reverse=True)
    }
    _correct(judged)
    return {"paper": KIND, **about, "corpora": plain(judged)}


def _of_corpus(figures_of: Mapping[str, AttentionFigures]) -> dict[str, Any]:
    any_one = next(iter(figures_of.values()))
    every = {name: figures_of[name] for name in SEEN if name in figures_of}
    return {
        "n_items": len(any_one.n_positions),
        ANNOTATORS: _of_annotators(any_one),
        "conditions": {name: _of_condition(name, figures) for name, figures in every.items()},
        "against": {
            f"{kind}{name}": _compared(every[f"{kind}seeds"], every[f"{kind}{name}"])
            for kind in KINDS
            for name in AGAINST
            if f"{kind}seeds" in every and f"{kind}{name}" in every
        },
    }


def _of_annotators(figures: AttentionFigures) -> dict[str, Any]:
    f1, chance = figures.annotators()
    elsewhere, _ = figures.annotators(figures.elsewhere())
    votes = figures.attention.votes
    return {
        "agreement": _scored(over_items(f1, chance), f1, chance),
        "shuffled": over_items(f1, elsewhere).to_dict(),
        "auroc": float(np.nanmean(figures.another_annotator())),
        "answers_apart": float(np.nanmean(figures.annotators_answer_apart())),
        "largest": float((votes.argmax(axis=1) == votes.sum(axis=0).argmax()).mean()),
        "by_answer": over_items(*figures.annotators_by_answer()).to_dict(),
    } | ({"preference": _preferences(figures)[0]} if _simulated(figures) else {})


def _of_condition(name: str, figures: AttentionFigures) -> dict[str, Any]:
    """Everything of one condition; a Difference becomes a dict."""
    f1, chance = figures.members()
    between, by_chance = figures.between()
    elsewhere, _ = figures.between(figures.elsewhere())
    of_annotators, _ = figures.annotators()
    one, together = figures.one(), figures.together()
    answers = figures.attention.probability.argmax(axis=-1)  # (n_runs, n_members, n_items)
    label = figures.attention.votes.argmax(axis=1)
    judged: dict[str, Any] = {
        "condition": description_of(SEEN[name]),
        "n_runs": len(answers),
        "n_members": answers.shape[1],
        "seconds": float(figures.attention.seconds),
        "accuracy": float((answers == label).mean()),
        "answers_differ": float((answers != answers[:, :1]).any(axis=1).mean()),
        "members": _scored(over_both(f1, chance), f1, chance),
        "between": _scored(over_both(between, by_chance), between, by_chance),
        "shuffled": over_both(between, elsewhere).to_dict(),
        "closer": over_both(f1, np.broadcast_to(of_annotators, f1.shape)).to_dict(),
        "alike": _over(figures.alike(), 0).to_dict(),
        "auroc": {
            "one": _over(one, 0.5).to_dict(),
            "each": _over(figures.each(), 0.5).to_dict(),
            "together": _over(together, 0.5).to_dict(),
            "gain": over_both(together, one).to_dict(),
        },
        "contested": _over(figures.contested(), 0.5).to_dict(),
        "by_answer": over_both(*figures.members_by_answer()).to_dict(),
        "apart": _item_by_item(figures),
    }
    if _simulated(figures):
        judged["preference"] = _preferences(figures)[1]
    return judged


def _scored(over: Difference, score: np.ndarray, chance: np.ndarray) -> dict[str, Any]:
    """The mean score, the mean by chance, and the difference."""
    there = ~np.isnan(score) & ~np.isnan(chance)
    means = {"mean": float(score[there].mean()), "chance": float(chance[there].mean())}
    return means | {"over": over.to_dict()}


def _over(scores: np.ndarray, value: float) -> Difference:
    return over_both(scores, np.where(np.isnan(scores), np.nan, value))


# ---- item by item ----


def _targets(figures: AttentionFigures) -> dict[str, np.ndarray]:
    """How far apart annotators are in each item: as they marked and answered, and by the true
    probabilities of a simulated crowd."""
    targets = {
        "looks": figures.annotators_look_apart(),
        "answers": figures.annotators_answer_apart(),
    }
    if _simulated(figures):
        targets |= dict(zip(("true looks", "true answers"), figures.attention.truth, strict=True))
    return targets


def _item_by_item(figures: AttentionFigures) -> dict[str, Any]:
    """Spearman's correlation over items of how far members are apart and how far annotators
    are: plain, corrected for the item's length, and less that of one network's uncertainty."""
    correlations: dict[str, Any] = {}
    for target, observed in _targets(figures).items():
        of_target: dict[str, Any] = {}
        for name, apart in APART.items():
            of_target[name] = {
                "plain": _correlated(observed, apart(figures), None).to_dict(),
                "given length": _correlated(
                    observed, apart(figures), figures.n_positions
                ).to_dict(),
            }
        of_target["members over one"] = _more_correlated(observed, figures, "answers", "one")
        of_target["all over one"] = _more_correlated(observed, figures, "all", "one")
        correlations[target] = of_target
    return correlations


def _correlated(observed: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Difference:
    mine, theirs = rank_correlation(observed, other, given)
    return statistic_over_both(
        resampling.correlation(mine, theirs), resampling.nothing(len(mine), len(theirs))
    )


def _more_correlated(
    observed: np.ndarray, figures: AttentionFigures, one: str, two: str
) -> dict[str, Any]:
    both = [APART[name](figures) for name in (one, two)]
    missing = np.isnan(both).any(axis=(0, 1))
    sides = [
        rank_correlation(np.where(missing, np.nan, observed), ensemble, None) for ensemble in both
    ]
    return statistic_over_both(*(resampling.correlation(*side) for side in sides)).to_dict()


def _compared(seeds: AttentionFigures, other: AttentionFigures) -> dict[str, Any]:
    """Plain seeds less another ensemble: how similarly members look, whether they find what
    annotators marked, and how well their differences predict those of annotators."""
    tests = {
        "alike": over_both(seeds.alike(), other.alike()).to_dict(),
        "auroc": over_both(seeds.together(), other.together()).to_dict(),
    }
    for target, name in (("looks", "looks"), ("answers", "answers"), ("answers", "all")):
        observed = _targets(seeds)[target]
        sides = [
            rank_correlation(observed, APART[name](figures), None) for figures in (seeds, other)
        ]
        if sides[0][0].shape == sides[1][0].shape:
            test = statistic_over_both(*(resampling.correlation(*side) for side in sides))
            tests[f"{name} for {target}"] = test.to_dict()
    return tests


def _correct(judged: Mapping[str, Any]) -> None:
    """Holm's correction over the correlations that the verdicts rest on, all at once."""
    rests = [
        condition["apart"][target][target]["given length"]
        for of_corpus in judged.values()
        for condition in of_corpus["conditions"].values()
        for target in (("looks",) if condition["condition"]["by_size"] else ("looks", "answers"))
    ]
    tests = [Difference(**fields | {"notes": tuple(fields["notes"])}) for fields in rests]
    for fields, test in zip(rests, corrected(tests), strict=True):
        fields["adjusted"] = test.adjusted


# ---- a simulated crowd ----


def _simulated(figures: AttentionFigures) -> bool:
    return not np.isnan(figures.attention.truth).any()


def _preferences(figures: AttentionFigures) -> tuple[dict[str, float], dict[str, float]]:
    """How much annotators differ in the aspects they look at, and members; each with chance."""
    aspect = figures.attention.aspect
    annotators = preference(figures.clause_of_annotators(), aspect)
    members = [preference(chosen, aspect) for chosen in figures.clause_of_members()]
    spread, chance = np.mean(members, axis=0)
    return (
        {"spread": annotators[0], "chance": annotators[1]},
        {"spread": float(spread), "chance": float(chance)},
    )
