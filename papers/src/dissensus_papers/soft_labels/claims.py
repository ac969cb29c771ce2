"""The claims of the paper, each with its verdict."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.evaluation.fit import number
from dissensus_papers.framework.verdicts import (
    BEYOND,
    LEVEL,
    UNKNOWN,
    Claim,
    Report,
    claims_text,
    holds,
)
from dissensus_papers.soft_labels.conditions import CONDITIONS, STEMS
from dissensus_papers.soft_labels.printed import BASELINE, MODELS, NEAR, TABLES


def claims(report: Report) -> str:
    """The claims of the paper, a line each."""
    every: tuple[Claim, ...] = (
        ("The accuracies of the paper can be reproduced", _met),
        ("MTL is better than STL with gold labels (Table 1)", lambda r: _beats(r, 1)),
        ("MTL is better than STL with the crowd's labels alone (Table 2)", lambda r: _beats(r, 2)),
        ("Inverse KL is the best of the losses", _best_loss),
        ("The crowd agrees more where only MTL is right than where only STL is right", _agreement),
        ("The soft-label task mitigates overfitting", _overfits_less),
        (
            f"{BEYOND}KL and cross-entropy have the same gradient, so should give the same model",
            _alike,
        ),
        (f"{BEYOND}do words without a vector explain the gap to the paper", _missing_vectors),
        (f"{BEYOND}is cross-validation that splits tweets too optimistic", _flatters),
        (f"{BEYOND}does Adam's state from the previous fold matter", _carried),
    )
    return claims_text(report, every)


def _of_table(report: Report, *tables: int) -> dict[str, Report]:
    conditions = report["conditions"]
    return {
        name: condition
        for name, condition in conditions.items()
        if CONDITIONS[name].table in tables
    }


def _met(report: Report) -> str:
    """How many printed accuracies we reach; for stems' silver labels the closer protocol counts."""
    below, n = [], 0
    for name, condition in _of_table(report, 1, 2).items():
        for model, of_model in condition["models"].items():
            n += 1
            best = max(pooled["accuracy"] for pooled in of_model["pooled"].values())
            missing = TABLES[name][model].accuracy / 100 - best
            if missing > NEAR + 1e-9:
                below.append(f"{MODELS[model]} in {name} by {100 * missing:.1f}")
    if not n:
        return ""
    tail = f"; further below: {', '.join(below)}" if below else ""
    return f"{n - len(below)} of {n} accuracies are at most 1.5 points below the paper{tail}"


def _beats(report: Report, table: int) -> str:
    """In how many comparisons MTL is more accurate, and where that is significant."""
    where_of: dict[str, list[str]] = {}
    higher = n = 0
    for name, condition in _of_table(report, table).items():
        for model, against in condition["against"].items():
            test = against["tests"]["gold"]["ours"]["accuracy"]
            where_of.setdefault(holds(test), []).append(f"{_short(model)} in {name}")
            higher, n = higher + (number(test["effect"]) > 0), n + 1
    if not n:
        return ""
    parts = [
        f"{words}: {', '.join(where)}" for words, where in where_of.items() if words != UNKNOWN
    ]
    return "; ".join([f"its accuracy is higher in {higher} of {n}", *parts])


def _short(model: str) -> str:
    return MODELS[model].removeprefix("MTL + ")


def _best_loss(report: Report) -> str:
    """Which MTL model has the highest accuracy in each condition."""
    best = {}
    for name, condition in _of_table(report, 1, 2).items():
        scores = {
            model: of_model["pooled"]["gold"]["accuracy"]
            for model, of_model in condition["models"].items()
            if model != BASELINE
        }
        if len(scores) == len(MODELS) - 1:
            best[name] = max(scores, key=lambda model: scores[model])
    if not best:
        return ""
    n = sum(model == "inverse-kl" for model in best.values())
    others = [f"{_short(model)} in {name}" for name, model in best.items()]
    return f"it is best in {n} of {len(best)} (best loss: {', '.join(others)})"


def _agreement(report: Report) -> str:
    """The direction of every comparison of the mixed cells, and how many are significant."""
    more, less, n = [], 0, 0
    for name, condition in _of_table(report, 1, 2).items():
        for model, against in condition["against"].items():
            cells = against["cells"]
            mine, theirs = (number(cells["mean"][c]) for c in ("only MTL right", "only STL right"))
            if np.isnan(mine) or np.isnan(theirs):
                continue
            n += 1
            agrees = mine < theirs if CONDITIONS[name].corpus == STEMS else mine > theirs
            significant = number(cells["mann_whitney"]) <= LEVEL
            less += (not agrees) and significant
            if agrees:
                more.append(f"{_short(model)} in {name}{'*' * significant}")
    if not n:
        return ""
    named = f" ({', '.join(more)}; * p <= 0.05)" if more else ""
    return f"true in {len(more)} of {n}{named}; significantly the reverse in {less}"


