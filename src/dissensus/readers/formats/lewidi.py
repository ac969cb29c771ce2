"""LeWiDi JSON: the 2023 edition (SemEval-2023 task 11) and the 2025 edition, an object per item.

    {"1": {"text": "so good!", "annotation task": "offensiveness detection", "split": "train",
           "annotators": "Ann1,Ann2", "annotations": "0,1", "hard_label": "0", "other_info": {}}}
    {"1": {"text": {"post": "so good!", "reply": "sure"}, "annotation task": "irony detection",
           "split": "train", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "0", "Ann2": "1"}}}

In 2023 the answers of an item are one text, in 2025 an object. Keys restart in every file, so an
item is named after split and key: "train-1". An answer to the natural language inference task is a
set ("entailment,neutral"); `annotators` then names an annotator once for each value chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations, Repeats
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, listed
from dissensus.files.checked_json import kind, parse_json
from dissensus.names import Names
from dissensus.readers.files import read_utf8
from dissensus.readers.json_text import as_object, parsed
from dissensus.readers.layout import Layout
from dissensus.scales import MultiLabel, Nominal, Ordinal, Scale, infer_scale, sorted_values

REQUIRED = ("text", "annotation task", "annotators", "annotations", "split")
QUESTIONS = {  # the annotation task, as the files spell it; others: the task without "detection"
    "hate speech detection": "hate",
    "misogyny and sexism detection in Arabic tweets": "misogyny",
    "abusivness detection": "severity",
    "offensiveness detection": "offensive",
    "natural language inference": "inference",
}
BINARY = Nominal(("0", "1"))
SCALES: dict[str, Scale] = {  # of known questions
    "severity": Ordinal(("-3", "-2", "-1", "0", "1")),
    **dict.fromkeys(
        "hate aggressive offensive misogyny abusive ableist homophobic intellectual racist sexist "
        "sex_harassment transphobic target.generalised target.individual target.system explicit "
        "implicit".split(),
        BINARY,
    ),
    "sarcasm": Ordinal(tuple(str(level) for level in range(1, 7))),
    "irony": Nominal(("0", "1")),
    "paraphrase": Ordinal(tuple(str(level) for level in range(-5, 6))),
    "inference": MultiLabel(("contradiction", "entailment", "neutral")),
}
WORDS = {"No": "0"}  # twice in HS-Brexit, in the place of a 0 or 1
SHARED = {"sarcasm": "context", "irony": "post", "inference": "context"}  # text of several items
DAMAGED = (
    "items whose conversation_ids share one id make one group, also where that id was damaged to "
    "the form 2.45945E+15 and may stand for several conversations"
)


def _read(path: Path, options: Layout, edition: int) -> Corpus:
    """One file by itself, with a note about its content; options about columns are refused.

    `datasets` puts the parts of a corpus together, and joins the facts about annotators.
    """
    stated = dict(options.columns_named, scale=options.scale, merge_variants=options.merge_variants)
    refused = [key for key, value in stated.items() if value not in (None, False)]
    if refused:
        raise DataError(
            f"{path}: in LeWiDi {edition} JSON the meaning of every key is fixed; leave out "
            f"{listed(refused)}"
        )
    name = re.sub(r"_(train|dev|test)$", "", path.stem)
    if options.corpus not in (None, name):
        raise DataError(f"{path}: no corpus {options.corpus!r}; the file has {name!r}")
    if options.repeats == "set":
        raise DataError(f'{path}: repeats="set" (--repeats set) is for tables; leave it out')
    corpus = read_parts([path], options.name or name, edition, options.repeats, options.encoding)
    note = (
        f"{path.name}: LeWiDi {edition} JSON; questions {', '.join(corpus.questions)}; "
        f"items {corpus.n_items}, annotators {corpus.n_annotators}"
    )
    return replace(corpus, notes=(note, *corpus.notes))


read_2023, read_2025 = partial(_read, edition=2023), partial(_read, edition=2025)


def read_parts(
    paths: Iterable[Path],
    name: str,
    edition: int,
    repeats: Repeats = "error",
    encoding: str | None = None,
) -> Corpus:
    """One corpus from several files, such as its training and its development part."""
    files = list(paths)
    items = _Items(edition)
    for path in files:
        for entry in _entries(path, encoding):
            items.add(*entry)
    try:
        return _corpus(name, items, repeats)
    except DataError as error:  # its messages name items and annotators, not files
        raise DataError(f"{', '.join(map(str, files))}: {error}") from None


# ---- the entries of files as columns ----


@dataclass
class _Items:
    """The columns of all items, and of their rows: one for each annotator of an item."""

    edition: int
    names: list[str] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    texts: list[dict[str, str]] = field(default_factory=list)  # by role
    attributes: list[dict[str, str]] = field(default_factory=list)
    item: list[int] = field(default_factory=list)  # of each row
    annotator: list[str] = field(default_factory=list)
    explanations: list[list[str] | None] = field(default_factory=list)  # one for each value chosen
    answers: dict[str, dict[int, str]] = field(default_factory=dict)  # question -> row -> answer
    gold: dict[str, dict[int, str]] = field(default_factory=dict)  # question -> item -> label
    of_annotators: dict[str, dict[str, str]] = field(default_factory=dict)  # attribute -> annotator

    def add(self, entry: dict[str, Any], where: str, key: str) -> None:
        info = as_object(entry.get("other_info") or {}, f"{where}, 'other_info'", "texts")
        split = _text(entry, "split", where)
        named = _parts(_text(entry, "annotators", where))
        if "" in named:
            raise DataError(f"{where}: 'annotators' has an empty name")
        main = _question(_text(entry, "annotation task", where).strip())
        texts = _texts(entry["text"], where, self.edition)
        if self.edition == 2023:
            answers = _answers_2023(entry, info, where, main, len(named))
            annotators = named
        else:
            answers = {main: _answers_2025(entry, where, named)}
            annotators = list(dict.fromkeys(named if answers[main] else ()))
        self._add_about_annotators(info, where, named)
        if self.edition == 2023 and entry.get("hard_label") not in (None, ""):
            question = "abusive" if main == "severity" else main
            label = str(entry["hard_label"])  # a number in some items of ConvAbuse
            self.gold.setdefault(question, {})[len(self.names)] = WORDS.get(label, label)
        explained = _explanations(info, where, named) if self.edition == 2025 else {}
        for question, values in answers.items():
            self.answers.setdefault(question, {}).update(enumerate(values, len(self.item)))
        self.item += [len(self.names)] * len(annotators)
        self.annotator += annotators
        self.explanations += [explained.get(name) for name in annotators]
        self.names.append(f"{split}-{key}")
        self.splits.append(split)
        self.texts.append(texts)
        facts = ({"lang": entry["lang"]} if "lang" in entry else {}) | info
        kept = {
            name.replace("conversation_id(s)", "conversation_ids"): str(fact)
            for name, fact in facts.items()
            if name == "lang" or isinstance(fact, str | int | float)
            if name not in {*named, "annotators group"} and not re.fullmatch(r"group\d+", name)
        }
        self.attributes.append(kept)

    def _add_about_annotators(self, info: dict[str, Any], where: str, named: list[str]) -> None:
        if "annotators group" in info:  # HS-Brexit
            groups = _parallel(info["annotators group"], where, "annotators group", len(named))
            by_name = {n: str(info.get(g, g)) for n, g in zip(named, groups, strict=True)}
            self.of_annotators.setdefault("group", {}).update(by_name)
        if profiles := {name: str(info[name]) for name in named if name in info}:  # ArMIS
            self.of_annotators.setdefault("profile", {}).update(profiles)


def _entries(path: Path, encoding: str | None) -> Iterable[tuple[dict[str, Any], str, str]]:
    """Each item's object, its place, for messages, and its key."""
    content = as_object(parsed(read_utf8(path, encoding), path), str(path), "items by key")
    if not content:
        raise DataError(f"{path}: no items")
    for key, entry in content.items():
        where = f"{path}, item {key!r}"
        entry = as_object(entry, where, "keys such as 'text' and 'annotations'")
        missing = [name for name in REQUIRED if name not in entry]
        if missing:
            raise DataError(f"{where}: no key {listed(missing)}; it has {listed(entry, 12)}")
        yield entry, where, key


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    """The value of this key, which must be a text."""
    value = entry[key]
    if not isinstance(value, str):
        raise DataError(f"{where}: {key!r} must be a text, found {kind(value)}")
    return value


