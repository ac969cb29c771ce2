"""Results: what a comparison found, with everything needed to find it again."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError
from dissensus.evaluation.fit import Fit, in_order, number, plain
from dissensus.evaluation.protocols import Fold
from dissensus.evaluation.runs import Runs
from dissensus.folders import read_json, read_table, reading, write_json, write_table

FRONT = "results"  # the name of the front page


@dataclass(frozen=True)
class About:
    """What was compared, and how: the same for everybody who runs the command again."""

    corpus: str
    questions: tuple[str, ...]
    metrics: tuple[str, ...]  # in the order in which tables show them
    methods: tuple[str, ...]  # likewise
    seeds: tuple[int, ...]
    command: str  # that finds the same again
    commit: str  # of our code
    protocol: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)  # method -> why
    floors: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)  # see `Results`
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Results:
    """Every fit of a comparison, what it was about, and when and where it ran.

    `about.floors` holds figures that no method has to be fitted for: question -> metric -> name
    of the floor ("perfect prediction", "noise floor") -> score.
    """

    about: About
    folds: tuple[dict[str, Any], ...]  # name, run, numbers of items, notes
    fits: tuple[Fit, ...]
    groups: dict[str, str] = field(default_factory=dict)  # item -> its group, where it has one
    when: dict[str, Any] = field(default_factory=dict)  # date and machine; never compared

    @classmethod
    def assemble(
        cls,
        about: About,
        folds: Sequence[Fold],
        fits: Iterable[Fit],
        groups: Mapping[str, str] | None = None,
        when: Mapping[str, Any] | None = None,
    ) -> Results:
        """Put fits together in a fixed order, whatever order they ended in."""
        facts = tuple(_fold_facts(fold) for fold in folds)
        ordered = in_order(list(fits), about.methods, [fold.name for fold in folds])
        return cls(about, facts, tuple(ordered), dict(groups or {}), dict(when or here()))

    # ---- reading ----

    def of(self, method: str) -> list[Fit]:
        """The fits of a method, those that failed too."""
        return [fit for fit in self.fits if fit.method == method]

    def counts(self, method: str) -> dict[str, int]:
        """How many fits of a method ended how."""
        found = {"ok": 0, "failed": 0, "diverged": 0}
        for fit in self.of(method):
            found[fit.status] += 1
        return found

    def runs(self, question: str, metric: str, method: str) -> Runs:
        """A method's scores of single items: a row for each seed and repetition."""
        asked = question, metric, method
        if asked not in self._runs:
            fits = self.of(method)
            keys = sorted({(fit.seed, fit.run) for fit in fits})
            parts = [(keys.index((fit.seed, fit.run)), fit.rows(question, metric)) for fit in fits]
            self._runs[asked] = Runs.of(keys, parts)
        return self._runs[asked]

    @cached_property
    def _runs(self) -> dict[tuple[str, str, str], Runs]:
        """Those that were asked for: every method is compared with the reference's."""
        return {}

    # ---- a folder of JSON and Parquet ----

    def save(self, path: str | Path) -> None:
        """Write `results.json` and Parquet beside it; all but date, machine and times is the same
        text each time. A folder that holds something else is refused."""
        folder = Path(path)
        check_ours(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".results.", dir=folder) as temporary:
                _write(self, Path(temporary))
                for name in ("items.parquet", "groups.parquet", f"{FRONT}.json"):  # the front last
                    if (Path(temporary) / name).exists():
                        os.replace(Path(temporary) / name, folder / name)
                    else:
                        (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise DataError(f"{folder}: cannot be written ({error.strerror})") from None

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Read a folder that `save` wrote; another format number is refused."""
        folder = Path(path)
        if not (folder / f"{FRONT}.json").exists() and (folder / "comparison.json").exists():
            command = read_json(folder, "comparison")["command"]
            raise DataError(f"{folder}: the comparison is not finished; resume with: {command}")
        content = read_json(folder, FRONT)
        with reading(folder):
            return _read(content, folder)

    def equals(self, other: Results) -> bool:
        """Whether both found the same, whenever and wherever they ran and however long."""
        mine, theirs = (_front(results) | {"when": None} for results in (self, other))
        return mine == theirs and all(
            a.items.equals(b.items) for a, b in zip(self.fits, other.fits, strict=True)
        )


def here() -> dict[str, Any]:
    """When and where: what differs from one run of a command to the next."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}",
    }


