"""What every paper can do: read its corpora, run its fits, report and show its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dissensus.corpus import Corpus

Report = dict[str, Any]  # plain data; tables are written from it alone


class Study(NamedTuple):
    """A study that belongs to a paper, but not to its tables."""

    report: Callable[[Path], Report]  # from its file
    shown: Callable[..., str]  # as `Paper.shown`


class Paper(Protocol):
    """A paper whose tables are reproduced: a `ComparisonPaper` or a `FittedPaper`."""

    @property
    def name(self) -> str:
        """As users type it."""
        ...

    @property
    def studies(self) -> Mapping[str, Study]:
        """By the names of the options that show them."""
        ...

    @property
    def read(self) -> Callable[[Path], dict[str, Corpus]]:
        """From a folder to those of the paper's corpora that it contains, by name."""
        ...

    def named(self, text: str | None, corpora: Sequence[str]) -> Sequence[Any]:
        """The conditions to run.

        Args:
            text: names separated by commas; if None, the defaults whose corpus is there.
            corpora: names of the corpora that are there.
        """
        ...

    def run(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[Any],
        out: str | Path,
        *,
        runs: int | None = None,
        processes: int | None = None,
        time_limit: float | None = None,
        settings: Sequence[tuple[str, str]] = (),
        command: str = "",
        **options: Any,
    ) -> None:
        """Make the fits that are missing in a folder. The same call resumes a stopped run.

        Args:
            corpora: what `read` returned.
            conditions: what `named` returned; a later call may add more.
            runs: number of seeds or repetitions, a later call may have more; as many as in the
                paper if None.
            processes: number of processes; one for each processor if None.
            time_limit: seconds. If fits are missing then, `Unfinished` says how many.
            settings: settings of the methods, name and value as typed, to try something out.
            command: saved with the fits.
            options: those that the paper's entry in `PAPERS` declares.
        """
        ...

    def report(self, path: str | Path) -> Report:
        """The report on a folder of fits, or the one that was saved to a file."""
        ...

    @property
    def shown(self) -> Callable[..., str]:
        """From a report to its tables as text; `width` of a terminal breaks lines."""
        ...
