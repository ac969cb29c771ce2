"""LeWiDi 2023 JSON (SemEval-2023 task 11): an object per item, its answers in one text.

    {"1": {"text": "so good!", "annotation task": "offensiveness detection", "split": "train",
           "annotators": "Ann1,Ann2", "annotations": "0,1", "hard_label": "0", "other_info": {}}}

Keys restart in every file, so an item is named after split and key: "train-1".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations, Repeats
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, listed
from dissensus.files.checked_json import parse_json
from dissensus.names import Names
from dissensus.readers.formats.lewidi import (
    as_text,
    between_commas,
    build,
    columns,
    opens_with,
    read_alone,
    without_detection,
)
from dissensus.readers.head import Head
from dissensus.readers.json_text import as_object
from dissensus.readers.layout import Layout
from dissensus.scales import Nominal, Ordinal, Scale, infer_scale

QUESTIONS = {  # the annotation task, as the files spell it
    "hate speech detection": "hate",
    "misogyny and sexism detection in Arabic tweets": "misogyny",
    "abusivness detection": "severity",
    "offensiveness detection": "offensive",
}
BINARY = Nominal(("0", "1"))
SCALES: dict[str, Scale] = {
    "severity": Ordinal(("-3", "-2", "-1", "0", "1")),
    **dict.fromkeys(
        "hate aggressive offensive misogyny abusive ableist homophobic intellectual racist sexist "
        "sex_harassment transphobic target.generalised target.individual target.system explicit "
        "implicit".split(),
        BINARY,
    ),
}
WORDS = {"No": "0"}  # twice in HS-Brexit, in the place of a 0 or 1
_PARALLEL = [rf'"{key}"\s*:\s*"' for key in ("annotators", "annotations")]


def recognise(head: Head) -> bool:
    """Whether the file opens with items whose annotators and annotations are texts."""
    return opens_with(head, *_PARALLEL)


def read(path: Path, options: Layout) -> Corpus:
    """One file by itself; `datasets` puts the parts of a corpus together."""
    return read_alone(path, options, "LeWiDi 2023", read_parts)


def read_parts(
    paths: Iterable[Path], name: str, repeats: Repeats = "error", encoding: str | None = None
) -> Corpus:
    """One corpus from several files, such as its training and its development part."""
    return build(paths, encoding, _item, lambda items: _built(name, items, repeats))


# ---- a file as items ----


@dataclass(frozen=True)
class _Item:
    name: str
    split: str
    texts: dict[str, str]  # by role
    annotators: list[str]
    answers: dict[str, list[str]]  # question -> an answer per annotator, "" where there is none
    gold: tuple[str, str] | None  # question and label
    attributes: dict[str, str]
    annotator_attributes: dict[str, dict[str, str]] = field(default_factory=dict)  # by annotator


def _item(entry: dict[str, Any], where: str, key: str) -> _Item:
    info = as_object(entry.get("other_info") or {}, f"{where}, 'other_info'", "texts")
    split = as_text(entry, "split", where)
    annotators = between_commas(as_text(entry, "annotators", where))
    if "" in annotators:
        raise DataError(f"{where}: 'annotators' has an empty name")
    answers = _answers(entry, info, where, len(annotators))
    return _Item(
        f"{split}-{key}",
        split,
        _texts(as_text(entry, "text", where, objects=True)),
        annotators,
        answers,
        _gold(entry, where, next(iter(answers))),
        _attributes(entry, info, annotators),
        _annotator_attributes(info, where, annotators),
    )


def _answers(
    entry: dict[str, Any], info: dict[str, Any], where: str, n_annotators: int
) -> dict[str, list[str]]:
    """Every question's answers, the main question first."""
    task = as_text(entry, "annotation task", where).strip()
    main = QUESTIONS.get(task, without_detection(task))
    texts = {main: ("annotations", entry["annotations"])}  # question -> key and text
    for title in ("other annotations", "other_annotations"):
        for key, value in as_object(info.get(title) or {}, f"{where}, {title!r}", "texts").items():
            texts[without_detection(key)] = (key, value)
    answers = {}
    for question, (key, value) in texts.items():
        answers[question] = _parallel(value, where, key, n_annotators)
        _check(answers[question], question, where, key)
    stated = entry.get("number of annotations")
    if stated not in (None, n_annotators) and any(answers[main]):
        raise DataError(
            f"{where}: 'number of annotations' is {stated!r} but there are {n_annotators}"
        )
    return answers