def _parts(text: str) -> list[str]:
    """The parts of a text between commas; none of an empty one.

    Example:
        >>> _parts("Ann1, Ann2"), _parts(" ")
        (['Ann1', 'Ann2'], [])
    """
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _parallel(value: Any, where: str, key: str, n_annotators: int) -> list[str]:
    """The parts of a text that has one for every annotator; an empty text has empty parts."""
    parts = _parts(_text({key: value}, key, where)) or [""] * n_annotators
    if len(parts) != n_annotators:
        raise DataError(
            f"{where}: {key!r} has {len(parts)} entries but 'annotators' has {n_annotators}"
        )
    return parts


def _question(task: str) -> str:
    """The question of an annotation task.

    Example:
        >>> _question("offensive language detection"), _question("hate speech detection")
        ('offensive', 'hate')
    """
    return QUESTIONS.get(task, task.removesuffix(" detection").removesuffix(" language"))


def _texts(text: Any, where: str, edition: int) -> dict[str, str]:
    """The texts by role; ConvAbuse writes its four turns as JSON within the text."""
    if edition == 2023 and isinstance(text, str) and text.startswith("{"):
        with suppress(DataError):
            text = {key: str(value) for key, value in parse_json(text, "text").items()}
    if not isinstance(text, dict):
        return {"text": _text({"text": text}, "text", where)}
    return {role: _text(text, role, f"{where}, 'text'") for role in text}


