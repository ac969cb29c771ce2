"""The claims of the paper and our additional questions, judged from a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dissensus.evaluation import number, over_seeds
from dissensus.tables import Table
from dissensus_papers.framework.claims import LEVEL, Claim, Evidence, claims_table
from dissensus_papers.framework.reports import Report, short
from dissensus_papers.framework.text import BEYOND
from dissensus_papers.soft_labels.protocol import (
    BASELINE,
    CONDITIONS,
    INVERSE,
    MODELS,
    N_ANNOTATORS,
    N_TAGS,
    NEAR,
    STEMS,
    TABLES,
)

POINTS, NATS = 0.005, 0.02  # the smallest differences of accuracy and of losses that matter
OUTPUT = 512 + 1  # weights of an output node for tags


def claims(report: Report) -> Table | str:
    """The claims of the paper and our questions, with the tests that decide them."""
    every: tuple[Claim, ...] = (
        ("The accuracies of the paper can be reproduced", _met),
        ("MTL is better than STL with gold labels (Table 1)", lambda r: _beats(r, 1)),
        ("MTL is better than STL with the crowd's labels alone (Table 2)", lambda r: _beats(r, 2)),
        ("Inverse KL is the best of the losses (over seeds alone)",
         lambda r: _between(r, 1)),
        ("Differences between the losses are not significant (over seeds alone)",
         lambda r: _between(r, 0)),
        ("The crowd agrees more where only MTL is right than where only STL is right", _agreement),
        ("The soft-label task mitigates overfitting: the main task's loss on the development part "
         "less that in training, after the last epoch (over seeds alone)", _overfits_less),
        ("It needs fewer output nodes than a task for each annotator", _nodes),
        (f"{BEYOND}KL and cross-entropy have the same gradient, so should give the same model",
         _alike),
        (f"{BEYOND}do words without a vector explain the gap to the paper", _missing_vectors),
        (f"{BEYOND}is cross-validation that splits tweets too optimistic",
         lambda r: _accuracies(r, "pos-cv-tweets", "by tweet", "by token")),
        (f"{BEYOND}does Adam's state from the previous fold matter", lambda r: _accuracies(
            r, "pos-cv-fresh", "with a new Adam for every fold", "as published")),
    )  # fmt: skip
    return claims_table((claim, judge(report) or "") for claim, judge in every)


def of_tables(report: Report, *tables: int) -> Iterator[tuple[str, Report]]:
    """The conditions of these tables of the paper."""
    return (
        (name, block) for name, block in report["conditions"].items()
        if CONDITIONS[name].table in tables
    )  # fmt: skip


def _where(name: str, block: Report, *models: str) -> str:
    words = " less ".join(MODELS[model].removeprefix("MTL + ") for model in models)
    return f"{words}: {name}, {block['n_items']:,} items"


def _beats(report: Report, table: int) -> list[Evidence]:
    return [
        Evidence(_where(name, block, model), "accuracy", tests["gold"]["ours"]["accuracy"], POINTS)
        for name, block in of_tables(report, table)
        for model, tests in ((m, against["tests"]) for m, against in block["against"].items())
    ]


def _between(report: Report, sign: int) -> list[Evidence]:
    """Inverse KL and another loss, by the accuracies of their seeds. The two others have the same
    gradient."""
    others = [model for model in MODELS if model not in (BASELINE, INVERSE)]
    return [
        Evidence(_where(name, block, INVERSE, model), "accuracy", test, POINTS, sign)
        for name, block in of_tables(report, 1, 2)
        for model in (model for model in others if {model, INVERSE} <= {*block["models"]})
        for test in [short(over_seeds(*(_seeds(block["models"][m]) for m in (INVERSE, model))))]
    ]


def _seeds(of_model: Report) -> np.ndarray:
    return np.array([fit["scores"]["gold"]["accuracy"] for fit in of_model["fits"]])


def _overfits_less(report: Report) -> list[Evidence]:
    return [
        Evidence(_where(name, block, model, BASELINE), "loss, nats", against["gap"]["last"],
                 NATS, -1)
        for name, block in of_tables(report, 1, 2)
        for model, against in block["against"].items()
    ]  # fmt: skip


# ---- judged in words ----


def accuracy(of_model: Report) -> float:
    return float(of_model["pooled"]["gold"]["accuracy"])


def near(printed: float, ours: float) -> bool:
    """Whether an accuracy is at most 1.5 points below the printed one (in percent), or above."""
    return printed / 100 - ours <= NEAR + 1e-9


def _met(report: Report) -> str:
    """How many printed accuracies we reach; for stems' silver labels the closer protocol counts."""
    below, n = [], 0
    for name, block in of_tables(report, 1, 2):
        for model, of_model in block["models"].items():
            best = max(pooled["accuracy"] for pooled in of_model["pooled"].values())
            printed = TABLES[name][model].accuracy
            n += 1
            if not near(printed, best):
                below.append(f"{MODELS[model]} in {name} by {printed - 100 * best:.1f}")
    tail = f"; further below: {', '.join(below)}" if below else ""
    return f"{n - len(below)} of {n} are within 1.5 points of the paper or above it{tail}" * (n > 0)


