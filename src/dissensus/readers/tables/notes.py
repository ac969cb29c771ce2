"""Notes: what a reader recognised, kept apart or left out, a line each."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import counted
from dissensus.names import Names
from dissensus.readers.tables.answers import NEVER
from dissensus.readers.tables.assembly import Assembled, short_text
from dissensus.readers.tables.column_roles import Choice


def told_parts(choice: Choice) -> list[str]:
    """What was shown and what else was recognised, an entry each."""
    told = [f"{role} = {column}" for role, column in choice.shown.items()]
    told += [f"gold = {column}" for column in choice.gold.values()]
    others = ("seconds", "count", "response", "split")
    return told + [f"{part} = {getattr(choice, part)}" for part in others if getattr(choice, part)]


def amounts(corpus: Corpus) -> str:
    """How much was read."""
    n_answers = sum(asked.n_answers for asked in corpus.questions.values())
    people = f" by {counted(corpus.n_annotators, 'annotator')}" if corpus.n_annotators else ""
    return f"{counted(n_answers, 'answer')}{people} on {counted(corpus.n_items, 'item')}"


def remarks(built: Assembled) -> list[str]:
    """What was kept apart, left out or is one-sided, a line each."""
    corpus, answers = built.corpus, built.answers
    said = [f"{name}: {note}" for name, found in answers.items() for note in found.notes]
    said += corpus.notes  # of gold labels
    for name, reason, n_answers in corpus.left_out:
        if reason == "repeated answer":
            said.append(f"{name}: {counted(n_answers, 'repeated answer')} left out")
    for name, found in answers.items():
        if (found.stored == found.stored[0]).all():
            value = found.scale.decode(found.stored[:1])[0]
            said.append(f"{name}: every answer is {value!r}, so agreement is undefined")
    said += [note for held in corpus.contents.values() for note in _missing_files(held)]
    said += _nobodies(corpus.annotators)
    said += _namesakes("annotators", corpus.annotators, case="case, ")
    said += _namesakes("items", corpus.items)
    if corpus.n_annotators == 1:
        said.append(f"{corpus.annotators[0]!r} is the only annotator, so agreement is undefined")
    return said


def _missing_files(held: Contents) -> list[str]:
    """Media that are not where the table says."""
    if held.kind in ("text", "features") or not pa.types.is_string(held.values.type):
        return []
    missing = [path for path in held.values.to_pylist() if not os.path.isfile(path)]
    if not missing:
        return []
    return [
        f"{len(missing)} of {counted(len(held), f'{held.kind} file')} missing, the first: "
        f"{missing[0]}; what reads them needs --skip-bad"
    ]


def _nobodies(people: Names) -> list[str]:
    """Annotators whose names are what programs write for nothing."""
    strange = [name for name in ([] if people.is_range else people) if name.casefold() in NEVER]
    return [f"{name!r} is taken for an annotator; is it nobody's name?" for name in strange]


def _namesakes(what: str, names: Names, case: str = "") -> list[str]:
    """Names that are written in several ways; where `case` is named, that may differ too."""
    if names.is_range or not len(names):
        return []
    spelled = _spelled_alike(names.array)
    spelled = pc.utf8_lower(spelled) if case else spelled
    if spelled.equals(names.array):
        return []  # the quick way out for a million different items
    counts = pc.value_counts(spelled)
    counts = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(counts):
        return []
    first = names.array.filter(pc.equal(spelled, counts.field("values")[0])).to_pylist()
    more = f" and {len(counts) - 1} more such" if len(counts) > 1 else ""
    ways = f"{case}outer space, how accents are encoded or a number's '.0'"
    return [
        f"{what} {', '.join(map(short_text, first[:4]))}{more} differ only in {ways}; are they one?"
    ]


def _spelled_alike(names: Any) -> Any:
    """Arrow strings as they would be without outer space, in one encoding, whole numbers whole."""
    names = pc.utf8_trim_whitespace(names)
    if not pc.all(pc.string_is_ascii(names)).as_py():
        names = pc.utf8_normalize(names, "NFC")
    if pc.any(pc.ends_with(names, ".0")).as_py():
        names = pc.replace_substring_regex(names, r"^(\d+)\.0$", r"\1")
    return names
