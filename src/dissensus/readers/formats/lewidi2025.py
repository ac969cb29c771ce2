"""LeWiDi 2025 JSON (third edition): an object per item, an answer per annotator.

    {"1": {"text": {"post": "so good!", "reply": "sure"}, "annotation task": "irony detection",
           "split": "train", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "0", "Ann2": "1"}}}

The same key can occur in several files for different items, so an item is named after split and
key: "train-1". An answer to the natural language inference task is a set ("entailment,neutral");
`annotators` then names an annotator once for each value chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.annotations import Annotations, Repeats
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, listed
from dissensus.files.checked_json import kind
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
from dissensus.scales import MultiLabel, Nominal, Ordinal, Scale, infer_scale, sorted_values

QUESTIONS = {"natural language inference": "inference"}  # others: the task without "detection"
SCALES: dict[str, Scale] = {
    "sarcasm": Ordinal(tuple(str(level) for level in range(1, 7))),
    "irony": Nominal(("0", "1")),
    "paraphrase": Ordinal(tuple(str(level) for level in range(-5, 6))),
    "inference": MultiLabel(("contradiction", "entailment", "neutral")),
}
SHARED = {"sarcasm": "context", "irony": "post", "inference": "context"}  # text of several items


def recognise(head: Head) -> bool:
    """Whether the file opens with items whose annotators are a text and annotations an object."""
    return opens_with(head, r'"annotators"\s*:\s*"', r'"annotations"\s*:\s*\{')


def read(path: Path, options: Layout) -> Corpus:
    """One file by itself; `datasets` joins the parts of a corpus and the facts about annotators."""
    return read_alone(path, options, "LeWiDi 2025", read_parts)


def read_parts(
    paths: Iterable[Path], name: str, repeats: Repeats = "error", encoding: str | None = None
) -> Corpus:
    """One corpus from several files, such as its training and its development part."""
    return build(paths, encoding, _item, lambda items: _built(name, items, repeats))


# ---- an entry of a file as an item ----


@dataclass(frozen=True)
class _Item:
    name: str
    split: str
    question: str
    texts: dict[str, str]  # by role
    answers: dict[str, str]  # by annotator, "" where there is none
    explanations: dict[str, list[str]]  # by annotator, one for each value chosen
    attributes: dict[str, str]


def _item(entry: dict[str, Any], where: str, key: str) -> _Item:
    info = as_object(entry.get("other_info") or {}, f"{where}, 'other_info'", "texts")
    split = as_text(entry, "split", where)
    task = as_text(entry, "annotation task", where).strip()
    question = QUESTIONS.get(task, without_detection(task))
    annotators = between_commas(as_text(entry, "annotators", where))
    facts = {"lang": entry["lang"]} if "lang" in entry else {}
    facts |= info
    return _Item(
        f"{split}-{key}",
        split,
        question,
        _texts(entry, where),
        _answers(entry, where, question, annotators),
        _explanations(info, where, annotators),
        {k: str(v) for k, v in facts.items() if isinstance(v, str | int | float)},
    )


def _texts(entry: dict[str, Any], where: str) -> dict[str, str]:
    text = as_text(entry, "text", where, objects=True)
    if isinstance(text, str):
        return {"text": text}
    return {role: as_text(text, role, f"{where}, 'text'") for role in text}


def _answers(
    entry: dict[str, Any], where: str, question: str, annotators: list[str]
) -> dict[str, str]:
    """The answer of each annotator; empty if the answers to an item are not published."""
    entries = as_object(entry["annotations"], f"{where}, 'annotations'", "answers by annotator")
    answers = {}
    for annotator, answer in entries.items():
        if not isinstance(answer, str | int) or isinstance(answer, bool):
            raise DataError(
                f"{where}: the answer of {annotator!r} must be a text, found {kind(answer)}"
            )
        answers[annotator] = str(answer).strip()
        _check(answers[annotator], question, where, annotator)
    if answers and set(answers) != set(annotators):
        raise DataError(
            f"{where}: 'annotators' names {listed(dict.fromkeys(annotators))} but 'annotations' "
            f"has {listed(answers)}"
        )
    stated = entry.get("number of annotations")
    if answers and stated not in (None, len(annotators)):
        raise DataError(
            f"{where}: 'number of annotations' is {stated!r} but there are {len(annotators)}"
        )
    return answers


def _check(answer: str, question: str, where: str, annotator: str) -> None:
    """Refuse an answer that a known question cannot have, while its item can be named."""
    scale = SCALES.get(question)
    if not isinstance(scale, Nominal | Ordinal | MultiLabel):
        return
    chosen = between_commas(answer) if isinstance(scale, MultiLabel) else [answer]
    unknown = [value for value in chosen if value not in scale.values]
    if answer and unknown:
        several = "some" if isinstance(scale, MultiLabel) else "one"
        raise DataError(
            f"{where}: {annotator!r} answered {listed(unknown)}; {question} is {several} of "
            f"{listed(scale.values, 11)}"
        )


def _explanations(info: dict[str, Any], where: str, annotators: list[str]) -> dict[str, list[str]]:
    """Free texts in the order of the annotators, one for each time that they are named."""
    texts = info.get("explanations")
    if texts is None:
        return {}
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: 'explanations' must be a list of texts")
    if len(texts) != len(annotators):
        raise DataError(
            f"{where}: 'explanations' has {len(texts)} entries but 'annotators' has "
            f"{len(annotators)}"
        )
    by_annotator: dict[str, list[str]] = {}
    for annotator, text in zip(annotators, texts, strict=True):
        by_annotator.setdefault(annotator, []).append(text)
    return by_annotator


# ---- items as a corpus ----


def _built(name: str, items: list[_Item], repeats: Repeats) -> Corpus:
    names = Names([item.name for item in items])
    distinct = {annotator for item in items for annotator in item.answers}
    annotators = Names(sorted(distinct, key=lambda name: (len(name), name)))  # Ann9, Ann10
    questions = list(dict.fromkeys(item.question for item in items))
    texts = columns([item.texts for item in items])
    attributes = columns([item.attributes for item in items])
    group = SHARED.get(questions[0]) if len(questions) == 1 else None
    if group in texts:
        attributes[group] = _first_with(texts[group], names)
    empty = {
        question: sum(not a for i in items if i.question == question for a in i.answers.values())
        for question in questions
    }
    return Corpus.build(
        name,
        names,
        {
            question: _annotations(items, question, names, annotators, repeats)
            for question in questions
        },
        annotators=annotators,
        contents={role: Contents.distinct("text", column) for role, column in texts.items()},
        item_attributes={key: pa.array(column) for key, column in attributes.items()},
        splits={"official": [item.split for item in items]},
        group=group if group in texts else None,
        left_out=tuple(LeftOut(q, "the answer is empty", n) for q, n in empty.items() if n),
    )


def _first_with(texts: list[str | None], names: Names) -> list[str | None]:
    """For each item, the name of the first item with the same text."""
    first: dict[str, str] = {}
    return [
        None if text is None else first.setdefault(text, name)
        for text, name in zip(texts, names, strict=True)
    ]


def _annotations(
    items: list[_Item], question: str, names: Names, annotators: Names, repeats: Repeats
) -> Annotations:
    rows = [
        (item.name, annotator, answer, item.explanations.get(annotator))
        for item in items
        if item.question == question
        for annotator, answer in item.answers.items()
        if answer
    ]
    item, annotator, answer, explanations = ([row[column] for row in rows] for column in range(4))
    answers = pa.array(answer, pa.string())
    extra = {"explanations": pa.array(explanations, pa.list_(pa.string()))}
    return Annotations.from_arrays(
        names.codes(pa.array(item, pa.string())),
        annotators.codes(pa.array(annotator, pa.string())),
        answers,
        SCALES.get(question) or _inferred(question, answers.unique().to_pylist()),
        items=names,
        annotators=annotators,
        extra=extra if any(explanations) else {},
        repeats=repeats,
    )


def _inferred(question: str, answers: list[str]) -> Scale:
    if not answers:
        raise DataError(f"{question!r} has no answers; a scale cannot be inferred")
    if any("," in answer for answer in answers):
        values = {value for answer in answers for value in between_commas(answer)}
        return MultiLabel(tuple(sorted_values(values)))
    return infer_scale(answers)