def _check(answers: list[str], question: str, where: str, key: str) -> None:
    """Refuse an answer that a known question cannot have, while its item can be named."""
    scale = SCALES.get(question)
    if isinstance(scale, Nominal | Ordinal):
        allowed = {"", *scale.values, *_words(question)}
        unknown = [answer for answer in answers if answer not in allowed]
        if unknown:
            raise DataError(
                f"{where}: {key!r} has {listed(unknown)}; {question} is one of "
                f"{listed(scale.values)}"
            )


def _words(question: str) -> dict[str, str]:
    """Words that stand for answers to this question."""
    return WORDS if SCALES.get(question) is BINARY else {}


def _gold(entry: dict[str, Any], where: str, main: str) -> tuple[str, str] | None:
    label = entry.get("hard_label")
    if label in (None, ""):
        return None
    question = "abusive" if main == "severity" else main
    label = str(label)  # a number in some items of ConvAbuse
    _check([label], question, where, "hard_label")
    return question, _words(question).get(label, label)


def _texts(text: Any) -> dict[str, str]:
    """The texts by role; ConvAbuse writes its four turns as JSON within the text."""
    if isinstance(text, str) and text.startswith("{"):
        try:
            text = parse_json(text, "text")
        except DataError:
            return {"text": text}
    return {str(k): str(v) for k, v in text.items()} if isinstance(text, dict) else {"text": text}


def _attributes(
    entry: dict[str, Any], info: dict[str, Any], annotators: list[str]
) -> dict[str, str]:
    """Attributes of the item: the language, and `other_info` without facts about annotators."""
    about_annotators = {*annotators, "annotators group"}
    facts = {
        key.replace("conversation_id(s)", "conversation_ids"): str(value)
        for key, value in info.items()
        if isinstance(value, str | int | float)
        and key not in about_annotators
        and not re.fullmatch(r"group\d+", key)
    }
    return ({"lang": str(entry["lang"])} if "lang" in entry else {}) | facts


def _annotator_attributes(
    info: dict[str, Any], where: str, annotators: list[str]
) -> dict[str, dict[str, str]]:
    """Attributes of the annotators: HS-Brexit's `group`, ArMIS's `profile`."""
    attributes = {}
    if "annotators group" in info:
        codes = _parallel(info["annotators group"], where, "annotators group", len(annotators))
        groups = [str(info.get(code, code)) for code in codes]
        attributes["group"] = dict(zip(annotators, groups, strict=True))
    profiles = {name: str(info[name]) for name in annotators if name in info}
    return attributes | ({"profile": profiles} if profiles else {})


def _parallel(value: Any, where: str, key: str, n_annotators: int) -> list[str]:
    """The parts of a text that has one for every annotator; an empty text has empty parts."""
    parts = between_commas(as_text({key: value}, key, where)) or [""] * n_annotators
    if len(parts) != n_annotators:
        raise DataError(
            f"{where}: {key!r} has {len(parts)} entries but 'annotators' has {n_annotators}"
        )
    return parts


# ---- items as a corpus ----


def _built(name: str, items: list[_Item], repeats: Repeats) -> Corpus:
    names = Names([item.name for item in items])
    distinct = {annotator for item in items for annotator in item.annotators}
    annotators = Names(sorted(distinct, key=lambda name: (len(name), name)))  # Ann9, Ann10
    questions, left_out, notes = _questions(items, names, annotators, repeats)
    attributes = columns([item.attributes for item in items])
    if "conversation_ids" in attributes:
        attributes["conversation"] = conversations(attributes["conversation_ids"])
        notes.append(
            "items whose conversation_ids share one id make one group, also where that id was "
            "damaged to the form 2.45945E+15 and may stand for several conversations"
        )
    texts = columns([item.texts for item in items])
    by_annotator: dict[str, dict[str, str]] = {}
    for item in items:
        for key, values in item.annotator_attributes.items():
            by_annotator.setdefault(key, {}).update(values)
    return Corpus.build(
        name,
        names,
        questions,
        annotators=annotators,
        contents={role: Contents.distinct("text", column) for role, column in texts.items()},
        item_attributes={key: pa.array(column) for key, column in attributes.items()},
        annotator_attributes={
            key: pa.array([values.get(annotator) for annotator in annotators], pa.string())
            for key, values in by_annotator.items()
        },
        gold=_labels(items, names, questions),
        splits={"official": [item.split for item in items]},
        group="conversation" if "conversation" in attributes else None,
        left_out=tuple(left_out),
        notes=tuple(notes),
    )


