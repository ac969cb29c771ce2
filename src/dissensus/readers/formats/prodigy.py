"""What Prodigy's `db-out` writes: an annotated example per line, as JSON.

    {"text": "so good!", "_input_hash": -91551573, "_task_hash": -1162253049,
     "options": [{"id": "joy"}, {"id": "fear"}], "accept": ["joy"], "answer": "accept",
     "_view_id": "choice", "_annotator_id": "moods-alice", "_session_id": "moods-alice"}

An item is an input, as in Prodigy's own measures of agreement. Where there is something to choose,
the question is `choice`, and its answer what was chosen; elsewhere an example asks whether its
`label` fits, so that every label is a question, answered by accept or reject. Ignored examples are
left out, and choices in rejected ones.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.exports.responses import (
    Left,
    by_reason,
    check_options,
    corpus_of,
    entries,
    opens_with,
    table,
)
from dissensus.readers.json_text import set_text, value_text, value_texts
from dissensus.readers.options import Options
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.rows import Rows
from dissensus.scales import MultiLabel, Scale, infer_scale

TOOL = "Prodigy"
ITEM, PERSON, CHOSEN, ANSWER, LABEL = "_input_hash", "_annotator_id", "choice", "answer", "label"
VERDICTS = ("accept", "reject", "ignore")
MEDIA = ("image", "audio", "video")
ELSEWHERE = ("data:", "http:", "https:")  # media that are no files
BY_HAND = ("_manual", "relations", "dep", "pos")  # views whose answers are spans or arcs
SESSION = re.compile(r"\d{4}-\d\d-\d\d[_T ]\d\d[-:]\d\d[-:]\d\d$")  # one that was given no name


def recognise(path: Path) -> bool:
    """Whether the file opens with an object that has Prodigy's hashes and a verdict."""
    return opens_with(
        path, r'"_(?:input|task)_hash"\s*:', r'"answer"\s*:\s*"(?:accept|reject|ignore)"'
    )


def read(path: Path, options: Options) -> Corpus:
    """Read every example; a scale may be declared, the rest is known."""
    check_options(path, options, TOOL)
    found = entries(path, options.encoding)
    examples = [_example(path, place, example) for place, example in found]
    if not examples:
        raise DataError(f"{path}: the file is empty")
    return _built(path, _judged(path, examples), options)


# ---- examples ----


@dataclass(frozen=True)
class _Example:
    place: str
    item: str
    person: str | None
    verdict: str
    label: str | None
    chosen: list[str] | None  # None where there is nothing to choose
    offered: list[str]
    several: bool  # whether more than one may be chosen
    shown: dict[str, str]  # role -> text or file
    elsewhere: bool  # whether it shows what is no file
    facts: dict[str, str]

    @property
    def question(self) -> str:
        return CHOSEN if self.chosen is not None else self.label or ANSWER


def _example(path: Path, place: str, found: dict[str, Any]) -> _Example:
    where = f"{path}, {place}"
    missing = [key for key in (ITEM, ANSWER) if found.get(key) is None]
    if missing:
        raise DataError(f"{where}: no {listed(missing)}; every example of Prodigy has both")
    if found[ANSWER] not in VERDICTS:
        raise DataError(f"{where}: 'answer' is {found[ANSWER]!r}; Prodigy has {listed(VERDICTS)}")
    view, is_choice = str(found.get("_view_id") or ""), "accept" in found or "options" in found
    if not is_choice and (view.endswith(BY_HAND) or found.get("spans")):
        raise DataError(
            f"{where}: a {view!r} task, whose answers are spans; only choices and labels are read"
        )
    config = found.get("config")
    style = config.get("choice_style") if isinstance(config, dict) else None
    shown, elsewhere = _shown(found)
    return _Example(
        place,
        str(found[ITEM]),
        _person(found),
        found[ANSWER],
        value_text(found.get(LABEL)),
        value_texts(found.get("accept")) if is_choice else None,
        value_texts(_ids(found.get("options"))),
        style == "multiple",
        shown,
        elsewhere,
        _facts(found, is_choice),
    )


def _person(found: dict[str, Any]) -> str | None:
    name = found.get(PERSON) or found.get("_session_id")
    return unquote(str(name)) if name else None


def _ids(offered: Any) -> list[Any]:
    """What the options of an example are called."""
    entries = offered if isinstance(offered, list) else []
    return [entry.get("id") if isinstance(entry, dict) else entry for entry in entries]


def _shown(found: dict[str, Any]) -> tuple[dict[str, str], bool]:
    """What was shown, by role, and whether some of it is no file."""
    shown = {role: found[role] for role in ("text", *MEDIA) if isinstance(found.get(role), str)}
    if "text" not in shown and isinstance(found.get("html"), str):
        shown["text"] = found["html"]
    files = {k: v for k, v in shown.items() if k == "text" or not v.startswith(ELSEWHERE)}
    return files, len(files) < len(shown)


def _facts(found: dict[str, Any], is_choice: bool) -> dict[str, str]:
    """What else an example says in plain texts: its own keys, those of `meta`, and when it was."""
    known = {*MEDIA, "text", "html", "accept", ANSWER, *(() if is_choice else (LABEL,))}
    meta = found.get("meta")
    facts = {f"meta.{key}": v for key, v in meta.items()} if isinstance(meta, dict) else {}
    facts |= {k: v for k, v in found.items() if k not in known and not k.startswith("_")}
    facts |= {"_timestamp": found.get("_timestamp")}
    return {k: str(value_text(v)) for k, v in facts.items() if isinstance(v, str | bool)}


