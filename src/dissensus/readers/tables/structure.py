"""Structure: the roles of the columns of a long table, by name and by what columns depend on.

A role comes from the options, else from the column's name, else from structure: the item and the
annotator are the two columns whose pairs are all but unique, an answer depends on neither alone.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import replace

from dissensus.errors import NoAnswersError, counted
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import (
    NAMES,
    answer_named,
    candidates,
    first_named,
    plain,
)
from dissensus.readers.tables.column_roles import (
    BY_NAME,
    ColumnRoles,
    item_named,
    joined,
    named_columns,
    named_roles,
    numbers_rows,
    shown_columns,
    unrecognised,
)
from dissensus.readers.tables.dependence import FEW, from_function, is_function
from dissensus.readers.tables.explanations import is_text
from dissensus.readers.tables.keys import Key, Unclear, find_key
from dissensus.readers.tables.rows import IN_MEMORY, Column, Rows

FEW_MISTAKES = 2  # rows
NEARLY_FUNCTION = 0.3  # violations as a share of chance: above, a column is surely no attribute


class UnclearRolesError(NoAnswersError):
    """A long table whose items and annotators are recognised, but not its answers."""


def find_roles(rows: Rows, options: Layout) -> tuple[Rows, ColumnRoles]:
    """The roles of the columns of a long table, and the table, where two columns that name the item
    together are joined to one."""
    named = named_columns(options)
    rows.check(sorted(named))
    answer = options.answer
    if answer is None:
        by_name = answer_named(rows, named)
        answer = () if by_name is None else (by_name,)
    taken: set[str | None] = {*named, *answer}
    annotator = options.annotator or first_named("annotator", rows, taken)
    item = options.item or item_named(rows, {*taken, annotator})
    if options.annotator is None and annotator is not None and item is not None:
        annotator = _annotator_named(rows, item, taken)
    shown = shown_columns(rows, options, item, {*taken, annotator, item})
    if options.item is None and item is not None and numbers_rows(rows, item, shown):
        item = None
    key = None
    if answer or options.answer is None:
        key = _key(rows, options, item, annotator, shown, answer)
    if isinstance(key, Key):
        return _structured(rows, options, key, answer, shown)
    if not answer and options.answer is None:
        error = NoAnswersError if key is None else UnclearRolesError
        raise error(_refusal(rows, key))
    return rows, named_roles(rows, options, item, annotator, answer, shown)


def _annotator_named(rows: Rows, item: str, taken: set[str | None]) -> str | None:
    """The first column named like annotators that is no function of the item, as an author is."""
    items = rows.columns[item]

    def fits(column: Column) -> bool:
        repeated = not column.is_bytes and from_function(column, items).by_chance >= FEW
        return not (repeated and is_function(column, items))

    return first_named("annotator", rows, {*taken, item}, fits)


def _key(
    rows: Rows,
    options: Layout,
    item: str | None,
    annotator: str | None,
    shown: dict[str, str],
    answer: tuple[str, ...],
) -> Key | Unclear | None:
    """The item and the annotator, and what the other columns depend on; None if it cannot be told
    or names say all."""
    whole = [name for name in shown.values() if rows.columns[name].first_blank is None]
    if item is not None and options.item is None:
        column = rows.columns[item]
        numbers = len(column.values) == rows.n_rows and annotator is not None and not answer
        if column.is_bytes or column.first_blank is not None or numbers:
            item = None
    if item is None and len(whole) == 1 and not rows.columns[whole[0]].is_bytes:
        item = whole[0]
    if annotator is not None and _cannot_name(rows.columns[annotator]):
        return None
    if item is not None and _cannot_name(rows.columns[item]):
        return None
    if answer and (
        (annotator is None and candidates("count", rows, answer))
        or not whole
        and item is None
        and shown
        and annotator is None
    ):
        return None
    if options.question is not None or first_named("question", rows, {*answer, item, annotator}):
        return None
    roles = ("seconds", "response", "split", "gold", "count")
    others = {name for role in roles for name in candidates(role, rows)}
    taken = {*answer, *shown.values(), *others, *named_columns(options)} - {item, annotator}
    return find_key(rows, item, annotator, taken)


def _cannot_name(column: Column) -> bool:
    return column.is_bytes or column.first_blank is not None


def _structured(
    rows: Rows, options: Layout, key: Key, answer: tuple[str, ...], shown: dict[str, str]
) -> tuple[Rows, ColumnRoles]:
    """The roles once the item and the annotator are known and the other columns are explained."""
    explained = key.explained
    answer_by_name = bool(answer)
    unread: tuple[str, ...] = ()
    if options.answer is None:
        likely = [name for name, one in explained.items() if one.kind == "answer"]
        if answer_by_name:
            likely = [name for name in likely if plain(name) in NAMES["answer"]]
        answer = tuple(name for name in rows.columns if name in {*answer, *likely})
        unread = tuple(
            name for name, one in explained.items() if one.kind == "answer" and name not in answer
        )
    if not answer:
        raise UnclearRolesError(_refusal(rows, key))
    if options.answer is None and not answer_by_name:
        _check_others(rows, key, answer)
    if options.answer is None and BY_NAME not in (key.why_item, key.why_annotator):
        _check_answers(rows, key, answer)
    if len(key.item) > 1:
        rows = with_joined(rows, key.item)
    item = joined_name(key.item)
    content = [name for name in key.item if is_text(rows.columns[name])]
    content += [name for name, one in explained.items() if one.kind == "content"]
    shown = {role: name for role, name in shown.items() if rows.columns[name].first_blank is None}
    if not shown and options.text is None:
        shown = {"text": content[0]} if len(content) == 1 else {name: name for name in content}
    roles = named_roles(rows, options, item, key.annotator, answer, shown)
    roles = replace(roles, unread=unread)
    by_name = key.why_item == key.why_annotator == BY_NAME and answer_by_name
    if by_name and len(answer) == 1 and not content:
        return rows, roles
    choose = ""
    if len(answer) > 1 and options.answer is None:
        choose = command(rows, key.item, key.annotator, answer[:1])
    return rows, replace(roles, reasons=_reasons(rows, options, key, roles), choose=choose)


def _check_answers(rows: Rows, key: Key, answer: tuple[str, ...]) -> None:
    """Refuse a column that may be an answer, or an attribute with a mistake."""
    for name, (kind, of) in itertools.product(
        answer, (("item", key.item[0]), ("annotator", key.annotator))
    ):
        deviation = from_function(rows.columns[name], rows.columns[of])
        if 0 < deviation.n_wrong <= FEW_MISTAKES and deviation.share <= NEARLY_FUNCTION:
            others = [one for one in answer if one != name] or [name]
            raise UnclearRolesError(
                f"{rows.path}: {name!r} is the same for each {kind}, except in "
                f"{counted(deviation.n_wrong, 'row')}: an answer, or an attribute with a mistake; "
                f"use {command(rows, key.item, key.annotator, others)} "
                f"or add {_one_more(rows, name)}"
            )


def _check_others(rows: Rows, key: Key, answer: tuple[str, ...]) -> None:
    """Refuse a further column that may be an answer, or a fact about the assignment."""
    for name, explanation in key.explained.items():
        if explanation.kind == "either":
            raise UnclearRolesError(
                f"{rows.path}: {name!r} is an answer, or about the assignment, such as a time or a "
                f"position ({explanation.why}); use "
                f"{command(rows, key.item, key.annotator, answer)} "
                f"or add {_one_more(rows, name)}"
            )


def _one_more(rows: Rows, name: str) -> str:
    """What to add to a command, or to a call, that reads one more column of answers."""
    return f"{name!r} to answer=" if rows.path == IN_MEMORY else f"--answer {shlex.quote(name)}"


def _reasons(
    rows: Rows, options: Layout, key: Key, roles: ColumnRoles
) -> dict[str, tuple[str, str]]:
    """Column -> what it is taken for, and why."""
    reasons = {name: ("item", key.why_item) for name in key.item}
    reasons[key.annotator] = ("annotator", key.why_annotator)
    others = {roles.seconds: "seconds", roles.response: "response", roles.split: "split"}
    others |= {name: "gold" for name in roles.gold.values()}
    for name in rows.columns:
        if name in reasons or name == roles.item:
            continue
        explanation = key.explained.get(name)
        if name in roles.answer:
            why = BY_NAME if explanation is None else explanation.why
            reasons[name] = ("answer", why)
        elif name in roles.shown.values():
            why = BY_NAME if explanation is None else explanation.why
            reasons[name] = ("content", why)
        elif name in others:
            reasons[name] = (others[name], BY_NAME)
        elif explanation is not None:
            reasons[name] = (explanation.taken_for, explanation.why)
    return reasons


# ---- items of several columns ----


def joined_name(names: Sequence[str]) -> str:
    """What the column is called that joins these."""
    return " + ".join(names)


def with_joined(rows: Rows, names: Sequence[str]) -> Rows:
    """The table with a further column, which joins the cells of these."""
    rows.check(list(names))
    return replace(rows, columns={**rows.columns, joined_name(names): joined(rows, list(names))})


# ---- what is refused ----


def _refusal(rows: Rows, key: Key | Unclear | None) -> str:
    """Why no answers are read, with a command that names the columns."""
    message = (
        f"{unrecognised(rows, 'answers', 'answer')}, or use "
        'format="wide" (--format wide) if every annotator has a column'
    )
    if key is None:
        return message
    answers = [name for name, one in key.explained.items() if one.kind == "answer"]
    if isinstance(key, Unclear):
        one, other = key.columns
        answer = answers or ["ANSWER"]
        return (
            f"{rows.path}: {one!r} and {other!r} look like items and annotators, but {key.why}; "
            f"use {command(rows, (one,), other, answer)} if {one!r} is the item"
        )
    unclear = [
        name
        for kinds in (("either",), ("unclear", "text", "assignment"))
        for name, one in key.explained.items()
        if one.kind in kinds
    ]
    unclear += [n for n, one in key.explained.items() if one.kind == "label"]
    if not unclear:
        return message
    why = "; ".join(f"{name!r}: {key.explained[name].why}" for name in unclear[:5])
    return (
        f"{rows.path}: no column is surely answers ({why}); if one is, use "
        f"{command(rows, key.item, key.annotator, unclear[:1])}"
    )


def command(rows: Rows, item: Sequence[str], annotator: str, answers: Sequence[str]) -> str:
    """A command that reads the table with these columns, as it can be typed; for a table in memory
    the call."""
    if rows.path == IN_MEMORY:
        named = f"item={item[0] if len(item) == 1 else list(item)!r}, annotator={annotator!r}"
        return f"read(table, {named}, answer={list(answers)!r})"
    parts = ["dissensus", "describe", rows.path]
    for name in item:
        parts += ["--item", name]
    parts += ["--annotator", annotator]
    for name in answers:
        parts += ["--answer", name]
    return shlex.join(parts)
