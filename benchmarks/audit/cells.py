"""What a case of the audit is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cell:
    """A kind of crowd, and what is measured about each one."""

    setting: str  # how crowds are simulated
    quantity: str  # of which the mean over crowds is reported
    bar: str  # what it should be, as text
    value: Callable[[np.random.Generator], float]  # simulates one crowd; nan: not counted


@dataclass(frozen=True)
class Cells:
    """A kind of crowd, and several quantities of each one, from one simulation."""

    setting: str
    bars: dict[str, str]  # quantity -> what it should be
    values: Callable[[np.random.Generator], dict[str, Any]]  # keys that begin with _ are texts


def bars_of(cell: Cell | Cells) -> dict[str, str]:
    """The quantities of a cell, and what they should be."""
    return {cell.quantity: cell.bar} if isinstance(cell, Cell) else cell.bars


def values_of_cell(cell: Cell | Cells, generator: np.random.Generator) -> dict[str, Any]:
    """What a cell says about one simulated crowd, by quantity."""
    if isinstance(cell, Cell):
        return {cell.quantity: cell.value(generator)}
    return cell.values(generator)