# ---- what is read of them ----


@dataclass(frozen=True)
class _Judged:
    """The examples that hold an answer, and how many do not, by question and reason."""

    kept: list[_Example]
    left: Left
    notes: list[str] = field(default_factory=list)

    @property
    def is_choice(self) -> bool:
        return self.kept[0].chosen is not None

    @cached_property
    def several(self) -> bool:
        return any(one.several or len(one.chosen or ()) > 1 for one in self.kept)


def _judged(path: Path, examples: list[_Example]) -> _Judged:
    named = any(one.person for one in examples)
    kept, left = [], Left()
    for one in examples:
        reason = _left_out(one, named)
        if reason:
            left[one.question, reason] += 1
        else:
            kept.append(one)
    if not kept:
        raise DataError(
            f"{path}: no answers in {counted(len(examples), 'example')}: {by_reason(left)}"
        )
    kinds: dict[bool, _Example] = {}
    for one in kept:
        kinds.setdefault(one.chosen is not None, one)
    if len(kinds) > 1:
        places = " and ".join(one.place for one in kinds.values())
        raise DataError(
            f"{path}: choices and labels in one file ({places}); export each task by itself"
        )
    return _Judged(kept, left, [] if named else ["nobody is named, so that answers are anonymous"])


def _left_out(one: _Example, named: bool) -> str | None:
    """Why an example holds no answer, if it does not."""
    if one.verdict == "ignore":
        return "ignored"
    if one.chosen is not None and one.verdict == "reject":
        return "rejected"
    return "no annotator" if named and one.person is None else None


# ---- as a corpus ----


def _built(path: Path, judged: _Judged, options: Options) -> Corpus:
    kept = judged.kept
    people, named = _people(one.person for one in kept)
    rows = _rows(path, judged, people)
    shown = {role: role for role in ("text", *MEDIA) if role in rows.columns}
    labels = any(one.label for one in kept) and not judged.is_choice
    answer = CHOSEN if judged.is_choice else ANSWER
    who = PERSON if PERSON in rows.columns else None
    roles = ColumnRoles(ITEM, who, (answer,), shown, LABEL if labels else None)
    scale = options.scale if options.scale is not None else _scale(judged)
    said = [*judged.notes, *named]
    if any(one.elsewhere for one in kept):
        said.append("media that stand in the file itself or on the web are not read")
    return corpus_of(rows, roles, replace(options, scale=scale), TOOL, judged.left, said)


def _rows(path: Path, judged: _Judged, people: dict[str, str]) -> Rows:
    """The examples as a table of texts."""
    kept = judged.kept
    columns: dict[str, list[str | None]] = {ITEM: [one.item for one in kept]}
    if people:
        columns[PERSON] = [people[one.person or ""] for one in kept]
    if judged.is_choice:
        columns[CHOSEN] = [_chosen(one, judged.several) for one in kept]
    else:
        columns[ANSWER] = [one.verdict for one in kept]
        columns[LABEL] = [one.question for one in kept]
    for part in ("shown", "facts"):
        names = dict.fromkeys(name for one in kept for name in getattr(one, part))
        columns |= {name: [getattr(one, part).get(name) for one in kept] for name in names}
    sets = [CHOSEN] if judged.several else []
    return table(path, columns, [one.place for one in kept], sets)


def _chosen(one: _Example, several: bool) -> str | None:
    chosen = one.chosen or []
    return set_text(chosen) if several else next(iter(chosen), None)


def _scale(judged: _Judged) -> Scale | None:
    """What could be chosen, by anybody or not; None where nothing says so."""
    offered = dict.fromkeys(value for one in judged.kept for value in one.offered)
    if not offered or not judged.is_choice:
        return None
    values = list(
        offered | dict.fromkeys(value for one in judged.kept for value in one.chosen or ())
    )
    return MultiLabel(tuple(values)) if judged.several else infer_scale(values)


def _people(given: Iterable[str | None]) -> tuple[dict[str, str], list[str]]:
    """Annotators without the name of the dataset that Prodigy puts before theirs, and what is to be
    said of them."""
    names = list(dict.fromkeys(name for name in given if name))
    notes = []
    timed = sum(bool(SESSION.search(name)) for name in names)
    if timed:
        notes.append(
            f"{counted(timed, 'annotator')} named after a time, as sessions without a name are: "
            "one person may stand for several"
        )
    prefix = _dataset(names)
    if prefix:
        notes.append(f"annotators are named without {prefix!r}, which stands before all of them")
    return {name: name.removeprefix(prefix) for name in names}, notes


def _dataset(names: list[str]) -> str:
    """What all names begin with, up to a dash.

    Example:
        >>> _dataset(["moods-alice", "moods-bob"]), _dataset(["moods-alice"]), _dataset(["a", "ab"])
        ('moods-', '', '')
    """
    if len(names) < 2 or any(SESSION.search(name) for name in names):
        return ""
    alike = os.path.commonprefix(names)
    prefix = alike[: alike.rfind("-") + 1]
    return "" if prefix in names else prefix
