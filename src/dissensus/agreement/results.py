"""Results of measures: of one question, and of all questions of a corpus."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dissensus.agreement.confidence import ConfidenceInterval
from dissensus.agreement.measure import Formula
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.frames import html_table, to_frame


@dataclass(frozen=True)
class MeasureResult:
    """A measure of one question; `undefined` says why the value is nan, where it is."""

    measure: str
    value: float
    interval: ConfidenceInterval | None  # None: not computed
    undefined: str | None
    formula: Formula | None = None  # None: not computed
    benchmark: str | None = None  # a textbook's word for the value

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        ends = {} if self.interval is None else self.interval._asdict()
        if self.formula is not None:
            error, low, high, test, p = self.formula
            ends |= {"standard_error": error, "formula_low": low, "formula_high": high}
            ends |= {"test": test or None, "p": p}
        numbers = {name: or_none(number) for name, number in {"value": self.value, **ends}.items()}
        word = {} if self.benchmark is None else {"benchmark": self.benchmark or None}
        return {"measure": self.measure, **numbers, **word, "undefined": self.undefined}


@dataclass(frozen=True)
class QuestionAgreement:
    """How much annotators agree on one question."""

    question: str
    scale: str
    answers: int
    items: int  # with answers
    measures: list[MeasureResult]

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        return {**vars(self), "measures": [result.to_dict() for result in self.measures]}


class Agreement(list[QuestionAgreement]):
    """How much annotators agree, question by question; a table in a notebook."""

    def to_table(self) -> pa.Table:
        """An Arrow table with a row per question and measure."""
        rows = [{"question": q.question, **r.to_dict()} for q in self for r in q.measures]
        names = list(rows[0]) if rows else ["question", "measure", "value", "undefined"]
        return pa.table({name: [row[name] for row in rows] for name in names})

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per question and measure."""
        return to_frame(self.to_table())

    def _repr_html_(self) -> str:
        """All measures, for notebooks."""
        table = self.to_table()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return html_table(table.column_names, rows)


def about(annotations: Annotations | AnnotationBlocks, question: str) -> dict[str, Any]:
    """The question, its scale, and the number of answers and of items that have any."""
    n_items = int((annotations.per_item() > 0).sum())
    return {
        "question": question,
        "scale": annotations.scale.kind,
        "answers": annotations.n_answers,
        "items": n_items,
    }


def or_none(value: Any) -> Any:
    """None in the place of nan, which JSON does not have."""
    return None if isinstance(value, float) and math.isnan(value) else value
