"""Report -> the paper's claims and our additional questions, judged; and the paper's tables as
text, its figures next to ours."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dissensus.agreement import holm
from dissensus.evaluation import number, over_seeds, p_text
from dissensus_papers.framework.claims import LEVEL, Claim, Evidence
from dissensus_papers.framework.reports import Report, short
from dissensus_papers.framework.text import BEYOND, Section, extremes, interval, spread
from dissensus_papers.soft_labels.protocol import (
    BASELINE,
    CELLS,
    CONDITIONS,
    EARLIER,
    INVERSE,
    KURTOSIS,
    KURTOSIS_CONDITION,
    KURTOSIS_MODEL,
    MODELS,
    N_ANNOTATORS,
    N_TAGS,
    NEAR,
    PRINTED,
    PRINTED_TABLES,
    STEMS,
    Printed,
)

POINTS, NATS = 0.005, 0.02  # the smallest differences of accuracy and of losses that matter
OUTPUT = 512 + 1  # weights of an output node for tags


def of_tables(report: Report, *tables: int) -> Iterator[tuple[str, Report]]:
    """The conditions of these tables of the paper."""
    every = report["conditions"].items()
    return ((name, block) for name, block in every if CONDITIONS[name].table in tables)


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
        f"{min(adjusted):.3f}); differences of {extremes(least, 3)} would have been found"
    )


def _less(where: str, first: Report, second: Report, sign: int = 1) -> Evidence:
    """The accuracy of one model less that of another, over seeds."""
    test = short(over_seeds(_seeds(first), _seeds(second)))
    return Evidence(where, "accuracy", test, POINTS, sign)


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
        below = extremes(PRINTED_TABLES[name][m].accuracy - 100 * accuracy(of) for m, of in models)
        lost = extremes(100 * (number(of["words"]["with"]) - accuracy(of)) for _, of in models)
        parts.append(f"{name} {lost} points (ours is {below} lower)")
    if not parts:
        return ""
    return (
        "if they were tagged as well as other words, accuracy would be higher by: "
        f"{'; '.join(parts)}. This is no proof: such words are harder in themselves"
    )


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


STARS = ((0.01, "**"), (0.05, "*"))
Rows = Iterator[list[str]]


def _heading(name: str, after: str = "") -> list[str]:
    return [f"{CONDITIONS[name].title} ({name}){after}"]


# ---- accuracies ----


def _accuracies(report: Report, table: int) -> Rows:
    against = {"gold": "gold, as the paper says", "consensus": "the majority, as in its code"}
    for name, block in of_tables(report, table):
        tested, n, most = CONDITIONS[name].tested, len(block["seeds"]), len(report["seeds"])
        fewer = f", {n} of {most} runs so far" * (n < most)
        for kind in tested:
            yield _heading(name, f", tested on {against[kind]}" * (len(tested) > 1) + fewer)
            if kind == "gold" and name in EARLIER:
                who, accuracy = EARLIER[name]
                yield [f"  {who}", f"{accuracy:.2f}", *[""] * 7]
            frequent = f"{100 * block['majority'][kind]:.2f}"
            yield ["  always the most frequent label", "", frequent, *[""] * 6]
            yield from (_row(name, model, block, kind) for model in block["models"])


def _row(name: str, model: str, block: Report, kind: str) -> list[str]:
    pooled = block["models"][model]["pooled"][kind]
    fits = [fit["scores"][kind] for fit in block["models"][model]["fits"]]
    tests = block["against"].get(model, {}).get("tests", {}).get(kind)
    printed = PRINTED_TABLES.get(name, {}).get(model)
    cells = [f"  {MODELS[model]}"]
    for metric in ("accuracy", "f1"):
        ours = 100 * pooled[metric]
        p = number(tests["published"][metric]) if tests else 1.0  # of the paper's one-sided test
        better = tests and number(tests["ours"][metric]["effect"]) > 0
        stars = next((stars for level, stars in STARS if better and p <= level), "")
        runs = spread([100 * fit[metric] for fit in fits])
        difference = f"{ours - getattr(printed, metric):+.2f}" if printed else ""
        cells += [_paper(printed, metric), f"{ours:.2f}{stars}{runs}", difference]
    met = "" if printed is None else "yes" if near(printed.accuracy, pooled["accuracy"]) else "no"
    return [*cells, met, interval(tests["ours"]["accuracy"], 100, 2) if tests else ""]


def _paper(printed: Printed | None, metric: str) -> str:
    if printed is None:
        return "-"
    stars = printed.stars if metric == "accuracy" else printed.f1_stars
    return f"{getattr(printed, metric):.2f}{stars}"


# ---- Table 3, words, overfitting ----


def _cells(report: Report) -> Rows:
    """Which models are right, and how much the crowd agrees there."""
    for name, block in report["conditions"].items():
        if not any(sum(a["cells"]["n"].values()) for a in block["against"].values()):
            continue
        yield _heading(name, ", entropy" if CONDITIONS[name].corpus == STEMS else ", kurtosis")
        if name == KURTOSIS_CONDITION:
            printed = [f"{figure:.3f}" for figure in KURTOSIS]
            yield [f"  paper, {MODELS[KURTOSIS_MODEL]}", *printed, "p <= 0.05"]
        for model, against in block["against"].items():
            cells, p = against["cells"], number(against["cells"]["mann_whitney"])
            each = [(number(cells["mean"][cell]), cells["n"][cell]) for cell in CELLS]
            figures = [f"{mean:.3f} ({n:,})" if n else "-" for mean, n in each]
            yield [f"  {MODELS[model]}", *figures, f"p {p_text(p)}"]


def _words(report: Report) -> Rows:
    """How accurate models are on words with a vector, and on those without."""
    for name, block in report["conditions"].items():
        share = number(block["with_vector"])
        if np.isnan(share):
            continue
        yield _heading(name, f": {100 * share:.1f} % of {block['n_items']:,} words have a vector")
        for model, of_model in block["models"].items():
            each = [number(of_model["words"][side]) for side in ("with", "without")]
            each.append(of_model["pooled"]["gold"]["accuracy"])
            paper = _paper(PRINTED_TABLES.get(name, {}).get(model), "accuracy").rstrip("*")
            yield [f"  {MODELS[model]}", *(f"{100 * figure:.2f}" for figure in each), paper]


def _gaps(report: Report) -> Rows:
    """The main task's loss on the development part less that in training."""
    for name, block in report["conditions"].items():
        yield _heading(name)
        for model, of_model in block["models"].items():
            cells = [f"  {MODELS[model]}"]
            for when in ("chosen", "last"):
                gap = np.mean([fit["gap"][when] for fit in of_model["fits"]])
                tests = block["against"].get(model)
                less = interval(tests["gap"][when], digits=3) if tests else ""
                cells += [f"{gap:.3f}", less]
            yield cells


