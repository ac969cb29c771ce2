"""Results: the fits and scores of a comparison, with what is needed to repeat it."""

from __future__ import annotations

import datetime
import html
import math
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import pyarrow as pa

from dissensus.agreement.estimates import or_none
from dissensus.errors import DataError, counted
from dissensus.evaluation.fit import Fit, FitFields, fits_in, in_order, number, plain, read_items
from dissensus.evaluation.protocols import Fold
from dissensus.evaluation.runs import Runs
from dissensus.files.folders import (
    is_own,
    read_json,
    read_table,
    reading,
    staged,
    write_json,
    write_table,
    writing,
)
from dissensus.tables import html_table, to_frame

FRONT = "results"  # the name of the JSON file
WITHOUT = "scored without marked annotators"  # likewise: names of tables, as of questions
TRUTHS = "truths"  # in `About.protocol`: the questions that have one, as gold labels show


@dataclass(frozen=True)
class About:
    """What was compared, and how; it is the same whenever the command is run again."""

    corpus: str
    questions: tuple[str, ...]
    metrics: tuple[str, ...]  # in the order in which tables show them
    methods: tuple[str, ...]  # in the same way
    seeds: tuple[int, ...]
    command: str  # that gives the same results
    commit: str  # of the dissensus code
    protocol: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)  # method -> why
    floors: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)  # see `Results`
    notes: tuple[str, ...] = ()
    outside: dict[str, str] = field(default_factory=dict)  # rows of predictions -> where from


class ComparisonFields(TypedDict):
    """The content of comparison.json."""

    facts: dict[str, Any]
    command: str
    commits: list[str]
    outside: NotRequired[list[str]]


class _AboutFields(TypedDict):
    corpus: str
    questions: list[str]
    metrics: list[str]
    methods: list[str]
    seeds: list[int]
    command: str
    commit: str
    protocol: dict[str, Any]
    left_out: dict[str, str]
    floors: dict[str, dict[str, dict[str, float | str | None]]]
    notes: list[str]
    outside: NotRequired[dict[str, str]]


class _FoldFields(TypedDict):
    name: str
    run: int
    notes: list[str]


class _WhenFields(TypedDict):
    seconds: list[float | str | None]


class _Front(TypedDict):
    """The content of results.json."""

    about: _AboutFields
    folds: list[_FoldFields]
    fits: list[FitFields]
    groups: int
    when: _WhenFields


