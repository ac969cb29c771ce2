"""Column roles: which column is the item, the annotator, the answer and so on.

A role comes from the layout, else from the column's name, which its content has to fit, else from
structure: pairs of an item and an annotator are all but unique, if one of both is known, and an
answer depends on neither alone (`structure`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, NoAnswersError, counted, listed
from dissensus.readers.json_text import set_text
from dissensus.readers.layout import Layout, UnclearError
from dissensus.readers.tables.answer_cells import TICKED, ticks_of
from dissensus.readers.tables.column_names import (
    MEDIA,
    PAIR,
    WEAK,
    answer_named,
    candidates,
    families,
    first_named,
    kind_of,
    part_name,
    plain,
)
from dissensus.readers.tables.dependence import ENOUGH, is_function
from dissensus.readers.tables.rows import Column, Rows, combined, free_name, numbered, take_rows
from dissensus.readers.tables.structure import (
    ASSIGNMENT,
    BY_NAME,
    EITHER,
    MOST_PROPOSED,
    TEXT,
    UNCLEAR,
    Explanation,
    Key,
    find_key,
)

MOST_QUESTIONS = 100
MOST_LOST = 0.1  # of the answers, or rows if answers are not known: in rows without an item
FEWEST_TEXTS = 2  # of each item, on average
FEWEST_BOXES = 3  # columns that are ticked or not, and have their values as names


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column of a table with a row for each answer."""

    item: str | None  # None: each distinct content is an item
    annotator: str | None
    answer: tuple[str, ...]
    shown: dict[str, str]  # role -> column
    question: str | None = None
    gold: dict[str, str] = field(default_factory=dict)  # answer's column -> column
    seconds: str | None = None
    count: str | None = None
    response: str | None = None
    split: str | None = None
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)  # column -> (taken for, why)
    choose: str = ""  # the command that reads one of several answers

    @property
    def used(self) -> set[str]:
        """Every column that has a role."""
        single = (self.item, self.annotator, self.question, self.seconds, self.count)
        others = (*self.answer, *self.shown.values(), *self.gold.values(), *single)
        return {name for name in (*others, self.response, self.split) if name is not None}


# ---- long tables ----


def find_roles(rows: Rows, options: Layout) -> tuple[Rows, ColumnRoles]:
    """The roles of the columns of a long table, and the table, where several columns that name the
    item together are joined to one."""
    rows.check(sorted(options.named))
    if options.answer == () and options.item is None:
        rows, options = _each_row_an_item(rows, options)
    answer = options.answer
    if answer is None:
        by_name = answer_named(rows, options.named)
        answer = () if by_name is None else (by_name,)
    taken: set[str | None] = {*options.named, *answer}
    annotator = options.annotator or first_named("annotator", rows, taken)
    item = options.item or _item_named(rows, {*taken, annotator})
    if item is not None:
        rows = _with_items(rows, item, answer)
    shown = shown_columns(rows, options, item, {*taken, annotator, item})
    if options.item is None and item is not None:
        _check_finer_texts(rows, item, {*taken, annotator, *shown.values()}, answer)
    if options.item is None and item is not None and plain(item) in WEAK and shown:
        n_contents = len(_joined(rows, list(shown.values())).values)
        if rows.columns[item].is_unique and n_contents < rows.n_rows:
            item = None  # it numbers the rows, not the contents
    named = ColumnRoles(item, annotator, answer, shown)
    anonymous = options.annotator is None and None not in (options.item, options.answer)
    may_tell = (answer or options.answer is None) and not (anonymous and annotator is None)
    key = None
    if may_tell and item is None and annotator is not None and options.text is None:
        others = replace(named, shown={})  # texts in a single row each may be by the annotator
        if shown and all(rows.columns[name].is_unique for name in shown.values()):
            key = _key(rows, options, others)
            key, named = (None, named) if key is None or key.why_unclear else (key, others)
    key = key or (_key(rows, options, named) if may_tell else None)
    if options.answer is None and item is not None and answer:
        if is_function(rows.columns[answer[0]], rows.columns[item], ENOUGH):
            without = replace(named, answer=())  # it may be a text or a label
            other = _key(rows, options, without)
            key, named = (other, without) if other and other.of_kind("answer") else (key, named)
    if key is not None and not key.why_unclear:
        return _structured(rows, options, key, named)
    if (not named.answer and options.answer is None) or (key is not None and key.ways):
        raise _refusal(rows, key, named.answer)
    return rows, _with_other_roles(rows, options, named)


