"""Which conditions have the power to decide: the smallest difference that a test would find."""

from __future__ import annotations

from dissensus.evaluation.fit import number
from dissensus_papers.framework.layout import Block
from dissensus_papers.framework.verdicts import Report
from dissensus_papers.individual.figures import HALVES
from dissensus_papers.individual.models import GRID_BASELINE, MT
from dissensus_papers.individual.printed import DISTANCES

METRIC, MODEL = "density TVD", f"{MT}-both"
OF_WIDTH = (1.9600 + 0.8416) / (2 * 1.9600)  # from the width of a 95 % interval to 80 % power
PRINTED = DISTANCES["soft"]
GAIN = PRINTED[GRID_BASELINE][METRIC] - PRINTED[MODEL][METRIC]  # of the paper


def smallest_difference(test: Report) -> float:
    """The difference that a test at 5 %, not corrected, finds with a probability of 80 %.

    Its standard error is that of the interval.

    Example:
        >>> round(smallest_difference({"low": -0.01, "high": 0.03}), 3)
        0.029
    """
    return OF_WIDTH * (number(test["high"]) - number(test["low"]))


def power(report: Report) -> Block | None:
    """For each condition with densities, what its test of the main claim can find."""
    names = ["", "items", "cells", "constant density", "halves of annotators", "baseline"]
    rows = [[*names, "smallest difference found", f"finds the paper's {GAIN:.3f}"]]
    for name, reported in report["conditions"].items():
        for question in reported["questions"]:
            test = reported["against"].get(MODEL, {}).get(question, {}).get(METRIC)
            if test is None or "(soft" not in question or "@" in question:
                continue
            smallest = smallest_difference(test)
            floors = reported["floors"].get(question, {})
            figures = [floors.get(row, {}).get(METRIC) for row in ("constant density", HALVES)]
            figures.append(reported["models"][GRID_BASELINE][question][METRIC])
            rows.append(
                [
                    f"{name}: {question}",
                    f"{reported['n_items']:,}",
                    question.partition("bins=")[2].rstrip(")") or "4",
                    *("" if each is None else f"{number(each['mean']):.3f}" for each in figures),
                    f"{smallest:.3f}",
                    "yes" if smallest <= GAIN else "no",
                ]
            )
    if len(rows) == 1:
        return None
    heading = f"What each condition can decide: {METRIC}, MT with both losses less the baseline"
    notes = (
        "The smallest difference that the test over items and seeds finds with a probability of "
        "80 % (at 5 %, not corrected), from the spread of the paired differences. Where "
        "it is above the paper's, the condition decides only about larger differences."
    )
    return Block(heading, rows, notes)
