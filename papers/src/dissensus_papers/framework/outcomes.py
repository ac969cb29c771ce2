"""Outcomes of fits, and facts about items, in the folder of a run: a report reads no corpus, and
outcomes of other data are refused."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation import Key, folder_name, keys_in, plain
from dissensus.files import read_json, reading, staged, write_json, writing

ARRAYS, REST = "answers.npz", "rest"


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
        with writing(Path(folder) / folder_name(self.key), "fit") as own:
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

    @classmethod
    def all(
        cls,
        folder: str | Path,
        conditions: Collection[str],
        models: Collection[str],
        only: str | None = None,
    ) -> list[Self]:
        """All outcomes in a folder, or those of one condition, by the names of their folders.

        Args:
            conditions, models: of the paper; an outcome of others is refused.
        """
        fits, end = Path(folder) / "fits", "" if only is None else folder_name(Key("", 0, only))[2:]
        outcomes = [cls.load(fits / name) for name in sorted(keys_in(fits)) if name.endswith(end)]
        for outcome in outcomes:
            if outcome.condition not in conditions or outcome.model not in models:
                raise DataError(f"{fits}: {folder_name(outcome.key)} is not of this paper")
        return outcomes


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
            differing = [n for n in arrays if not _same(arrays[n], kept_arrays[n])]
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


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    return first.shape == second.shape and bool(np.allclose(first, second, equal_nan=True))
