"""Tables: a row per answer (long), a column per annotator (wide), or crowd-kit's three columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_column, item_columns, with_columns
from dissensus.errors import DataError, counted, listed
from dissensus.files.tabular import save_table
from dissensus.scales import Ordinal, as_numbers


def write_long(corpus: Corpus, path: Path) -> list[str]:
    """One row per item and annotator, with a column for each question."""
    table = long_table(corpus)
    save_table(table, path)
    return losses(corpus, stored_fields=("gold", "splits", "annotator_attributes"))


def write_wide(corpus: Corpus, path: Path) -> list[str]:
    """One row per item, one column per annotator; of several questions, per question and annotator.

    The columns of several questions are called QUESTION_ANNOTATOR.
    """
    about = item_columns(corpus)
    about.setdefault(item_column(corpus), corpus.items.array)
    about = {item_column(corpus): about.pop(item_column(corpus)), **about}
    for question, answers in corpus.questions.items():
        prefix = f"{question}_" if len(corpus.questions) > 1 else ""
        about = with_columns(about, _wide_columns(corpus, answers, prefix))
    save_table(pa.table(_with_gold(corpus, about)), path)
    notes = losses(corpus, stored_fields=("gold", "splits"))
    names = [name for name in corpus.annotators if "," not in name]
    if len(corpus.questions) > 1:
        options = (f"--answer '{question}_{{annotator}}'" for question in corpus.questions)
        notes.append(f"to read it back: {' '.join(options)}")
    elif len(names) == corpus.n_annotators <= 20:
        notes.append(f"to read it back: --format wide --annotator-columns {','.join(names)}")
    return notes


def _wide_columns(corpus: Corpus, answers: Annotations, prefix: str) -> dict[str, Any]:
    """The answers of each annotator who answered a question, a column each."""
    codes = annotators_of(answers, "wide")
    values = answers.scale.column(answers.answer)
    columns = {}
    for code, name in enumerate(corpus.annotators):
        rows: list[int | None] = [None] * corpus.n_items
        for row in (codes == code).nonzero()[0].tolist():
            rows[int(answers.item[row])] = row
        if any(row is not None for row in rows):
            columns[prefix + name] = values.take(pa.array(rows, pa.int64()))
    return columns


def write_crowd_kit(corpus: Corpus, path: Path) -> list[str]:
    """crowd-kit's table: task, worker, label."""
    _, answers = only_question(corpus, "crowd-kit")
    codes = annotators_of(answers, "crowd-kit")
    save_table(
        pa.table(
            {
                "task": corpus.items.array.take(pa.array(answers.item)),
                "worker": corpus.annotators.array.take(pa.array(codes)),
                "label": answers.scale.column(answers.answer),
            }
        ),
        path,
    )
    contents = [f"content {role}" for role in corpus.contents]
    attributes = [f"item attribute {name}" for name in corpus.item_attributes]
    return losses(corpus, stored_fields=(), more=[*contents, *attributes])


def only_question(corpus: Corpus, to: str) -> tuple[str, Annotations]:
    """The one question of a corpus; refused if there are several."""
    if len(corpus.questions) != 1:
        raise DataError(
            f"{corpus.name}: {to} holds one question; choose one of {listed(corpus.questions)} "
            "with --question"
        )
    ((name, answers),) = corpus.questions.items()
    return name, answers


def annotators_of(answers: Annotations, to: str) -> Any:
    """The code of each row's annotator; refused if they are anonymous or answered twice."""
    if answers.annotator is None:
        raise DataError(f"{to} needs annotators, and here they are anonymous; use --to long")
    if answers.repeats:
        raise DataError(
            f"{to} holds one answer of an annotator to an item; read it with --repeats first, last "
            "or mean"
        )
    return answers.annotator


def long_table(corpus: Corpus) -> pa.Table:
    """The answers of a corpus with gold labels and the official split of each item."""
    table = corpus.to_table()
    name = item_column(corpus)
    if name not in table.column_names or not (corpus.gold or corpus.splits):
        return table
    at = pa.array(corpus.items.codes(table[name], "item"))
    columns = {key: table[key] for key in table.column_names}
    extra = _with_gold(corpus, {})
    return pa.table(with_columns(columns, {key: c.take(at) for key, c in extra.items()}))


def _with_gold(corpus: Corpus, columns: dict[str, Any]) -> dict[str, Any]:
    """Columns of items, with the gold labels and the official split."""
    for question, gold in corpus.gold.items():
        rows: list[int | None] = [None] * corpus.n_items
        for row, item in enumerate(gold.item.tolist()):
            rows[item] = row
        values = gold.scale.column(gold.answer).take(pa.array(rows, pa.int64()))
        name = "gold" if len(corpus.questions) == 1 else f"gold_{question}"
        columns = with_columns(columns, {name: values})
    if "official" in corpus.splits:
        columns = with_columns(columns, {"split": corpus.splits["official"]})
    return columns


def losses(corpus: Corpus, stored_fields: tuple[str, ...], more: Sequence[str] = ()) -> list[str]:
    """A note about what a table does not contain, and about scales that it cannot state."""
    lost = [
        *more,
        *(f"content {r} ({c.kind})" for r, c in corpus.contents.items() if _is_stored(c)),
    ]
    lost += [what for what in ("rationales", "focus") if getattr(corpus, what) is not None]
    lost += ["gold labels"] if corpus.gold and "gold" not in stored_fields else []
    stored_splits = ("official",) if "splits" in stored_fields else ()
    lost += [f"split {name}" for name in corpus.splits if name not in stored_splits]
    if "annotator_attributes" not in stored_fields:
        lost += [f"annotator attribute {name}" for name in corpus.annotator_attributes]
    elif bare := corpus.n_items - len(
        set[int]().union(*(a.item for a in corpus.questions.values()))
    ):
        lost.append(f"{counted(bare, 'item')} without answers")
    notes = [f"not in the file: {', '.join(dict.fromkeys(lost))}"] if lost else []
    return notes + [
        f"the order of {name} is not in the file; to read it back: --scale "
        f"ordinal:{','.join(answers.scale.values)}"
        for name, answers in corpus.questions.items()
        if isinstance(answers.scale, Ordinal) and as_numbers(answers.scale.values) is None
    ]


def _is_stored(contents: Any) -> bool:
    """Whether contents are bytes or features, which a table does not contain."""
    kind = contents.values.type
    return not (pa.types.is_string(kind) or pa.types.is_large_string(kind))