def _answers_2023(
    entry: dict[str, Any], info: dict[str, Any], where: str, main: str, n_annotators: int
) -> dict[str, list[str]]:
    texts = {main: ("annotations", entry["annotations"])}  # question -> key and text
    for title in ("other annotations", "other_annotations"):
        for name, value in as_object(info.get(title) or {}, f"{where}, {title!r}", "texts").items():
            texts[_question(name)] = (name, value)
    return {
        question: _parallel(value, where, name, n_annotators)
        for question, (name, value) in texts.items()
    }


def _answers_2025(entry: dict[str, Any], where: str, named: list[str]) -> list[str]:
    answers = {}
    written = as_object(entry["annotations"], f"{where}, 'annotations'", "answers by annotator")
    for annotator, answer in written.items():
        if not isinstance(answer, str | int) or isinstance(answer, bool):
            raise DataError(
                f"{where}: the answer of {annotator!r} must be a text, found {kind(answer)}"
            )
        answers[annotator] = str(answer).strip()
    if answers and set(answers) != set(named):
        raise DataError(
            f"{where}: 'annotators' names {listed(dict.fromkeys(named))} but 'annotations' "
            f"has {listed(answers)}"
        )
    return [answers[name] for name in dict.fromkeys(named)] if answers else []


def _explanations(info: dict[str, Any], where: str, annotators: list[str]) -> dict[str, list[str]]:
    """Free texts in the order of the annotators, one for each time that they are named."""
    texts = info.get("explanations", [""] * len(annotators))
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
    return by_annotator if any(texts) else {}


# ---- columns as a corpus ----


