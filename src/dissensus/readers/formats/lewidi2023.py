"""LeWiDi 2023 JSON (SemEval-2023 task 11): an object per item, its answers in one text.

    {"1": {"text": "so good!", "annotation task": "offensiveness detection", "split": "train",
           "annotators": "Ann1,Ann2", "annotations": "0,1", "hard_label": "0", "other_info": {}}}

Keys restart in every file, so an item is named after split and key: "train-1".
"""

from __future__ import annotations

import json
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
from dissensus.readers.json_text import as_object
from dissensus.readers.options import Options
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


def recognise(path: Path) -> bool:
    """Whether the file opens with items whose annotators and annotations are texts."""
    return opens_with(path, *_PARALLEL)


def read(path: Path, options: Options) -> Corpus:
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
    people: dict[str, dict[str, str]] = field(default_factory=dict)  # attribute -> annotator ->


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
        _people(info, where, annotators),
    )


def _answers(
    entry: dict[str, Any], info: dict[str, Any], where: str, n_annotators: int
) -> dict[str, list[str]]:
    """Every question's answers, the main question first."""
    task = as_text(entry, "annotation task", where).strip()
    main = QUESTIONS.get(task, without_detection(task))
    asked = {main: ("annotations", entry["annotations"])}
    for title in ("other annotations", "other_annotations"):
        for key, value in as_object(info.get(title) or {}, f"{where}, {title!r}", "texts").items():
            asked[without_detection(key)] = (key, value)
    found = {}
    for question, (key, value) in asked.items():
        found[question] = _parallel(value, where, key, n_annotators)
        _check(found[question], question, where, key)
    stated = entry.get("number of annotations")
    if stated not in (None, n_annotators) and any(found[main]):
        raise DataError(
            f"{where}: 'number of annotations' is {stated!r} but there are {n_annotators}"
        )
    return found


def _check(answers: list[str], question: str, where: str, key: str) -> None:
    """Refuse an answer that a known question cannot have; here, where its item is known."""
    scale = SCALES.get(question)
    if isinstance(scale, Nominal | Ordinal):
        allowed = {"", *scale.values, *_words(question)}
        strange = [answer for answer in answers if answer not in allowed]
        if strange:
            raise DataError(
                f"{where}: {key!r} has {listed(strange)}; {question} is one of "
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
            text = json.loads(text)
        except json.JSONDecodeError:
            return {"text": text}
    return {str(k): str(v) for k, v in text.items()} if isinstance(text, dict) else {"text": text}


def _attributes(
    entry: dict[str, Any], info: dict[str, Any], annotators: list[str]
) -> dict[str, str]:
    """Facts about the item: the language, and those of `other_info` that are about no person."""
    about_people = {*annotators, "annotators group"}
    facts = {
        key.replace("conversation_id(s)", "conversation_ids"): str(value)
        for key, value in info.items()
        if isinstance(value, str | int | float)
        and key not in about_people
        and not re.fullmatch(r"group\d+", key)
    }
    return ({"lang": str(entry["lang"])} if "lang" in entry else {}) | facts


def _people(info: dict[str, Any], where: str, annotators: list[str]) -> dict[str, dict[str, str]]:
    """Facts about the annotators: HS-Brexit's `group`, ArMIS's `profile`."""
    known = {}
    if "annotators group" in info:
        codes = _parallel(info["annotators group"], where, "annotators group", len(annotators))
        groups = [str(info.get(code, code)) for code in codes]
        known["group"] = dict(zip(annotators, groups, strict=True))
    profiles = {name: str(info[name]) for name in annotators if name in info}
    return known | ({"profile": profiles} if profiles else {})


def _parallel(value: Any, where: str, key: str, n_annotators: int) -> list[str]:
    """The parts of a text that has one for every annotator, or none for anybody."""
    parts = between_commas(as_text({key: value}, key, where)) or [""] * n_annotators
    if len(parts) != n_annotators:
        raise DataError(
            f"{where}: {key!r} has {len(parts)} entries but 'annotators' has {n_annotators}"
        )
    return parts


# ---- items as a corpus ----


def _built(name: str, items: list[_Item], repeats: Repeats) -> Corpus:
    names = Names([item.name for item in items])
    everyone = {person for item in items for person in item.annotators}
    annotators = Names(sorted(everyone, key=lambda person: (len(person), person)))  # Ann9, Ann10
    questions, left_out, notes = _questions(items, names, annotators, repeats)
    attributes = columns([item.attributes for item in items])
    if "conversation_ids" in attributes:
        attributes["conversation"] = conversations(attributes["conversation_ids"])
        notes.append(
            "items whose conversation_ids share one id make one group, also where that id was "
            "damaged to the form 2.45945E+15 and may stand for several conversations"
        )
    texts = columns([item.texts for item in items])
    people: dict[str, dict[str, str]] = {}
    for item in items:
        for key, found in item.people.items():
            people.setdefault(key, {}).update(found)
    return Corpus.build(
        name,
        names,
        questions,
        annotators=annotators,
        contents={role: Contents.distinct("text", column) for role, column in texts.items()},
        item_attributes={key: pa.array(column) for key, column in attributes.items()},
        annotator_attributes={
            key: pa.array([found.get(person) for person in annotators], pa.string())
            for key, found in people.items()
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
    """Every question; row r of each is what one person said about one item, response r."""
    item = np.repeat(np.arange(len(items)), [len(entry.annotators) for entry in items])
    people = pa.array([person for entry in items for person in entry.annotators], pa.string())
    annotator = annotators.codes(people)
    asked, left_out, notes = {}, [], []
    for question in dict.fromkeys(q for entry in items for q in entry.answers):
        given = _given(items, question)
        n_empty = int((given == "").sum())
        if n_empty:
            left_out.append(LeftOut(question, "the answer is empty", n_empty))
        notes += _reworded(question, given)
        rows = np.flatnonzero([bool(answer) for answer in given])
        for title, answers in _readings(question, given[rows]).items():
            asked[title] = Annotations.from_arrays(
                item[rows],
                annotator[rows],
                pa.array(answers, pa.string()),
                SCALES.get(title) or _inferred(title, answers),
                items=names,
                annotators=annotators,
                response=rows,
                repeats=repeats,
            )
    return asked, left_out, notes


def _given(items: list[_Item], question: str) -> np.ndarray:
    """One question's answers, a row per person and item; None where the item did not ask it."""
    nobody = [entry.answers.get(question, [None] * len(entry.annotators)) for entry in items]
    return np.array([answer for answers in nobody for answer in answers], dtype=object)


def _reworded(question: str, given: np.ndarray) -> list[str]:
    """Put the answer in the place of a word that stands for it, and say so."""
    notes = []
    for word, answer in _words(question).items():
        found = given == word
        given[found] = answer
        if found.any():
            notes.append(f"{question}: {found.sum()} answers {word!r} are taken to mean {answer!r}")
    return notes


def _readings(question: str, given: np.ndarray) -> dict[str, list[str]]:
    """The questions that these answers answer: a severity below 0 also says `abusive`."""
    answers = given.tolist()
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
    """A name for what must not be cut by a split: items that share an id, directly or through
    others, bear the first id of them all.

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
