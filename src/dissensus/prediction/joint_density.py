"""JointDensity: how the ratings of an item are distributed, over one question or several."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, counted, listed
from dissensus.files.folders import read_table, write_table
from dissensus.names import Names
from dissensus.scales import Interval, Ordinal, Scale, scale_from_dict


@dataclass(frozen=True, eq=False)
class JointDensity:
    """The density of the ratings of each item, as mass over the cells of a grid.

    The cells are equal parts of each scale from its lowest to its highest rating; the levels of an
    ordinal scale are numbers at equal distances.

    Example:
        >>> mass = np.array([[[0.5, 0.0], [0.25, 0.25]]])
        >>> scales = (Interval(1, 5), Interval(1, 5))
        >>> density = JointDensity(("valence", "activation"), scales, Names(["t1"]), mass)
        >>> density.name, density.marginal("valence").tolist()
        ('valence x activation', [[0.5, 0.5]])
    """

    questions: tuple[str, ...]
    scales: tuple[Scale, ...]  # of each question
    items: Names
    mass: np.ndarray  # (n_items, n_cells of the first question, ...), sums to 1 for each item

    def __post_init__(self) -> None:
        for question, scale in zip(self.questions, self.scales, strict=True):
            if not isinstance(scale, Interval | Ordinal):
                raise DataError(f"{question!r}: {scale.kind} answers have no density")
        if self.mass.ndim != len(self.questions) + 1 or len(self.mass) != len(self.items):
            raise DataError(
                f"a density of {counted(len(self.items), 'item')} over {listed(self.questions)} "
                f"has the shape {self.mass.shape}"
            )

    @property
    def name(self) -> str:
        """What tables call it: the questions, joined by " x "."""
        return " x ".join(self.questions)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells for each question."""
        return self.mass.shape[1:]

    @property
    def cells(self) -> np.ndarray:
        """The mass with all cells in one axis, (n_items, n_cells)."""
        return self.mass.reshape(len(self.mass), -1)

    def marginal(self, question: str) -> np.ndarray:
        """The mass over the cells of one question, (n_items, n_cells)."""
        if question not in self.questions:
            raise DataError(f"no density over {question!r}; choose from {listed(self.questions)}")
        kept = self.questions.index(question) + 1
        others = tuple(axis for axis in range(1, self.mass.ndim) if axis != kept)
        return np.asarray(self.mass.sum(axis=others))

    def to_table(self) -> Any:
        """An Arrow table with a row for each item and cell: item, a cell number for each question
        (from 0, the lowest ratings), mass."""
        item, *cells = np.indices(self.mass.shape).reshape(self.mass.ndim, -1)
        columns: dict[str, Any] = {"item": self.items.array.take(pa.array(item))}
        columns |= {f"cell.{q}": at for q, at in zip(self.questions, cells, strict=True)}
        return pa.table(columns | {"mass": self.mass.reshape(-1)})

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        return f"<JointDensity of {self.name}: {counted(len(self.items), 'item')}, {shape} cells>"


def write_density(folder: Path, number: int, density: JointDensity) -> dict[str, Any]:
    """Write the table of a density; its entry in the JSON file of the folder."""
    cells = np.ascontiguousarray(density.cells)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(cells.reshape(-1)), cells.shape[1])
    columns = {"item": density.items.array, "mass": rows}
    write_table(folder / f"density-{number}.parquet", columns)
    return {
        "questions": list(density.questions),
        "scales": [scale.to_dict() for scale in density.scales],
        "shape": list(density.shape),
    }


def read_density(folder: Path, number: int, entry: dict[str, Any]) -> JointDensity:
    """Read what `write_density` wrote."""
    table = read_table(folder / f"density-{number}.parquet")
    mass = table["mass"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    scales = tuple(scale_from_dict(scale) for scale in entry["scales"])
    items, mass = Names(table["item"].combine_chunks()), mass.reshape(len(table), *entry["shape"])
    return JointDensity(tuple(entry["questions"]), scales, items, mass)
