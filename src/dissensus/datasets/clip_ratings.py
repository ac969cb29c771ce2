"""Clips of speech that annotators rated: what the loaders of such corpora share.

An item is a clip, with the roles `speech` (the path of its sound file) and `text` (its transcript).
Ratings of one annotator on one clip that occur several times are averaged. Every clip of
the source is kept; `usable_clips` selects those that the paper on individual annotators uses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import errors_in, names_in_order
from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.scales import Interval

QUESTIONS = ("valence", "activation", "dominance")
OTHERS = "only valence, activation and dominance are read"
AVERAGED = "averaged with another rating of the clip by the same annotator"
TOLERANCE = 0.01  # between a stored mean and the mean of the ratings
MEANS_AGREE = "means_agree"  # item attribute; null where there is nothing to compare
_LINE = re.compile(
    r"(?P<name>[^;]+);(?P<emotions>.*);\s*A:(?P<A>[^;]*);\s*V:(?P<V>[^;]*);\s*D:(?P<D>[^;]*);"
    r"(?:\s*N:(?P<N>[^;]*);)?\s*"
)


class Rating(NamedTuple):
    """What one annotator answered about one clip, at one time."""

    clip: str
    annotator: str
    values: Sequence[float]  # an answer to each question, nan where there is none


def clip_corpus(
    name: str,
    path: Path,
    clips: Names,
    ratings: Sequence[Rating],
    scale: Interval,
    *,
    questions: Sequence[str] = QUESTIONS,
    anonymous: bool = False,
    means: Mapping[str, Sequence[float]],
    sounds: Mapping[str, Path],
    sound_folder: Path,
    texts: Mapping[str, str | None] | None,
    attributes: dict[str, Any],
    left_out: Sequence[LeftOut] = (),
    notes: tuple[str, ...] = (),
    **facts: Any,
) -> Corpus:
    """The corpus of rated clips, grouped by speaker.

    Args:
        path: of the ratings, for messages.
        anonymous: whether annotators are unknown: then a rating is a response.
        means: the stated mean of each question, by clip; nan where none is stated.
        sounds: the sound files by clip, in `sound_folder`.
        texts: transcripts by clip; None if the corpus is distributed without them.
    """
    with errors_in(path):
        answers, averaged = _answers(ratings, questions, scale, clips, anonymous)
    contents, absent = _contents(sound_folder, clips, sounds, texts)
    return Corpus.build(
        name,
        clips,
        answers,
        contents=contents,
        item_attributes=attributes | {MEANS_AGREE: means_agree(clips, ratings, means)},
        group="speaker",
        left_out=tuple(row for row in (*averaged, *left_out) if row.answers),
        notes=(*notes, *absent),
        **facts,
    )


def _answers(
    ratings: Sequence[Rating],
    questions: Sequence[str],
    scale: Interval,
    clips: Names,
    anonymous: bool,
) -> tuple[dict[str, Annotations], list[LeftOut]]:
    """The questions with their answers, and how many answers were averaged away."""
    clip = clips.codes([rating.clip for rating in ratings], "clip")
    names = pa.array([rating.annotator for rating in ratings], pa.string())
    annotators = None if anonymous else names_in_order(names)
    annotator = None if annotators is None else annotators.codes(names)
    values = np.array([rating.values for rating in ratings], float).reshape(-1, len(questions))
    answered, left_out = {}, []
    for question, column in zip(questions, values.T, strict=True):
        rows = np.flatnonzero(~np.isnan(column) | anonymous)
        answered[question] = Annotations.from_arrays(
            clip[rows],
            None if annotator is None else annotator[rows],
            column[rows],
            scale,
            items=clips,
            annotators=annotators,
            response=rows if anonymous else None,
            repeats="mean",
        )
        if n_averaged := len(rows) - answered[question].n_rows:
            left_out.append(LeftOut(question, AVERAGED, n_averaged))
    return answered, left_out


def means_agree(
    clips: Names, ratings: Sequence[Rating], means: Mapping[str, Sequence[float]]
) -> Any:
    """Whether the means that a file states for a clip are those of its ratings, as Arrow booleans.

    Only valence and activation are compared. Null if a clip has no rating, or several by one
    annotator, which are averaged: the mean of its ratings is then another one.

    Args:
        means: the stated mean of each question, by clip; nan where none is stated.
    """
    clip = clips.codes([rating.clip for rating in ratings], "clip")
    annotators, annotator = Names.encode([rating.annotator for rating in ratings])
    values = np.array([rating.values[:2] for rating in ratings], float)  # (n_ratings, 2)
    stated = np.array([means[name][:2] for name in clips], float)  # (n_clips, 2)
    agree, known = np.ones(len(clips), bool), np.ones(len(clips), bool)
    for column, mean in zip(values.T, stated.T, strict=True):
        rows = ~np.isnan(column)
        n_answers = np.bincount(clip[rows], minlength=len(clips))
        total = np.bincount(clip[rows], column[rows], minlength=len(clips))
        agree &= ~(np.abs(total - n_answers * mean) > TOLERANCE * n_answers)
        known &= n_answers > 0
    pairs, n_times = np.unique(clip * np.int64(len(annotators)) + annotator, return_counts=True)
    known[pairs[n_times > 1] // len(annotators)] = False
    return pa.array(agree, mask=~known)


class RatedLine(NamedTuple):
    """A line of the MSP corpora: a file or an annotator, and numbers; nan where there is none."""

    name: str
    emotions: str  # the category, and for annotators what else they named
    valence: float
    activation: float
    dominance: float
    naturalness: float


def rated_line(text: str, scale: Interval, where: str) -> RatedLine:
    """The parts of a line. Free text among the emotions may contain semicolons.

    Example:
        >>> line = "W1; Sad; Sad;Tired; A:3.0; V:2.0; D:NaN;"
        >>> rated_line(line, Interval(1, 5), "labels.txt, line 2")[:4]
        ('W1', 'Sad; Sad;Tired', 2.0, 3.0)
    """
    parts = _LINE.fullmatch(text)
    try:
        if parts is None:
            raise ValueError
        numbers = [float(parts[key] or "nan") for key in ("V", "A", "D", "N")]
    except ValueError:
        raise DataError(
            f"{where}: expected 'NAME; EMOTION; ...; A:3.0; V:3.0; D:3.0;', found {text[:60]!r}"
        ) from None
    if any(value < scale.low or value > scale.high for value in numbers):
        raise DataError(
            f"{where}: ratings are from {scale.low:g} to {scale.high:g}, found {text[:60]!r}"
        )
    return RatedLine(parts["name"], parts["emotions"].strip(), *numbers)


def sound_files(folder: Path) -> dict[str, Path]:
    """The sound files in a folder and those inside it, by their name without the ending."""
    paths = sorted(folder.resolve().rglob("*.wav"))
    return {path.stem: path for path in paths if not path.name.startswith("._")}


def transcript(path: Path) -> str | None:
    """The text of a file in one line; None if there is no file or it is empty."""
    if not os.path.isfile(path):  # unlike Path.is_file, False for a name that is too long
        return None
    return " ".join(path.read_text(encoding="utf-8", errors="replace").split()) or None


def transcripts(folder: Path, clips: Names) -> dict[str, str | None] | None:
    """The text of each clip, in a file of its name; None if there is no such folder."""
    if not folder.is_dir():
        return None
    return {clip: transcript(folder / f"{clip}.txt") for clip in clips}


def _contents(
    folder: Path, clips: Names, sounds: Mapping[str, Path], texts: Mapping[str, str | None] | None
) -> tuple[dict[str, tuple[Contents, np.ndarray]], tuple[str, ...]]:
    """The contents of the clips by role, and notes about clips without a sound or a transcript."""
    paths = [str(sounds[clip]) if clip in sounds else None for clip in clips]
    if not any(paths):
        raise DataError(f"{folder}: no sound file of any clip is here, such as {clips[0]}.wav")
    contents = {"speech": Contents.distinct("audio", pa.array(paths, pa.string()))}
    notes = list(_absent("sound file", clips, paths))
    if texts is not None:
        spoken = [texts.get(clip) for clip in clips]
        contents["text"] = Contents.distinct("text", pa.array(spoken, pa.string()))
        notes += _absent("transcript", clips, spoken)
    return contents, tuple(notes)


def _absent(what: str, clips: Names, values: Sequence[str | None]) -> Iterator[str]:
    without = [clip for clip, value in zip(clips, values, strict=True) if value is None]
    if without:
        yield f"{counted(len(without), 'clip')} without a {what}: {listed(without, 3)}"


def usable_clips(corpus: Corpus, questions: Sequence[str] = ("valence", "activation")) -> Corpus:
    """The clips that Tavernor et al. (2024) use, with the questions that they use.

    A clip needs a sound file, a transcript (if the corpus has any), two annotators or more, and
    stored means that are those of its ratings (see `means_agree`). The answers about other clips
    are counted in `left_out`, by reason.

    Reference: Tavernor, El-Tawil & Mower Provost (2024), The Whole Is Bigger Than the Sum of Its
    Parts, Interspeech. arXiv 2408.11956
    """
    corpus = corpus.select(questions=questions)
    n_answers = np.min([corpus[question].per_item() for question in questions], axis=0)
    reasons = {f"no {role}": codes < 0 for role, codes in corpus.content.items()}
    reasons["fewer than two annotators"] = n_answers < 2
    reasons["the stored mean is not that of the ratings"] = np.array(
        [agree is False for agree in corpus.item_attributes[MEANS_AGREE].to_pylist()]
    )
    kept = np.ones(corpus.n_items, bool)
    left_out = list(corpus.left_out)
    for reason, unusable in reasons.items():
        removed = kept & unusable
        kept &= ~unusable
        for question in questions:
            if n_removed := int(corpus[question].per_item()[removed].sum()):
                left_out.append(LeftOut(question, reason, n_removed))
    return replace(corpus.select(items=kept), left_out=tuple(left_out))
