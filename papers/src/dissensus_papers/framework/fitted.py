"""Papers whose fits follow a protocol of their own: their outcomes and facts about items are saved,
so that a report reads no corpus, and outcomes of other data are refused."""

from __future__ import annotations

import itertools
import json
import os
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self
from zipfile import BadZipFile

import numpy as np

from dissensus import Corpus, read
from dissensus.errors import DataError, DissensusError, ModelError, Unfinished
from dissensus.evaluation import (
    FitFolder,
    Key,
    fits_in_processes,
    fits_in_this_process,
    folder_name,
    keys_in,
    plain,
    processors,
)
from dissensus.files import read_json, reading, staged, write_json, writing
from dissensus.progress import progress
from dissensus.tables import Table
from dissensus_papers.framework.paper import Paper, Request
from dissensus_papers.framework.reports import Report, begun_with, head
from dissensus_papers.framework.text import Section

ARRAYS, REST = "answers.npz", "rest"
Fits = tuple[Key, ...]  # that are made at once


# ---- the paper ----


class FittedPaper(Paper):
    """A paper whose fits are made by a `FitTask`, each saved as an outcome.

    Args:
        outcome: of a fit.
        figures: what the report says of outcomes, by condition, in a folder that was begun with
            these facts and has so many outcomes.
        counted: those outcomes of a condition that are in the report.
        sections: tables of a report.
    """

    outcome: type[Any]
    figures: Callable[[Path, Report, Mapping[str, list[Any]], int], Report]
    counted: Callable[[list[Any]], list[Any]] = staticmethod(lambda outcomes: outcomes)
    sections: Sequence[Section]

    def outcomes(self, folder: str | Path, condition: str | None = None) -> list[Any]:
        """The outcomes of all fits in a folder, or those of one condition, in the order of tables;
        an outcome of another paper is refused."""
        fits = Path(folder) / "fits"
        end = "" if condition is None else folder_name(Key("", 0, condition))[2:]
        names = [name for name in sorted(keys_in(fits)) if name.endswith(end)]
        outcomes = [self.outcome.load(fits / name) for name in names]
        for each in outcomes:
            if each.condition not in self.conditions or each.model not in self.models:
                raise DataError(f"{fits}: {folder_name(each.key)} is not of this paper")
        order = [*self.models]
        return sorted(outcomes, key=lambda o: (o.condition, o.seed, order.index(o.model)))

    def judged(self, *folders: Path) -> Report:
        if len(folders) > 1:
            raise DataError(f"{self.name}: give one folder")
        (folder,) = folders
        front, done = begun_with(folder, self.name), self.outcomes(folder)
        every = {name: [o for o in done if o.condition == name] for name in self.conditions}
        counted = {name: own for name in every if (own := self.counted(every[name]))}
        about = head(folder, front, (each.machine for own in counted.values() for each in own))
        return about | self.figures(folder, front["facts"], counted, len(done))

    def tables(self, report: Report) -> Iterable[Table | str]:
        return (section(report) for section in self.sections)


# ---- fits ----


