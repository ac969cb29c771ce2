"""How long it takes to encode the contents of a corpus, and what can be encoded within a time."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.encoders import encodings
from dissensus.encoders.framework.cache import is_cached
from dissensus.encoders.framework.media import unreadable
from dissensus.errors import DataError
from dissensus.evaluation.execution.scheduler import duration
from dissensus.progress import hidden
from dissensus.report.project import FEWEST_ITEMS, without_unreadable_contents
from dissensus.time_limit import TimeIsUp, time_limit

if TYPE_CHECKING:
    from dissensus.encoders import Encoder

OF_ENCODING = 0.5  # of the time for the comparison, to encode contents
MOST_OF_ENCODING = 0.75  # likewise, until it is stopped
BATCHES = (1, 4, 16, 64)  # contents that are encoded to take the time; the first loads the network
ENOUGH = 1.0  # seconds that a batch should take to be timed
SHORTER = "minilm:max_length=64"  # reads a quarter of the tokens that minilm reads
WORTH_ALL = 200  # items, so many that a part of the corpus is preferred to shorter texts
STAGES = (4, 2, 1)  # divisors of the number of items: what is encoded one after another, if
STAGED = 1 / 3  # of the time or more is needed, so that some are done if it takes longer


@dataclass(frozen=True)
class EncodingPlan:
    """The number of items to compare methods on, the encoder, and why these."""

    n_items: int  # 0 if not even the fewest can be encoded
    encoder: str | None
    reason: str = ""  # empty if nothing is changed
    seconds: float = field(default=0.0, compare=False)  # to encode these items, about


def encoding_plan(
    corpus: Corpus, encoder: str | None, seconds: float, budget: float
) -> EncodingPlan:
    """What to encode before methods are compared: all items if possible; else shorter texts, a part
    of the items, or both; nothing if the first few contents take too long.

    Args:
        encoder: as the user chose it; then it is not replaced by a faster one.
        seconds: for the comparison, of which encoding takes a part.
        budget: of the whole command in seconds, for advice.
    """
    begin = time.monotonic()
    end, stop = begin + seconds, begin + MOST_OF_ENCODING * seconds
    needed, faster = _estimated(corpus, encoder, stop), 0.0
    if needed == math.inf:
        reason = f"encoding the first contents took longer than {duration(stop - begin)}"
        return EncodingPlan(0, encoder, f"{reason} (give a longer --budget)")
    seconds = OF_ENCODING * max(end - time.monotonic(), 0.0)
    if needed <= seconds:
        return EncodingPlan(corpus.n_items, encoder, seconds=needed)
    kinds = {contents.kind for contents in corpus.contents.values()}
    contents = f"{'texts' if kinds == {'text'} else 'contents'} of all {corpus.n_items:,} items"
    reason = f"encoding the {contents} would take about {duration(needed)}"
    advice = f"for all, give --budget {duration_option(budget + 2 * needed)} or more"
    part = items_within(corpus, needed, seconds)
    if encoder is None and kinds == {"text"} and part < WORTH_ALL:
        faster = _estimated(corpus, SHORTER, stop)
        seconds = OF_ENCODING * max(end - time.monotonic(), 0.0)
        if faster < needed / 2:
            encoder, part = SHORTER, items_within(corpus, faster, seconds)
            reason += ", so that only their first 64 tokens are read"
        else:
            faster = 0.0
    if not part:
        few = duration((faster or needed) * FEWEST_ITEMS / corpus.n_items)
        return EncodingPlan(0, encoder, f"{reason}; {FEWEST_ITEMS} of them take {few}; {advice}")
    if part < corpus.n_items:
        reason += f"; methods are compared on {part:,} of them, drawn at random"
    seconds_of_part = (faster or needed) * part / corpus.n_items
    return EncodingPlan(part, encoder, f"{reason} ({advice})", seconds_of_part)


def _estimated(corpus: Corpus, encoder: str | None, deadline: float) -> float:
    """As `encoding_time`; infinite if even that is not known at the deadline."""
    try:
        with time_limit(deadline):
            return encoding_time(corpus, encoder)
    except TimeIsUp:
        return math.inf


def items_within(corpus: Corpus, needed: float, seconds: float) -> int:
    """How many items can be done within some seconds, in two digits; 0 if the fewest take twice
    the time.

    Args:
        needed: seconds for all items.
    """
    n = int(corpus.n_items * min(seconds / max(needed, 1e-9), 1.0))
    if n >= corpus.n_items:
        return corpus.n_items
    if n < FEWEST_ITEMS:
        return min(FEWEST_ITEMS, corpus.n_items) if 2 * n >= FEWEST_ITEMS else 0
    unit = 10 ** (len(str(n)) - 2)
    return n // unit * unit


def part_of(corpus: Corpus, n_items: int, seed: int = 0) -> Corpus:
    """So many items of a corpus, drawn at random; the corpus itself if these are all."""
    if n_items >= corpus.n_items:
        return corpus
    drawn = np.random.default_rng(seed).permutation(corpus.n_items)[:n_items]
    return corpus.select(items=np.sort(drawn))


def encoded_items(corpus: Corpus, plan: EncodingPlan, seconds: float) -> int:
    """Encode the items of a plan; how many there are when it is stopped: all, half or a quarter of
    them, each as `part_of` draws them, or 0.

    Args:
        seconds: for the comparison, of which encoding takes a part.
    """
    done, seconds = 0, MOST_OF_ENCODING * seconds
    deadline = time.monotonic() + seconds
    for divisor in STAGES if plan.seconds >= STAGED * seconds else (1,):
        n = plan.n_items // divisor
        if n < FEWEST_ITEMS and divisor > 1:
            continue
        try:
            with time_limit(deadline):
                part, _ = without_unreadable_contents(part_of(corpus, n), plan.encoder)
                if not part.contents:  # none can be read
                    return plan.n_items
                for encoding in encodings(part, plan.encoder or "auto").values():
                    if encoding.encoder.cached:
                        encoding.store()
        except TimeIsUp:
            return done
        done = n
    return done


def encoding_time(corpus: Corpus, encoder: str | None) -> float:
    """About how many seconds it takes to encode the contents that are not in the cache."""
    seconds = 0.0
    for encoding in encodings(corpus, encoder or "auto").values():
        if encoding.encoder.cached and len(encoding.contents):
            missing = _not_cached(encoding.encoder, encoding.contents)
            if len(missing):
                seconds += len(missing) * _seconds_each(
                    encoding.encoder, encoding.contents, missing
                )
    return seconds


def _not_cached(encoder: Encoder, contents: Contents) -> np.ndarray:
    """The codes of contents that are not in the cache; all if one of their files does not exist,
    because then it has no key."""
    try:
        return np.flatnonzero(~is_cached(encoder, contents))
    except DataError:
        return np.arange(len(contents))


def _seconds_each(encoder: Encoder, contents: Contents, codes: np.ndarray) -> float:
    """The time to encode a content, of some that are drawn at random; nothing is cached, so that
    what is encoded later does not depend on it."""
    drawn = np.random.default_rng(0).permutation(codes)
    seconds, most = 0.0, BATCHES[-1]
    for n in BATCHES:
        batch = contents.take(drawn[: min(n, most)])
        begin = time.monotonic()
        with hidden():
            try:
                encoder.encode(batch)
            except DataError:  # some cannot be read, and are left out later
                batch = _readable(encoder, batch)
                if not len(batch):
                    continue
                begin = time.monotonic()
                encoder.encode(batch)
        took = time.monotonic() - begin
        seconds = took / len(batch)
        if n > BATCHES[0]:
            if took > ENOUGH / 2:
                break
            most = max(int(ENOUGH / seconds), len(batch))
    return seconds


def _readable(encoder: Encoder, contents: Contents) -> Contents:
    """The contents that the encoder can read."""
    wrong = list(unreadable(encoder, contents))
    return contents.take(np.setdiff1d(np.arange(len(contents)), wrong))


def duration_option(seconds: float) -> str:
    """A time as an option, in whole minutes.

    Example:
        >>> duration_option(42), duration_option(61), duration_option(4000)
        ('1m', '2m', '67m')
    """
    return f"{-(-int(np.ceil(seconds)) // 60)}m"