def _overfits_less(report: Report) -> str:
    """Whether the gap is significantly smaller."""
    smaller = {"chosen": 0, "last": 0}
    larger, n = {"chosen": 0, "last": 0}, 0
    for condition in _of_table(report, 1, 2).values():
        for against in condition["against"].values():
            n += 1
            for when, gap in against["gap"].items():
                smaller[when] += number(gap["high"]) < 0
                larger[when] += number(gap["low"]) > 0
    if not n:
        return ""
    parts = [
        f"at the {when} epoch the gap of losses is significantly smaller in {smaller[when]} of {n} "
        f"comparisons, larger in {larger[when]}"
        for when in ("chosen", "last")
    ]
    return "; ".join(parts)


def _alike(report: Report) -> str:
    """How far two models are apart that differ only by rounding, per run and over all runs."""
    apart = {}
    for name, condition in _of_table(report, 1, 2).items():
        both = [
            condition["models"][model]["fits"]
            for model in ("kl", "ce")
            if model in condition["models"]
        ]
        if len(both) == 2:
            runs = [[fit["scores"]["gold"]["accuracy"] for fit in fits] for fits in both]
            apart[name] = 100 * (np.array(runs[0]) - np.array(runs[1]))
    same = [name for name, differences in apart.items() if not differences.any()]
    other = {name: differences for name, differences in apart.items() if differences.any()}
    parts = [f"they do in every run of {', '.join(same)}"] if same else []
    if other:
        single = np.abs(np.concatenate(list(other.values())))
        most = max(other, key=lambda name: abs(other[name].mean()))
        parts.append(
            f"in {', '.join(other)}, they differ only by rounding (the order of sums varies on a "
            f"GPU); accuracies of one seed are {single.mean():.2f} points apart on average and "
            f"{single.max():.2f} at most, means over runs up to {abs(other[most].mean()):.2f} "
            f"({most}), so a difference of this size means nothing"
        )
    return "; ".join(parts)


def _missing_vectors(report: Report) -> str:
    """What accuracy would be if words without a vector were tagged as well as those with one."""
    parts = []
    for name, condition in _of_table(report, 1, 2).items():
        share = number(condition["with_vector"])
        if np.isnan(share):
            continue
        below = {
            model: TABLES[name][model].accuracy - 100 * of_model["pooled"]["gold"]["accuracy"]
            for model, of_model in condition["models"].items()
        }
        lost = {
            model: 100
            * (number(of_model["words"]["with"]) - of_model["pooled"]["gold"]["accuracy"])
            for model, of_model in condition["models"].items()
        }
        parts.append(
            f"{name} {_range(lost.values())} points (ours is {_range(below.values())} lower)"
        )
    if not parts:
        return ""
    return (
        "if they were tagged as well as other words, accuracy would be higher by: "
        f"{'; '.join(parts)}. This is no proof: such words are harder in themselves"
    )


def _range(values: Iterable[float]) -> str:
    least, most = min(listed := list(values)), max(listed)
    return f"{least:.1f} to {most:.1f}"


def _flatters(report: Report) -> str:
    return _accuracies(report, "pos-cv-tweets", "by tweet", "by token")


def _carried(report: Report) -> str:
    return _accuracies(report, "pos-cv-fresh", "with a new Adam for every fold", "as published")


def _accuracies(report: Report, other: str, this: str, that: str) -> str:
    """The accuracy of every model in a condition that we add, and in the one that it varies."""
    conditions = report["conditions"]
    if other not in conditions or "pos-cv" not in conditions:
        return ""
    pairs = []
    for model in MODELS:
        both = [conditions[name]["models"].get(model) for name in (other, "pos-cv")]
        if all(both):
            scores = [100 * of_model["pooled"]["gold"]["accuracy"] for of_model in both if of_model]
            pairs.append(f"{MODELS[model]} {scores[0]:.2f} vs. {scores[1]:.2f}")
    return f"{this} vs. {that}: {', '.join(pairs)}" if pairs else ""
