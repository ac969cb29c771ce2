"""ELAN's files (.eaf): tiers of intervals of a recording.

An item is a recording. The annotator is the one that a tier names (ANNOTATOR); if tiers name none,
a file for each annotator is told by its name. A question is a tier without the annotator's name in
it. Its answer is the set of values, and the intervals, in seconds, are rationales. A tier whose
values hardly repeat is a transcript and is not read.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, cut, listed
from dissensus.readers.exports.folders import documents_and_annotators, files_in
from dissensus.readers.exports.responses import MARKED, Response, Span, responses_corpus
from dissensus.readers.files import read_bytes
from dissensus.readers.layout import Layout

MANY, REPEATS = 20, 0.5  # values of a tier, and their share among its intervals, of a transcript
_SOUND = (".wav", ".mp3", ".flac", ".ogg", ".m4a")


@dataclass(frozen=True)
class _Tier:
    name: str
    annotator: str
    intervals: tuple[tuple[float, float, str], ...]  # seconds, value


@dataclass(frozen=True)
class _Recording:
    media: tuple[str, ...]
    tiers: tuple[_Tier, ...]
    n_unplaced: int  # annotations whose times are not known


def read(path: Path, options: Layout) -> Corpus:
    """Read the intervals of every annotator."""
    recordings = {file: _recording(file) for file in files_in(path, ".eaf")}
    if not recordings:
        raise DataError(f"{path}: no file that ends in .eaf")
    named = documents_and_annotators(
        {file: one.media[0] if one.media else file.stem for file, one in recordings.items()}
    )
    transcripts = _transcripts(recordings.values())
    responses: dict[tuple[str, str | None], Response] = {}
    for file, recording in recordings.items():
        document, of_file = named[file]
        media = recording.media[0] if recording.media else ""
        item = PurePosixPath(media).stem or document
        shown = {"audio" if media.lower().endswith(_SOUND) else "video": media} if media else {}
        for tier in recording.tiers:
            question, annotator = _question(tier), tier.annotator or of_file
            if question in transcripts:
                continue
            new = Response(file.name, item, annotator, {}, shown)
            one = responses.setdefault((item, annotator), new)
            one.answers.setdefault(question, [])
            for start, stop, value in tier.intervals:
                one.mark(Span(question, (start,), (stop,), value, seconds=True))
    if not any(one.spans for one in responses.values()):
        raise DataError(f"{path}: no tier with values that repeat")
    notes = ["an item is a recording"]
    if transcripts:
        notes.append(f"transcripts, not read: {', '.join(sorted(transcripts))}")
    if n_unplaced := sum(one.n_unplaced for one in recordings.values()):
        notes.append(f"not read: {counted(n_unplaced, 'annotation')} without a time")
    sets = {question for one in responses.values() for question in one.answers}
    return responses_corpus(path, list(responses.values()), options, "ELAN", notes, sets=sets)


def _question(tier: _Tier) -> str:
    """The name of a tier without that of its annotator.

    Example:
        >>> _question(_Tier("gesture_ann", "ann", ())), _question(_Tier("gaze", "ann", ()))
        ('gesture', 'gaze')
    """
    if not tier.annotator:
        return tier.name
    name = re.escape(tier.annotator)
    shorter = re.sub(rf"^{name}[-_ @.:]+|[-_ @.:]+{name}$", "", tier.name, flags=re.IGNORECASE)
    return shorter or tier.name


def _transcripts(recordings: Iterable[_Recording]) -> set[str]:
    """The questions whose values hardly repeat."""
    values: dict[str, list[str]] = {}
    for recording in recordings:
        for tier in recording.tiers:
            values.setdefault(_question(tier), []).extend(v for _, _, v in tier.intervals)
    return {
        question
        for question, given in values.items()
        if len(set(given)) > MANY and len(set(given)) > REPEATS * len(given)
    }


# ---- a file ----


def _recording(file: Path) -> _Recording:
    data = read_bytes(file)
    if b"<!ENTITY" in data:
        raise DataError(f"{file}: declares entities, which an ELAN file does not need; remove them")
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # or an unknown encoding
        raise DataError(f"{file}: damaged XML ({error}); is the file cut off?") from None
    slots: dict[str | None, float] = {}
    for slot in root.iter("TIME_SLOT"):
        text = slot.get("TIME_VALUE", "nan")
        try:
            slots[slot.get("TIME_SLOT_ID")] = float(text) / 1000
        except ValueError:
            raise DataError(f"{file}: TIME_VALUE must be a number, found {cut(text)!r}") from None
    references = {
        one.get("ANNOTATION_ID", ""): one
        for tag in ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION")
        for one in root.iter(tag)
    }
    tiers, n_unplaced = [], 0
    for tier in root.iter("TIER"):
        intervals = []
        for one in (*tier.iter("ALIGNABLE_ANNOTATION"), *tier.iter("REF_ANNOTATION")):
            placed = _aligned(one, references, file)
            start, stop = (
                slots.get(placed.get(key), float("nan"))
                for key in ("TIME_SLOT_REF1", "TIME_SLOT_REF2")
            )
            if not start < stop:
                n_unplaced += 1
                continue
            value = (one.findtext("ANNOTATION_VALUE") or "").strip()
            intervals.append((start, stop, value or MARKED))
        name = tier.get("TIER_ID") or "tier"
        tiers.append(_Tier(name, (tier.get("ANNOTATOR") or "").strip(), tuple(sorted(intervals))))
    media = tuple(
        unquote(one.get("RELATIVE_MEDIA_URL") or one.get("MEDIA_URL") or "").removeprefix("file://")
        for one in root.iter("MEDIA_DESCRIPTOR")
    )
    return _Recording(tuple(one for one in media if one), tuple(tiers), n_unplaced)


def _aligned(
    one: ElementTree.Element, references: dict[str, ElementTree.Element], file: Path
) -> ElementTree.Element:
    """The annotation with times that one refers to, perhaps through others."""
    chain: list[str] = []
    while one.tag == "REF_ANNOTATION":
        target = one.get("ANNOTATION_REF", "")
        if target in chain:
            raise DataError(
                f"{file}: annotations refer to one another in a circle: {listed(chain)}"
            )
        if target not in references:
            name = one.get("ANNOTATION_ID")
            raise DataError(f"{file}: annotation {name!r} refers to {target!r}, which is not there")
        chain.append(target)
        one = references[target]
    return one