def _each_row_an_item(rows: Rows, options: Layout) -> tuple[Rows, Layout]:
    """A table without answers, such as new texts to predict, with a column that names each row.

    It is the one that is called like items, or the first column if its entries are distinct. If
    there is none and a content occurs twice, rows are numbered.
    """
    shown = set(shown_columns(rows, options, None, set()).values())
    first = [name for name in [*rows.columns][:1] if name not in shown]
    names = [*candidates("item", rows, shown), *first]
    item = next((name for name in names if rows.columns[name].is_unique), None)
    if item is None and shown and not any(rows.columns[name].is_unique for name in shown):
        item = free_name("row", rows.columns)
        rows = replace(rows, columns={item: numbered(rows.n_rows, first=1), **rows.columns})
    return rows, replace(options, item=item)


def _with_items(rows: Rows, item: str, answer: tuple[str, ...]) -> Rows:
    """The rows that have an item: those without one may be instructions, if few have an answer."""
    blank = rows.columns[item].codes < 0
    answered = np.any([rows.columns[name].codes >= 0 for name in answer or [item]], axis=0)
    n_lost, n_rows = int((blank & answered).sum()), int(blank.sum())
    few = n_lost <= MOST_LOST * answered.sum() if answer else n_rows <= MOST_LOST * rows.n_rows
    if not n_rows or not few:
        return rows
    with_answer = f"; {n_lost} of them have an answer" if n_lost else ""
    first = rows.place(int(blank.argmax()))
    note = f"{counted(n_rows, 'row')} without {item!r} left out, the first in {first}{with_answer}"
    return replace(take_rows(rows, ~blank), notes=(*rows.notes, note))


def _check_finer_texts(
    rows: Rows, item: str, taken: set[str | None], answer: tuple[str, ...]
) -> None:
    """Refuse items of which each has several texts, one for each condition of an experiment."""
    items = rows.columns[item]
    for name in candidates("text", rows, taken):
        texts = rows.columns[name]
        several = len(items.values) * FEWEST_TEXTS <= len(texts.values) <= rows.n_rows / 2
        if not several or not texts.is_text or items.conflict(texts) is not None:
            continue
        ways = {f"if each {name!r} is an item": Layout(item=name, answer=answer or None)}
        about = f"{rows.path}: each {item!r} has several texts in {name!r}"
        raise UnclearError.of(about, rows.path, ways)


def _item_named(rows: Rows, taken: Iterable[str | None]) -> str | None:
    """The first name that fits; but `task` may be the name of the task, the same for many texts."""
    shown = first_named("text", rows, taken)

    def fits(column: Column) -> bool:
        whole = len(column.values) > 1 and column.is_filled
        names = whole and (column.is_bytes or not str(column.values[0].as_py()).startswith("{"))
        return names and (shown is None or rows.columns[shown].conflict(column) is None)

    return first_named("item", rows, taken, fits) or first_named("item", rows, taken)


def shown_columns(
    rows: Rows, options: Layout, item: str | None, taken: set[str | None]
) -> dict[str, str]:
    """Role -> column; a single text has the role "text", a single picture "image"."""
    if options.text is not None:
        one = len(options.text) == 1
        return {kind_of(name) if one else name: name for name in options.text}

    def fits(column: Column) -> bool:
        """Whether an item has one such content: a `comment` may be one by the annotator."""
        if not len(column.values):
            return False
        return item is None or column.conflict(items_of(rows, item, {})) is None

    pair = {plain(name): name for name in rows.columns if name not in taken}
    if all(part in pair and fits(rows.columns[pair[part]]) for part in PAIR):
        return {part: pair[part] for part in PAIR}
    columns = {kind: first_named(kind, rows, taken, fits) for kind in ("text", *MEDIA)}
    return {kind: column for kind, column in columns.items() if column is not None}


