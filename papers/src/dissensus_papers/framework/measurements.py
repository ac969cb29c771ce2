"""Conditions of a paper that compare no models by scores: they measure something for each seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import Unfinished
from dissensus.evaluation import here
from dissensus.evaluation.fit import plain
from dissensus.json_files import parse_json
from dissensus.plain_files import plain_bytes
from dissensus_papers.framework.layout import Block
from dissensus_papers.framework.models import Typed
from dissensus_papers.framework.outcomes import write_whole
from dissensus_papers.framework.reports import to_json

Measured = Mapping[str, Any]  # plain data: what was measured with one seed


@dataclass(frozen=True)
class MeasuredCondition:
    """A measurement on a corpus, with its tables.

    Args:
        measured: from the corpus, a seed and typed settings to plain data.
        tables: from what was measured with each seed to tables.
    """

    name: str
    title: str
    corpus: str
    seeds: tuple[int, ...]
    measured: Callable[[Corpus, int, Typed], Measured]
    tables: Callable[[Sequence[Measured]], Sequence[Block]]


def measure(
    folder: Path,
    condition: MeasuredCondition,
    corpus: Corpus,
    seeds: Sequence[int],
    typed: Typed,
    time_limit: float | None,
) -> None:
    """Measure with the seeds that are missing; each is saved when it ends."""
    began = time.monotonic()
    for at, seed in enumerate(seeds):
        path = _folder(folder, condition.name) / f"{seed}.json"
        if path.exists():
            continue
        if time_limit is not None and time.monotonic() - began > time_limit:
            raise Unfinished(f"Time limit reached: {at} of {len(seeds)} seeds done.")
        result = condition.measured(corpus, seed, typed)
        text = to_json({"machine": here()["machine"], "measured": plain(dict(result))})
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda new, text=text: new.write_text(text, encoding="utf-8"))  # type: ignore[misc]


def measurements(folder: Path, condition: str) -> dict[int, dict[str, Any]]:
    """What was measured and on which machine, by seed."""
    paths = _folder(folder, condition).glob("[!.]*.json")
    by_seed = {int(path.stem): parse_json(plain_bytes(path), path) for path in paths}
    return dict(sorted(by_seed.items()))


def _folder(folder: Path, condition: str) -> Path:
    return folder / "measurements" / condition
