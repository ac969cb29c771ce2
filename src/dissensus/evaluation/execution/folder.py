"""The folder of a comparison, which only one process may write to.

`comparison.json` describes the comparison, `fits` has the finished fits, `unfinished` checkpoints
and trials of the others; `results.json` and Parquet are written at the end. Each file is written
whole or not at all, so that a comparison can be killed at any time and resumed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.errors import DataError
from dissensus.evaluation.fit import Fit, Key, folder_name, keys_in, plain
from dissensus.evaluation.results import FRONT as RESULTS
from dissensus.evaluation.results import ComparisonFields, check_results_folder
from dissensus.files.folders import (
    delete_files,
    delete_leftovers,
    delete_own,
    lock,
    read_json,
    reason_of,
    staged,
    write_json,
)

FRONT = "comparison"
TRIED = ("trial-*.json", "training/state.safetensors", "training/*/state.safetensors")


@dataclass(frozen=True)
class FitFolder:
    """A folder that this process alone writes to."""

    folder: Path

    @property
    def fits(self) -> Path:
        return self.folder / "fits"

    @property
    def unfinished(self) -> Path:
        return self.folder / "unfinished"

    @property
    def corpus(self) -> Path:
        """Where worker processes read the corpus from."""
        return self.folder / ".corpus"

    # ---- what is compared ----

    @property
    def is_begun(self) -> bool:
        return (self.folder / f"{FRONT}.json").exists()

    def begun(self) -> dict[str, Any]:
        """The facts, command and commits that it was begun with."""
        return read_json(self.folder, FRONT, ComparisonFields)

    def begin(
        self, facts: Mapping[str, Any], command: str, commit: str, outside: Sequence[str] = ()
    ) -> tuple[str, str]:
        """The command and commits that it was started with; another comparison is refused.

        Args:
            outside: predictions of other systems. They need no fit, so that a comparison may be
                resumed with others; then the command is the new one.
        """
        known: dict[str, Any] = {"facts": plain(facts), "command": command, "commits": [commit]}
        known |= {"outside": list(outside)}
        if self.is_begun:
            kept = self.begun()
            self._check_same(kept["facts"], known["facts"])
            if kept.get("outside", []) == known["outside"]:
                known["command"] = kept["command"]
            known["commits"] = list(dict.fromkeys([*kept["commits"], commit]))
        self.write(known)
        return known["command"], ", ".join(known["commits"])

    def _check_same(self, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
        differing = [name for name in {**there, **here} if there.get(name) != here.get(name)]
        if not differing:
            return
        shown = "; ".join(_differs(name, there.get(name), here.get(name)) for name in differing[:3])
        more = f"; and {len(differing) - 3} more" if len(differing) > 3 else ""
        raise DataError(
            f"{self.folder}: contains another comparison: {shown}{more}. Run the command that it "
            "was started with to resume, or choose another folder"
        )

    def write(self, content: dict[str, Any]) -> None:
        """Replace the facts, command and commits."""
        with staged(self.folder / f"{FRONT}.json") as new:
            write_json(new.parent, FRONT, content)

    # ---- fits ----

    def missing(self, keys: Iterable[Key]) -> list[Key]:
        """The keys of fits that are not done yet."""
        done = keys_in(self.fits)
        return [key for key in keys if folder_name(key) not in done]

    def keep(self, fit: Any) -> None:
        """Save a fit, or anything else that has `key` and `save`; delete its checkpoint, trials."""
        fit.save(self.fits)
        delete_files(self.unfinished / folder_name(fit.key), *TRIED)

    def load(self, keys: Iterable[Key]) -> list[Fit]:
        return [Fit.load(self.fits / folder_name(key)) for key in keys]

    def clean(self) -> None:
        """Delete what killed processes left half-written."""
        delete_leftovers(self.fits)
        delete_leftovers(self.folder)
        for corpus in (self.corpus, *self.corpus.glob("*")):  # of a paper: one or several
            delete_own(corpus, "corpus")
        delete_files(self.corpus)

    def forget(self) -> None:
        """Delete checkpoints and trials, once all fits are done; the JSON file that says whose the
        folder is comes last, in case the process is killed."""
        results = f"{RESULTS}/*.parquet", f"{RESULTS}/results.json"
        delete_files(self.unfinished, *(f"*/{pattern}" for pattern in TRIED), *results)


def delete_comparison(folder: Path) -> None:
    """Delete a comparison; what else is in its folder stays."""
    FitFolder(folder).forget()
    fits = "fits/*/fit.json", "fits/*/items.parquet"
    tables = "results.json", "items.parquet", "groups.parquet", f"{FRONT}.json"
    delete_files(folder, *fits, *tables, ".lock")


def _differs(name: str, there: Any, here: Any) -> str:
    if name in ("data", "folds"):
        return {"data": "answers or contents differ", "folds": "folds have other items"}[name]
    short = [repr(value) for value in (there, here)]
    if max(map(len, short)) > 80:
        return f"{name} differ"
    return f"{name}: {short[0]} there, {short[1]} here"


@contextmanager
def locked_folder(path: str | Path) -> Iterator[FitFolder]:
    """The folder, locked for this process; an error if another process works in it.

    The operating system releases the lock of a process that dies, so that no lock is ever stale.
    On systems without such locks (Windows) nothing is checked.
    """
    folder = Path(path)
    check_results_folder(folder)
    place = FitFolder(folder)
    try:
        place.fits.mkdir(parents=True, exist_ok=True)
        handle = lock(folder / ".lock")
    except BlockingIOError as error:
        raise DataError(
            f"{folder}: another comparison is running in it (process {error}); wait for it, or "
            "choose another folder"
        ) from None
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({reason_of(error)})") from None
    try:
        place.clean()
        yield place
    finally:
        os.close(handle)
