"""ELAN's files (.eaf): tiers of intervals of a recording.

An item is a recording. The annotator is the one that a tier names (ANNOTATOR); if tiers name none,
a file for each annotator is told by its name. A question is a tier without the annotator's name in
it. Its answer is the set of values, and the intervals, in seconds, are rationales. A tier whose
values hardly repeat is a transcript and is not read.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
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
MEDIA = "MEDIA_DESCRIPTOR"
_SOUND = (".wav", ".mp3", ".flac", ".ogg", ".m4a")


def read(path: Path, options: Layout) -> Corpus:
    """Read the intervals of every annotator."""
    files = files_in(path, ".eaf")
    if not files:
        raise DataError(f"{path}: no file that ends in .eaf")
    recordings = {file: _recording(file) for file in files}
    named = documents_and_annotators({f: media or f.stem for f, (media, _) in recordings.items()})
    values: dict[str, list[str]] = {}
    for _, tiers in recordings.values():
        for tier in tiers:
            values.setdefault(tier.question, []).extend(v for _, _, v in tier.intervals)
    transcripts = {
        question
        for question, given in values.items()
        if len(set(given)) > MANY and len(set(given)) > REPEATS * len(given)
    }
    responses: dict[tuple[str, str | None], Response] = {}
    for file, (media, tiers) in recordings.items():
        document, of_file = named[file]
        item = PurePosixPath(media).stem or document
        shown = {"audio" if media.lower().endswith(_SOUND) else "video": media} if media else {}
        for tier in tiers:
            if tier.question in transcripts:
                continue
            annotator = tier.annotator or of_file
            new = Response(file.name, item, annotator, {}, shown)
            one = responses.setdefault((item, annotator), new)
            one.answers.setdefault(tier.question, [])
            for start, stop, value in tier.intervals:
                one.mark(Span(tier.question, (start,), (stop,), value, seconds=True))
    if not any(one.spans for one in responses.values()):
        raise DataError(f"{path}: no tier with values that repeat")
    notes = ["an item is a recording"]
    if transcripts:
        notes.append(f"transcripts, not read: {', '.join(sorted(transcripts))}")
    if n_unplaced := sum(tier.n_unplaced for _, tiers in recordings.values() for tier in tiers):
        notes.append(f"not read: {counted(n_unplaced, 'annotation')} without a time")
    sets = {question for one in responses.values() for question in one.answers}
    return responses_corpus(path, list(responses.values()), options, "ELAN", notes, sets=sets)


@dataclass(frozen=True)
class _Tier:
    question: str
    annotator: str
    intervals: list[tuple[float, float, str]]  # seconds, value
    n_unplaced: int  # annotations whose times are not known


def _recording(file: Path) -> tuple[str, list[_Tier]]:
    """The clip of a file, and its tiers."""
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
    kinds = ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION")
    known = {one.get("ANNOTATION_ID", ""): one for kind in kinds for one in root.iter(kind)}
    tiers = []
    for tier in root.iter("TIER"):
        annotations = [one for kind in kinds for one in tier.iter(kind)]
        intervals = []
        for one in annotations:
            placed = _aligned(one, known, file)
            start, stop = (slots.get(placed.get(f"TIME_SLOT_REF{n}"), math.nan) for n in (1, 2))
            if start < stop:
                value = (one.findtext("ANNOTATION_VALUE") or "").strip()
                intervals.append((start, stop, value or MARKED))
        annotator = (tier.get("ANNOTATOR") or "").strip()
        question = _question(tier.get("TIER_ID") or "tier", annotator)
        n_unplaced = len(annotations) - len(intervals)
        tiers.append(_Tier(question, annotator, sorted(intervals), n_unplaced))
    media = (one.get("RELATIVE_MEDIA_URL") or one.get("MEDIA_URL") for one in root.iter(MEDIA))
    clips = (unquote(address or "").removeprefix("file://") for address in media)
    return next(filter(None, clips), ""), tiers


def _question(tier: str, annotator: str) -> str:
    """The name of a tier without that of its annotator.

    Example:
        >>> _question("gesture_ann", "ann"), _question("gaze", "ann")
        ('gesture', 'gaze')
    """
    if not annotator:
        return tier
    name = re.escape(annotator)
    shorter = re.sub(rf"^{name}[-_ @.:]+|[-_ @.:]+{name}$", "", tier, flags=re.IGNORECASE)
    return shorter or tier


def _aligned(
    one: ElementTree.Element, known: dict[str, ElementTree.Element], file: Path
) -> ElementTree.Element:
    """The annotation with times that one refers to, perhaps through others."""
    chain: list[str] = []
    while one.tag == "REF_ANNOTATION":
        target = one.get("ANNOTATION_REF", "")
        if target in chain:
            raise DataError(
                f"{file}: annotations refer to one another in a circle: {listed(chain)}"
            )
        if target not in known:
            name = one.get("ANNOTATION_ID")
            raise DataError(f"{file}: annotation {name!r} refers to {target!r}, which is not there")
        chain.append(target)
        one = known[target]
    return one
