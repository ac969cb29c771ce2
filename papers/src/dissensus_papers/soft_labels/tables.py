"""Report -> the paper's tables as text, its figures next to ours."""

from __future__ import annotations

import numpy as np

from dissensus.evaluation.fit import number
from dissensus.evaluation.significance.difference import p_text
from dissensus_papers.framework.layout import Block, front_page, written
from dissensus_papers.framework.verdicts import Report, holds, interval, points, spread
from dissensus_papers.soft_labels.claims import claims
from dissensus_papers.soft_labels.conditions import CONDITIONS, STEMS, SoftLabelsCondition
from dissensus_papers.soft_labels.printed import (
    CELLS,
    EARLIER,
    KURTOSIS,
    KURTOSIS_CONDITION,
    KURTOSIS_MODEL,
    MODELS,
    NEAR,
    TABLES,
    TITLE,
    Printed,
)

HEADINGS = {
    1: "Table 1: gold labels and soft labels",
    2: "Table 2: silver labels (the crowd's majority) and soft labels",
    0: "Beyond the paper: the same with one change",
}
WHAT = ("paper", "ours", "diff")
STARS = ((0.01, "**"), (0.05, "*"))
WORDS = (
    "Word vectors are GloVe with 100 numbers, not 300, and character vectors start at random: "
    "the paper's files of both are not public."
)


def shown(report: Report, width: int | None = None) -> str:
    """All tables of a report, and its claims.

    Args:
        width: of a terminal; nothing is broken if left out.
    """
    parts: list[str | Block] = [_about(report)]
    for table in (1, 2):
        parts.append(_table(report, table))
    parts += [_cells_table(report), _gap_table(report), _table(report, 0), _words_table(report)]
    parts.append(claims(report))
    return written(parts, width)


def _about(report: Report) -> str:
    n, left_out = len(report["seeds"]), report["left_out"]
    more = f"{left_out} more fits are done, but not with every model; they are not counted."
    encoders = [
        str(model["settings"].get("encoder"))
        for condition in report["conditions"].values()
        for model in condition["models"].values()
    ]
    vectors = WORDS if any(name.startswith("tagger:") for name in encoders) else ""
    runs = f"{n} run{'s' * (n != 1)}, seeds {', '.join(map(str, report['seeds']))}; "
    return front_page(report, TITLE, more if left_out else "", vectors, before=runs)


# ---- Tables 1 and 2, and ours ----


def _table(report: Report, table: int) -> str | Block:
    """A block for each condition: the paper's figures, ours, the difference, stars, verdicts."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        condition = CONDITIONS[name]
        if condition.table != table:
            continue
        for kind in condition.tested:
            rows.append([_title(condition, kind) + _fewer(report, block)])
            if kind == "gold" and name in EARLIER:
                earlier, accuracy = EARLIER[name]
                rows.append([f"  {earlier}", f"{accuracy:.2f}", *[""] * 7])
            most = f"{100 * block['majority'][kind]:.2f}"
            rows.append(["  always the most frequent label", "", most, *[""] * 6])
            rows += [_row(name, model, block, kind) for model in MODELS if model in block["models"]]
    if not rows:
        return ""
    names = [f"{metric}: {what}" for metric in ("accuracy", "F1") for what in WHAT]
    names = ["", *names, "within 1.5", "MTL over STL"]
    notes = (
        "Accuracy and macro-F1 in percent over the predictions of all folds and runs; +- is the "
        'standard deviation over runs; diff is ours less the paper\'s, in points. "within 1.5": '
        "our accuracy is at most 1.5 points below the paper's, or above it.\n"
        "Stars: better than STL by the paper's own test, * p <= 0.05, ** p <= 0.01. It treats the "
        "ten answers to an item as independent.\n"
        "MTL over STL is our test: points of accuracy that MTL gains, with a 95 % interval over "
        "seeds and items. p is corrected for multiple comparisons (Holm); "
        '"holds": p is at most 0.05.'
    )
    return Block(HEADINGS[table], [names, *rows], notes)


def _title(condition: SoftLabelsCondition, kind: str) -> str:
    if len(condition.tested) == 1:
        return f"{condition.title} ({condition.name})"
    against = "gold, as the paper says" if kind == "gold" else "the majority, as in its code"
    return f"{condition.title} ({condition.name}), tested on {against}"


def _fewer(report: Report, block: Report) -> str:
    """How many runs a condition has, where others have more."""
    n, most = len(block["seeds"]), len(report["seeds"])
    return f", {n} of {most} runs so far" if n < most else ""


def _row(name: str, model: str, block: Report, kind: str) -> list[str]:
    pooled = block["models"][model]["pooled"][kind]
    fits = [fit["scores"][kind] for fit in block["models"][model]["fits"]]
    against = block["against"].get(model, {}).get("tests", {}).get(kind)
    printed = TABLES.get(name, {}).get(model)
    cells = [f"  {MODELS[model]}"]
    for metric in ("accuracy", "f1"):
        ours = 100 * pooled[metric]
        stars = _stars(against, metric) if against else ""
        runs = spread([100 * fit[metric] for fit in fits])
        paper = _paper(printed, metric)
        difference = f"{ours - getattr(printed, metric):+.2f}" if printed else ""
        cells += [paper, f"{ours:.2f}{stars}{runs}", difference]
    met = ""
    if printed is not None:
        met = "yes" if printed.accuracy / 100 - pooled["accuracy"] <= NEAR + 1e-9 else "no"
    return [*cells, met, _over(against["ours"]["accuracy"]) if against else ""]


def _paper(printed: Printed | None, metric: str) -> str:
    if printed is None:
        return "-"
    stars = printed.stars if metric == "accuracy" else printed.f1_stars
    return f"{getattr(printed, metric):.2f}{stars}"


def _stars(against: Report, metric: str) -> str:
    """By the paper's test, which is one-sided: is MTL better?"""
    p = number(against["published"][metric])
    if not number(against["ours"][metric]["effect"]) > 0:
        return ""
    return next((stars for level, stars in STARS if p <= level), "")


