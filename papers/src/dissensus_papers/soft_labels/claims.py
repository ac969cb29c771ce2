"""The claims of the paper and our additional questions, judged from a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from dissensus.agreement import holm
from dissensus.evaluation import number, over_seeds
from dissensus_papers.framework.claims import LEVEL, Claim, Evidence
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
    PRINTED,
    PRINTED_TABLES,
    STEMS,
)

POINTS, NATS = 0.005, 0.02  # the smallest differences of accuracy and of losses that matter
OUTPUT = 512 + 1  # weights of an output node for tags


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
        Evidence(_where(name, block, model), "accuracy",
                 against["tests"]["gold"]["ours"]["accuracy"], POINTS)
        for name, block in of_tables(report, table)
        for model, against in block["against"].items()
    ]  # fmt: skip


def _between(report: Report) -> list[Evidence]:
    """Inverse KL less each other loss."""
    return [
        _less(_where(name, block, INVERSE, other), block["models"][INVERSE], block["models"][other])
        for name, block in of_tables(report, 1, 2)
        for other in ("kl", "ce")
        if {INVERSE, other} <= set(block["models"]) and len(block["seeds"]) > 1
    ]


def _not_significant(report: Report) -> str:
    tests = _between(report)
    if not tests:
        return ""
    adjusted = holm([test.p for test in tests])
    least = [test.would_be_found(len(tests)) for test in tests]
    return (
        f"true of {sum(p > LEVEL for p in adjusted)} of the {len(tests)} above (the smallest p is "
        f"{min(adjusted):.3f}); differences of {min(least):.3f} to {max(least):.3f} would have "
        "been found"
    )


def _less(where: str, first: Report, second: Report, sign: int = 1) -> Evidence:
    """The accuracy of one model less that of another, over seeds."""
    return Evidence(
        where, "accuracy", short(over_seeds(_seeds(first), _seeds(second))), POINTS, sign
    )


def _seeds(of_model: Report) -> np.ndarray:
    return np.array([fit["scores"]["gold"]["accuracy"] for fit in of_model["fits"]])


def _overfits_less(report: Report) -> list[Evidence]:
    return [
        Evidence(_where(name, block, model, BASELINE), "loss, nats", against["gap"]["last"],
                 NATS, -1)
        for name, block in of_tables(report, 1, 2)
        for model, against in block["against"].items()
    ]  # fmt: skip


def _change(report: Report, changed: str, sign: int) -> list[Evidence]:
    """The accuracy of every model in a condition that we add, less that in the published one."""
    published = changed.rpartition("-")[0]
    ours, theirs = (report["conditions"].get(n, {}).get("models", {}) for n in (changed, published))
    return [
        _less(f"{MODELS[model]}: {changed} less {published}", ours[model], theirs[model], sign)
        for model in MODELS
        if model in ours and model in theirs
        and 1 < len(ours[model]["fits"]) == len(theirs[model]["fits"])
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
            printed = PRINTED_TABLES[name][model].accuracy
            n += 1
            if not near(printed, best):
                below.append(f"{MODELS[model]} in {name} by {printed - 100 * best:.1f}")
    tail = f"; further below: {', '.join(below)}" if below else ""
    return f"{n - len(below)} of {n} are within 1.5 points of the paper or above{tail}" * (n > 0)


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
            f"({most}), so chance alone makes differences of this size"
        )
    return "; ".join(parts)


def _missing_vectors(report: Report) -> str:
    """What accuracy would be if words without a vector were tagged as well as those with one."""
    parts = []
    for name, block in of_tables(report, 1, 2):
        if np.isnan(number(block["with_vector"])):
            continue
        models = block["models"].items()
        below = _range(PRINTED_TABLES[name][m].accuracy - 100 * accuracy(of) for m, of in models)
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


# ---- all of them ----

_GOLD, _SILVER = (
    tuple(name for name, condition in CONDITIONS.items() if condition.table == table)
    for table in (1, 2)
)
CLAIMS = (
    Claim("The accuracies of the paper can be reproduced", _met, PRINTED),
    Claim("MTL is better than STL with gold labels (Table 1)", partial(_beats, table=1), _GOLD),
    Claim("MTL is better than STL with the crowd's labels alone (Table 2)",
          partial(_beats, table=2), _SILVER),
    Claim("Inverse KL is the best of the losses (over seeds alone)", _between, PRINTED),
    Claim("Differences between the losses are not significant", _not_significant, PRINTED),
    Claim("The crowd agrees more where only MTL is right than where only STL is right",
          _agreement, PRINTED),
    Claim("The soft-label task mitigates overfitting: the main task's loss on the development "
          "part less that in training, after the last epoch (over seeds alone)",
          _overfits_less, PRINTED),
    Claim("It needs fewer output nodes than a task for each annotator", _nodes),
    Claim(f"{BEYOND}KL and cross-entropy have the same gradient, so should give the same model",
          _alike, PRINTED),
    Claim(f"{BEYOND}words without a vector explain the gap to the paper", _missing_vectors,
          PRINTED),
    Claim(f"{BEYOND}folds that split tweets are too optimistic (over seeds alone)",
          partial(_change, changed="pos-cv-tweets", sign=-1), ("pos-cv-tweets",)),
    Claim(f"{BEYOND}Adam's state from the previous fold makes no difference (over seeds alone)",
          partial(_change, changed="pos-cv-fresh", sign=0), ("pos-cv-fresh",)),
    Claim(f"{BEYOND}the network of stems as the paper describes it is as accurate as that of "
          "the released code (over seeds alone)",
          partial(_change, changed="stemming-text", sign=0), ("stemming-text",)),
)  # fmt: skip