@dataclass(frozen=True, eq=False)
class Results:
    """Every fit of a comparison, what was compared, and when and where it ran.

    `about.floors` has scores that need no fitted method: question -> metric -> name of the floor
    ("perfect prediction", "noise floor") -> score.
    """

    about: About
    folds: tuple[dict[str, Any], ...]  # name, run, numbers of items, notes
    fits: tuple[Fit, ...]
    groups: dict[str, str] = field(default_factory=dict)  # item -> its group, if it has one
    when: dict[str, Any] = field(default_factory=dict)  # date and machine; not part of `equals`

    @classmethod
    def assemble(
        cls,
        about: About,
        folds: Sequence[Fold],
        fits: Iterable[Fit],
        groups: Mapping[str, str] | None = None,
        when: Mapping[str, Any] | None = None,
    ) -> Results:
        """Collect fits in a fixed order, whatever order they ended in."""
        facts: list[dict[str, Any]] = []
        for fold in folds:
            items = {"train": fold.train, "test": fold.test, "validation": fold.validation}
            sizes = {part: len(codes) for part, codes in items.items() if codes is not None}
            facts.append({"name": fold.name, "run": fold.run, "notes": list(fold.notes)} | sizes)
        ordered = in_order(list(fits), about.methods, [fold.name for fold in folds])
        return cls(about, tuple(facts), tuple(ordered), dict(groups or {}), dict(when or here()))

    # ---- reading ----

    def of(self, method: str) -> list[Fit]:
        """The fits of a method, including those that failed."""
        return [fit for fit in self.fits if fit.method == method]

    def counts(self, method: str) -> dict[str, int]:
        """The number of fits of a method by status."""
        counts = {"ok": 0, "failed": 0, "diverged": 0}
        for fit in self.of(method):
            counts[fit.status] += 1
        return counts

    def n_folds(self, method: str) -> int:
        """The number of folds that a method has scores on; fewer than others if the comparison is
        unfinished, or a fit failed."""
        return len({fit.fold for fit in self.of(method) if fit.scores})

    def runs(self, question: str, metric: str, method: str) -> Runs:
        """A method's scores on single items: a row for each seed and repetition."""
        key = question, metric, method
        if key not in self._runs:
            fits = self.of(method)
            keys = sorted({(fit.seed, fit.run) for fit in fits})
            parts = [(keys.index((fit.seed, fit.run)), fit.rows(question, metric)) for fit in fits]
            self._runs[key] = Runs.of(keys, parts)
        return self._runs[key]

    @cached_property
    def _runs(self) -> dict[tuple[str, str, str], Runs]:
        """Cached, since every method is compared with the same reference."""
        return {}

    def __repr__(self) -> str:
        about = self.about
        return (
            f"<Results on {about.corpus!r}: {counted(len(about.methods), 'method')}, "
            f"{counted(len(self.folds), 'fold')}, {counted(len(about.seeds), 'seed')}, "
            f"{counted(len(self.fits), 'fit')}>"
        )

    def _repr_html_(self) -> str:
        """The mean over fits of each method and metric, for notebooks."""
        parts = [f"<p>{html.escape(repr(self).strip('<>'))}</p>"]
        for question in self.about.questions:
            rows: list[list[Any]] = []
            for method in self.about.methods:
                of_metrics = [
                    [fit.score(question, metric) for fit in self.of(method)]
                    for metric in self.about.metrics
                ]
                known = [[s for s in scores if not math.isnan(s)] for scores in of_metrics]
                means = [float(np.mean(scores)) if scores else math.nan for scores in known]
                rows.append([method, *means, self.counts(method)["ok"]])
            title = f"{question}: mean over fits; intervals and tests: evaluation.tables(results)"
            parts.append(html_table(["method", *self.about.metrics, "fits"], rows, title))
        return "".join(parts)

    def to_table(self) -> pa.Table:
        """An Arrow table with a row for each fit, question and metric; undefined scores are null.

        A fit that failed has no rows; `status` and `reason` of `fits` say why.
        """
        names = ("method", "seed", "fold", "run", "question", "metric", "score")
        rows = [
            (fit.method, fit.seed, fit.fold, fit.run, question, metric, or_none(score))
            for fit in self.fits
            for question, scores in fit.scores.items()
            for metric, score in scores.items()
        ]
        kinds = (pa.string(), pa.int64(), pa.string(), pa.int64(), pa.string(), pa.string())
        schema = pa.schema(list(zip(names, (*kinds, pa.float64()), strict=True)))
        return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema)

    def to_pandas(self) -> Any:
        """The scores of all fits as a pandas DataFrame, with the rows and columns of `to_table`."""
        return to_frame(self.to_table())

    # ---- a folder of JSON and Parquet ----

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write `results.json` and Parquet files; a folder with other content is refused.

        The same results give the same files, except for date, machine and times.

        Args:
            overwrite: whether results that are there are replaced; any other folder never is.
        """
        folder = Path(path)
        if not is_own(folder, "comparison"):
            with writing(folder, FRONT, overwrite) as new:
                _write(self, new)
            return
        with staged(folder / f"{FRONT}.json") as new:  # JSON last
            _write(self, new.parent)
            for name in ("items.parquet", "groups.parquet"):
                if (new.parent / name).exists():
                    os.replace(new.parent / name, folder / name)
                else:
                    (folder / name).unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path, unfinished: bool = False) -> Results:
        """Read a folder that `save` wrote; an unknown format number is refused.

        Args:
            unfinished: whether to read the fits that are done if a comparison is not finished; a
                note says how many are missing. Otherwise it is refused.
        """
        folder = Path(path)
        if not (folder / f"{FRONT}.json").exists() and (folder / "comparison.json").exists():
            if unfinished and (folder / "unfinished" / FRONT).exists():
                return _so_far(folder)
            command = read_json(folder, "comparison", ComparisonFields)["command"]
            raise DataError(f"{folder}: the comparison is not finished; resume with: {command}")
        content = read_json(folder, FRONT, _Front)
        with reading(folder):
            return _read(content, folder)

    def equals(self, other: Results) -> bool:
        """Whether fits and scores are the same, regardless of date, machine and times."""
        mine, theirs = (_front(results) | {"when": None} for results in (self, other))
        return mine == theirs and all(
            a.items.equals(b.items) for a, b in zip(self.fits, other.fits, strict=True)
        )


def here() -> dict[str, Any]:
    """The date and the machine, which differ from one run of a command to the next."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}",
    }


