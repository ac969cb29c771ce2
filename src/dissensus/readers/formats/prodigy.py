"""The output of Prodigy's `db-out`: an annotated example per line, as JSON.

    {"text": "so good!", "_input_hash": -91551573, "_task_hash": -1162253049,
     "options": [{"id": "joy"}, {"id": "fear"}], "accept": ["joy"], "answer": "accept",
     "_view_id": "choice", "_annotator_id": "moods-alice", "_session_id": "moods-alice"}

An item is an input, as in Prodigy's own measures of agreement. If there are options, the question
is `choice`, and its answer the options that were chosen. Otherwise the annotator decides whether
the `label` of an example fits: every label is a question, answered by accept or reject. Where an
annotator marked spans by hand, the question is `spans`: their labels are the answer, and their
places rationales. Ignored examples are left out, and so are choices and spans in rejected ones.
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
    entries,
    export_corpus,
    spanned,
    table,
)
from dissensus.readers.exports.spans import MARKED, Span
from dissensus.readers.head import Head
from dissensus.readers.json_text import set_text, value_text, value_texts
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.rows import Rows
from dissensus.scales import MultiLabel, Scale, infer_scale

TOOL = "Prodigy"
ITEM, ANNOTATOR, CHOSEN, ANSWER, LABEL = "_input_hash", "_annotator_id", "choice", "answer", "label"
VERDICTS = ("accept", "reject", "ignore")
MEDIA = ("image", "audio", "video")
ELSEWHERE = ("data:", "http:", "https:")  # media that are not files
BY_HAND = ("relations", "dep")  # views whose answers are arcs
SPANNED = ("_manual", "ner", "spans", "pos")  # views whose answers are spans
SPANS = "spans"
SESSION = re.compile(r"\d{4}-\d\d-\d\d[_T ]\d\d[-:]\d\d[-:]\d\d$")  # of a session without a name


def recognise(head: Head) -> bool:
    """Whether the file opens with an object that has Prodigy's hashes and a verdict."""
    return head.opens_with(
        r'"_(?:input|task)_hash"\s*:', r'"answer"\s*:\s*"(?:accept|reject|ignore)"'
    )


def read(path: Path, options: Layout) -> Corpus:
    """Read every example; a scale may be declared."""
    check_options(path, options, TOOL)
    examples = [_example(path, *entry) for entry in entries(path, options.encoding)]
    if not examples:
        raise DataError(f"{path}: the file is empty")
    return _built(path, _judged(path, examples), options)


# ---- examples ----


@dataclass(frozen=True)
class _Example:
    place: str
    item: str
    annotator: str | None
    verdict: str
    label: str | None
    chosen: list[str] | None  # None if there is nothing to choose
    offered: list[str]
    several: bool  # whether more than one may be chosen
    shown: dict[str, str]  # role -> text or file
    elsewhere: bool  # whether it shows media that are not files
    extra: dict[str, str]
    spans: list[Span]
    by_hand: bool

    @property
    def question(self) -> str:
        if self.by_hand:
            return SPANS
        return CHOSEN if self.chosen is not None else self.label or ANSWER


def _example(path: Path, place: str, example: dict[str, Any]) -> _Example:
    where = f"{path}, {place}"
    missing = [key for key in (ITEM, ANSWER) if example.get(key) is None]
    if missing:
        raise DataError(f"{where}: no {listed(missing)}; every example of Prodigy has both")
    if example[ANSWER] not in VERDICTS:
        raise DataError(f"{where}: 'answer' is {example[ANSWER]!r}; Prodigy has {listed(VERDICTS)}")
    view, is_choice = (
        str(example.get("_view_id") or ""),
        "accept" in example or "options" in example,
    )
    by_hand = not is_choice and (view.endswith(SPANNED) or bool(example.get("spans")))
    if not is_choice and view.endswith(BY_HAND):
        raise DataError(
            f"{where}: a {view!r} task, whose answers are arcs; choices, labels and spans are read"
        )
    spans = _spans(example) if by_hand else []
    config = example.get("config")
    style = config.get("choice_style") if isinstance(config, dict) else None
    shown, elsewhere = _shown(example)
    return _Example(
        place,
        str(example[ITEM]),
        _annotator(example),
        example[ANSWER],
        value_text(example.get(LABEL)),
        _chosen_values(example, is_choice, by_hand, spans),
        value_texts(_ids(example.get("options"))),
        style == "multiple" or by_hand,
        shown,
        elsewhere,
        _extra(example, is_choice),
        spans,
        by_hand,
    )


def _chosen_values(
    example: dict[str, Any], is_choice: bool, by_hand: bool, spans: list[Span]
) -> list[str] | None:
    if by_hand:
        return list(dict.fromkeys(span.label for span in spans))
    return value_texts(example.get("accept")) if is_choice else None


def _spans(example: dict[str, Any]) -> list[Span]:
    """What was marked: characters of a text or seconds of a clip."""
    key = next((key for key in ("audio_spans", "spans") if isinstance(example.get(key), list)), "")
    spans = []
    for one in example.get(key) or ():
        try:
            start, stop = float(one["start"]), float(one["end"])
        except (KeyError, TypeError, ValueError):
            continue  # a box or a polygon
        label, seconds = str(one.get("label") or MARKED), key == "audio_spans"
        spans.append(Span(SPANS, (start,), (stop,), label, seconds=seconds))
    return spans


def _annotator(example: dict[str, Any]) -> str | None:
    name = example.get(ANNOTATOR) or example.get("_session_id")
    return unquote(str(name)) if name else None


def _ids(offered: Any) -> list[Any]:
    """The ids of the options of an example."""
    entries = offered if isinstance(offered, list) else []
    return [entry.get("id") if isinstance(entry, dict) else entry for entry in entries]


