"""A page that shows the first rows of a table, coloured by role, and lets a person change roles."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import DataError, DissensusError, counted, cut, listed
from dissensus.readers.layout import Layout, keep_layout, kept_layout, layouts_taken

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

ROLES = {  # fields of a layout that name columns, as the menus call them
    "item": "item",
    "text": "text",
    "annotator": "annotator's name",
    "answer": "answers",
    "annotators": "one annotator",
    "question": "question's name",
    "gold": "gold label",
    "ignore": "left out",
}
SINGLE = ("annotator", "question", "gold")  # roles that one column has
OF_FILE = (
    "corpus", "files", "encoding", "delimiter", "quotes", "skip", "comment", "header", "columns",
)  # fmt: skip
SHAPES = ("long", "wide", "votes")  # formats that follow from the roles
MOST_ROWS, MOST_LETTERS = 10, 120  # that are shown
MOST_VALUES = 8  # of a question that are named
LONGEST_NAME = 40  # letters of an item
NO_ROLES = "no column has a role; say at least which one has answers"
TABLES_ONLY = "the page is for tables; this file is read as what its tool wrote"


class LayoutPage:
    """What the page shows of a table, and what it may change."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def html(self) -> str:
        """The page, with what is recognised."""
        state = json.dumps(self.state(kept_layout(self.path) or Layout()), ensure_ascii=False)
        page = (Path(__file__).parent / "layout_page.html").read_text(encoding="utf-8")
        page = page.replace("$file", html.escape(self.path.name))
        page = page.replace("$roles", json.dumps(ROLES))
        return page.replace("$state", state.replace("<", "\\u003c"))

    def read(self, request: dict[str, Any]) -> dict[str, Any]:
        """How the table is read with the fields, or the TOML, of a request."""
        state, fields = self.state(_requested(request)), request.get("layout")
        if isinstance(fields, dict) and any(name in fields for name in ROLES):
            if not any(fields.get(name) for name in ROLES):  # not to be recognised again
                state |= {"roles": {}, "words": [], "notes": [], "error": NO_ROLES}
        return state

    def keep(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write the layout next to the file, if the file can be read with it."""
        layout = _requested(request)
        self._corpus(layout)
        return {"kept": keep_layout(self.path, layout).name}

    def state(self, layout: Layout) -> dict[str, Any]:
        """The first rows, the role of each column, and what the table says; or what is wrong."""
        columns, rows, names_in = self._cells(layout)
        error, words, notes, ways = "", [], [], []
        with layouts_taken() as taken:
            try:
                corpus = self._corpus(layout)
                words = [*in_words(corpus), *_agreement(corpus)]
                notes = list(corpus.notes)
                layout = taken[-1] if taken else layout
            except DissensusError as refused:
                error = (getattr(refused, "about", "") or str(refused)).replace(
                    str(self.path), self.path.name
                )
                for when, way in getattr(refused, "ways", {}).items():
                    text = when.removeprefix("if ")
                    stated = {**layout.stated(), **way.stated()}
                    ways.append({"words": text[:1].upper() + text[1:], "layout": stated})
        stated = {name: value for name, value in layout.stated().items() if name != "columns_only"}
        if stated.get("format") in SHAPES:
            del stated["format"]
        layout = Layout(**stated)
        return {
            "columns": columns, "rows": rows, "header": names_in, "roles": _roles(layout, columns),
            "layout": json.loads(json.dumps(stated, default=str)), "toml": layout.to_toml(),
            "words": words, "notes": notes, "error": error, "ways": ways,
        }  # fmt: skip

    def _cells(self, layout: Layout) -> tuple[list[str], list[list[str]], int]:
        """Names of columns, their first cells, whatever they mean, and how many rows have names."""
        stated = {name: value for name, value in layout.stated().items() if name in OF_FILE}
        names_in = 1 if layout.header is None else layout.header
        try:
            table = self._corpus(Layout(**stated, columns_only=True))
        except DissensusError:  # such as a title instead of names
            names_in = 0
            try:
                table = self._corpus(Layout(**{**stated, "header": 0, "columns_only": True}))
            except DissensusError:  # lines of different widths, which the message names
                return [], [], 0
        if table.questions:
            raise DataError(f"{self.path.name}: {TABLES_ONLY}")
        columns = table.item_attributes
        cells = zip(*(one.slice(0, MOST_ROWS).to_pylist() for one in columns.values()), strict=True)
        texts = [["" if value is None else str(value) for value in row] for row in cells]
        rows = [[t[:MOST_LETTERS] + "…" * (len(t) > MOST_LETTERS) for t in row] for row in texts]
        return list(columns), rows, names_in

    def _corpus(self, layout: Layout) -> Corpus:
        from dissensus import datasets

        return datasets.read(self.path, layout=layout)


def in_words(corpus: Corpus) -> list[str]:
    """What was read: the scale of the first question, three answers to it, the other questions."""
    people = counted(corpus.n_annotators, "annotator") if corpus.n_annotators else "no annotators"
    lines = [f"{counted(corpus.n_items, 'item')}, {people}"]
    for question, answers in [*corpus.questions.items()][:1]:
        values = [str(value) for value in getattr(answers.scale, "values", ())]
        more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
        named = f": {', '.join(values[:MOST_VALUES])}{more}" if values else ""
        each = answers.n_answers / max(len(set(answers.item.tolist())), 1)
        lines.append(
            f"{question} ({answers.scale.kind}{named}); {counted(answers.n_answers, 'answer')}, "
            f"{round(each, 1):,g} for each item"
        )
        examples = []
        for row, value in enumerate(answers.answers()[:3]):
            who = "" if answers.annotator is None else corpus.annotators[answers.annotator[row]]
            item = cut(corpus.items[answers.item[row]], LONGEST_NAME)
            examples.append(f"{item}{' by ' if who else ''}{who}: {value}")
        lines.append(f"  {'; '.join(examples)}")
    if others := list(corpus.questions)[1:]:
        lines.append(f"also {listed(others, 5)}")
    return lines


def _requested(request: dict[str, Any]) -> Layout:
    if isinstance(request.get("toml"), str):
        return Layout.from_toml(request["toml"])
    fields = request.get("layout")
    if not isinstance(fields, dict):
        raise DataError("request: no layout")
    return Layout.of({name: value for name, value in fields.items() if value not in (None, [], "")})


def _roles(layout: Layout, columns: list[str]) -> dict[str, str]:
    """The role of each column that has one; patterns may name many."""
    roles: dict[str, str] = {}
    parts = {**layout.columns_named, "ignore": layout.ignore}
    if layout.item_parts:
        parts["item"] = layout.item_parts
    for role, names in parts.items():
        for name in (names,) if isinstance(names, str) else names:
            pattern = re.sub(r"\\\{\w+\\\}", ".+", re.escape(name))
            roles |= {column: role for column in columns if re.fullmatch(pattern, column)}
    return roles


def _agreement(corpus: Corpus) -> list[str]:
    """Krippendorff's alpha of each question, where it is defined."""
    from dissensus.agreement import krippendorff_alpha

    lines = []
    for question, answers in corpus.questions.items():
        try:
            alpha = float(krippendorff_alpha(answers))
        except DissensusError:
            continue
        if not math.isnan(alpha):
            lines.append(f"{question}: annotators agree with an alpha of {alpha:.2f}")
    return lines