def _key(rows: Rows, options: Layout, named: ColumnRoles) -> Key | None:
    """The item and the annotator, and what the other columns depend on; None if it cannot be told
    or names say all."""
    item, annotator, answer, shown = named.item, named.annotator, named.answer, named.shown

    def cannot_name(name: str) -> bool:
        return rows.columns[name].is_bytes or not rows.columns[name].is_filled

    whole = [name for name in shown.values() if rows.columns[name].is_filled]
    if item is not None and options.item is None and cannot_name(item):
        item = None
    if item is None:  # the content that says what the others are; a name rather than a text
        cells = {name: rows.columns[name] for name in whole if not rows.columns[name].is_bytes}
        of_all = [*cells.values()]
        names = [n for n, one in cells.items() if all(o.conflict(one) is None for o in of_all)]
        several = options.text is not None and len(whole) > 1
        item = min([] if several else names, key=lambda n: cells[n].is_text, default=None)
    if any(cannot_name(name) for name in (item, annotator) if name is not None):
        return None
    questions = candidates("question", rows, {*answer, item, annotator})
    if options.question is not None or any(len(rows.columns[n].values) > 1 for n in questions):
        return None
    roles = ("seconds", "response", "split", "gold", "count")
    others = {name for role in roles for name in candidates(role, rows)}
    taken = {*answer, *shown.values(), *others, *options.named} - {item, annotator}
    return find_key(rows, item, annotator, taken, exact=options.item is not None)


def _structured(
    rows: Rows, options: Layout, key: Key, named: ColumnRoles
) -> tuple[Rows, ColumnRoles]:
    """The roles once the item and the annotator are known and the other columns are explained."""
    answer, shown = named.answer, named.shown
    reasons: dict[str, tuple[str, str]] = dict.fromkeys(key.item, ("item", key.why_item))
    reasons |= {key.annotator: ("annotator", BY_NAME), **key.explained}
    if options.answer is None:
        every = {*answer, *key.of_kind("answer")}
        answer = tuple(name for name in rows.columns if name in every)
        if not answer:
            raise _refusal(rows, key)
        if not named.answer:
            _check_others(rows, key, answer)
        for question, names in _boxes(rows, answer, key.explained).items():
            shared = [of for way in families(names)[:4] for of in way.values()]
            whole = [of for of in shared if len(of) == len(names)]
            advice = "; name them to read each as a question (answer=, --answer)"
            values = whole[0] if whole else {name: name for name in names}
            rows = with_boxes(rows, question, values, advice)
            answer = (*(name for name in answer if name not in names), question)
            boxes = counted(len(names), "column")
            reasons[question] = ("answer", f"{boxes} that are ticked or not")
    if len(key.item) > 1:
        rows = with_joined(rows, key.item)
        shown = {role: name for role, name in shown.items() if name not in key.item}
    content = [name for name in key.item if rows.columns[name].is_text] + key.of_kind("content")
    shown = {role: name for role, name in shown.items() if rows.columns[name].is_filled}
    if not shown and options.text is None:
        shown = {"text": content[0]} if len(content) == 1 else {name: name for name in content}
    roles = ColumnRoles(" + ".join(key.item), key.annotator, answer, shown)
    roles = _with_other_roles(rows, options, roles)
    if len(answer) > 1 and options.answer is None:
        roles = replace(roles, choose=Layout(answer=answer[:1]).command(rows.path))
    by_name = named.answer and key.why_item == BY_NAME
    if by_name and len(answer) == 1 and not content:
        return rows, roles
    return rows, replace(roles, reasons=reasons)


# ---- columns that are ticked or not ----


def _boxes(
    rows: Rows, answers: tuple[str, ...], explained: Mapping[str, Explanation]
) -> dict[str, tuple[str, ...]]:
    """Question -> columns of boxes: those that share a part of their names (`mood_joy`,
    `mood_fear`), or all, if exactly one is ticked in each row or blanks stand for the others; also
    a rare one that looks like an attribute."""
    rare = {name for name, one in explained.items() if one.kind == UNCLEAR}
    every = {n: one for n in rows.columns if n in {*answers, *explained}
             if (one := ticks_of(rows.columns[n])) is not None}  # fmt: skip
    ticks = {name: one for name, one in every.items() if name in {*answers, *rare}}
    if len(ticks) < FEWEST_BOXES:
        return {}
    for way, more in zip(families(ticks)[:4], families(every), strict=False):
        groups = {pattern: of for pattern, of in way.items() if len(of) >= FEWEST_BOXES}
        if sum(map(len, groups.values())) == len(ticks):
            names = {part_name(pattern): tuple(more[pattern].values()) for pattern in groups}
            return {free_name(name or "answer", rows.columns): of for name, of in names.items()}
    marks = all(len(rows.columns[name].values) == 1 for name in ticks)
    for boxes in (ticks, every):
        if marks or (np.sum(list(boxes.values()), axis=0) == 1).all():
            return {free_name("answer", rows.columns): tuple(boxes)}
    return {}