# ---- all tables ----


def _accuracy_table(number_: int, heading: str) -> Section:
    cells = ("paper", "ours", "diff")
    names = [f"{metric}: {what}" for metric in ("accuracy", "F1") for what in cells]
    return Section(
        heading, ["", *names, "within 1.5 or above", "MTL over STL"],
        lambda report: _accuracies(report, number_),
        "Accuracy and macro-F1 in percent over the predictions of all folds and runs; +- is the "
        "standard deviation over runs; diff is ours less the paper's, in points. \"within 1.5 or "
        "above\": our accuracy is at most 1.5 points below the paper's, or above it.\n"
        "Stars: better than STL by the paper's own test, * p <= 0.05, ** p <= 0.01. It treats the "
        "ten answers to an item as independent.\n"
        "MTL over STL: points of accuracy that MTL gains, with a 95 % interval over seeds and "
        "items.",
    )  # fmt: skip


TABLES = (
    _accuracy_table(1, "Table 1: gold labels and soft labels"),
    _accuracy_table(2, "Table 2: silver labels (the crowd's majority) and soft labels"),
    Section(
        "Table 3: agreement of the crowd where models are right",
        ["", *CELLS, "only MTL, only STL"], _cells,
        "Mean excess kurtosis of the soft label: high where the crowd agrees. With two values it "
        "is always -2, so stems have the entropy in nats: low where the crowd agrees.\n"
        "In brackets: number of predictions over all runs. p: Mann-Whitney test, which treats them "
        "as independent, as the paper does.",
    ),
    Section(
        "Overfitting: the main task's loss (nats) on the development part less that in training",
        ["", "chosen epoch", "chosen less STL's", "last epoch", "last less STL's"], _gaps,
        "Intervals: 95 % over seeds.",
    ),
    _accuracy_table(0, "Beyond the paper: the same with one change"),
    Section(
        "Words with and without a vector in the file of GloVe: accuracy on gold, in percent",
        ["", "with a vector", "without", "all", "all, in the paper"], _words,
    ),
)  # fmt: skip