def _agreement(report: Report) -> str:
    """The direction of every comparison of the mixed cells, and how many are significant."""
    more, less, n = [], 0, 0
    for name, block in of_tables(report, 1, 2):
        for model, against in block["against"].items():
            cells = against["cells"]
            mine, theirs = (number(cells["mean"][f"only {side} right"]) for side in ("MTL", "STL"))
            if np.isnan(mine) or np.isnan(theirs):
                continue
            n += 1
            agrees = mine < theirs if CONDITIONS[name].corpus == STEMS else mine > theirs
            significant = number(cells["mann_whitney"]) <= LEVEL
            less += (not agrees) and significant
            if agrees:
                loss = MODELS[model].removeprefix("MTL + ")
                more.append(f"{loss} in {name}{'*' * significant}")
    named = f" ({', '.join(more)}; * p <= 0.05)" if more else ""
    return f"true in {len(more)} of {n}{named}; significantly the reverse in {less}" if n else ""


def _nodes(report: Report) -> str:
    """By arithmetic: tags by identified annotators."""
    ours, each = 2 * N_TAGS, (1 + N_ANNOTATORS) * N_TAGS
    return (
        f"holds by arithmetic for tags: {ours} nodes against {each:,} ({N_TAGS} tags, "
        f"{N_ANNOTATORS} annotators), {ours * OUTPUT:,} weights of output layers against "
        f"{each * OUTPUT:,}; stems have votes without annotators"
    )


def _alike(report: Report) -> str:
    """How far two models are apart that differ only by rounding, per run and over all runs."""
    apart = {}
    for name, block in of_tables(report, 1, 2):
        if {"kl", "ce"} <= set(block["models"]):
            kl, ce = (_seeds(block["models"][model]) for model in ("kl", "ce"))
            apart[name] = 100 * (kl - ce)
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
    for name, block in of_tables(report, 1, 2):
        if np.isnan(number(block["with_vector"])):
            continue
        models = block["models"].items()
        below = _range(TABLES[name][m].accuracy - 100 * accuracy(of) for m, of in models)
        lost = _range(100 * (number(of["words"]["with"]) - accuracy(of)) for _, of in models)
        parts.append(f"{name} {lost} points (ours is {below} lower)")
    if not parts:
        return ""
    return (
        "if they were tagged as well as other words, accuracy would be higher by: "
        f"{'; '.join(parts)}. This is no proof: such words are harder in themselves"
    )


def _range(values: Iterable[float]) -> str:
    least, most = min(listed := list(values)), max(listed)
    return f"{least:.1f} to {most:.1f}"


def _accuracies(report: Report, other: str, this: str, that: str) -> str:
    """The accuracy of every model in a condition that we add, and in the one that it varies."""
    ours, theirs = (report["conditions"].get(n, {}).get("models", {}) for n in (other, "pos-cv"))
    pairs = [
        f"{MODELS[m]} {100 * accuracy(ours[m]):.2f} vs. {100 * accuracy(theirs[m]):.2f}"
        for m in MODELS
        if m in ours and m in theirs
    ]
    return f"{this} vs. {that}: {', '.join(pairs)}" if pairs else ""
