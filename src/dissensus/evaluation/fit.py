"""One fit of a comparison: its settings, trials, scores, and scores on each item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError
from dissensus.files.folders import read_json, read_table, reading, write_json, write_table, writing
from dissensus.names import Names

Status = Literal["ok", "failed", "diverged"]
ITEM_TYPES = {
    "question": pa.string(),
    "metric": pa.string(),
    "item": pa.string(),
    "score": pa.float64(),
}
STATUSES = ("ok", "failed", "diverged")
LARGEST = 1e100  # of scores


class Key(NamedTuple):
    """Identifies a fit of a comparison."""

    method: str
    seed: int
    fold: str


Job = tuple[Key, ...]  # fits that run in one process, stacked if possible


class FitFields(TypedDict):
    """What `Fit.to_dict` returns, and the time it took; an undefined score is None."""

    method: str
    seed: int
    fold: str
    run: int
    status: Status
    reason: str
    settings: dict[str, Any]
    tried: list[dict[str, Any]]
    scores: dict[str, dict[str, float | str | None]]
    notes: list[str]
    item_scores: int
    seconds: NotRequired[float | str | None]


@dataclass(frozen=True, eq=False)
class Fit:
    """A method fitted with one seed on one fold, and its scores; or why it failed.

    Example:
        >>> fit = Fit("prior", 0, "fold 1", scores={"hate": {"accuracy": 0.9}})
        >>> fit.key.method, fit.status, fit.score("hate", "accuracy")
        ('prior', 'ok', 0.9)
    """

    method: str
    seed: int
    fold: str
    run: int = 0  # which repetition the fold belongs to
    status: Status = "ok"
    reason: str = ""  # of a failure or divergence
    settings: dict[str, Any] = field(default_factory=dict)  # the chosen ones
    tried: list[dict[str, Any]] = field(default_factory=list)  # every setting, with its score
    scores: dict[str, dict[str, float]] = field(default_factory=dict)  # question -> metric
    notes: tuple[str, ...] = ()
    seconds: float = math.nan
    items: Any = None  # Arrow table of question, metric, item, score; see `item_table`

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise DataError(
                f"the status of a fit must be ok, failed or diverged, found {self.status!r}"
            )
        if self.status != "ok" and not self.reason:
            raise DataError(
                f"{self.method}, seed {self.seed}, {self.fold}: {self.status} without a reason; "
                "give one"
            )
        if self.items is None:
            object.__setattr__(self, "items", item_table({}))

    @property
    def key(self) -> Key:
        return Key(self.method, self.seed, self.fold)

    def score(self, question: str, metric: str) -> float:
        """A score of the fit; nan if it has none."""
        return self.scores.get(question, {}).get(metric, math.nan)

    def rows(self, question: str, metric: str) -> Any:
        """The scores on single items for one metric, as a table of item and score."""
        return self._parts.get((question, metric), self.items.slice(0, 0)).select(["item", "score"])

    @cached_property
    def _parts(self) -> dict[tuple[str, str], Any]:
        """The scores on items by question and metric."""
        if not self.items.num_rows:
            return {}
        owner = [self.items[name].combine_chunks().dictionary_encode() for name in _OWNER]
        codes = np.stack([column.indices.to_numpy() for column in owner])  # (2, n_rows)
        new = np.flatnonzero((np.diff(codes, axis=1) != 0).any(axis=0)) + 1
        edges = np.r_[0, new, codes.shape[1]].tolist()
        parts: dict[tuple[str, str], list[Any]] = {}
        for first, last in zip(edges, edges[1:], strict=False):
            question, metric = (
                column.dictionary[int(code)].as_py()
                for column, code in zip(owner, codes[:, first], strict=True)
            )
            parts.setdefault((question, metric), []).append(self.items.slice(first, last - first))
        return {key: pa.concat_tables(tables) for key, tables in parts.items()}

    # ---- saved folders ----

    def save(self, folder: str | Path) -> None:
        """Write the fit to a folder of its own within `folder`, whole or not at all."""
        with writing(Path(folder) / folder_name(self.key), "fit", True) as own:
            columns = zip(self.items.column_names, self.items.columns, strict=True)
            write_table(own / "items.parquet", dict(columns))
            write_json(own, "fit", plain(self.to_dict() | {"seconds": self.seconds}))

    @classmethod
    def load(cls, folder: str | Path) -> Fit:
        """Read the folder of one fit."""
        content = read_json(folder, "fit", FitFields)
        with reading(Path(folder)):
            fit = cls.from_dict(content)
            return replace(fit, items=read_items(read_table(Path(folder) / "items.parquet")))

    def to_dict(self) -> dict[str, Any]:
        """The fit as JSON, without the scores on items and the time it took."""
        names = [known.name for known in fields(self) if known.name not in _APART]
        content = {name: getattr(self, name) for name in names}
        return content | {"notes": list(self.notes), "item_scores": self.items.num_rows}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Fit:
        """The fit that `to_dict` returned as JSON."""
        known = {name: content[name] for name in _KNOWN}
        scores = {
            question: {metric: number(score) for metric, score in by_metric.items()}
            for question, by_metric in content["scores"].items()
        }
        seconds = number(content.get("seconds"))
        notes = tuple(content["notes"])
        return cls(**known, scores=scores, notes=notes, seconds=seconds)


_OWNER = ("question", "metric")
_APART = ("items", "seconds")
_KNOWN = ("method", "seed", "fold", "run", "status", "reason", "settings", "tried")


def fits_in(folder: str | Path) -> Iterator[Fit]:
    """Every finished fit in a folder, sorted by name."""
    for path in sorted(Path(folder).glob("[!.]*@*@*/fit.json")):
        yield Fit.load(path.parent)


def keys_in(folder: str | Path) -> set[str]:
    """The folder names of the finished fits, as `folder_name(key)` returns them."""
    return {path.parent.name for path in Path(folder).glob("[!.]*@*@*/fit.json")}


def folder_name(key: Key) -> str:
    """The name of a fit's folder, different for different fits.

    Example:
        >>> folder_name(Key("soft-label", 3, "run 1, fold 2"))
        'soft-label@3@run%201%2C%20fold%202'
    """
    method, fold = (quote(part, safe="") for part in (key.method, key.fold))
    return f"{method}@{key.seed}@{fold}"


def item_table(scores: Mapping[str, Mapping[str, tuple[Names, np.ndarray]]]) -> Any:
    """Scores on single items as a table, from question -> metric -> (items, one score each).

    Example:
        >>> item_table({"hate": {"accuracy": (Names(["t1", "t2"]), np.array([1, 0]))}}).num_rows
        2
    """
    parts: list[list[Any]] = [[], [], [], []]
    for question, by_metric in scores.items():
        for metric, (items, values) in by_metric.items():
            if len(items) != len(values):
                raise DataError(f"{metric}: {len(values)} scores for {len(items)} items")
            n = len(items)
            parts[0].append(pa.repeat(question, n))
            parts[1].append(pa.repeat(metric, n))
            parts[2].append(items.array.cast(pa.string()))
            parts[3].append(pa.array(np.asarray(values, dtype=float)))
    columns = [
        pa.chunked_array(chunks, type=kind)
        for chunks, kind in zip(parts, ITEM_TYPES.values(), strict=True)
    ]
    return pa.table(columns, names=list(ITEM_TYPES)).combine_chunks()


def read_items(table: Any) -> Any:
    """Scores on single items of a saved table; columns of other types are refused."""
    items = table.select(list(ITEM_TYPES)).cast(pa.schema(ITEM_TYPES)).combine_chunks()
    if any(column.null_count for column in items.columns):
        raise DataError("scores of items are missing")
    return items


def plain(value: Any) -> Any:
    """A value for JSON that always gives the same text: sorted keys, nan as null, inf as a word.

    Example:
        >>> plain({"b": float("nan"), "a": (np.float64(1.5), float("inf"))})
        {'a': [1.5, 'inf'], 'b': None}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        members = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(member) for member in members]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def number(value: Any) -> float:
    """Read a number that `plain` wrote; one whose square no computer has is refused."""
    read = math.nan if value is None else float(value)
    if math.isfinite(read) and abs(read) > LARGEST:
        raise DataError(f"no score is as large as {read:g}")
    return read


def in_order(fits: Sequence[Fit], methods: Sequence[str], folds: Sequence[str]) -> list[Fit]:
    """Fits sorted by method, seed and fold; a repeated fit is refused."""
    place = [{name: at for at, name in enumerate(names)} for names in (methods, folds)]
    for fit in fits:
        if fit.method not in place[0] or fit.fold not in place[1]:
            raise DataError(f"{fit.method!r} on {fit.fold!r} is not a fit of this comparison")
    if len({fit.key for fit in fits}) < len(fits):
        raise DataError("a method was fitted twice with the same seed on the same fold")
    return sorted(fits, key=lambda fit: (place[0][fit.method], fit.seed, place[1][fit.fold]))
