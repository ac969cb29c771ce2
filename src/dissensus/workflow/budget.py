"""The time that a run has, and the items that methods are compared on within it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders import encodings
from dissensus.encoders.framework.cache import is_cached
from dissensus.errors import DataError
from dissensus.evaluation.execution.folder import delete_comparison
from dissensus.evaluation.execution.schedule import duration, seconds_of_fit
from dissensus.files.folders import read_json, staged, write_json
from dissensus.methods import build
from dissensus.progress import progress
from dissensus.within import TimeIsUp, check_deadline, deadline
from dissensus.workflow.items import drawn_items, without_unreadable_contents
from dissensus.workflow.plan import FASTEST, FEWEST_ITEMS, n_folds, n_seeds

RESERVE = 0.2  # of the budget, for training the best method and for the report
RESERVED_SECONDS = 8.0  # to train at least, besides those of the report, but
MOST_RESERVED = 0.4  # of the budget at most
REPORT_SECONDS = 4.0  # of a report, and
ANSWERS_A_SECOND = 400_000  # that are added to it
OF_ENCODING = 0.5  # of the time for the comparison, to encode contents after the first
OF_FASTEST = 1 / 3  # of it, to train the fastest method in all folds and
TRAINED_AGAIN = 2  # times more: the model to save, and the one of the items that are held out
FIRST_ITEMS = 8  # that are encoded together at first, when the network is loaded, and later
LATER_ITEMS = 0.25  # of the items that are encoded already
PART = "part"  # part.json: which part of the items was compared


@dataclass(frozen=True)
class Budget:
    """How long a run may take, and when it began, in seconds of time.monotonic."""

    seconds: float
    start: float
    report: float = REPORT_SECONDS  # how long the report takes, about

    @classmethod
    def of(cls, corpus: Corpus, seconds: float | None, start: float) -> Budget:
        """The time for a run on a corpus; without end if no number of seconds is given."""
        report = REPORT_SECONDS + _n_answers(corpus) / ANSWERS_A_SECOND
        return cls(math.inf if seconds is None else seconds, start, report)

    @property
    def limited(self) -> bool:
        return self.seconds < math.inf

    @property
    def end(self) -> float:
        """When the last fit ends, so that the report can be written in time."""
        return self.start + self.seconds - self.report

    @property
    def end_of_comparison(self) -> float:
        """When the comparison ends, so that the best method can be trained in time."""
        if not self.limited:
            return math.inf
        least = min(RESERVED_SECONDS + self.report, MOST_RESERVED * self.seconds)
        return self.start + self.seconds - max(RESERVE * self.seconds, least)


@dataclass(frozen=True)
class Part:
    """The items that methods are compared on, as in part.json."""

    corpus: str
    items: int  # of the corpus, and
    answers: int
    encoder: str | None
    seconds: float  # of the budget
    compared: int  # items, drawn at random; 0 if there is no time to encode the fewest
    reason: str  # empty if all items are compared

    @property
    def facts(self) -> tuple[Any, ...]:
        """What it is a part of."""
        return self.corpus, self.items, self.answers, self.encoder


def part_within(
    budget: Budget,
    corpus: Corpus,
    out: Path,
    encoder: str | None,
    methods: Sequence[str] = (),
    seeds: int | None = None,
    message: Callable[[str], None] = lambda line: None,
) -> Part:
    """The items to compare methods on; their contents are encoded then.

    The same budget gives the same part again, so that its comparison can be resumed although the
    contents are then in the cache. With another budget, it is replaced.
    """
    facts = (corpus.name, corpus.n_items, _n_answers(corpus), encoder)
    whole = Part(*facts, budget.seconds, corpus.n_items, "")
    kept, comparison = _kept(out, whole), out / "comparison"
    begun = any((comparison / "fits").glob("*"))
    if begun and kept is None:  # a comparison of all items, or of another corpus
        return whole
    if kept is not None and begun and kept.compared and kept.seconds == budget.seconds:
        return kept
    part = whole
    if budget.limited:
        compared, reason = _items_within(budget, corpus, encoder, methods, seeds)
        part = replace(whole, compared=compared, reason=reason)
    if kept is not None and kept.compared != part.compared:
        delete_comparison(comparison)
        if begun and kept.compared:
            message(f"{comparison}: the comparison of {kept.compared:,} items is replaced")
    if not part.reason:
        (out / f"{PART}.json").unlink(missing_ok=True)
    else:
        with staged(out / f"{PART}.json") as new:
            write_json(new.parent, PART, asdict(part))
    return part


def _kept(out: Path, whole: Part) -> Part | None:
    """The part of this corpus that was compared before, if it was not all of it."""
    try:
        content = read_json(out, PART, Part)
    except DataError:  # there is none, or it is damaged
        return None
    kept = Part(**{field.name: content[field.name] for field in fields(Part)})
    return kept if kept.facts == whole.facts else None


def _items_within(
    budget: Budget, corpus: Corpus, encoder: str | None, methods: Sequence[str], seeds: int | None
) -> tuple[int, str]:
    """How many items can be encoded and trained on in time, and why not all."""
    begin, end = time.monotonic(), budget.end_of_comparison
    fastest, needed = _training(corpus, methods, seeds)
    most = _rounded(corpus.n_items, OF_FASTEST * (end - begin) / needed)
    n_encoded = encoded_items(corpus, encoder, end, most)
    n_trained = _rounded(corpus.n_items, OF_FASTEST * (end - time.monotonic()) / needed)
    n = min(n_encoded, max(n_trained, FEWEST_ITEMS))
    if n >= corpus.n_items:
        return n, ""
    more = "for more, give a longer budget"
    if n < FEWEST_ITEMS:
        took = duration(max(time.monotonic() - begin, 0.0))
        return 0, f"encoding the first {FEWEST_ITEMS} items took longer than {took} ({more})"
    drawn = f"methods are compared on {n:,} of {corpus.n_items:,} items, drawn at random ({more})"
    if n == n_encoded < most:
        return n, f"no more than {n_encoded:,} items were encoded in time; {drawn}"
    return n, f"training {fastest} on all items would take about {duration(needed)}; {drawn}"


def _training(corpus: Corpus, methods: Sequence[str], seeds: int | None) -> tuple[str, float]:
    """The fastest method that is trained, and about how many seconds it takes on all items: in
    each fold, and for the model and the report; almost none if no method is trained."""
    n_fits = (n_folds(corpus.n_items) - 1) * (seeds or n_seeds(_n_answers(corpus))) + TRAINED_AGAIN
    needed = {
        name: n_fits * seconds_of_fit(build(name), corpus, corpus.n_items)
        for name in methods or (FASTEST,)
    }
    trained = {name: seconds for name, seconds in needed.items() if seconds}
    fastest = min(trained, key=trained.__getitem__, default="")
    return fastest, trained.get(fastest, 1e-9)


def _rounded(n_items: int, share: float) -> int:
    """A share of the items in two digits; at least the fewest, at most all."""
    n = int(n_items * min(max(share, 0.0), 1.0))
    unit = 10 ** max(len(str(n)) - 2, 0)
    return n_items if n == n_items else min(max(n // unit * unit, FEWEST_ITEMS), n_items)


def encoded_items(corpus: Corpus, encoder: str | None, end: float, most: int) -> int:
    """Encode the contents of items in the order in which they are drawn, until half of the time is
    over that is left when the network is loaded; how many of them, in tens and `most` at most, have
    their vectors in the cache then.

    Args:
        end: of the comparison.
    """
    order = drawn_items(corpus, most)
    waiting = np.zeros(corpus.n_items, dtype=bool)
    for encoding in encodings(corpus, encoder or "auto").values():
        if encoding.encoder.cached:
            try:
                cached = is_cached(encoding.encoder, encoding.contents)
            except DataError:  # a file that does not exist has no key
                cached = np.zeros(len(encoding.contents), dtype=bool)
            waiting |= np.append(~cached, False)[encoding.content]
    places = np.flatnonzero(waiting[order])
    done, until = 0, end
    with suppress(TimeIsUp), progress("encoding", len(places)) as advance:
        while done < len(places):
            n = max(FIRST_ITEMS, int(LATER_ITEMS * done))
            some = corpus.select(items=np.sort(order[places[done : done + n]]))
            with deadline(until):
                check_deadline()
                some, _ = without_unreadable_contents(some, encoder)
                every = encodings(some, encoder or "auto") if some.contents else {}
                for encoding in every.values():
                    if encoding.encoder.cached:
                        encoding.store()  # fills the cache
            if not done:
                until = end - (1 - OF_ENCODING) * (end - time.monotonic())
            done += n
            advance(n)
    n_encoded = int(places[done]) if done < len(places) else most
    return most if n_encoded == most else n_encoded // 10 * 10


def _n_answers(corpus: Corpus) -> int:
    return sum(answers.n_answers for answers in corpus.questions.values())
