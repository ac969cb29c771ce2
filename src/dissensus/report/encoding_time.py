"""How long it takes to encode the contents of a corpus, and what can be encoded within a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.encoders import encodings
from dissensus.encoders.framework.cache import is_cached
from dissensus.errors import DataError
from dissensus.evaluation.execution.scheduler import duration
from dissensus.progress import hidden

if TYPE_CHECKING:
    from dissensus.encoders import Encoder

BATCHES = (1, 4, 16, 64)  # contents that are encoded to take the time; the first loads the network
ENOUGH = 1.0  # seconds of a batch, after which no larger one is timed
SHORTER = "minilm:max_length=64"  # reads a quarter of the tokens that minilm reads
FEWEST_ITEMS = 30  # that methods can be compared on
WORTH_ALL = 200  # items, so many that a part of the corpus is preferred to shorter texts


@dataclass(frozen=True)
class EncodingPlan:
    """The number of items to compare methods on, the encoder, and why these."""

    n_items: int  # 0 if not even the fewest can be encoded
    encoder: str | None
    reason: str = ""  # empty if nothing is changed


def encoding_plan(
    corpus: Corpus, encoder: str | None, seconds: float, budget: float
) -> EncodingPlan:
    """What to encode within some seconds: all items if possible; else shorter texts, a part of the
    items, or both.

    Args:
        encoder: as the user chose it; then it is not replaced by a faster one.
        budget: of the whole command in seconds, for advice.
    """
    needed, faster = encoding_time(corpus, encoder), 0.0
    if needed <= seconds:
        return EncodingPlan(corpus.n_items, encoder)
    kinds = {contents.kind for contents in corpus.contents.values()}
    contents = f"{'texts' if kinds == {'text'} else 'contents'} of all {corpus.n_items:,} items"
    reason = f"encoding the {contents} would take about {duration(needed)}"
    advice = f"for all, give --budget {duration_option(budget + 2 * needed)} or more"
    part = _n_items(corpus, needed, seconds)
    if encoder is None and kinds == {"text"} and part < WORTH_ALL:
        faster = encoding_time(corpus, SHORTER)
        if faster < needed / 2:
            encoder, part = SHORTER, _n_items(corpus, faster, seconds)
            reason += ", so that only their first 64 tokens are read"
    if not part:
        few = duration((faster or needed) * FEWEST_ITEMS / corpus.n_items)
        return EncodingPlan(0, encoder, f"{reason}; {FEWEST_ITEMS} of them take {few}; {advice}")
    if part < corpus.n_items:
        reason += f"; methods are compared on {part:,} of them, drawn at random"
    return EncodingPlan(part, encoder, f"{reason} ({advice})")


def _n_items(corpus: Corpus, needed: float, seconds: float) -> int:
    """The items that can be encoded, in two digits; 0 if the fewest take twice the time."""
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


def encoding_time(corpus: Corpus, encoder: str | None) -> float:
    """About how many seconds it takes to encode the contents that are not in the cache."""
    seconds = 0.0
    for encoding in encodings(corpus, encoder or "auto").values():
        if encoding.encoder.cached and len(encoding.contents):
            missing = np.flatnonzero(~is_cached(encoding.encoder, encoding.contents))
            if len(missing):
                seconds += len(missing) * _seconds_each(
                    encoding.encoder, encoding.contents, missing
                )
    return seconds


def _seconds_each(encoder: Encoder, contents: Contents, codes: np.ndarray) -> float:
    """The time to encode a content, of some that are drawn at random; nothing is cached, so that
    what is encoded later does not depend on it."""
    drawn = np.random.default_rng(0).permutation(codes)
    seconds = 0.0
    for n in BATCHES:
        batch = contents.take(np.resize(drawn, min(n, len(drawn))))
        begin = time.monotonic()
        try:
            with hidden():
                encoder.encode(batch)
        except DataError:  # one of them cannot be read, and is left out later
            continue
        took = time.monotonic() - begin
        seconds = took / len(batch)
        if n > BATCHES[0] and took > ENOUGH:
            break
    return seconds


def duration_option(seconds: float) -> str:
    """A time as an option, in whole minutes.

    Example:
        >>> duration_option(42), duration_option(61), duration_option(4000)
        ('1m', '2m', '67m')
    """
    return f"{-(-int(np.ceil(seconds)) // 60)}m"
