"""The outcomes of fits in a folder, and the facts about items that are kept with them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol, TypeVar

from dissensus.errors import DataError
from dissensus.evaluation.execution.folder import Keepable
from dissensus.evaluation.fit import folder_name, keys_in
from dissensus.staging import staged


class Outcome(Keepable, Protocol):
    """What is kept of a fit: a key, how long it took, where, and why it failed, if it did."""

    @property
    def seconds(self) -> float: ...

    @property
    def machine(self) -> str: ...

    @property
    def reason(self) -> str: ...


O_co = TypeVar("O_co", bound=Outcome)


def load_outcomes(
    folder: str | Path,
    load: Callable[[Path], O_co],
    conditions: Collection[str],
    models: Collection[str],
    wanted: Callable[[str], bool] = lambda name: True,
) -> list[O_co]:
    """All outcomes in a folder, sorted by the names of their folders.

    Args:
        conditions, models: of the paper; an outcome of others is refused.
        wanted: of a fit's folder name: whether it is loaded.
    """
    fits = Path(folder) / "fits"
    outcomes = [load(fits / name) for name in sorted(keys_in(fits)) if wanted(name)]
    for outcome in outcomes:
        if outcome.key.fold not in conditions or outcome.key.method not in models:
            raise DataError(f"{fits}: {folder_name(outcome.key)} is not of this paper")
    return outcomes


def refuse_other_data(folder: Path, name: str, differing: Collection[str], give: str) -> None:
    """Refuse to add outcomes of other data or settings to a folder.

    Args:
        name: of the corpus or condition.
        differing: what differs from what the folder was begun with.
        give: what to give instead.
    """
    if differing:
        raise DataError(
            f"{folder}: holds {name} with other {' and '.join(differing)}; give {give} that it "
            "was begun with, or another folder"
        )


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file such that it appears whole or not at all."""
    with staged(path) as new:
        write(new)
