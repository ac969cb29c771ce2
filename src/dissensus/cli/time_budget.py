"""The time that `dissensus run` has, and what it compares within that time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from dissensus.cli import console
from dissensus.errors import DataError
from dissensus.folders import read_json, write_json
from dissensus.staging import staged

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.report.encoding_time import EncodingPlan

RESERVE = 0.2  # of the budget, for training the best method and for the report
RESERVED_SECONDS = 12.0  # at least that long, but
MOST_RESERVED = 0.4  # of the budget at most
OF_ENCODING = 0.5  # of the time for the comparison, to encode contents
FACTS = ("corpus", "items", "answers", "requested_encoder")  # what a part belongs to
PART = "part"  # part.json: which part of the items was compared within a budget


@dataclass(frozen=True)
class TimeBudget:
    """How long the command may take, and when it began, in seconds of time.monotonic."""

    seconds: float
    start: float

    @property
    def left(self) -> float:
        return max(self.start + self.seconds - time.monotonic(), 0.0)

    @property
    def left_to_compare(self) -> float:
        reserved = max(RESERVE * self.seconds, min(RESERVED_SECONDS, MOST_RESERVED * self.seconds))
        return max(self.left - reserved, 0.0)


class PartFields(TypedDict):
    """What part.json contains."""

    corpus: str
    items: int
    answers: int
    requested_encoder: str | None
    seconds: float
    compared: int
    encoder: str | None
    reason: str


def plan_within(
    budget: TimeBudget | None, corpus: Corpus, output: Path, encoder: str | None
) -> EncodingPlan:
    """The number of items to compare methods on, and the encoder.

    The same budget gives the same part again, so that its comparison can be resumed although the
    contents are then in the cache. With another budget, it is replaced.
    """
    from dissensus.report.encoding_time import EncodingPlan, encoding_plan

    folder, kept = output / "comparison", _kept(output)
    has_fits = any((folder / "fits").glob("*"))
    same = kept is not None and _facts(corpus, encoder) == {k: kept[k] for k in FACTS}
    if budget is None or (kept is None and has_fits):
        plan = EncodingPlan(corpus.n_items, encoder)
    elif kept is not None and same and has_fits and kept["seconds"] == budget.seconds:
        return EncodingPlan(kept["compared"], kept["encoder"], kept["reason"])
    else:
        time_left = OF_ENCODING * budget.left_to_compare
        plan = encoding_plan(corpus, encoder, time_left, budget.seconds)
    if kept is not None and same and (kept["compared"], kept["encoder"]) != _compared(plan):
        shutil.rmtree(folder, ignore_errors=True)
        if has_fits:
            console.say(f"{folder}: the comparison of {kept['compared']:,} items is replaced")
    _keep(output, corpus, encoder, budget, plan)
    return plan


def needs_encoder(methods: Sequence[str]) -> bool:
    """Whether any of these methods encodes contents; without names, some do."""
    from dissensus.methods import method

    return not methods or any(hasattr(method(name)(), "encoder") for name in methods)


def _facts(corpus: Corpus, encoder: str | None) -> dict[str, Any]:
    """What the part that was compared belongs to."""
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    return dict(zip(FACTS, (corpus.name, corpus.n_items, n_answers, encoder), strict=True))


def _compared(plan: EncodingPlan) -> tuple[int, str | None]:
    return plan.n_items, plan.encoder


def _kept(output: Path) -> dict[str, Any] | None:
    """What was compared before, if it was a part."""
    try:
        return read_json(output, PART, PartFields)
    except DataError:  # there is none, or it is damaged
        return None


def _keep(
    output: Path,
    corpus: Corpus,
    encoder: str | None,
    budget: TimeBudget | None,
    plan: EncodingPlan,
) -> None:
    path = output / f"{PART}.json"
    if budget is None or not plan.reason or not plan.n_items:
        path.unlink(missing_ok=True)
        return
    compared, used = _compared(plan)
    of_plan = {"compared": compared, "encoder": used, "reason": plan.reason}
    with staged(path) as new:
        write_json(
            new.parent,
            PART,
            _facts(corpus, encoder) | {"seconds": budget.seconds} | of_plan,
        )