def code_commit() -> str:
    """The commit of our code, "+" if files differ from it; the version where it is no clone."""
    from importlib.metadata import PackageNotFoundError, version

    folder = Path(__file__).parent
    asked = [
        ["git", "rev-parse", "HEAD"],
        ["git", "status", "--porcelain", "--", str(folder)],
        ["git", "ls-files", "--error-unmatch", __file__],  # installed inside somebody's clone
    ]
    try:
        done = [subprocess.run(c, cwd=folder, capture_output=True, text=True) for c in asked]
        if not any(run.returncode for run in done):
            return done[0].stdout.strip()[:12] + ("+" if done[1].stdout.strip() else "")
    except OSError:
        pass
    try:
        return f"version {version('dissensus')}"
    except PackageNotFoundError:
        return "unknown"


# ---- writing and reading ----


def _fold_facts(fold: Fold) -> dict[str, Any]:
    sizes = {"train": len(fold.train), "test": len(fold.test)}
    if fold.validation is not None:
        sizes["validation"] = len(fold.validation)
    return {"name": fold.name, "run": fold.run, "notes": list(fold.notes)} | sizes


def check_ours(folder: Path) -> None:
    """Refuse to write among files that are not ours."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{folder}: is a file; results are a folder, choose another name")
    ours = (folder / f"{FRONT}.json").exists() or (folder / "fits").is_dir()
    if any(folder.iterdir()) and not ours:
        raise DataError(f"{folder}: exists and is no results folder of ours; choose another name")


def _front(results: Results) -> dict[str, Any]:
    """The front page; what differs from run to run is under "when"."""
    seconds = [fit.seconds for fit in results.fits]
    return plain(
        {
            "about": vars(results.about),
            "folds": results.folds,
            "fits": [fit.to_dict() for fit in results.fits],
            "groups": len(results.groups),
            "when": results.when | {"seconds": seconds},
        }
    )


def _write(results: Results, folder: Path) -> None:
    keys = ("method", "seed", "fold")
    types = pa.string(), pa.int64(), pa.string()
    parts = []
    for fit in results.fits:
        owner = [
            pa.repeat(pa.scalar(getattr(fit, key), kind), fit.items.num_rows)
            for key, kind in zip(keys, types, strict=True)
        ]
        parts.append(pa.table([*owner, *fit.items.columns], [*keys, *fit.items.column_names]))
    table = pa.concat_tables(parts).combine_chunks() if parts else Fit("", 0, "").items
    write_table(folder / "items.parquet", {name: table[name] for name in table.column_names})
    if results.groups:
        names = sorted(results.groups)
        chosen = [results.groups[name] for name in names]
        write_table(folder / "groups.parquet", {"item": names, "group": chosen})
    write_json(folder, FRONT, _front(results))


def _read(content: dict[str, Any], folder: Path) -> Results:
    about = dict(content["about"])
    for key in ("questions", "metrics", "methods", "seeds", "notes"):
        about[key] = tuple(about[key])
    about["floors"] = {
        question: {
            metric: {name: number(score) for name, score in named.items()}
            for metric, named in metrics.items()
        }
        for question, metrics in about["floors"].items()
    }
    when = dict(content["when"])
    seconds = [number(value) for value in when.pop("seconds")]
    return Results(
        About(**about),
        tuple(content["folds"]),
        tuple(_with_items(content["fits"], seconds, read_table(folder / "items.parquet"))),
        _read_groups(folder) if content["groups"] else {},
        when,
    )


def _with_items(found: list[dict[str, Any]], seconds: list[float], table: Any) -> list[Fit]:
    """The fits with their rows of the table, which follow one another."""
    fits, begin = [], 0
    of_fit = [name for name in table.column_names if name not in ("method", "seed", "fold")]
    if sum(fit["item_scores"] for fit in found) != table.num_rows:
        raise DataError(f"{table.num_rows} scores of items, not those of the fits")
    for content, took in zip(found, seconds, strict=True):
        rows = table.slice(begin, content["item_scores"]).select(of_fit).combine_chunks()
        fits.append(replace(Fit.from_dict(content), seconds=took, items=rows))
        begin += content["item_scores"]
    return fits


def _read_groups(folder: Path) -> dict[str, str]:
    table = read_table(folder / "groups.parquet")
    return dict(zip(table["item"].to_pylist(), table["group"].to_pylist(), strict=True))