def with_boxes(rows: Rows, question: str, boxes: Mapping[str, str], advice: str = "") -> Rows:
    """The table with one column instead of boxes, of a column for each value: the value of the box
    that is ticked in each row, or the set of those that are."""
    columns = [rows.columns[name].array().to_pylist() for name in boxes.values()]
    cells = list(zip(*columns, strict=True))
    is_mark = all(len(rows.columns[name].values) == 1 for name in boxes.values())
    chosen = [
        [
            v
            for v, cell in zip(boxes, row, strict=True)
            if cell and cell.strip().casefold() in TICKED
        ]
        for row in cells
    ]
    answered = [is_mark or any(cell is not None for cell in row) for row in cells]
    sets = {len(one) for one, is_one in zip(chosen, answered, strict=True) if is_one} != {1}
    texts = [
        (set_text(one) if sets else one[0]) if is_one else None
        for one, is_one in zip(chosen, answered, strict=True)
    ]
    what = "sets of values" if sets else "the value that is ticked"
    boxed = listed(boxes.values(), 5)
    note = f"{boxed}: ticked or not, read as one question, {question!r} ({what}){advice}"
    more = frozenset((question,)) if sets else frozenset()
    rows = rows.without([*boxes.values()], sets=rows.sets | more, notes=(*rows.notes, note))
    return rows.with_columns({question: Column.of(pa.array(texts, pa.string()))})


# ---- further roles, once the item, the annotator and the answers are known ----


def _with_other_roles(rows: Rows, options: Layout, roles: ColumnRoles) -> ColumnRoles:
    """The roles of the other columns, by name and content."""
    taken = {*options.named, *roles.used}
    items = items_of(rows, roles.item, roles.shown)

    def names_questions(column: Column) -> bool:  # not another one for each item
        within = column.is_constant(items)
        return len(column.values) == 1 or (len(column.values) <= MOST_QUESTIONS and not within)

    def is_numeric(column: Column) -> bool:
        return len(column.values) > 0 and column.numbers() is not None

    question = options.question
    if question is None and len(roles.answer) == 1:
        question = first_named("question", rows, taken, names_questions)
    taken.add(question or "")
    groups = question_groups(rows, items, question)
    return replace(
        roles,
        question=question,
        gold=gold_columns(rows, options, roles.answer, taken, groups),
        seconds=first_named("seconds", rows, taken, is_numeric),
        count=None if roles.annotator else _count(rows, options, roles.answer, taken, items),
        response=first_named("response", rows, taken),
        split=first_named("split", rows, taken, lambda column: column.conflict(items) is None),
    )


def items_of(rows: Rows, item: str | None, shown: dict[str, str]) -> Column:
    """The item of each row: without a column of items, each distinct tuple of contents is one."""
    if item is None and not shown:
        raise DataError(_unrecognised(rows, "items", "item"))
    column = rows.columns[item] if item is not None else _joined(rows, list(shown.values()))
    names = [item] if item is not None else list(shown.values())
    if column.is_bytes:
        raise DataError(
            f"{rows.path}: column {names[0]!r} contains bytes; name a column of items (item=, "
            "--item)"
        )
    rows.check_filled(column, "item", names)
    return column


def question_groups(rows: Rows, items: Column, question: str | None) -> Column:
    """A code per row for the item, or for the item and the question."""
    return items if question is None else combined([items, rows.columns[question]])


def _joined(rows: Rows, names: Sequence[str]) -> Column:
    """The cells of several columns as one; blank where all of them are."""
    columns = [rows.columns[name] for name in names]
    columns = [column for column in columns if not column.is_bytes] or columns
    if len(columns) == 1:
        return columns[0]
    texts = [pc.fill_null(column.array().cast(pa.string()), "") for column in columns]
    blank = np.all([column.codes < 0 for column in columns], axis=0)
    both = pc.binary_join_element_wise(*texts, " | ")
    return Column.of(pc.if_else(pa.array(blank), pa.scalar(None, pa.string()), both))


def with_joined(rows: Rows, names: Sequence[str]) -> Rows:
    """The table with a further column, which joins the cells of these."""
    rows.check(names)
    return rows.with_columns({" + ".join(names): _joined(rows, names)})


