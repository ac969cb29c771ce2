"""Proposals: layouts of tables whose rows have more than one answer, from names and values.

    id,ann_1,ann_2                                                            annotators
    id,label_anna,label_ben,rating_anna,rating_ben                            questions of each
    rater,img1.jpg,img2.jpg                                                   items
    id,Score1,Score2,TurkId1,TurkId2                                          slots
    {"id": "t1", "annotators": ["ann", "bob"], "labels": ["yes", "no"]}       lists
    {"id": "t1", "annotations": [{"annotator": "ann", "label": "yes"}, ...]}  records
    {"id": "t1", "annotations": {"ann": "yes", "bob": "no"}}                  keys
    {"id": "t1", "label_counter": {"yes": 70, "no": 30}}                      counts

A proposal is taken if names say what it is. Columns of different questions ("toxic", "insult") look
the same as columns of different annotators: what may be either is refused, with a command for each
way to read it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow.compute as pc

from dissensus.errors import DataError, listed
from dissensus.readers.json_text import value_text
from dissensus.readers.layout import Layout, UnclearError
from dissensus.readers.tables.answer_cells import as_records, parsed_column
from dissensus.readers.tables.column_names import (
    KNOWN,
    MEDIA,
    NAMES,
    PAIR,
    WORDS,
    answer_named,
    are_persons,
    candidates,
    families,
    first_named,
    has_word_of_answers,
    is_about_answers,
    is_annotator_part,
    is_called_annotator,
    is_derived,
    is_named,
    is_one_annotator,
    part_name,
    plain,
    words_of,
)  # fmt: skip
from dissensus.readers.tables.rows import FEW_VALUES, Rows
from dissensus.readers.tables.vote_columns import ask_about_sums, may_be_counts, propose_votes
from dissensus.scales import as_numbers

Grid = dict[str, dict[str, str]]  # pattern -> annotator -> column
Objects = list[dict[str, str]]  # of each row, without nulls; empty for a blank cell
SHARE = 0.1  # of the filled cells: values of a scale
MANY = 6  # so many columns numbered from 0 or 1 are annotators, even without a blank cell
MOST_COMPARED = 200  # different sets of values that are compared with one another
MOST_NAMED = 30  # columns or keys that a command in a message names
FEWEST_ROWS = 10  # in which two annotators agree once
FEWEST_OF_STEM = 4  # columns that are numbered under one name
CONTENTS = ("item", "text", *MEDIA)
PLACES = {"start", "end", "startoffset", "endoffset"}  # keys of spans
COLUMN = "{column}"  # an item, if each column of answers is one


def propose(rows: Rows, stated: Layout) -> Layout | None:
    """The layout of a table that names or lists of answers show; None if it is a long table."""
    if stated.cells != "values":
        return None
    is_open = stated.format is None and not stated.states_answers
    layouts = (one(rows, stated) for one in (PROPOSERS if is_open else PROPOSERS[:1]))
    return next((layout for layout in layouts if layout is not None), None)


# ---- columns and their values ----


def _free(rows: Rows, layout: Layout) -> list[str]:
    """The columns that may belong to an annotator."""
    return [name for name in rows.columns if name not in layout.of_items and not is_derived(name)]


def _without_role(rows: Rows, names: list[str]) -> list[str]:
    """The columns that are not named as something else."""
    roles = (*CONTENTS, "gold", "seconds", "count", "split")
    known = {name for role in roles for name in candidates(role, rows)}
    known |= {name for name in names if plain(name) in PAIR or "unnamed" in plain(name)}
    return [name for name in names if name not in known and not rows.columns[name].is_bytes]


def _words(rows: Rows, names: Iterable[str]) -> set[str]:
    return {word for name in names for word in rows.columns[name].words}


def _shares(rows: Rows, name: str, others: Iterable[str]) -> bool:
    """Whether a value of this column occurs in other columns too."""
    return not rows.columns[name].words.isdisjoint(_words(rows, {*others} - {name}))


def _sharing(rows: Rows, names: Sequence[str]) -> set[str]:
    """Those of these columns that have a value that another one of them has."""
    times = Counter(word for name in names for word in rows.columns[name].words)
    return {name for name in names if any(times[word] > 1 for word in rows.columns[name].words)}


# ---- annotators by their names ----


def columns_of_annotators(rows: Rows, layout: Layout) -> dict[str, dict[str, str]]:
    """The columns of a table that is stated to be wide: annotator, and question if it has one."""
    others = [f"{role}=" for role in ("annotator", "answer", "question") if getattr(layout, role)]
    if others:
        raise DataError(
            f"{rows.path}: in a wide table the columns are the annotators, their cells the "
            f"answers; leave out {', '.join(others)}"
        )
    if layout.annotators == ():
        raise DataError(
            f"{rows.path}: no annotator is named; leave annotators= out or name columns"
        )
    free, annotators = _free(rows, layout), layout.annotators or ()
    if not annotators:
        free = _without_role(rows, free)
        sure = _surely_annotators(rows, free)
        sharing = _sharing(rows, free)
        annotators = tuple(sure if len(sure) > 1 else (n for n in free if n in sharing))
        if len(annotators) < 2:
            raise DataError(
                f"{rows.path}: no columns of annotators recognised in {listed(rows.columns, 5)}; "
                "name them (annotators=, --annotator-columns)"
            )
    rows.check(annotators)
    _check_kinds(rows, annotators, layout)
    return {name: {"annotator": name} for name in annotators}


def _check_kinds(rows: Rows, annotators: Sequence[str], layout: Layout) -> None:
    """Refuse annotators of whom some answer in numbers, others in words or in sets."""
    first: dict[str, str] = {}  # kind of answers -> the first column of such
    for name in annotators:
        numeric = {as_numbers([value]) is not None for value in rows.columns[name].words}
        if name in rows.sets or len(numeric) == 1:  # "1", "2", "3+" go with either
            kind = "sets" if name in rows.sets else "numbers" if True in numeric else "words"
            first.setdefault(kind, name)
    if len(first) > 1 and (layout.scale is None or "sets" in first):
        clash = [
            f"{first[kind]!r} answers in {kind} ({str(rows.columns[first[kind]].values[0])[:40]!r})"
            for kind in ("numbers", "words", "sets")
            if kind in first
        ]
        raise DataError(
            f"{rows.path}: {', '.join(clash)}; name the columns that are annotators (annotators=, "
            "--annotator-columns), or declare a scale that contains both (scale=, --scale)"
        )


def propose_annotators(rows: Rows, layout: Layout) -> Layout | None:
    """A layout whose annotators are columns, by their names; what may be either is refused."""
    if layout.format is not None or layout.states_answers:
        return None
    free = _free(rows, layout)
    sure = _surely_annotators(rows, free)
    annotator = first_named("annotator", rows, sure)
    if annotator is not None:
        return None
    answer = answer_named(rows, sure)
    if len(sure) > 1:
        _check_pair(rows, sure)
        if answer and not rows.columns[answer].is_text and not _shares(rows, answer, sure):
            raise DataError(
                f"{rows.path}: {listed(sure)} look like annotators and {answer!r} like answers; "
                'use format="wide" if they answered (--format wide), format="long" if not '
                "(--format long)"
            )
        every = {*sure}
        return Layout(annotators=tuple(name for name in rows.columns if name in every))
    likely = [name for name in free if is_one_annotator(name)]
    alike = {name for name in likely if rows.columns[name].words} <= _sharing(rows, likely)
    if answer is not None or len(likely) < 2 or not alike:
        return None
    gaps = sum(not rows.columns[name].is_filled for name in likely)
    numbers = [str(number) for number in range(len(likely) + 1)]
    if list(rows.columns) in (numbers[:-1], numbers[1:]) and gaps < 2 and len(likely) < MANY:
        return None  # "0,1,2" may be the header of a long table without column names
    n_cells = sum(int((rows.columns[name].codes >= 0).sum()) for name in likely)
    is_scale = len(_words(rows, likely)) <= max(FEW_VALUES, n_cells // 10)
    return Layout(annotators=tuple(likely)) if is_scale else None


def _check_pair(rows: Rows, names: Sequence[str]) -> None:
    """Refuse two columns that are called like annotators and may name them: of pairs."""
    cells = [rows.columns[name].array() for name in names]
    if len(names) == 2 and rows.n_rows >= FEWEST_ROWS and _shares(rows, names[0], names):
        if not pc.any(pc.equal(*cells)).as_py() and all(rows.columns[n].is_filled for n in names):
            raise UnclearError.of(
                f"{rows.path}: {listed(names)} never have the same value in a row: they look like "
                "names of two annotators, not like their answers",
                rows.path,
                {"if they are answers": Layout(annotators=tuple(names))},
            )


def _surely_annotators(rows: Rows, free: list[str]) -> list[str]:
    """Those that are called so; and if these are several, those that are called like them and have
    no other answers: Annot1, Annot-Peter."""
    sure = {name for name in free if is_one_annotator(name, likely=False)}
    if len(sure) > 1:
        words = _words(rows, sure)
        called = [name for name in free if is_called_annotator(name)]
        sure |= {name for name in called if set() < rows.columns[name].words <= words}
    return [name for name in free if name in sure]


# ---- columns whose names have a part in common ----


def _propose_slots(rows: Rows, layout: Layout) -> Layout | None:
    """Numbered columns of answers, and as many with those who gave them (Score1, TurkId1, ...) or,
    in a row for each annotator, with the items (image1, rating1, ...)."""
    filled = [name for name in _filled(rows, layout) if not rows.columns[name].is_bytes]
    numbers = {pattern: of for pattern, of in families(filled)[-1].items() if len(of) > 1}
    person = first_named("annotator", rows, fits=lambda column: column.is_unique)
    for people, named in numbers.items():
        name = plain(people.replace("{}", ""))
        of_items = person is not None and any(name in NAMES[part] for part in CONTENTS)
        if name not in NAMES["annotator"] and not of_items:
            continue
        persons = _words(rows, named.values())
        answers = [
            pattern.replace("{}", "{k}")
            for pattern, of in numbers.items()
            if of.keys() == named.keys() and pattern != people and not is_about_answers(pattern)
            if not _words(rows, of.values()) & persons
        ]
        cells = [rows.columns[name].array().slice(0, 200).to_pylist() for name in named.values()]
        filled_cells = [[cell for cell in row if cell] for row in zip(*cells, strict=True)]
        different = all(len(set(row)) == len(row) for row in filled_cells)
        if answers and different and len(persons) >= len(named):
            slots = people.replace("{}", "{k}")
            who = {"annotator": person, "item": slots} if of_items else {"annotator": slots}
            return Layout(**who, answer=tuple(answers))
    return None


def _propose_questions(rows: Rows, layout: Layout) -> Layout | None:
    """Columns of several questions, such as `label_r1`, `rating_r1`, `label_r2`, ..."""
    if first_named("annotator", rows) is not None:
        return None
    return _grid_layout(_grid(_filled(rows, layout), _is_annotator, 2))


def _propose_single(rows: Rows, layout: Layout) -> Layout | None:
    """Columns of one question whose annotators are surely called so, as in rater1_score."""
    names = [name for name in _filled(rows, layout) if not is_derived(name)]
    grid = _grid(names, lambda part, _: is_annotator_part(part), 1)
    columns = [(name, of.values()) for of in grid.values() for name in of.values()]
    if _of_persons(grid) and not all(_shares(rows, name, of) for name, of in columns):
        return None  # email_anna, email_ben
    return _grid_layout(grid)


def _filled(rows: Rows, layout: Layout) -> list[str]:
    return [n for n, one in rows.columns.items() if len(one.values) and n not in layout.of_items]


def _grid_layout(grid: Grid) -> Layout | None:
    grid = {p: of for p, of in grid.items() if not (is_about_answers(p) or is_derived(p))}
    annotators = tuple(dict.fromkeys(name for columns in grid.values() for name in columns))
    patterns = tuple(pattern.replace("{}", "{annotator}") for pattern in grid)
    return Layout(annotators=annotators, answer=patterns) if grid else None


def _of_persons(grid: Grid) -> bool:
    return are_persons(list(dict.fromkeys(name for of in grid.values() for name in of)))


def _is_annotator(part: str, pattern: str) -> bool:
    """Whether a part is an annotator by its name: rater1, r1; of `label_1`, but not of `q_1`."""
    is_number = re.fullmatch(r"\d+|[A-Z]", part) and plain(pattern) in NAMES["answer"]
    initial = re.fullmatch(r"(?i)[acrju]\d+", part)
    return bool(is_number or initial) or is_annotator_part(part)


def _grid(
    names: Iterable[str],
    is_annotator: Callable[[str, str], bool],
    fewest: int,
) -> Grid:
    """The columns whose names have two parts, by pattern and annotator; empty if there are none.

    Args:
        is_annotator: of the part that may be the annotator, and the pattern without it.
        fewest: questions.
    """
    for every in families(names):
        sure = {p: {a: n for a, n in of.items() if is_annotator(a, p)} for p, of in every.items()}
        grid = {pattern: of for pattern, of in sure.items() if len(of) > 1}
        if grid and _of_persons(grid):  # and who is called otherwise
            annotators = {annotator for of in grid.values() for annotator in of}
            shared = set.intersection(*(set(every[pattern]) for pattern in grid))
            annotators |= {one for one in shared if not is_derived(one) and plain(one) not in KNOWN}
            grid = {p: {a: n for a, n in every[p].items() if a in annotators} for p in grid}
        if len(grid) >= fewest and not any(is_annotator_part(part_name(p)) for p in grid):
            return grid
    return {}


# ---- columns with the same values, which may be annotators, questions or items ----


def propose_alike(rows: Rows, stated: Layout) -> Layout | None:
    """A layout of columns of a scale that have values in common: annotators, if they are called
    like persons; items, if each row is an annotator by name. Others are refused."""
    free = [n for n in _without_role(rows, _free(rows, stated)) if rows.columns[n].is_like_a_scale]
    words = {name: rows.columns[name].words for name in free}
    groups = (
        [n for n in free if 2 * len(words[n] & own) > max(len(words[n]), len(own))]
        for own in list(dict.fromkeys(words.values()))[:MOST_COMPARED]
    )
    group = max(groups, key=len, default=[])
    if len(group) < 2:
        return None
    patterns = {re.sub(r"\d+", "#", name) for name in group}  # img003.jpg: all that are called so
    others = patterns if len(patterns) == 1 else ()
    seen = _words(rows, group)
    alike = tuple(n for n in free if words[n] <= seen or re.sub(r"\d+", "#", n) in others)
    if are_persons(alike):
        return Layout(annotators=alike)
    person = first_named("annotator", rows, alike, lambda column: column.is_unique)
    of_items = any(len(of) == len(alike) for way in families(alike) for of in way.values())
    if person and of_items and not any(candidates(role, rows, alike) for role in CONTENTS):
        return Layout(item=COLUMN, annotator=person, answer=alike)
    alike, ways = _ways_to_read(rows, free, alike, person)
    about = (
        f"{rows.path}: no column of answers recognised: {listed(alike)} have the same values, "
        "but may be annotators or questions"
    )
    raise UnclearError.of(about, rows.path, ways)


def _ways_to_read(
    rows: Rows, free: Sequence[str], alike: tuple[str, ...], person: str | None
) -> tuple[tuple[str, ...], dict[str, Layout]]:
    """The columns of answers among those with the same values, and what they may be, with the
    layout of each.

    Args:
        free: columns that look like scales; `alike` are among them.
        person: the column that names an annotator in each row, if there is one.
    """
    ways = {"if each is an annotator": Layout(format="wide")}
    if len(alike) <= MOST_NAMED:
        ways["if each is an annotator"] = Layout(annotators=alike)
        ways["if each is a question"] = Layout(answer=alike)
    grid = _grid(free, lambda part, _: plain(part) not in NAMES["answer"], 2)
    unique = (name for name in rows.columns if rows.columns[name].is_unique and name not in alike)
    first = person or next(unique, None)
    if layout := _grid_layout(grid):
        ways["if names have a question and an annotator"] = layout
    elif person is None and may_be_counts(rows, alike):
        ways["if they are counts of answers"] = Layout(format="votes", answer=alike)
    elif first is not None:
        stems = {pattern: of for pattern, of in families(alike)[-1].items() if pattern != "{}"}
        stem = max(stems, key=lambda pattern: len(stems[pattern]), default="")
        items = Layout(item=COLUMN, annotator=first, answer=alike)
        if len(stems.get(stem, ())) >= FEWEST_OF_STEM:  # RA01_01, RA01_02, ..., not age
            pattern = stem.replace("{}", "{item}")
            items, alike = Layout(annotator=first, answer=(pattern,)), tuple(stems[stem].values())
            ways = {
                "if each is an annotator": items.with_changes(
                    annotator=None, answer=(stem.replace("{}", "{annotator}"),)
                )
            }
        ways[f"if each is an item, and {first!r} names the annotator"] = items
    return alike, ways


# ---- lists and objects in cells ----


def _propose_cells(rows: Rows, layout: Layout) -> Layout | None:
    """The layout of lists or objects that contain the answers of several annotators."""
    parsed = {name: parsed_column(column) for name, column in rows.columns.items()}
    cells = {name: values for name, values in parsed.items() if values is not None}
    has_annotator, has_answer = (
        {name for name in rows.columns if is_named(name, part)} for part in ("annotator", "answer")
    )
    for name, values in cells.items():
        records = [as_records(value) for value in values if value is not None]
        keys = [] if None in records else _keys_of([e for one in records for e in one or ()])
        several = 3 * sum(len(one or ()) > 1 for one in records) > len(records)
        elsewhere = (has_annotator | has_answer) - {name}
        anonymous = len(keys) > 1 and not layout.states_answers and several and not elsewhere
        if anonymous or any(is_named(key, "annotator") for key in keys):
            if not PLACES & set(map(plain, keys)):
                return Layout(answer=(name,), cells="records")
    lists = {name: v for name, v in cells.items() if all(isinstance(c, list | None) for c in v)}
    for name, values in lists.items():
        texts = [[value_text(entry) for entry in cell or ()] for cell in values]
        named = name == layout.annotator or name in has_annotator
        if named and all(len(set(row)) == len(row) for row in texts) and len(lists) > 1:
            return Layout(annotator=name, cells="lists")
    repeating = [  # a value occurs twice in a list, so it is no set
        name
        for name, values in lists.items()
        if all(not isinstance(e, dict | list) for cell in values for e in cell or ())
        if any(len(set(cell)) < len(cell) for cell in values if cell)
        if not has_annotator
    ]
    answers = [name for name in repeating if name in (layout.answer or has_answer)]
    if not answers and not layout.answer:
        if (objects := _propose_objects(rows, layout, cells)) is not None:
            return objects
        answers = [name for name in repeating if has_word_of_answers(name)]
    return Layout(answer=tuple(answers[:1]), cells="lists") if answers else None


def _keys_of(entries: list[Any]) -> list[str]:
    """The keys of all entries; none unless every entry is an object of plain values and lists."""
    if not all(isinstance(entry, dict) for entry in entries):
        return []
    values = [value for entry in entries for value in entry.values()]
    inner = [v for value in values for v in (value if type(value) is list else [value])]
    if any(isinstance(one, dict | list) for one in inner):
        return []
    return list(dict.fromkeys(str(key) for entry in entries for key in entry))


def _propose_objects(rows: Rows, layout: Layout, cells: dict[str, list[Any]]) -> Layout | None:
    """Objects with an answer for each annotator, or a count for each value; others are refused."""
    if layout.annotator or layout.annotators:
        return None
    for name in cells:
        objects = objects_of(cells[name])
        keys = list(dict.fromkeys(key for one in objects or () for key in one))
        others = {plain(other) for other in rows.columns if other != name}
        if objects is None or len(keys) < 2 or others & {*NAMES["annotator"], *NAMES["answer"]}:
            continue
        counts = all(value.isdecimal() for one in objects for value in one.values())
        named = not any(map(str.isdigit, keys)) and all(map(is_one_annotator, keys))
        if named or are_persons(keys) or (is_named(name, "annotator") and not counts):
            return Layout(answer=(name,), cells="keys")
        if counts and not WORDS["count"].isdisjoint(words_of(name)):
            return Layout(answer=(name,), cells="counts")
        if is_named(name, "answer") or is_named(name, "annotator"):
            about = (
                f"{rows.path}: {name!r} contains objects with the keys {listed(keys, 5)}, which "
                "may be annotators, questions, or values with their counts"
            )
            ways = {
                "if they are annotators": Layout(answer=(name,), cells="keys"),
                "if they are values": Layout(answer=(name,), cells="counts"),
                "if they are questions": Layout(answer=tuple(keys[:MOST_NAMED])),
            }
            raise UnclearError.of(about, rows.path, ways)
    return None


def objects_of(cells: Sequence[Any]) -> Objects | None:
    """The object of each row; None unless all are objects of texts, numbers and the like."""
    entries = [{} if cell is None else cell for cell in cells]
    if not all(isinstance(one, dict) for one in entries):
        return None
    if any(isinstance(value, dict | list) for one in entries for value in one.values()):
        return None
    texts = [{key: value_text(value) for key, value in one.items()} for one in entries]
    return [{key: text for key, text in one.items() if text is not None} for one in texts]


def _propose_votes(rows: Rows, layout: Layout) -> Layout | None:
    """Counts, where no columns are annotators by their names and none contains their names."""
    sure = _surely_annotators(rows, _free(rows, layout))
    unnamed = len(sure) < 2 and first_named("annotator", rows, sure) is None
    return propose_votes(rows, layout) if unnamed else None


def _ask_about_sums(rows: Rows, layout: Layout) -> None:
    if first_named("annotator", rows) is None:
        ask_about_sums(rows, layout)


PROPOSERS: tuple[Callable[[Rows, Layout], Layout | None], ...] = (
    _propose_cells,  # also if columns are named
    _propose_slots,
    _propose_questions,
    _propose_votes,
    propose_annotators,
    _propose_single,
    _ask_about_sums,
)