def _questions(
    items: list[_Item], names: Names, annotators: Names, repeats: Repeats
) -> tuple[dict[str, Annotations], list[LeftOut], list[str]]:
    """Every question; row r of each belongs to one annotator and one item, response r."""
    item = np.repeat(np.arange(len(items)), [len(entry.annotators) for entry in items])
    row_names = pa.array([name for entry in items for name in entry.annotators], pa.string())
    annotator = annotators.codes(row_names)
    questions, left_out, notes = {}, [], []
    for question in dict.fromkeys(q for entry in items for q in entry.answers):
        row_answers = _row_answers(items, question)
        n_empty = int((row_answers == "").sum())
        if n_empty:
            left_out.append(LeftOut(question, "the answer is empty", n_empty))
        notes += _replace_words(question, row_answers)
        rows = np.flatnonzero([bool(answer) for answer in row_answers])
        for title, answers in _derived_questions(question, row_answers[rows]).items():
            questions[title] = Annotations.from_arrays(
                item[rows],
                annotator[rows],
                pa.array(answers, pa.string()),
                SCALES.get(title) or _inferred(title, answers),
                items=names,
                annotators=annotators,
                response=rows,
                repeats=repeats,
            )
    return questions, left_out, notes


def _row_answers(items: list[_Item], question: str) -> np.ndarray:
    """The answers to a question, a row per annotator and item; None if the item lacks it."""
    lists = [entry.answers.get(question, [None] * len(entry.annotators)) for entry in items]
    return np.array([answer for answers in lists for answer in answers], dtype=object)


def _replace_words(question: str, row_answers: np.ndarray) -> list[str]:
    """Replace words that stand for an answer, in place; returns notes about it."""
    notes = []
    for word, answer in _words(question).items():
        matches = row_answers == word
        row_answers[matches] = answer
        if matches.any():
            notes.append(
                f"{question}: {matches.sum()} answers {word!r} are taken to mean {answer!r}"
            )
    return notes


def _derived_questions(question: str, row_answers: np.ndarray) -> dict[str, list[str]]:
    """The question and what follows from it: a severity below 0 means `abusive`."""
    answers = row_answers.tolist()
    if question != "severity":
        return {question: answers}
    return {question: answers, "abusive": ["1" if int(a) < 0 else "0" for a in answers]}


def _inferred(question: str, answers: list[str]) -> Scale:
    if not answers:
        raise DataError(f"{question!r} has no answers; a scale cannot be inferred")
    return infer_scale(list(dict.fromkeys(answers)))


def _labels(
    items: list[_Item], names: Names, questions: Mapping[str, Annotations]
) -> dict[str, Annotations]:
    gold = {}
    for question in dict.fromkeys(item.gold[0] for item in items if item.gold):
        rows = [
            (code, item.gold[1])
            for code, item in enumerate(items)
            if item.gold and item.gold[0] == question
        ]
        gold[question] = Annotations.from_arrays(
            np.array([code for code, _ in rows]),
            None,
            pa.array([label for _, label in rows]),
            questions[question].scale,
            items=names,
        )
    return gold


def conversations(ids: list[str | None]) -> list[str | None]:
    """The group of each item, which a split must keep together.

    Items that share an id, directly or through other items, have the first id of all of them.

    Example:
        >>> conversations(["7", "8,9", "9", None])
        ['7', '8', '8', None]
    """
    head: dict[str, str] = {}

    def find(one: str) -> str:
        while head.setdefault(one, one) != one:
            one = head[one]
        return one

    first: list[str | None] = []
    for text in ids:
        parts = between_commas(text or "")
        for part in parts[1:]:
            head[find(part)] = find(parts[0])
        first.append(parts[0] if parts else None)
    return [None if one is None else find(one) for one in first]
