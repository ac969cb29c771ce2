"""The claims of the paper, and some beyond it."""

from __future__ import annotations

from dissensus_papers.framework.verdicts import BEYOND, BetterThan
from dissensus_papers.individual.conditions import TWO
from dissensus_papers.individual.confirmation import CHOSEN, CONFIRMATION, CONSTRUCTION
from dissensus_papers.individual.figures import reading
from dissensus_papers.individual.models import CONSENSUS, GRID_BASELINE, HEADS, MT, OH
from dissensus_papers.individual.one_question import FINEST, ONE_QUESTION

TVD, JSD = "density TVD", "density JSD"
SPEECH, ASPECTS = ("speech",), ("aspects",)
SOFT, PLAIN, FIXED = (reading(TWO, text) for text in ("soft", "plain", "fixed"))
ONE = tuple(condition.name for condition in ONE_QUESTION)
MOVED = ("children", "tasks")
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


def _of_one_question() -> list[BetterThan]:
    """The same for one question, and the annotators of the item against all annotators."""
    both, answers, soft = f"{MT}-both", f"{MT}-answers", "(soft)"
    return [
        BetterThan(
            "One question: individual annotators predict the consensus better than the baseline",
            answers, GRID_BASELINE, "CCC", ONE,
        ),
        *(
            BetterThan(
                f"One question: {words} gives a better density than the baseline ({metric})",
                model, GRID_BASELINE, metric, ONE, soft,
            )
            for model, words in (
                (answers, "predicting annotators, with the soft density post hoc,"),
                (both, "learning annotators and their density"),
            )
            for metric in (TVD, JSD)
        ),
        *(
            BetterThan(
                f"One question: the soft density is better than {words}, for the same predictions",
                answers, answers, TVD, ONE, soft, other,
            )
            for other, words in (("(plain)", "the plain one"), ("(fixed)", "the fixed one"))
        ),
        BetterThan(
            "One question: heads are better than a one-hot annotator (density)",
            both, f"{OH}-both", TVD, ONE, soft,
        ),
        BetterThan(
            "One question, 16 cells: learning annotators and their density is better than the "
            "baseline",
            both, f"{GRID_BASELINE}-{FINEST}", TVD, ONE, f"(soft:bins={FINEST})",
        ),
        *(
            BetterThan(
                f"The annotators of an item give a better density than all annotators ({words})",
                model, model, TVD, ONE, f"({kind})", f"({kind}@all)",
            )
            for model, kind, words in (
                (both, "soft", "soft"),
                (answers, "plain", "plain"),
            )
        ),
    ]  # fmt: skip


def _of_transfer() -> list[BetterThan]:
    return [
        BetterThan(
            "Without retraining: individual annotators predict the consensus better than the "
            "baseline",
            f"{MT}-answers", GRID_BASELINE, "CCC", MOVED,
        ),
        *(
            BetterThan(
                f"Without retraining: learning annotators and their density gives a better density "
                f"than the baseline ({metric})",
                f"{MT}-both", GRID_BASELINE, metric, MOVED, "(soft)",
            )
            for metric in (TVD, JSD)
        ),
    ]  # fmt: skip


def _of_confirmation() -> list[BetterThan]:
    """The variant that was chosen on speech, and mixtures, on other corpora with new seeds."""
    where = tuple(condition.name for condition in CONFIRMATION)
    return [
        *(
            BetterThan(
                f"Beyond the paper, confirmed: heads with calibrated noise give a better density "
                f"than the paper's construction, {words} ({metric})",
                CHOSEN, CONSTRUCTION, metric, where, reading_,
            )
            for reading_, words in (("(method)", "4 cells"), ("(method:bins=16)", "16 cells"))
            for metric in (TVD, JSD)
        ),
        *(
            BetterThan(
                f"Beyond the paper: mixtures give a better density than single ratings, 16 cells "
                f"({metric})",
                f"{HEADS}-mixture", CHOSEN, metric, where, "(method:bins=16)",
            )
            for metric in (TVD, JSD)
        ),
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
            f"{BEYOND}annotator heads predict the consensus better than a model of it ({question})",
            HEADS, CONSENSUS, "CCC", ASPECTS, question,
        )
        for question in (*TWO, "prosodic")
    ),
    *(
        BetterThan(
            f"{BEYOND}annotator heads predict each annotator better than a model of the consensus "
            f"({question})",
            HEADS, CONSENSUS, "annotator CCC, mean", ASPECTS, question,
        )
        for question in (*TWO, "prosodic")
    ),
    BetterThan(
        f"{BEYOND}annotator heads give a better density than the baseline, 8 x 8",
        HEADS, "grid-ours", TVD, SPEECH, FINER,
    ),
    *_of_one_question(),
    *_of_transfer(),
    *_of_confirmation(),
)  # fmt: skip
