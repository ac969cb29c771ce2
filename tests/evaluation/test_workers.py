"""Jobs that wait for others, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dissensus.evaluation.fit import Job, Key
from dissensus.evaluation.workers import fits_here


class Told:
    """Work whose fits are the names of their methods."""

    def opened(self, folder: Path) -> None: ...

    def done(self, opened: Any, job: Job) -> Iterator[str]:
        return (key.method for key in job)

    def died(self, key: Key, why: str) -> str:
        return why


def test_what_waits_for_a_fit_that_never_ends_well_ends_the_rest() -> None:
    def jobs() -> Iterator[Job]:
        yield (Key("failed", 0, "fold 1"),)
        for _ in range(3):  # as long as it is asked, as agendas do
            asked.append("again")
            yield ()

    asked: list[str] = []
    assert list(fits_here(Told(), None, jobs())) == ["failed"]
    assert asked == ["again"]
