"""Whether members look and answer apart where people do: `looks -> report`, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import corrected, over_both, over_items, statistic_over_both
from dissensus.evaluation.fit import plain
from dissensus.evaluation.significance.difference import Difference
from dissensus.evaluation.significance.resampling import correlation, nothing
from dissensus.papers.seedbert.studies.hypothesis.ensembles import SEEN, Looks, description_of
from dissensus.papers.seedbert.studies.hypothesis.figures import (
    APART,
    Figures,
    preference,
    rank_correlation,
)

AGAINST = ("order", "deep")  # what plain seeds stand beside
KINDS = ("", "size-", "pool-", "frozen-")  # of networks, and of seeing where they look
KIND = "seedbert-hypothesis"


def report(folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Judge every file CORPUS.CONDITION.npz of a folder.

    Args:
        about: command, date, commit and machine.
    """
    figures_of: dict[str, dict[str, Figures]] = {}
    for path in sorted(folder.glob("*.*.npz")):
        corpus, condition = path.name.split(".")[:2]
        looks = Looks.load(path)
        figures_of.setdefault(corpus, {})[condition] = Figures(looks)
        if len(looks.size):
            figures_of[corpus][f"size-{condition}"] = Figures(replace(looks, rank=looks.size))
    if not figures_of:
        raise DataError(f"{folder}: nothing is trained yet; there is no CORPUS.CONDITION.npz")
    judged = {
        corpus: _of_corpus(of_condition)
        for corpus, of_condition in sorted(figures_of.items(), reverse=True)
    }
    _correct(judged)
    return {"paper": KIND, **about, "corpora": plain(judged)}


def _of_corpus(figures_of: Mapping[str, Figures]) -> dict[str, Any]:
    any_one = next(iter(figures_of.values()))
    every = {name: figures_of[name] for name in SEEN if name in figures_of}
    return {
        "n_items": len(any_one.n_positions),
        "people": _of_people(any_one),
        "conditions": {name: _of_condition(name, figures) for name, figures in every.items()},
        "against": {
            f"{kind}{name}": _beside(every[f"{kind}seeds"], every[f"{kind}{name}"])
            for kind in KINDS
            for name in AGAINST
            if f"{kind}seeds" in every and f"{kind}{name}" in every
        },
    }


def _of_people(figures: Figures) -> dict[str, Any]:
    f1, chance = figures.people()
    elsewhere, _ = figures.people(figures.elsewhere())
    votes = figures.looks.votes
    return {
        "agreement": _scored(over_items(f1, chance), f1, chance),
        "shuffled": over_items(f1, elsewhere).to_dict(),
        "auroc": float(np.nanmean(figures.person())),
        "answers_apart": float(np.nanmean(figures.people_answer_apart())),
        "largest": float((votes.argmax(axis=1) == votes.sum(axis=0).argmax()).mean()),
        "by_answer": over_items(*figures.people_by_answer()).to_dict(),
    } | ({"preference": _preferences(figures)[0]} if _simulated(figures) else {})


def _of_condition(name: str, figures: Figures) -> dict[str, Any]:
    """Everything of one condition; a Difference becomes a dict."""
    f1, chance = figures.members()
    between, by_chance = figures.between()
    elsewhere, _ = figures.between(figures.elsewhere())
    people, _ = figures.people()
    one, together = figures.one(), figures.together()
    answers = figures.looks.probability.argmax(axis=-1)  # (n_runs, n_members, n_items)
    label = figures.looks.votes.argmax(axis=1)
    judged: dict[str, Any] = {
        "condition": description_of(SEEN[name]),
        "n_runs": len(answers),
        "n_members": answers.shape[1],
        "seconds": float(figures.looks.seconds),
        "accuracy": float((answers == label).mean()),
        "answers_differ": float((answers != answers[:, :1]).any(axis=1).mean()),
        "members": _scored(over_both(f1, chance), f1, chance),
        "between": _scored(over_both(between, by_chance), between, by_chance),
        "shuffled": over_both(between, elsewhere).to_dict(),
        "closer": over_both(f1, np.broadcast_to(people, f1.shape)).to_dict(),
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


def _targets(figures: Figures) -> dict[str, np.ndarray]:
    """How far apart people are in each item: as they marked and answered, and by the law that a
    simulated crowd follows."""
    targets = {"looks": figures.people_look_apart(), "answers": figures.people_answer_apart()}
    if _simulated(figures):
        targets |= dict(zip(("true looks", "true answers"), figures.looks.truth, strict=True))
    return targets


def _item_by_item(figures: Figures) -> dict[str, Any]:
    """Spearman's correlation over items of how far members are apart and how far people are:
    plain, freed of the item's length, and less that of one network's own doubt."""
    correlations: dict[str, Any] = {}
    for target, people in _targets(figures).items():
        of_target: dict[str, Any] = {}
        for name, apart in APART.items():
            of_target[name] = {
                "plain": _correlated(people, apart(figures), None).to_dict(),
                "given length": _correlated(people, apart(figures), figures.n_positions).to_dict(),
            }
        of_target["members over one"] = _more_correlated(people, figures, "answers", "one")
        of_target["all over one"] = _more_correlated(people, figures, "all", "one")
        correlations[target] = of_target
    return correlations


def _correlated(people: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Difference:
    mine, theirs = rank_correlation(people, other, given)
    return statistic_over_both(correlation(mine, theirs), nothing(len(mine), len(theirs)))


def _more_correlated(people: np.ndarray, figures: Figures, one: str, two: str) -> dict[str, Any]:
    both = [APART[name](figures) for name in (one, two)]
    missing = np.isnan(both).any(axis=(0, 1))
    sides = [
        rank_correlation(np.where(missing, np.nan, people), ensemble, None) for ensemble in both
    ]
    return statistic_over_both(*(correlation(*side) for side in sides)).to_dict()


def _beside(seeds: Figures, other: Figures) -> dict[str, Any]:
    """Plain seeds less another ensemble: how alike members look, whether they find what people
    marked, and how well their differences tell people's."""
    tests = {
        "alike": over_both(seeds.alike(), other.alike()).to_dict(),
        "auroc": over_both(seeds.together(), other.together()).to_dict(),
    }
    for target, name in (("looks", "looks"), ("answers", "answers"), ("answers", "all")):
        people = _targets(seeds)[target]
        sides = [rank_correlation(people, APART[name](figures), None) for figures in (seeds, other)]
        if sides[0][0].shape == sides[1][0].shape:
            test = statistic_over_both(*(correlation(*side) for side in sides))
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


def _simulated(figures: Figures) -> bool:
    return not np.isnan(figures.looks.truth).any()


def _preferences(figures: Figures) -> tuple[dict[str, float], dict[str, float]]:
    """How far people differ in the aspects they look at, and members do; beside chance."""
    aspect = figures.looks.aspect
    people = preference(figures.clause_of_people(), aspect)
    members = [preference(chosen, aspect) for chosen in figures.clause_of_members()]
    spread, chance = np.mean(members, axis=0)
    return (
        {"spread": people[0], "chance": people[1]},
        {"spread": float(spread), "chance": float(chance)},
    )
