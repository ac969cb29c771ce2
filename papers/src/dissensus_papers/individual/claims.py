"""The claims of the paper, some beyond it, and which conditions can decide them."""

from __future__ import annotations

from typing import Any

from dissensus.evaluation import number
from dissensus.tables import Table
from dissensus_papers.framework.claims import Evidence
from dissensus_papers.framework.declared import BetterThan
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import BEYOND, table
from dissensus_papers.individual.conditions import (
    ASPECTS,
    CHOSEN,
    CONFIRMATION,
    CONSTRUCTION,
    FINEST,
    ONE_QUESTION,
    TWO,
)
from dissensus_papers.individual.corpora import HALVES, reading
from dissensus_papers.individual.models import (
    CONSENSUS,
    DISTANCES,
    GRID_BASELINE,
    HEADS,
    MT,
    OH,
)

TVD, JSD = BOTH = ("density TVD", "density JSD")
SOFT, PLAIN, FIXED = (reading(TWO, text) for text in ("soft", "plain", "fixed"))
ONE, CONFIRMED = (tuple(each.name for each in some) for some in (ONE_QUESTION, CONFIRMATION))
MOVED = ("children", "tasks")
ANSWERS, DENSITY, LEARNED = (f"{MT}-{objective}" for objective in ("answers", "density", "both"))
FINE = f"(soft:bins={FINEST})"

_CLAIMS: tuple[tuple[Any, ...], ...] = (
    *((f"Individual annotators predict the consensus better than the baseline ({question})",
       ANSWERS, GRID_BASELINE, "CCC", ("speech",), question) for question in TWO),
    *((f"{words} gives a better density than the baseline ({metric})",
       model, GRID_BASELINE, metric, ("speech",), SOFT)
      for model, words in (
          (ANSWERS, "Predicting annotators, with the soft density post hoc,"),
          (DENSITY, "Learning the density through annotators"),
          (LEARNED, "Learning annotators and their density"),
      )
      for metric in BOTH),
    *((f"The soft density is better than {words}, for the same predictions ({metric})",
       ANSWERS, ANSWERS, metric, ("speech",), SOFT, other)
      for other, words in ((PLAIN, "the plain one"), (FIXED, "one of fixed bandwidth"))
      for metric in BOTH),
    ("Heads are better than a one-hot annotator (density)",
     LEARNED, f"{OH}-both", TVD, ("speech",), SOFT),
    *((f"{BEYOND}annotator heads predict {whom} better than a model of {it} ({question})",
       HEADS, CONSENSUS, metric, ("aspects",), question)
      for whom, it, metric in (
          ("the consensus", "it", "CCC"),
          ("each annotator", "the consensus", "annotator CCC, mean"),
      )
      for question in ASPECTS),
    (f"{BEYOND}annotator heads give a better density than the baseline, 8 x 8",
     HEADS, "grid-ours", TVD, ("speech",), reading(TWO, "soft:bins=8")),
    ("One question: individual annotators predict the consensus better than the baseline",
     ANSWERS, GRID_BASELINE, "CCC", ONE),
    *((f"One question: {words} gives a better density than the baseline ({metric})",
       model, GRID_BASELINE, metric, ONE, "(soft)")
      for model, words in (
          (ANSWERS, "predicting annotators, with the soft density post hoc,"),
          (LEARNED, "learning annotators and their density"),
      )
      for metric in BOTH),
    *((f"One question: the soft density is better than {words}, for the same predictions",
       ANSWERS, ANSWERS, TVD, ONE, "(soft)", other)
      for other, words in (("(plain)", "the plain one"), ("(fixed)", "the fixed one"))),
    ("One question: heads are better than a one-hot annotator (density)",
     LEARNED, f"{OH}-both", TVD, ONE, "(soft)"),
    ("One question, 16 cells: learning annotators and their density is better than the "
     "baseline", LEARNED, f"{GRID_BASELINE}-{FINEST}", TVD, ONE, FINE),
    *((f"The annotators of an item give a better density than all annotators ({kind})",
       model, model, TVD, ONE, f"({kind})", f"({kind}@all)")
      for model, kind in ((LEARNED, "soft"), (ANSWERS, "plain"))),
    ("Without retraining: individual annotators predict the consensus better than the "
     "baseline", ANSWERS, GRID_BASELINE, "CCC", MOVED),
    *((f"Without retraining: learning annotators and their density gives a better density "
       f"than the baseline ({metric})", LEARNED, GRID_BASELINE, metric, MOVED, "(soft)")
      for metric in BOTH),
    *((f"Beyond the paper, confirmed: heads with calibrated noise give a better density than "
       f"the paper's construction, {words} ({metric})",
       CHOSEN, CONSTRUCTION, metric, CONFIRMED, bins)
      for bins, words in (("(method)", "4 cells"), ("(method:bins=16)", "16 cells"))
      for metric in BOTH),
    *((f"Beyond the paper: mixtures give a better density than single ratings, 16 cells "
       f"({metric})", f"{HEADS}-mixture", CHOSEN, metric, CONFIRMED, "(method:bins=16)")
      for metric in BOTH),
)  # fmt: skip
CLAIMS = tuple(BetterThan(*claim) for claim in _CLAIMS)

# ---- which conditions have the power to decide ----

GAIN = DISTANCES["soft"][GRID_BASELINE][TVD] - DISTANCES["soft"][LEARNED][TVD]  # of the paper


def power(report: Report) -> Table | str:
    """For each condition with densities, what its test of the main claim can find."""
    names = ["", "items", "cells", "constant density", "halves of annotators", "baseline"]
    rows = [[*names, "smallest difference found", f"finds the paper's {GAIN:.3f}"]]
    for name, reported in report["conditions"].items():
        for question in reported["questions"]:
            test = reported["against"].get(LEARNED, {}).get(question, {}).get(TVD)
            if test is None or "(soft" not in question or "@" in question:
                continue
            smallest = Evidence(name, TVD, test, GAIN).would_be_found()
            floors = reported["floors"].get(question, {})
            figures = [floors.get(row, {}).get(TVD) for row in ("constant density", HALVES)]
            figures.append(reported["models"][GRID_BASELINE][question][TVD])
            rows.append([
                f"{name}: {question}", f"{reported['n_items']:,}",
                question.partition("bins=")[2].rstrip(")") or "4",
                *("" if each is None else f"{number(each['mean']):.3f}" for each in figures),
                f"{smallest:.3f}", "yes" if smallest <= GAIN else "no",
            ])  # fmt: skip
    heading = f"What each condition can decide: {TVD}, MT with both losses less the baseline"
    notes = (
        "The smallest difference that the test over items and seeds finds with a probability of "
        "80 % (at 5 %, not corrected), from the spread of the paired differences. Where "
        "it is above the paper's, the condition decides only about larger differences."
    )
    return table(heading, rows[0], rows[1:], notes)