def code_commit() -> str:
    """The commit of the dissensus code, with "+" if files were changed; the version if it is not a
    git clone."""
    from importlib.metadata import PackageNotFoundError, version

    folder = Path(__file__).parent
    commands = [
        ["git", "rev-parse", "HEAD"],
        ["git", "status", "--porcelain", "--", str(folder)],
        # fails if it is installed inside another clone
        ["git", "ls-files", "--error-unmatch", __file__],
    ]
    try:
        done = [subprocess.run(c, cwd=folder, capture_output=True, text=True) for c in commands]
        if not any(run.returncode for run in done):
            return done[0].stdout.strip()[:12] + ("+" if done[1].stdout.strip() else "")
    except OSError:
        pass
    try:
        return f"version {version('dissensus')}"
    except PackageNotFoundError:
        return "unknown"


# ---- writing and reading ----


def check_results_folder(folder: Path) -> None:
    """Refuse a folder that is neither empty, nor of results alone, nor of a comparison."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(
            f"{folder}: is a file; results are written to a folder, choose another path"
        )
    names = {path.name for path in folder.iterdir()}
    empty = not any((folder / "fits").glob("*"))  # a comparison was killed at its begin
    begun = names <= {".lock", "fits", ".comparison.json.new"} and empty
    if not (begun or is_own(folder, "comparison") or is_own(folder, FRONT)):
        raise DataError(
            f"{folder}: already exists and is not a results folder written by dissensus; choose "
            "another path"
        )


def _front(results: Results) -> dict[str, Any]:
    """The content of the JSON file; what differs from run to run is under "when"."""
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
    runs = {fold["name"]: fold["run"] for fold in content["folds"]}
    for fit in content["fits"]:
        if fit["method"] not in about["methods"] or runs.get(fit["fold"]) != fit["run"]:
            raise DataError(f"a fit of {fit['method']!r} on {fit['fold']!r}, which are not listed")
    when = dict(content["when"])
    seconds = [number(value) for value in when.pop("seconds")]
    groups: dict[str, str] = {}
    if content["groups"]:
        table = read_table(folder / "groups.parquet")
        groups = dict(zip(table["item"].to_pylist(), table["group"].to_pylist(), strict=True))
    return Results(
        About(**about),
        tuple(content["folds"]),
        tuple(_with_items(content["fits"], seconds, read_table(folder / "items.parquet"))),
        groups,
        when,
    )


def _so_far(folder: Path) -> Results:
    """The fits of a comparison that are done, with a note on those that are missing."""
    begun = Results.load(folder / "unfinished" / FRONT)
    done = list(fits_in(folder / "fits"))
    if not done:
        raise DataError(f"{folder}: no fit is done yet; resume with: {begun.about.command}")
    fits = in_order([*done, *begun.fits], begun.about.methods,
                    [fold["name"] for fold in begun.folds])  # fmt: skip
    fitted = [method for method in begun.about.methods if method not in begun.about.outside]
    each = [(method, sum(fit.method == method for fit in done)) for method in fitted]
    note = (
        f"Not finished: {len(done)} of {begun.when['fits']} fits done "
        f"({', '.join(f'{method} {n}' for method, n in each)}); run the same command again to "
        "resume."
    )
    about = replace(begun.about, notes=(note, *begun.about.notes))
    return replace(begun, about=about, fits=tuple(fits), when=here())


def _with_items(contents: list[dict[str, Any]], seconds: list[float], table: Any) -> list[Fit]:
    """The fits with their rows of the table, which are in the order of the fits."""
    fits, begin = [], 0
    table = read_items(table)
    if sum(content["item_scores"] for content in contents) != table.num_rows:
        raise DataError(f"{table.num_rows} scores of items do not match the fits")
    for content, took in zip(contents, seconds, strict=True):
        rows = table.slice(begin, content["item_scores"]).combine_chunks()
        fits.append(replace(Fit.from_dict(content), seconds=took, items=rows))
        begin += content["item_scores"]
    return fits
