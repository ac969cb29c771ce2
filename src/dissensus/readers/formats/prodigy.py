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
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.exports.responses import MARKED, Response, Span, entries, responses_corpus
from dissensus.readers.json_text import list_in, object_in, texts_in, value_text, value_texts
from dissensus.readers.layout import Layout
from dissensus.scales import MultiLabel, Scale, infer_scale

ITEM, ANNOTATOR = "_input_hash", "_annotator_id"
CHOSEN, ANSWER, SPANS = "choice", "answer", "spans"  # questions
VERDICTS = ("accept", "reject", "ignore")
SHOWN = ("text", "image", "audio", "video")
ELSEWHERE = ("data:", "http:", "https:")  # media that are not files
ARCS = ("relations", "dep")  # ends of views whose answers are arcs
SPANNED = ("_manual", "ner", "spans", "pos")  # ends of views whose answers are spans
SESSION = re.compile(r"\d{4}-\d\d-\d\d[_T ]\d\d[-:]\d\d[-:]\d\d$")  # of a session without a name
Example = dict[str, Any]


def read(path: Path, options: Layout) -> Corpus:
    """Read every example; a scale may be declared."""
    examples = list(entries(path, options.encoding))
    responses = [_response(path, place, example) for place, example in examples]
    kept = [one for one in responses if one.reason is None]
    kinds: dict[str, Response] = {}
    for one in kept:
        question = next(iter(one.answers))
        kinds.setdefault(question if question in (CHOSEN, SPANS) else "", one)
    if len(kinds) > 1:
        places = " and ".join(one.place for one in kinds.values())
        raise DataError(
            f"{path}: choices, labels or spans in one file ({places}); export each task by itself"
        )
    named = [one for one in kept if one.annotator]
    names = list(dict.fromkeys(str(one.annotator) for one in named))
    notes = []
    if timed := sum(bool(SESSION.search(name)) for name in names):
        notes.append(
            f"{counted(timed, 'annotator')} named after a time, as unnamed sessions are: "
            "one annotator may have several names"
        )
    if prefix := _dataset(names):
        notes.append(f"annotators are named without {prefix!r}, which all names begin with")
    for one in named:
        one.annotator = str(one.annotator).removeprefix(prefix)
    both = zip(examples, responses, strict=True)
    read_examples = [example for (_, example), one in both if one.reason is None]
    if any(_is_elsewhere(*one) for example in read_examples for one in _shown(example).items()):
        notes.append("media inside the file or on the web are not read")
    configs = [object_in(example.get("config")) for example in read_examples]
    sets = {CHOSEN} if any(one.get("choice_style") == "multiple" for one in configs) else set()
    sets |= {q for one in kept for q, values in one.answers.items() if len(values) > 1}
    if options.scale is None and CHOSEN in kinds:
        options = replace(options, scale=_scale(kept, read_examples, bool(sets)))
    sets |= kinds.keys() & {SPANS}
    named_as: dict[str, Any] = {"item": ITEM, "annotator": ANNOTATOR, "fields": SHOWN}
    named_as["verdict"] = ANSWER if "" in kinds else None
    return responses_corpus(path, responses, options, "Prodigy", notes, sets=sets, **named_as)


def _response(path: Path, place: str, example: Example) -> Response:
    where = f"{path}, {place}"
    missing = [key for key in (ITEM, ANSWER) if example.get(key) is None]
    if missing:
        raise DataError(f"{where}: no {listed(missing)}; every example of Prodigy has both")
    verdict = example[ANSWER]
    if verdict not in VERDICTS:
        raise DataError(f"{where}: 'answer' is {verdict!r}; Prodigy has {listed(VERDICTS)}")
    view = str(example.get("_view_id") or "")
    is_choice = "accept" in example or "options" in example
    if not is_choice and view.endswith(ARCS):
        raise DataError(
            f"{where}: a {view!r} task, whose answers are arcs; choices, labels and spans are read"
        )
    name = example.get(ANNOTATOR) or example.get("_session_id")
    one = Response(place, str(example[ITEM]), unquote(str(name)) if name else None, {})
    one.item_data = {k: v for k, v in _shown(example).items() if not _is_elsewhere(k, v)}
    own = {*SHOWN, "html", "accept", ANSWER, *(() if is_choice else ("label",))}
    own |= {key for key in example if key.startswith("_") and key != "_timestamp"}
    one.extra = texts_in(example.get("meta"), "meta.", kinds=str | bool)
    one.extra |= texts_in(example, skip=own, kinds=str | bool)
    if is_choice:
        one.answers[CHOSEN] = value_texts(example.get("accept"))
    elif view.endswith(SPANNED) or example.get(SPANS):
        one.answers[SPANS] = []
        for span in _spans(example):
            one.mark(span)
    else:
        one.answers[value_text(example.get("label")) or ANSWER] = [verdict]
        one.reason = "ignored" if verdict == "ignore" else None
        return one
    one.reason = {"accept": None, "reject": "rejected", "ignore": "ignored"}[verdict]
    return one


def _spans(example: Example) -> list[Span]:
    """What was marked: characters of a text or seconds of a clip."""
    key = next((key for key in ("audio_spans", SPANS) if isinstance(example.get(key), list)), "")
    more = {"seconds": key == "audio_spans"}
    spans = [
        Span.between(SPANS, one.get("start"), one.get("end"), one.get("label") or MARKED, **more)
        for one in list_in(example.get(key))
        if isinstance(one, dict)
    ]
    return [span for span in spans if span]  # others are boxes or polygons


def _shown(example: Example) -> dict[str, str]:
    shown = {role: example[role] for role in SHOWN if isinstance(example.get(role), str)}
    if "text" not in shown and isinstance(example.get("html"), str):
        shown["text"] = example["html"]
    return shown


def _is_elsewhere(role: str, written: str) -> bool:
    return role != "text" and written.startswith(ELSEWHERE)


def _scale(kept: Sequence[Response], examples: Sequence[Example], several: bool) -> Scale | None:
    """The scale of the options that were offered; None if the export does not list them."""
    offered = [one for example in examples for one in list_in(example.get("options"))]
    ids = [one.get("id") if isinstance(one, dict) else one for one in offered]
    values = dict.fromkeys(value_texts(ids))
    if not values:
        return None
    values |= dict.fromkeys(value for one in kept for value in one.answers[CHOSEN])
    return MultiLabel(tuple(values)) if several else infer_scale(list(values))


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