def gold_columns(
    rows: Rows,
    options: Layout,
    answer: tuple[str, ...],
    taken: Iterable[str | None],
    groups: Column,
) -> dict[str, str]:
    """The gold label column of each answer column."""
    if options.gold is not None:
        if len(answer) != 1:
            raise DataError(
                f"{rows.path}: {options.gold!r} is gold for one question, but there are "
                f"{len(answer)}; name gold columns gold_QUESTION instead"
            )
        return {answer[0]: options.gold}
    gold: dict[str, str] = {}
    for column in answer:
        own = ("gold" + plain(column), plain(column) + "gold")
        names = [name for name in rows.columns if plain(name) in own and name not in taken]
        names += candidates("gold", rows, taken) if len(answer) == 1 else []
        filled = [name for name in names if len(rows.columns[name].values)]
        labels = [name for name in filled if rows.columns[name].conflict(groups) is None]
        gold |= dict(zip([column], labels, strict=False))
    return gold


def _count(
    rows: Rows, options: Layout, answer: tuple[str, ...], taken: Iterable[str], items: Column
) -> str | None:
    """The column that says how often each row's answer was given.

    If every item has one row, all its answers would be the same: then the answer column is the
    majority, or the counts are of something else.
    """

    def is_count(column: Column) -> bool:
        numbers = column.numbers()
        return numbers is not None and bool((numbers >= 0).all() and (numbers % 1 == 0).all())

    name = first_named("count", rows, taken, is_count)
    counts = None if name is None else rows.columns[name].numbers()
    several = counts is not None and bool((counts > 1).any())
    alone = len(items.values) == rows.n_rows > 1
    if not (several and alone) or options.format == "long" or not answer:
        return name
    if options.answer is not None:
        return None
    raise DataError(
        f"{rows.path}: every item has one row, so all {name!r} answers to an item would be its "
        f"{answer[0]!r}; if that is the majority, write a column of counts for each value; if not, "
        f'use answer="{answer[0]}" (--answer {answer[0]}) to read one answer for each item, or '
        'format="long" (--format long) to read as many as counted'
    )


# ---- what is refused ----


def _unrecognised(rows: Rows, what: str, option: str) -> str:
    """The message for a table in which no column of items or answers is recognised."""
    return (
        f"{rows.path}: no column of {what} recognised in {listed(rows.columns, 5)}; "
        f"name it ({option}=, --{option})"
    )


def _check_others(rows: Rows, key: Key, answer: tuple[str, ...]) -> None:
    """Refuse a further column that may be an answer, or a fact about the assignment."""
    for name in key.of_kind(EITHER):
        about = (
            f"{rows.path}: {name!r} is an answer, or about the assignment, such as a time or a "
            f"position ({key.explained[name].why})"
        )
        without = [one for one in answer if one != name]
        ways = {"if it is no answer": key.layout(without)} if without else {}
        ways["if it is an answer"] = key.layout([*without, name])
        raise UnclearError.of(about, rows.path, ways)


def _refusal(rows: Rows, key: Key | None, answer: tuple[str, ...] = ()) -> NoAnswersError:
    """Why no answers are read, with a command that names the columns."""
    advice = 'or use format="wide" (--format wide) if every annotator has a column'
    message = f"{_unrecognised(rows, 'answers', 'answer')}, {advice}"
    first, *more = rows.columns
    if not more and (delimiter := re.search(r"[^\w\s]{2,}", first)):
        message = (
            f"{rows.path}: a single column, {first!r}; if {delimiter[0]!r} stands between fields, "
            "replace it by a tab: a delimiter is one sign"
        )
    if key is None:
        return NoAnswersError(message)
    if key.why_unclear:
        about = f"{rows.path}: {key.item[0]!r} and {key.annotator!r} look like items and "
        about += f"annotators, but {key.why_unclear}"
        stated = {"answer": answer} if answer else {}
        known = {when: way for when, way in key.ways.items() if answer or way.annotator}
        ways = {when: way.with_changes(**stated) for when, way in known.items()}
        return UnclearError.of(about, rows.path, ways)
    unclear = [*key.of_kind(EITHER), *key.of_kind(UNCLEAR, TEXT, ASSIGNMENT)]
    why = "; ".join(f"{name!r}: {key.explained[name].why}" for name in unclear[:5])
    about = f"{rows.path}: no column is surely answers ({why})" if unclear else message
    ways = {f"if {name!r} is": key.layout([name]) for name in unclear[:MOST_PROPOSED]}
    return UnclearError.of(about, rows.path, ways)
