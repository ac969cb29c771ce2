"""The time that `dissensus run` has, and what it compares within that time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
RESERVED_SECONDS = 8.0  # to train at least, besides those of the report, but
MOST_RESERVED = 0.4  # of the budget at most
REPORT_SECONDS = 4.0  # of a report, and
ANSWERS_A_SECOND = 400_000  # that are added to it
FACTS = ("corpus", "items", "answers", "requested_encoder")  # what a part belongs to
PART = "part"  # part.json: which part of the items was compared within a budget


@dataclass(frozen=True)
class TimeBudget:
    """How long the command may take, and when it began, in seconds of time.monotonic."""

    seconds: float
    start: float
    report: float = REPORT_SECONDS  # how long the report takes, about

    def with_report_on(self, corpus: Corpus) -> TimeBudget:
        """The same budget, of which the report on a corpus takes a part."""
        n_answers = sum(answers.n_answers for answers in corpus.questions.values())
        return replace(self, report=REPORT_SECONDS + n_answers / ANSWERS_A_SECOND)

    @property
    def left(self) -> float:
        return max(self.start + self.seconds - time.monotonic(), 0.0)

    @property
    def left_to_compare(self) -> float:
        least = min(RESERVED_SECONDS + self.report, MOST_RESERVED * self.seconds)
        reserved = max(RESERVE * self.seconds, least)
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
    budget: TimeBudget | None,
    corpus: Corpus,
    output: Path,
    encoder: str | None,
    methods: Sequence[str] = (),
    seeds: int | None = None,
) -> EncodingPlan:
    """The number of items to compare methods on, and the encoder; these items are then encoded.

    The same budget gives the same part again, so that its comparison can be resumed although the
    contents are then in the cache. With another budget, it is replaced.
    """
    from dissensus.report.encoding_time import EncodingPlan

    folder, kept = output / "comparison", _kept(output)
    has_fits = any((folder / "fits").glob("*"))
    same = kept is not None and _facts(corpus, encoder) == {k: kept[k] for k in FACTS}
    if budget is None or (kept is None and has_fits):
        plan = EncodingPlan(corpus.n_items, encoder)
    elif (kept is not None and kept["compared"] and same and has_fits
          and kept["seconds"] == budget.seconds):  # fmt: skip
        return EncodingPlan(kept["compared"], kept["encoder"], kept["reason"])
    else:
        plan = _encoded(budget, corpus, _planned(budget, corpus, encoder, methods, seeds))
    if kept is not None and same and (kept["compared"], kept["encoder"]) != _compared(plan):
        shutil.rmtree(folder, ignore_errors=True)
        if has_fits and kept["compared"]:
            console.say(f"{folder}: the comparison of {kept['compared']:,} items is replaced")
    _keep(output, corpus, encoder, budget, plan)
    return plan


def _planned(
    budget: TimeBudget,
    corpus: Corpus,
    encoder: str | None,
    methods: Sequence[str],
    seeds: int | None,
) -> EncodingPlan:
    """What can probably be encoded, and trained on."""
    from dissensus.report.encoding_time import encoding_plan
    from dissensus.report.training_time import trained_within

    plan = encoding_plan(corpus, encoder, budget.left_to_compare, budget.seconds)
    return trained_within(corpus, plan, budget.left_to_compare, budget.seconds, methods, seeds)


def _encoded(budget: TimeBudget, corpus: Corpus, plan: EncodingPlan) -> EncodingPlan:
    """The plan, with fewer items if encoding them takes longer than estimated."""
    from dissensus.report.encoding_time import encoded_items

    if not plan.seconds:
        return plan
    n = encoded_items(corpus, plan, budget.left_to_compare)
    if n == plan.n_items:
        return plan
    reason = f"encoding {plan.n_items:,} of {corpus.n_items:,} items takes longer than estimated"
    reason += f"; methods are compared on {n:,} of them, drawn at random" if n else ""
    return replace(plan, n_items=n, reason=f"{reason} (for more, give a longer --budget)")


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
    if budget is None or not plan.reason:
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
