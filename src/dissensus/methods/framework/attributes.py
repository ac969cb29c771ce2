"""Attributes of annotators as numbers, and annotators who are known by their attributes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, listed
from dissensus.methods.framework.pairs import StandIns


@dataclass(frozen=True)
class AttributeCoding:
    """How attributes of annotators become columns of numbers.

    A number is one column, standardised by the annotators of the training corpus, and 0 where it is
    missing. Anything else has a column for each of its values in training, 1 for the annotator's
    own; all are 0 for a missing value or a new one.
    """

    numbers: dict[str, tuple[float, float]]  # attribute -> mean and standard deviation
    values: dict[str, tuple[str, ...]]  # attribute -> its values

    @classmethod
    def of_corpus(cls, corpus: Corpus, names: str) -> AttributeCoding:
        """The coding of these attributes of the annotators of a corpus.

        Args:
            names: joined by commas; "all" for all that are text, numbers, or true and false.
        """
        known = {name: column for name, column in corpus.annotator_attributes.items()
                 if _is_simple(column)}  # fmt: skip
        wanted = [name.strip() for name in names.split(",") if name.strip()]
        wanted = list(known) if wanted == ["all"] else wanted
        missing = [name for name in wanted if name not in known]
        if missing or (names and not wanted):
            raise DataError(
                f"{corpus.name}: no annotator attribute {listed(missing) or 'at all'} with text or "
                f"numbers; there are {listed(known, 20) or 'none'}"
            )
        numbers, values = {}, {}
        for name in wanted:
            if _is_number(known[name]):
                column = _numbers(known[name])
                column = column[np.isfinite(column)]
                spread = float(column.std()) if len(column) else 0.0
                numbers[name] = (float(column.mean()) if len(column) else 0.0, spread or 1.0)
            else:
                texts = {text for text in _texts(known[name]) if text is not None}
                values[name] = tuple(sorted(texts))
        return cls(numbers, values)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.numbers) + sum(map(len, self.values.values()))

    def encode(self, corpus: Corpus) -> np.ndarray:
        """The columns of all annotators of a corpus, (n_annotators, width)."""
        attributes, columns = corpus.annotator_attributes, []
        for name, (mean, spread) in self.numbers.items():
            if name in attributes and _is_number(attributes[name]):
                column = (_numbers(attributes[name]) - mean) / spread
                columns.append(np.nan_to_num(column))
            else:
                columns.append(np.zeros(corpus.n_annotators))
        for name, values in self.values.items():
            texts = _texts(attributes[name]) if name in attributes else [None] * corpus.n_annotators
            columns += [np.array([text == value for text in texts], float) for value in values]
        if not columns:
            return np.zeros((corpus.n_annotators, 0), np.float32)
        return np.stack(columns, axis=1).astype(np.float32)

    def to_config(self) -> dict[str, Any]:
        return {"numbers": self.numbers, "values": self.values}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AttributeCoding:
        return cls(
            {name: (mean, spread) for name, (mean, spread) in config["numbers"].items()},
            {name: tuple(values) for name, values in config["values"].items()},
        )


def known_by_attributes(first: int, known: np.ndarray) -> StandIns:
    """Annotators without an answer in training are predicted from their attributes.

    Args:
        first: the code of the first annotator of the corpus, after those of training.
        known: which annotators of the corpus have a known attribute, (n_annotators,).
    """

    def codes(question: str, code: np.ndarray, item: np.ndarray) -> np.ndarray:
        number = -2 - np.minimum(code, -1)  # -1 for annotators who are not in the corpus
        return np.where(np.append(known, False)[number], first + number, -1)

    return StandIns(codes, "an annotator with these attributes", "no known attribute")


def no_attributes(method: str) -> ModelError:
    """The error of a method that does not know attributes."""
    return ModelError(
        f"this {method} knows no attributes of annotators; train annotator-embedding with "
        "attributes=all (--set attributes=all)"
    )


def _is_number(column: pa.Array) -> bool:
    return pa.types.is_integer(column.type) or pa.types.is_floating(column.type)


def _is_simple(column: pa.Array) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    checks = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean)
    return _is_number(column) or any(check(kind) for check in checks)


def _numbers(column: pa.Array) -> np.ndarray:
    """The numbers, nan where they are missing."""
    values = [np.nan if value is None else value for value in column.to_pylist()]
    return np.array(values, dtype=float)


def _texts(column: pa.Array) -> list[str | None]:
    return [None if value is None else str(value) for value in column.to_pylist()]