def _shown(example: dict[str, Any]) -> tuple[dict[str, str], bool]:
    """The content by role, and whether some of it is not a file."""
    shown = {role: example[role] for role in ("text", *MEDIA) if isinstance(example.get(role), str)}
    if "text" not in shown and isinstance(example.get("html"), str):
        shown["text"] = example["html"]
    files = {k: v for k, v in shown.items() if k == "text" or not v.startswith(ELSEWHERE)}
    return files, len(files) < len(shown)


def _extra(example: dict[str, Any], is_choice: bool) -> dict[str, str]:
    """The other plain texts of an example: its own keys, those of `meta`, and its time."""
    known = {*MEDIA, "text", "html", "accept", ANSWER, *(() if is_choice else (LABEL,))}
    meta = example.get("meta")
    extra = {f"meta.{key}": v for key, v in meta.items()} if isinstance(meta, dict) else {}
    extra |= {k: v for k, v in example.items() if k not in known and not k.startswith("_")}
    extra |= {"_timestamp": example.get("_timestamp")}
    return {k: str(value_text(v)) for k, v in extra.items() if isinstance(v, str | bool)}


# ---- which examples are read ----


@dataclass(frozen=True)
class _Judged:
    """The examples with an answer, and how many have none, by question and reason."""

    kept: list[_Example]
    left: Left
    notes: list[str] = field(default_factory=list)

    @property
    def is_choice(self) -> bool:
        return self.kept[0].chosen is not None

    @property
    def name(self) -> str:
        """The column of answers."""
        return self.kept[0].question if self.is_choice else ANSWER

    @cached_property
    def several(self) -> bool:
        return any(one.several or len(one.chosen or ()) > 1 for one in self.kept)


def _judged(path: Path, examples: list[_Example]) -> _Judged:
    named = any(one.annotator for one in examples)
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
    kinds: dict[str, _Example] = {}
    for one in kept:
        kinds.setdefault("" if one.chosen is None else one.question, one)
    if len(kinds) > 1:
        places = " and ".join(one.place for one in kinds.values())
        raise DataError(
            f"{path}: choices, labels or spans in one file ({places}); export each task by itself"
        )
    return _Judged(kept, left, [] if named else ["no annotator is named: answers are anonymous"])


def _left_out(one: _Example, named: bool) -> str | None:
    """Why an example has no answer, if it has none."""
    if one.verdict == "ignore":
        return "ignored"
    if one.chosen is not None and one.verdict == "reject":
        return "rejected"
    return "no annotator" if named and one.annotator is None else None


# ---- as a corpus ----


def _built(path: Path, judged: _Judged, options: Layout) -> Corpus:
    kept = judged.kept
    short_names, named = _short_names(one.annotator for one in kept)
    rows = _rows(path, judged, short_names)
    shown = {role: role for role in ("text", *MEDIA) if role in rows.columns}
    labels = any(one.label for one in kept) and not judged.is_choice
    answer = judged.name
    annotator = ANNOTATOR if ANNOTATOR in rows.columns else None
    roles = ColumnRoles(ITEM, annotator, (answer,), shown, LABEL if labels else None)
    scale = options.scale if options.scale is not None else _scale(judged)
    notes = [*judged.notes, *named]
    if any(one.elsewhere for one in kept):
        notes.append("media inside the file or on the web are not read")
    corpus = export_corpus(rows, roles, replace(options, scale=scale), TOOL, judged.left, notes)
    spans = [(one.item, short_names.get(one.annotator or ""), s) for one in kept for s in one.spans]
    return spanned(corpus, spans, rows.name)


def _rows(path: Path, judged: _Judged, short_names: dict[str, str]) -> Rows:
    """The examples as a table of texts."""
    kept = judged.kept
    columns: dict[str, list[str | None]] = {ITEM: [one.item for one in kept]}
    if short_names:
        columns[ANNOTATOR] = [short_names[one.annotator or ""] for one in kept]
    if judged.is_choice:
        columns[judged.name] = [_chosen(one, judged.several) for one in kept]
    else:
        columns[ANSWER] = [one.verdict for one in kept]
        columns[LABEL] = [one.question for one in kept]
    for part in ("shown", "extra"):
        names = dict.fromkeys(name for one in kept for name in getattr(one, part))
        columns |= {name: [getattr(one, part).get(name) for one in kept] for name in names}
    sets = [judged.name] if judged.several and judged.is_choice else []
    return table(path, columns, [one.place for one in kept], sets)


def _chosen(one: _Example, several: bool) -> str | None:
    chosen = one.chosen or []
    return set_text(chosen) if several else next(iter(chosen), None)


def _scale(judged: _Judged) -> Scale | None:
    """The scale of the options that were offered; None if the export does not list them."""
    offered = dict.fromkeys(value for one in judged.kept for value in one.offered)
    if not offered or not judged.is_choice:
        return None
    values = list(
        offered | dict.fromkeys(value for one in judged.kept for value in one.chosen or ())
    )
    return MultiLabel(tuple(values)) if judged.several else infer_scale(values)


def _short_names(annotators: Iterable[str | None]) -> tuple[dict[str, str], list[str]]:
    """Names of annotators without the name of the dataset, which Prodigy puts first; and notes."""
    names = list(dict.fromkeys(name for name in annotators if name))
    notes = []
    timed = sum(bool(SESSION.search(name)) for name in names)
    if timed:
        notes.append(
            f"{counted(timed, 'annotator')} named after a time, as unnamed sessions are: "
            "one annotator may have several names"
        )
    prefix = _dataset(names)
    if prefix:
        notes.append(f"annotators are named without {prefix!r}, which all names begin with")
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
