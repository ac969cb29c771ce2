"""dissensus aggregate --method rover: one text for each item from free texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.outputs import write_answers
from dissensus.prediction.answer_files import rounded, with_question

if TYPE_CHECKING:
    import numpy as np

    from dissensus.corpus import Corpus


def show_texts(
    corpus: Corpus, method: str, questions: list[str] | None, output: Path | None, json: bool
) -> None:
    """Print or write one text for each item."""
    from dissensus import aggregation

    names = questions or list(corpus.questions)
    corpus.check_questions(names)
    tables = {name: aggregation.aggregate_texts(corpus[name], method, _vectors) for name in names}
    if json:
        records = [
            row for name, table in tables.items() for row in with_question(table, name).to_pylist()
        ]
        console.print_json([{name: rounded(v) for name, v in row.items()} for row in records])
    if output is not None or not json:
        for path in write_answers(tables, output):
            console.say(f"{path}: written")
    for name, table in tables.items():
        console.say(f"{name}: {method} of {table.num_rows} items")


def _vectors(texts: Sequence[str]) -> np.ndarray:
    """The mean vectors of MiniLM, a row for each text."""
    from dissensus.contents import Contents
    from dissensus.encoders import encoder, mean_vectors

    contents, codes = Contents.distinct("text", list(texts))
    return mean_vectors(encoder("minilm", "text"), contents).vectors[codes]
