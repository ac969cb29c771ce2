"""Layout: how a file is laid out, as a person says it or a reader proposes it.

    item = "Id"                     # scores beside the ids of those who gave them
    annotator = "TurkId{k}"
    answer = "Score{k}"

What is left out is recognised. A layout is written as TOML, next to the file that it is about.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from dissensus.annotations import Repeats
from dissensus.errors import DataError, NoAnswersError, did_you_mean, listed
from dissensus.files.folders import staged
from dissensus.files.plain import plain_bytes
from dissensus.scales import Scale

IN_MEMORY = "table"  # the path of a table in memory, for messages
ENDING = ".dissensus.toml"  # of a layout, after the name of its file
Cells = Literal["values", "lists", "keys", "counts", "records", "digits"]
_SEVERAL = ("annotators", "answer", "text", "missing", "features", "ignore", "columns")
_OPTIONS = {  # of commands, where they are called otherwise
    "annotators": "--annotator-columns",
    "cells": "--answer-cells",
    "question": "--question-column",
}
_INSIDE = ("item_parts", "columns_only", "name")  # not written into a file
DELIMITER = r"[^\0\n\r\"\x7f-\U0010ffff]"  # one that csv and pyarrow take


@dataclass(frozen=True)
class Layout:
    """Where the items, annotators and answers of a file are; what is None is recognised.

    Names of columns may have parts in braces: `{k}` is any text that the columns of an annotator
    and an answer have in common, `{annotator}`, `{item}`, `{question}` and `{value}` say what the
    text is: answer="rater{annotator}_{question}".

    Args:
        format: of the file, or "long", "wide" or "votes".
        corpus: the sheet, the file in a folder or zip, the keys of a list in JSON
            ("data.answers"), or the corpus, if there are several.
        files: a pattern for the names of files in a folder or zip, or of sheets, such as
            "{annotator}/{document}.txt"; its parts are columns, and "{row}" numbers the rows of
            each file.
        encoding: of a text file.
        delimiter: between the fields of a text file; "," or "\\t", for example; of more fields
            between spaces than `columns`, the first ones are one.
        quotes: whether fields may stand in double quotes.
        skip: lines above the column names.
        comment: what lines that are no rows begin with, "#" for example.
        header: rows of column names: 0, 1 or 2.
        columns: names of the columns, instead of those in the file.
        item: the column that names the item, or the columns that name it together; "{column}" if
            each column of answers is an item.
        annotator: the column that names the annotator, or a pattern such as "TurkId{k}".
        annotators: the columns that contain the answers of one annotator each.
        answer: the columns of answers, each a question, or a pattern such as "Score{k}".
        cells: what a cell of an answer contains: "values"; "lists", an entry for each annotator;
            "keys", an object with an answer for each annotator; "counts", an object with a number
            for each value; "records", a list of objects, whose keys are questions; "digits", an
            answer each.
        text: the columns shown to annotators.
        question: the column that names the question.
        gold: the column of gold labels.
        features: columns of numbers, such as "x*".
        ignore: columns that are left out, as if they were not there.
        scale: of the answers, or by question.
        repeats: what to do with several answers of one annotator to one item: "error", "keep",
            "first", "last", "mean", or "set", which makes one answer of them, a set of values.
        missing: words for a missing answer.
        merge_variants: whether spellings of one value are the same answer.
        items: a table of items to join: contents, attributes, split.
        annotator_attributes: a table with a row for each annotator to join.
        name: of the corpus.

    Example:
        >>> layout = Layout(item=["term", "token"], annotator="coder", answer="label")
        >>> print(layout.to_toml())
        item = ["term", "token"]
        annotator = "coder"
        answer = "label"
        >>> Layout.from_toml(layout.to_toml()) == layout
        True
    """

    format: str | None = None
    corpus: str | None = None
    files: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quotes: bool = True
    skip: int = 0
    comment: str | None = None
    header: int | None = None
    columns: tuple[str, ...] | None = None
    item: Any = None  # a name; several are joined, and in `item_parts`
    annotator: str | None = None
    annotators: tuple[str, ...] | None = None
    answer: tuple[str, ...] | None = None
    cells: Cells = "values"
    text: tuple[str, ...] | None = None
    question: str | None = None
    gold: str | None = None
    features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    scale: Scale | str | Mapping[str, Scale | str] | None = None
    repeats: Repeats | Literal["set"] = "error"
    missing: tuple[str, ...] = ()
    merge_variants: bool = False
    items: str | None = None
    annotator_attributes: str | None = None
    name: str | None = None
    item_parts: tuple[str, ...] = ()
    columns_only: bool = False  # no roles: a row is an item, and every column an attribute

    def __post_init__(self) -> None:
        """One name may be given instead of several, and numbers as names."""
        changed: dict[str, Any] = {part: _names(getattr(self, part)) for part in _SEVERAL}
        changed |= {part: changed[part] or () for part in ("missing", "features", "ignore")}
        single = {part: getattr(self, part) for part in ("annotator", "question", "gold")}
        changed |= {part: None if value is None else str(value) for part, value in single.items()}
        names = _names(self.item)
        if names is not None:
            changed["item"] = " + ".join(names)
            changed |= {"item_parts": names} if len(names) > 1 else {}
        if self.delimiter in ("\\t", "tab"):
            changed["delimiter"] = "\t"
        for part, value in changed.items():
            object.__setattr__(self, part, value)
        for part, allowed in (("cells", get_args(Cells)), ("header", (None, 0, 1, 2))):
            value = getattr(self, part)
            if value not in allowed:
                known = ", ".join(str(one) for one in allowed if one is not None)
                raise DataError(f"{part} is one of {known}, found {value!r}")
        if self.delimiter is not None and not re.fullmatch(DELIMITER, self.delimiter):
            raise DataError(f"delimiter is one letter or sign of ASCII, found {self.delimiter!r}")

    @property
    def states_answers(self) -> bool:
        """Whether an annotator, an answer or a question is named."""
        parts = (self.annotator, self.annotators, self.answer, self.question)
        return any(part is not None for part in parts)

    @property
    def has_patterns(self) -> bool:
        """Whether the columns of answers are named by patterns such as "Score{k}"."""
        return any(_PART.search(name) for name in self.answer or ())

    @property
    def of_items(self) -> set[str]:
        """The columns that are named as something about the items."""
        return {name for name in (self.item, self.gold, *(self.text or ())) if name is not None}

    @property
    def named(self) -> set[str]:
        """Every column that is named, but those of one annotator each."""
        single = {name for name in (self.annotator, self.question) if name is not None}
        return self.of_items | single | set(self.answer or ())

    @property
    def columns_named(self) -> dict[str, str | tuple[str, ...]]:
        """The columns that the user named, by what they are.

        Example:
            >>> Layout(item="task", answer=("label",)).columns_named
            {'item': 'task', 'answer': ('label',)}
        """
        parts = ("item", "annotator", "annotators", "answer", "text", "question", "gold")
        return {part: getattr(self, part) for part in parts if getattr(self, part) is not None}

    def stated(self) -> dict[str, Any]:
        """The fields that are not as usual, as arguments of `Layout`."""
        usual = Layout.__dataclass_fields__
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        changed = {name: v for name, v in values.items() if v != usual[name].default}
        if "item_parts" in changed:
            changed["item"] = changed.pop("item_parts")
        return changed

    def with_changes(self, **changes: Any) -> Layout:
        """The layout with other fields."""
        return Layout(**{**self.stated(), **changes})

    def command(self, path: str) -> str:
        """The command that reads a file so, as it can be typed; for a table in memory the call.

        Example:
            >>> Layout(item=["a", "b"], answer="x", cells="keys").command("labels 1.csv")
            "dissensus describe 'labels 1.csv' --item a --item b --answer x --answer-cells keys"
            >>> Layout(item="a", answer="x").command(IN_MEMORY)
            "read(table, item='a', answer=['x'])"
        """
        stated = {name: [v] if isinstance(v, str) else list(v) for name, v in self.stated().items()}
        if path == IN_MEMORY:
            single = {n: v[0] for n, v in stated.items() if len(v) == 1 and n not in _SEVERAL}
            return f"read(table, {', '.join(f'{n}={v!r}' for n, v in (stated | single).items())})"
        if "annotators" in stated:
            stated["annotators"] = [",".join(stated["annotators"])]
        options = {name: _OPTIONS.get(name, f"--{name}") for name in stated}
        words = [w for name, values in stated.items() for v in values for w in (options[name], v)]
        file, typed = _typed.get()
        also = (
            [word for one in typed if one[0] not in words for word in one] if path == file else []
        )
        return shlex.join(["dissensus", "describe", path, *words, *also])

    def to_toml(self) -> str:
        """The layout as TOML, a line for each field that is stated."""
        stated = {name: v for name, v in self.stated().items() if name not in _INSIDE}
        return "\n".join(f"{name} = {_toml(value)}" for name, value in stated.items())

    @classmethod
    def from_toml(cls, text: str, where: str = "layout") -> Layout:
        """The layout in a text of TOML.

        Args:
            where: what messages begin with.
        """
        try:
            content = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise DataError(f"{where}: not TOML ({error})") from None
        return cls.of(content, where)

    @classmethod
    def of(cls, content: Mapping[str, Any], where: str = "layout") -> Layout:
        """The layout with these fields; unknown ones and values of another type are refused."""
        known = [one.name for one in fields(cls) if one.name not in _INSIDE]
        for name, value in content.items():
            if name not in known:
                raise DataError(
                    f"{where}: no field {name!r}{did_you_mean(name, known)}; there are "
                    f"{listed(known, 30)}"
                )
            if not _fits(name, value):
                found = json.dumps(value, ensure_ascii=False, default=str)
                raise DataError(f"{where}: {name} must be {_kind(name)}, found {found}")
        try:
            return cls(**content)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Layout:
        """The layout in a file of TOML."""
        try:
            text = plain_bytes(path).decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(f"{path}: not UTF-8") from None
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
        return cls.from_toml(text, str(path))


class UnclearError(NoAnswersError):
    """A table that may be read in several ways; `about` says why, without the commands."""

    about = ""
    ways: Mapping[str, Layout] = {}  # when each layout is right: "if each is an annotator"

    @classmethod
    def of(cls, about: str, path: str, ways: Mapping[str, Layout]) -> UnclearError:
        """The error whose message has a command for each way to read this file."""
        commands = ", ".join(f"{way.command(path)} {when}" for when, way in ways.items())
        error = cls(f"{about}; use {commands}" if ways else about)
        error.about, error.ways = about, ways
        return error


@contextmanager
def typed(file: str, options: list[list[str]]) -> Iterator[None]:
    """Commands that are proposed for this file have the options that the user typed, too."""
    token = _typed.set((file, options))
    try:
        yield
    finally:
        _typed.reset(token)


_typed: ContextVar[tuple[str, list[list[str]]]] = ContextVar("options typed", default=("", []))
_taken: ContextVar[list[Layout] | None] = ContextVar("layouts taken", default=None)


@contextmanager
def layouts_taken() -> Iterator[list[Layout]]:
    """A list that the layouts of tables are added to while they are read, the last one at last."""
    layouts: list[Layout] = []
    token = _taken.set(layouts)
    try:
        yield layouts
    finally:
        _taken.reset(token)


def take(layout: Layout) -> None:
    """Say that a table is read with this layout."""
    layouts = _taken.get()
    if layouts is not None:
        layouts.append(layout)


@contextmanager
def taken_without(columns: Collection[str]) -> Iterator[None]:
    """Of the layout that is taken, leave out what names columns of which the file has none."""
    with layouts_taken() as layouts:
        yield
    for layout in layouts[-1:]:
        parts = layout.columns_named | {"item": layout.item_parts or layout.item or ()}
        names = {part: (one,) if isinstance(one, str) else one for part, one in parts.items()}
        lost = [p for p, of in names.items() if any("{" not in n and n in columns for n in of)]
        take(layout.with_changes(**dict.fromkeys(lost)))


def layout_of(source: Layout | str | Path | Mapping[str, Any]) -> Layout:
    """A layout as it is, from the file that is named, or from its fields."""
    if isinstance(source, Layout):
        return source
    return Layout.of(source) if isinstance(source, Mapping) else Layout.load(source)


def file_beside(path: Path) -> Path:
    """Where the layout of a file is kept."""
    return path.with_name(path.name + ENDING) if path.name else path / ENDING


def keep_layout(path: Path, layout: Layout) -> Path:
    """Write the layout next to a file; what is there is replaced only if it is a layout."""
    beside = file_beside(path)
    if beside.exists() and not _is_layout(beside):
        raise DataError(f"{beside}: already exists and is not a layout; move it first")
    with staged(beside) as new:
        new.write_text(layout.to_toml() + "\n", encoding="utf-8")
    return beside


def _is_layout(path: Path) -> bool:
    """Whether a file has fields of a layout and no others, with any values."""
    try:
        fields_of = tomllib.loads(plain_bytes(path).decode())
    except (OSError, ValueError, RecursionError):
        return False
    return fields_of.keys() <= {one.name for one in fields(Layout)}


def kept_layout(path: Path) -> Layout | None:
    """The layout that is kept next to a file; None if there is none."""
    beside = file_beside(path)
    if not beside.is_file():
        return None
    try:
        layout = Layout.load(beside)
    except DataError as error:
        again = ", or write it again with --remember" if _is_layout(beside) else ""
        raise DataError(f"{error}; delete it{again}") from None
    files = {part: getattr(layout, part) for part in ("items", "annotator_attributes")}
    return layout.with_changes(
        **{part: str(path.parent / file) for part, file in files.items() if file is not None}
    )


def _names(columns: Any) -> tuple[str, ...] | None:
    """Columns as a tuple of names; numbers may be names too."""
    if columns is None:
        return None
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        columns = (columns,)
    names = tuple(str(column) for column in columns)
    if len(set(names)) != len(names):
        raise DataError(f"a column is named twice in {list(names)}")
    return names


def _kind(name: str) -> str:
    """What a field must be in TOML."""
    if name in ("quotes", "merge_variants"):
        return "true or false"
    if name in ("skip", "header"):
        return "a number such as 0 or 2"
    more = " or a list of texts" * (name in (*_SEVERAL, "item"))
    return "a text" + (", or a table of texts" if name == "scale" else more)


def _fits(name: str, value: Any) -> bool:
    """Whether a value of TOML has the type of a field."""
    kind = _kind(name)
    if isinstance(value, bool | int):
        return kind.startswith("true" if isinstance(value, bool) else "a number") and value >= 0
    if isinstance(value, dict | list | tuple) and kind.endswith("texts"):
        texts = value.values() if isinstance(value, dict) else value
        right = isinstance(value, dict) == (name == "scale")
        return right and all(isinstance(one, str) for one in texts)
    return isinstance(value, str) and kind.startswith("a text")


_PART = re.compile(r"\{(\w+)\}")


def matching(pattern: str, names: Iterable[str], where: str) -> dict[str, dict[str, str]]:
    """The names that fit a pattern, and what stands for its parts.

    Example:
        >>> matching("{annotator}/{doc}.txt", ["ann/1.txt", "about.md"], "folder")
        {'ann/1.txt': {'annotator': 'ann', 'doc': '1'}}
    """
    texts, parts = _PART.split(pattern)[::2], _PART.findall(pattern)
    if len(set(parts)) != len(parts):
        raise DataError(f"{where}: {pattern!r} has the same part twice")
    groups = [*(f"(?P<{part}>.+?)" for part in parts), ""]
    whole = "".join(re.escape(text) + group for text, group in zip(texts, groups, strict=True))
    found = {name: re.fullmatch(whole, name) for name in names}
    return {name: match.groupdict() for name, match in found.items() if match}


def _toml(value: Any) -> str:
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, Mapping):
        inner = (f"{_toml(str(name))} = {_toml(one)}" for name, one in value.items())
        return f"{{ {', '.join(inner)} }}"
    if isinstance(value, tuple | list):
        texts = [_toml(one) for one in value]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