def _over(test: Report) -> str:
    """How much more accurate a model is than STL, and whether that holds."""
    return f"{points(test, 'seed')}: {holds(test)}"


# ---- Table 3 ----


def _cells_table(report: Report) -> str | Block:
    """Which models are right, and how much the crowd agrees there."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        if not any(sum(a["cells"]["n"].values()) for a in block["against"].values()):
            continue
        what = "entropy" if CONDITIONS[name].corpus == STEMS else "kurtosis"
        rows.append([f"{CONDITIONS[name].title} ({name}), {what}"])
        if name == KURTOSIS_CONDITION:
            printed = [f"{KURTOSIS[cell]:.3f}" for cell in CELLS]
            rows.append([f"  paper, {MODELS[KURTOSIS_MODEL]}", *printed, "p <= 0.05"])
        for model, against in block["against"].items():
            cells, p = against["cells"], number(against["cells"]["mann_whitney"])
            figures = [
                f"{number(cells['mean'][cell]):.3f} ({cells['n'][cell]:,})"
                if cells["n"][cell]
                else "-"
                for cell in CELLS
            ]
            rows.append([f"  {MODELS[model]}", *figures, f"p {p_text(p)}"])
    if not rows:
        return ""
    names = ["", *CELLS, "only MTL, only STL"]
    notes = (
        "Mean excess kurtosis of the soft label: high where the crowd agrees. With two values it "
        "is always -2, so stems have the entropy in nats: low where the crowd agrees.\n"
        "In brackets: number of predictions over all runs. p: Mann-Whitney test, which treats them "
        "as independent, as the paper does."
    )
    return Block("Table 3: agreement of the crowd where models are right", [names, *rows], notes)


# ---- words ----


def _words_table(report: Report) -> str | Block:
    """How accurate models are on words with a vector, and on those without."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        share = number(block["with_vector"])
        if np.isnan(share):
            continue
        about = f"{100 * share:.1f} % of {block['n_items']:,} words have a vector"
        rows.append([f"{CONDITIONS[name].title} ({name}): {about}"])
        for model, of_model in block["models"].items():
            each = (of_model["words"]["with"], of_model["words"]["without"])
            ours = [f"{100 * number(figure):.2f}" for figure in each]
            every = f"{100 * of_model['pooled']['gold']['accuracy']:.2f}"
            paper = _paper(TABLES.get(name, {}).get(model), "accuracy").rstrip("*")
            rows.append([f"  {MODELS[model]}", *ours, every, paper])
    if not rows:
        return ""
    names = ["", "with a vector", "without", "all", "all, in the paper"]
    heading = "Words with and without a vector in the file of GloVe: accuracy on gold, in percent"
    return Block(heading, [names, *rows])


# ---- overfitting ----


def _gap_table(report: Report) -> str | Block:
    """The main task's loss on the development part less that in training."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        rows.append([f"{CONDITIONS[name].title} ({name})"])
        for model, of_model in block["models"].items():
            cells = [f"  {MODELS[model]}"]
            for when in ("chosen", "last"):
                gaps = [fit["gap"][when] for fit in of_model["fits"]]
                against = block["against"].get(model)
                less = _difference_of_gaps(against["gap"][when]) if against else ""
                cells += [f"{np.mean(gaps):.3f}", less]
            rows.append(cells)
    names = ["", "chosen epoch", "chosen less STL's", "last epoch", "last less STL's"]
    heading = (
        "Overfitting: the main task's loss (nats) on the development part less that in training"
    )
    return Block(heading, [names, *rows], "Intervals: 95 % over seeds, not corrected.")


def _difference_of_gaps(test: Report) -> str:
    """With its interval, if there are several seeds."""
    if np.isnan(number(test["low"])):
        return f"{number(test['effect']):+.3f}"
    return interval(test, digits=3)