def _corpus(name: str, items: _Items, repeats: Repeats) -> Corpus:
    names = Names(items.names)
    annotators = Names(sorted({*items.annotator}, key=lambda name: (len(name), name)))  # Ann9, 10
    item, annotator = (
        np.array(items.item, int),
        annotators.codes(pa.array(items.annotator, pa.string())),
    )
    questions: dict[str, Annotations] = {}
    left_out: list[LeftOut] = []
    notes: list[str] = []
    for task, by_row in items.answers.items():
        if n_empty := sum(answer == "" for answer in by_row.values()):
            left_out.append(LeftOut(task, "the answer is empty", n_empty))
        for word, meaning in WORDS.items() if SCALES.get(task) is BINARY else ():
            if n_words := sum(answer == word for answer in by_row.values()):
                by_row = {row: meaning if a == word else a for row, a in by_row.items()}
                notes.append(f"{task}: {n_words} answers {word!r} are taken to mean {meaning!r}")
        filled = {row: answer for row, answer in by_row.items() if answer}
        rows = np.array(list(filled), int)
        explained = [items.explanations[row] for row in filled]
        derived = {task: list(filled.values())}
        if task == "severity":  # below 0 it means abusive
            derived["abusive"] = [
                "1" if answer.startswith("-") else "0" for answer in derived[task]
            ]
        for question, answers in derived.items():
            questions[question] = Annotations.from_arrays(
                item[rows],
                annotator[rows],
                pa.array(answers, pa.string()),
                SCALES.get(question) or _inferred(question, answers),
                items=names,
                annotators=annotators,
                response=rows if items.edition == 2023 else None,
                extra={"explanations": pa.array(explained)} if any(explained) else {},
                repeats=repeats,
            )
    texts, attributes = _columns(items.texts), _columns(items.attributes)
    group = SHARED.get(next(iter(items.answers))) if len(items.answers) == 1 else None
    if group in texts:  # the name of the first item with the same text
        first = dict(zip(texts[group][::-1], items.names[::-1], strict=True))
        attributes[group] = [None if text is None else first[text] for text in texts[group]]
    elif "conversation_ids" in attributes:
        group = "conversation"
        attributes[group] = conversations(attributes["conversation_ids"])
        notes.append(DAMAGED)
    gold = {
        question: Annotations.from_arrays(
            np.array(list(of)), None, pa.array(of.values()), questions[question].scale, items=names
        )
        for question, of in items.gold.items()
    }
    return Corpus.build(
        name,
        names,
        questions,
        annotators=annotators,
        contents={role: Contents.distinct("text", column) for role, column in texts.items()},
        item_attributes={key: pa.array(column) for key, column in attributes.items()},
        annotator_attributes={
            key: pa.array([of.get(annotator) for annotator in annotators], pa.string())
            for key, of in items.of_annotators.items()
        },
        gold=gold,
        splits={"official": items.splits},
        group=group if group in attributes else None,
        left_out=tuple(left_out),
        notes=tuple(notes),
    )


def _columns(rows: Sequence[dict[str, str]]) -> dict[str, list[str | None]]:
    """Dicts, one per row, as one list per key; None where a row does not have the key."""
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [row.get(key) for row in rows] for key in keys}


def _inferred(question: str, answers: list[str]) -> Scale:
    if not answers:
        raise DataError(f"{question!r} has no answers; a scale cannot be inferred")
    if any("," in answer for answer in answers):
        return MultiLabel(tuple(sorted_values({v for answer in answers for v in _parts(answer)})))
    return infer_scale(list(dict.fromkeys(answers)))


def conversations(ids: list[str | None]) -> list[str | None]:
    """The group of each item, which a split must keep together.

    Items that share an id, directly or through other items, have the first id of all of them.

    Example:
        >>> conversations(["7", "8,9", "9", None])
        ['7', '8', '8', None]
    """
    parts = [_parts(text or "") for text in ids]
    names = list(dict.fromkeys(name for some in parts for name in some))
    code_of = {name: code for code, name in enumerate(names)}
    joined = list(range(len(names)))  # each id with an earlier one, or itself

    def first(name: str) -> int:
        code = code_of[name]
        while joined[code] != code:
            code = joined[code]
        return code

    for some in parts:
        groups = sorted({first(name) for name in some})
        for group in groups:
            joined[group] = groups[0]
    return [names[first(some[0])] if some else None for some in parts]
