"""The claims of the paper and, beyond it, a fair trial of them: where a temperature follows the
data, and where the baseline differs from individual annotators in nothing else.

In one condition or several each is decided by one score. The differences that matter are about the
paper's own: its gain is .012 in TVD, .002 in JSD and .068 in concordance.
"""

from __future__ import annotations

from dissensus_papers.framework.declared import BetterThan
from dissensus_papers.framework.text import BEYOND
from dissensus_papers.individual.conditions import OF_ALL
from dissensus_papers.individual.models import (
    ANSWERS,
    BANDWIDTH,
    BOTH,
    CONSENSUS,
    DENSITY,
    GRID,
    JSD,
    ONEHOT_BOTH,
    SPREAD,
    TEMPERATURE,
    TVD,
)

WITHIN = ("speech", "voices", "patterns", "music", "improv", "podcast")
MOVED = (
    "children", "telephone", "selections", "improv-podcast", "improv-iemocap", "improv-muse",
)  # fmt: skip
SPARSE = ("voices", "patterns", "music", "improv", "podcast")
SOFT, OWN, PLAIN = "(soft)", "(method)", "(plain)"
MATTERS = {TVD: 0.01, JSD: 0.005, "CCC": 0.05, "annotator CCC": 0.05}
NTH = ("first question", "second question")


def _claim(
    words: str,
    first: str,
    second: str,
    metric: str,
    where: tuple[str, ...],
    table: str | int,
    other_table: str | None = None,
) -> BetterThan:
    claim, matters = f"{words} ({metric})", MATTERS[metric]
    return BetterThan(claim, first, second, where, metric, table, other_table, matters)


CLAIMS: tuple[BetterThan, ...] = (
    *(_claim(f"Individual annotators predict the consensus better than the baseline, {nth}",
             ANSWERS, GRID, "CCC", WITHIN, place) for place, nth in enumerate(NTH)),
    *(_claim(f"{words} gives a better density than the baseline", model, GRID, metric, WITHIN, SOFT)
      for model, words in (
          (ANSWERS, "Predicting annotators, with the soft density post hoc,"),
          (DENSITY, "Learning the density through annotators"),
          (BOTH, "Learning annotators and their density"),
      )
      for metric in (TVD, JSD)),
    _claim("The soft density is better than the plain one, for the same predictions",
           ANSWERS, ANSWERS, TVD, WITHIN, SOFT, PLAIN),
    _claim("Heads are better than a one-hot annotator", BOTH, ONEHOT_BOTH, TVD, WITHIN, SOFT),
    _claim("The annotators of an item give a better density than all annotators",
           ANSWERS, ANSWERS, TVD, SPARSE, SOFT, f"({OF_ALL})"),
    *(_claim(f"Without retraining: individual annotators predict the consensus better than the "
             f"baseline, {nth}", ANSWERS, GRID, "CCC", MOVED, place)
      for place, nth in enumerate(NTH)),
    *(_claim("Without retraining: learning annotators and their density gives a better density "
             "than the baseline", BOTH, GRID, metric, MOVED, SOFT) for metric in (TVD, JSD)),
    # a fair trial
    *(_claim(f"{BEYOND}individual annotators predict the consensus better than the same network "
             f"that learns it, {nth}", ANSWERS, CONSENSUS, "CCC", WITHIN, place)
      for place, nth in enumerate(NTH)),
    *(_claim(f"{BEYOND}they predict annotators better than that network, {nth}",
             ANSWERS, CONSENSUS, "annotator CCC", WITHIN, place) for place, nth in enumerate(NTH)),
    _claim(f"{BEYOND}their soft density is better than that of one predicted rating",
           ANSWERS, CONSENSUS, TVD, WITHIN, SOFT),
    _claim(f"{BEYOND}a temperature that follows the spread is better than 8, for the same "
           "predictions", ANSWERS, ANSWERS, TVD, WITHIN, OWN, SOFT),
    *(_claim(f"{BEYOND}with {words}, learning annotators and their density gives a better density "
             "than the baseline", model, GRID, metric, WITHIN, OWN)
      for model, words in (
          (SPREAD, "a temperature that follows the spread"),
          (TEMPERATURE, "a learned temperature"),
          (BANDWIDTH, "a learned bandwidth"),
      )
      for metric in (TVD, JSD)),
    _claim(f"{BEYOND}where annotators are simulated to differ, learning them and their density "
           "gives a better density than the baseline", SPREAD, GRID, TVD, ("simulated",), OWN),
)  # fmt: skip
