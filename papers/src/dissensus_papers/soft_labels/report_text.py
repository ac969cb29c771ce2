"""Report -> the paper's tables as text, its figures next to ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dissensus.evaluation import number, p_text
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import Section, interval, spread
from dissensus_papers.soft_labels.claims import near, of_tables
from dissensus_papers.soft_labels.protocol import (
    CELLS,
    CONDITIONS,
    EARLIER,
    KURTOSIS,
    KURTOSIS_CONDITION,
    KURTOSIS_MODEL,
    MODELS,
    PRINTED_TABLES,
    STEMS,
    Printed,
)

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
        heading,
        ["", *names, "within 1.5 or above", "MTL over STL"],
        lambda report: _accuracies(report, number_),
        "Accuracy and macro-F1 in percent over the predictions of all folds and runs; +- is the "
        "standard deviation over runs; diff is ours less the paper's, in points. \"within 1.5 or "
        "above\": our accuracy is at most 1.5 points below the paper's, or above it.\n"
        "Stars: better than STL by the paper's own test, * p <= 0.05, ** p <= 0.01. It treats the "
        "ten answers to an item as independent.\n"
        "MTL over STL: points of accuracy that MTL gains, with a 95 % interval over seeds and "
        "items.",
    )


TABLES = (
    _accuracy_table(1, "Table 1: gold labels and soft labels"),
    _accuracy_table(2, "Table 2: silver labels (the crowd's majority) and soft labels"),
    Section(
        "Table 3: agreement of the crowd where models are right",
        ["", *CELLS, "only MTL, only STL"],
        _cells,
        "Mean excess kurtosis of the soft label: high where the crowd agrees. With two values it "
        "is always -2, so stems have the entropy in nats: low where the crowd agrees.\n"
        "In brackets: number of predictions over all runs. p: Mann-Whitney test, which treats them "
        "as independent, as the paper does.",
    ),
    Section(
        "Overfitting: the main task's loss (nats) on the development part less that in training",
        ["", "chosen epoch", "chosen less STL's", "last epoch", "last less STL's"],
        _gaps,
        "Intervals: 95 % over seeds.",
    ),
    _accuracy_table(0, "Beyond the paper: the same with one change"),
    Section(
        "Words with and without a vector in the file of GloVe: accuracy on gold, in percent",
        ["", "with a vector", "without", "all", "all, in the paper"],
        _words,
    ),
)