class Opened:
    """The corpora of a run; fits of one process share what is computed from them."""

    def __init__(self, corpora: Mapping[str, Corpus]) -> None:
        self.corpora = corpora
        self._last: tuple[Any, Any] = (None, None)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returns; computed again only after another key was asked for."""
        if self._last[0] != key:
            self._last = key, make()
        return self._last[1]


class FitTask(ABC):
    """Everything that the results of fits depend on, except the corpora."""

    outcome: ClassVar[type[Any]]

    @abstractmethod
    def fit(self, opened: Opened, job: Fits) -> Sequence[Any]:
        """The outcomes of a job."""

    def opened(self, folder: Path) -> Opened:
        paths = sorted(folder.iterdir())
        return Opened({path.name: read(path, media_root=os.sep) for path in paths})

    def done(self, opened: Opened, job: Fits) -> Iterator[Any]:
        """The outcomes of a job; an error of the data or settings is kept in each of them."""
        import torch

        began, before = time.monotonic(), torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True  # TensorFloat-32 on a GPU
        try:
            outcomes = self.fit(opened, job)
        except (DissensusError, RuntimeError) as error:
            outcomes = [self.died(key, str(error).splitlines()[0]) for key in job]
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before
        seconds = round((time.monotonic() - began) / max(len(job), 1), 2)
        machine = f"{platform.machine()}, {os.cpu_count()} cores"
        if torch.cuda.is_available():
            machine = torch.cuda.get_device_name()
        for each in outcomes:
            yield replace(each, seconds=seconds, machine=f"{machine}, torch {torch.__version__}")

    def died(self, key: Key, why: str) -> Any:
        return self.outcome(*key, reason=why)


def run_fits(
    place: FitFolder,
    jobs: Sequence[Fits],
    total: int,
    task: FitTask,
    corpora: Mapping[str, Corpus],
    request: Request,
) -> None:
    """Make the fits that are missing in a folder, and save each when it ends.

    Args:
        jobs: in order; no job begins after the time limit.
        total: number of fits, those that are done included.
    """
    missing = sum(map(len, jobs))
    wanted = processors() if request.processes is None else request.processes
    n = min(wanted, max(len(jobs), 1))
    in_time = itertools.takewhile(lambda job: time.monotonic() < request.until, jobs)
    if n > 1:
        for name, corpus in corpora.items():
            corpus.save(place.corpus / name, overwrite=True)
        fits = fits_in_processes(task, place.corpus, in_time, n)
    else:
        fits = fits_in_this_process(task, Opened(corpora), in_time)
    failed = []
    with progress("training", total) as advance, closing(fits):
        advance(total - missing)
        for outcome in fits:
            if outcome.reason:
                failed.append(outcome)
                continue
            place.keep(outcome)
            missing -= 1
            advance(1)
    place.clean()
    if failed:
        first = failed[0]
        raise ModelError(
            f"{len(failed)} of {total} failed, first {first.key.method}, seed {first.key.seed}, "
            f"{first.key.fold}: {first.reason}; what was done is kept"
        )
    if missing:
        raise Unfinished(
            f"Time limit reached: {total - missing} of {total} fits done. Run the same command "
            "again to resume."
        )


# ---- what is saved ----


@dataclass(frozen=True, eq=False)
class SavedOutcome:
    """What a model came to in a condition, saved as a folder: arrays, and the rest as JSON.

    Args:
        seed: or the number of a repetition or of a trial.
        reason: why it failed, if it did.
    """

    model: str
    seed: int
    condition: str
    machine: str = field(default="", kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)
    reason: str = field(default="", kw_only=True)

    @property
    def key(self) -> Key:
        return Key(self.model, self.seed, self.condition)

    def save(self, folder: str | Path) -> None:
        """Write it into a folder of fits, as a folder of its own, whole or not at all."""
        arrays, rest = _parted(self)
        with writing(Path(folder) / folder_name(self.key), "fit", True) as own:
            if any(array.size for array in arrays.values()):
                np.savez_compressed(own / ARRAYS, **arrays)  # type: ignore[arg-type]
            write_json(own, "fit", plain(rest))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        content, path = read_json(folder, "fit"), Path(folder) / ARRAYS
        with reading(Path(folder)):
            known = {name: content[name] for name in cls.__dataclass_fields__ if name in content}
            if path.exists():
                with np.load(path) as arrays:
                    known |= dict(arrays)
            return cls(**known)


@dataclass(frozen=True, eq=False)
class SavedItems:
    """What a report has to know of the items of a corpus or condition, in a file of its name."""

    name: str

    def keep(self, folder: Path) -> None:
        """Write them; refuse a folder that was begun with other data or settings."""
        path = _file(folder, self.name)
        arrays, rest = _parted(self)
        if path.exists():
            kept_arrays, kept_rest = _parted(type(self).load(folder, self.name))
            differing = [
                n for n in arrays if arrays[n].shape != kept_arrays[n].shape
                or not np.allclose(arrays[n], kept_arrays[n], equal_nan=True)
            ]  # fmt: skip
            differing += [n for n in rest if rest[n] != kept_rest[n]]
            if differing:
                raise DataError(
                    f"{folder}: holds {self.name} with other {' and '.join(differing)}; give the "
                    "data and settings that it was begun with, or another folder"
                )
            return
        path.parent.mkdir(exist_ok=True)
        with staged(path) as new, new.open("wb") as file:
            np.savez_compressed(file, **arrays, **{REST: np.array(json.dumps(rest))})  # type: ignore[arg-type]

    @classmethod
    def load(cls, folder: str | Path, name: str) -> Self:
        path = _file(folder, name)
        if not path.exists():
            raise DataError(f"{path}: missing; run the paper into this folder again")
        with reading(path):
            try:
                with path.open("rb") as file, np.load(file) as arrays:
                    content = dict(arrays)
            except BadZipFile as error:
                raise ValueError(str(error)) from None
            return cls(**json.loads(str(content.pop(REST))), **content)


def _file(folder: str | Path, name: str) -> Path:
    return Path(folder) / "items" / f"{name}.npz"


def _parted(each: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The fields that are arrays, and the others as JSON has them."""
    arrays = {name: value for name, value in vars(each).items() if isinstance(value, np.ndarray)}
    return arrays, plain({name: value for name, value in vars(each).items() if name not in arrays})
