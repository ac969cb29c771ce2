"""The claims of the paper, and what becomes of them."""

from __future__ import annotations

from dissensus.papers.framework.verdicts import BetterThan
from dissensus.papers.individual.conditions import TWO, reading
from dissensus.papers.individual.models import CONSENSUS, GRID_BASELINE, HEADS, MT, OH

TVD, JSD = "density TVD", "density JSD"
SPEECH, ASPECTS = ("speech",), ("aspects",)
SOFT, PLAIN, FIXED = (reading(TWO, text) for text in ("soft", "plain", "fixed"))
FINER = reading(TWO, "soft:bins=8")


def _against_baseline() -> list[BetterThan]:
    consensus = [
        BetterThan(
            f"Individual annotators predict the consensus better than the baseline ({question})",
            f"{MT}-answers", GRID_BASELINE, "CCC", SPEECH, question,
        )
        for question in TWO
    ]  # fmt: skip
    return consensus + [
        BetterThan(
            f"{words} gives a better density than the baseline ({metric})",
            model, GRID_BASELINE, metric, SPEECH, SOFT,
        )
        for model, words in (
            (f"{MT}-answers", "Predicting annotators, with the soft density post hoc,"),
            (f"{MT}-density", "Learning the density through annotators"),
            (f"{MT}-both", "Learning annotators and their density"),
        )
        for metric in (TVD, JSD)
    ]  # fmt: skip


def _of_readings() -> list[BetterThan]:
    return [
        BetterThan(
            f"The soft density is better than {words}, for the same predictions ({metric})",
            f"{MT}-answers", f"{MT}-answers", metric, SPEECH, SOFT, other,
        )
        for other, words in ((PLAIN, "the plain one"), (FIXED, "one of fixed bandwidth"))
        for metric in (TVD, JSD)
    ]  # fmt: skip


CLAIMS: tuple[BetterThan, ...] = (
    *_against_baseline(),
    *_of_readings(),
    BetterThan(
        "Heads are better than a one-hot annotator (density)",
        f"{MT}-both", f"{OH}-both", TVD, SPEECH, SOFT,
    ),
    *(
        BetterThan(
            f"Ours: annotator heads predict the consensus better than a model of it ({question})",
            HEADS, CONSENSUS, "CCC", ASPECTS, question,
        )
        for question in (*TWO, "prosodic")
    ),
    *(
        BetterThan(
            f"Ours: annotator heads predict each annotator better than a model of the consensus "
            f"({question})",
            HEADS, CONSENSUS, "annotator CCC, mean", ASPECTS, question,
        )
        for question in (*TWO, "prosodic")
    ),
    BetterThan(
        "Ours: annotator heads give a better density than the baseline, 8 x 8",
        HEADS, "grid-ours", TVD, SPEECH, FINER,
    ),
)  # fmt: skip
