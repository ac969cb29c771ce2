"""Clips of speech, rated by individual annotators; licensed, read as distributed."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    Table,
    csv_table,
    errors_in,
    names_in_order,
    present,
    present_folder,
    text_lines,
)
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


SESSIONS = tuple(f"Session{number}" for number in range(1, 6))
IEMOCAP_RATINGS, IEMOCAP_TRANSCRIPTS, SOUNDS = (
    "dialog/EmoEvaluation",
    "dialog/transcriptions",
    "sentences/wav",
)
IEMOCAP_SCALE = Interval(1, 5)
IEMOCAP_OWN = "the actor's own rating"
UNREADABLE = "not a number from 1 to 5"

_TURN = re.compile(
    r"\[(?P<start>[\d.]+) - (?P<stop>[\d.]+)\]\s+(?P<clip>\S+)\s+(?P<emotion>\S+)\s+"
    r"\[(?P<means>[^\]]*)\]\s*"
)
_IEMOCAP_CLIP = re.compile(r"(?P<dialog>Ses(?P<session>\d\d)[FM]_\w+)_(?P<gender>[FM])\w*\d+")
_RATING = re.compile(
    r"A-(?P<annotator>\w+):\s*val(?P<valence>[^;]*);\s*act(?P<activation>[^;]*);"
    r"\s*dom(?P<dominance>[^;]*);.*"
)
_SPOKEN = re.compile(r"(?P<clip>Ses\S+)\s+\[[^\]]*\]:?\s*(?P<text>.*)")


@dataclass
class _Turns:
    """What the files with ratings contain."""

    emotion: dict[str, str] = field(default_factory=dict)  # by clip, as are means and seconds
    means: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # by question and reason


def load_iemocap(folder: Path, corpus: str) -> Corpus:
    """IEMOCAP (Busso et al. 2008): the emotion of 10,039 turns of ten actors in dialogs.

    A licensed corpus; this reads the folder as it is distributed (IEMOCAP_full_release). Valence,
    activation and dominance are rated from 1 to 5. The actors' ratings of themselves are left out:
    they are not in the means of the source either. There is no official split.
    Sessions whose folder is missing are not read, but one has to be there.

    Every rated clip is kept, with one annotator too. `usable_clips` makes the selection
    of Tavernor et al. (2024): it leaves out clips with fewer than two annotators and clips whose
    stored mean is not that of their ratings, and counts them.

    Questions `valence`, `activation` and `dominance`, from 1 to 5; an item is a turn.

    Annotators are `E1`, `E2`, ...; a speaker is the session and F or M.
    """
    turns, texts, sounds = _Turns(), dict[str, str | None](), dict[str, Path]()
    sessions = [session for session in SESSIONS if (folder / session).is_dir()]
    for session in sessions or SESSIONS[:1]:
        inside = present_folder(folder, session)
        for path in _text_files(present_folder(inside, IEMOCAP_RATINGS)):
            _read_ratings(path, turns)
        for path in _text_files(present_folder(inside, IEMOCAP_TRANSCRIPTS)):
            spoken = (_SPOKEN.fullmatch(line.strip()) for line in text_lines(path))
            texts |= {match["clip"]: match["text"] or None for match in spoken if match}
        sounds |= sound_files(present_folder(inside, SOUNDS))
    if not turns.ratings:
        raise DataError(
            f"{folder}: no ratings in {SESSIONS[0]}/{IEMOCAP_RATINGS} and the other sessions"
        )
    clips = Names(list(turns.emotion))
    named = [match for clip in clips if (match := _IEMOCAP_CLIP.fullmatch(clip))]
    return clip_corpus(
        corpus,
        folder,
        clips,
        turns.ratings,
        IEMOCAP_SCALE,
        means=turns.means,
        sounds=sounds,
        sound_folder=folder,
        texts=texts,
        attributes={
            "speaker": [f"{match['session']}{match['gender']}" for match in named],
            **{key: [match[key] for match in named] for key in ("gender", "session", "dialog")},
            "emotion": list(turns.emotion.values()),
            "seconds": list(turns.seconds.values()),
        },
        left_out=[LeftOut(question, why, n) for (question, why), n in turns.left_out.items()],
        notes=tuple(f"{session} is not there" for session in SESSIONS if session not in sessions),
    )


def _text_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.txt") if not path.name.startswith("._"))


def _read_ratings(path: Path, turns: _Turns) -> None:
    """Add the turns of one dialog: `[start - end] name emotion [v, a, d]`, then its ratings."""
    clip = None
    for number, text in enumerate(text_lines(path), 1):
        where = f"{path}, line {number}"
        if text.startswith("["):
            clip = _read_turn(text.strip(), where, turns)
        elif text.startswith(("A-", "C-")) and clip is None:
            raise DataError(f"{where}: a rating without a turn before it")
        elif text.startswith("C-"):
            turns.left_out["emotion", OTHERS] += 1
        elif text.startswith("A-"):
            _read_rating(text.strip(), where, str(clip), turns)


def _read_turn(text: str, where: str, turns: _Turns) -> str:
    """Add a turn; its name is returned."""
    turn = _TURN.fullmatch(text)
    try:
        if turn is None or _IEMOCAP_CLIP.fullmatch(turn["clip"]) is None:
            raise ValueError
        means = [float(mean) for mean in turn["means"].split(",")]
        seconds = float(turn["stop"]) - float(turn["start"])
        if len(means) != len(QUESTIONS):
            raise ValueError
    except ValueError:
        raise DataError(
            f"{where}: expected '[START - END] Ses01F_impro01_F000 EMOTION [V, A, D]', found "
            f"{text[:60]!r}"
        ) from None
    clip = turn["clip"]
    if clip in turns.emotion:
        raise DataError(f"{where}: turn {clip!r} is there for the second time")
    turns.emotion[clip], turns.means[clip], turns.seconds[clip] = turn["emotion"], means, seconds
    return clip


def _read_rating(text: str, where: str, clip: str, turns: _Turns) -> None:
    """Add a line such as `A-E1: val 3; act 2; dom 2; ()`. A blank number is no answer."""
    line = _RATING.fullmatch(text)
    if line is None:
        raise DataError(f"{where}: expected 'A-E1: val 3; act 2; dom 2;', found {text[:60]!r}")
    own = not line["annotator"].startswith("E")
    values = []
    for question in QUESTIONS:
        number = line[question].strip()
        values.append(float("nan") if own else _on_scale(number))
        if number and np.isnan(values[-1]):
            turns.left_out[question, IEMOCAP_OWN if own else UNREADABLE] += 1
    if not np.isnan(values).all():
        turns.ratings.append(Rating(clip, line["annotator"], values))


def _on_scale(number: str) -> float:
    """The number; nan if it is none of the scale."""
    try:
        value = float(number)
    except ValueError:
        return float("nan")
    return value if IEMOCAP_SCALE.low <= value <= IEMOCAP_SCALE.high else float("nan")


IMPROV_RATINGS, MISSPELT = "Evaluation.txt", "Evalution.txt"  # earlier copies have the second name
IMPROV_SCALE = Interval(1, 5)
VIDEO, CLIP = "UTD-IMPROV-", "MSP-IMPROV-"  # the ratings name the video, the sound files the clip
IMPROV_PARTS = {
    "train": ("F01", "F03", "F05", "F06", "M02", "M03", "M04", "M06"),
    "validation": ("F02", "M01"),
    "test": ("F04", "M05"),
}
_IMPROV_CLIP = re.compile(
    r"MSP-IMPROV-S(?P<sentence>\d\d)(?P<intended_emotion>[AHSN])"
    r"-(?P<speaker>(?P<gender>[FM])0?(?P<session>\d+))-(?P<scenario>[PRST])-[FM]{2}\d+"
)


def load_msp_improv(folder: Path, corpus: str) -> Corpus:
    """MSP-Improv (Busso et al. 2017): the emotion of 8,438 turns of twelve actors, rated by a
    crowd.

    A licensed corpus; this reads the folder as it is distributed. Valence, activation and dominance
    are rated from 1 to 5. The file has activation the other way round (1 is the most active): the
    answer here is 6 minus that number, as in Tavernor et al. (2024). Their speaker-independent
    split is `paper`.

    Every rated clip is kept, with one annotator too. `usable_clips` makes the selection of the
    paper: it leaves out clips with fewer than two annotators and clips whose stored mean is not
    that of their ratings, and counts them.

    Questions `valence`, `activation` and `dominance`, from 1 to 5; an item is a clip.
    """
    misspelt = (folder / MISSPELT).is_file() and not (folder / IMPROV_RATINGS).is_file()
    path = present(folder, MISSPELT if misspelt else IMPROV_RATINGS)
    stated, lines = _lines(path)
    clips = Names(list(stated))
    n_natural = sum(not np.isnan(line.naturalness) for _, line in lines)
    attributes = _attributes(path, clips)
    part_of = {speaker: part for part, speakers in IMPROV_PARTS.items() for speaker in speakers}
    return clip_corpus(
        corpus,
        path,
        clips,
        [Rating(clip, line.name, _flipped(line)) for clip, line in lines],
        IMPROV_SCALE,
        means={clip: _flipped(line) for clip, line in stated.items()},
        sounds=sound_files(folder),
        sound_folder=folder,
        texts=transcripts(folder / "Text", clips),
        attributes=attributes | {"emotion": [line.emotions for line in stated.values()]},
        splits={"paper": pa.array([part_of.get(s) for s in attributes["speaker"]], pa.string())},
        left_out=[
            LeftOut("naturalness", OTHERS, n_natural),
            LeftOut("emotion", OTHERS, len(lines)),
        ],
        notes=("activation is 6 minus the number in the file",),
    )


def _lines(path: Path) -> tuple[dict[str, RatedLine], list[tuple[str, RatedLine]]]:
    """What the file states for each clip, and the lines of its annotators with their clip."""
    stated: dict[str, RatedLine] = {}
    lines: list[tuple[str, RatedLine]] = []
    clip = None
    for number, text in enumerate(text_lines(path), 1):
        where = f"{path}, line {number}"
        if not text.strip():
            clip = None
        elif text.startswith(VIDEO):
            line = rated_line(text, IMPROV_SCALE, where)
            clip = CLIP + line.name.removeprefix(VIDEO).removesuffix(".avi")
            if clip in stated:
                raise DataError(f"{where}: clip {clip!r} is there for the second time")
            stated[clip] = line
        elif clip is None:
            raise DataError(f"{where}: expected a line that begins with {VIDEO}")
        else:
            lines.append((clip, rated_line(text, IMPROV_SCALE, where)))
    if not lines:
        raise DataError(f"{path}: no ratings")
    return stated, lines


def _flipped(line: RatedLine) -> tuple[float, float, float]:
    """The answers to the three questions."""
    return line.valence, 6 - line.activation, line.dominance


def _attributes(path: Path, clips: Names) -> dict[str, list[Any]]:
    """What the names of the clips say: MSP-IMPROV-S01A-F01-P-FM01."""
    matches = [_IMPROV_CLIP.fullmatch(clip) for clip in clips]
    strange = [clip for clip, match in zip(clips, matches, strict=True) if match is None]
    if strange:
        raise DataError(
            f"{path}: {strange[0]!r} is no name of a clip, such as 'MSP-IMPROV-S01A-F01-P-FM01'"
        )
    keys = ("speaker", "gender", "session", "scenario", "sentence", "intended_emotion")
    return {key: [match[key] for match in matches if match is not None] for key in keys}


STATED, CONCENSUS = "labels_consensus.csv", "labels_concensus.csv"  # some copies have the second
MEANS = ("EmoVal", "EmoAct", "EmoDom")  # of valence, activation and dominance
PODCAST_SCALE = Interval(1, 7)
PODCAST_PARTS = {
    "Train": "train",
    "Development": "dev",
    "Validation": "dev",
    "Test1": "test1",
    "Test2": "test2",
    "Test3": "test3",
}


def load_msp_podcast(folder: Path, corpus: str) -> Corpus:
    """MSP-Podcast 1.11 and 1.12 (Lotfian & Busso 2019): the emotion of turns in podcasts.

    A licensed corpus; this reads the folder as it is distributed. Valence, activation and dominance
    are rated from 1 to 7. The split `official` has the parts train, dev, test1 and test2; Test3 is
    distributed without labels and is not read.

    Every rated clip is kept, with one annotator too. `usable_clips` makes the selection
    of Tavernor et al. (2024): it leaves out clips with fewer than two annotators and clips whose
    stored mean is not that of their ratings, and counts them.

    Questions `valence`, `activation` and `dominance`, from 1 to 7; an item is a clip.

    A speaker who is not known is null, so that the clip is in a group of its own.
    """
    labels, sounds = present_folder(folder, "Labels"), present_folder(folder, "Audios")
    texts = ("FileName", "EmoClass", "SpkrID", "Gender", "Split_Set")
    misspelt = (labels / CONCENSUS).is_file() and not (labels / STATED).is_file()
    stated = csv_table(labels, CONCENSUS if misspelt else STATED, texts, MEANS)
    rows = csv_table(labels, "labels_detailed.csv", ("FileName", "EmoDetail"))
    parts = stated.parts("Split_Set", PODCAST_PARTS)
    ratings = []
    pairs = zip(rows.list("FileName"), rows.list("EmoDetail"), strict=True)
    for number, (name, detail) in enumerate(pairs, 1):
        line = rated_line(detail, PODCAST_SCALE, f"{rows.path}, row {number}")
        values = (line.valence, line.activation, line.dominance)
        ratings.append(Rating(name.removesuffix(".wav"), line.name, values))
    with stated.errors():
        clips = Names([name.removesuffix(".wav") for name in stated.list("FileName")])
    return clip_corpus(
        corpus,
        rows.path,
        clips,
        ratings,
        PODCAST_SCALE,
        means=dict(zip(clips, stated.array(*MEANS), strict=True)),
        sounds=sound_files(sounds),
        sound_folder=sounds,
        texts=transcripts(folder / "Transcripts", clips),
        attributes={
            "speaker": _known(stated["SpkrID"]),
            "gender": _known(stated["Gender"]),
            "podcast": [clip.split("_")[1] if "_" in clip else None for clip in clips],
            "emotion": stated["EmoClass"],
        },
        splits={"official": parts},
        left_out=[LeftOut("emotion", OTHERS, len(ratings))],
    )


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in which "Unknown" is null."""
    return pc.if_else(pc.equal(column, "Unknown"), None, column)


SURVEY, LONG_NAME = "SurveyInformation", "Survey Information (Questions, Data etc)"
MUSE_RATINGS = (
    "Emotion data from crowdsourcing "
    "(C is when annotators had access to all previous sentences).csv"
)
CONDITIONS = {"S": "stressed", "NS": "not stressed"}
WHISPER = {
    "S": "Whisper-Transcriptions/Stressed_Segments",
    "NS": "Whisper-Transcriptions/Nonstressed_Segments",
}
MUSE_TRANSCRIPTS = "Combined/Utterance Transcripts"
MUSE_QUESTIONS = ("valence", "activation")
PREFIX = {"muse": "", "muse-context": "C_"}  # of the columns with the ratings
MUSE_OWN = "the speaker's own rating"
IDS, OF_SPEAKER = "muse_annotators.csv", "self_report"  # the second begins the ids of speakers
ID_COLUMNS = ("FileName", "soft_val_labels", "soft_act_labels", "annotators")


def load_muse(folder: Path, corpus: str) -> Corpus:
    """MuSE (Jaiswal et al. 2020): the emotion of sentences of 28 speakers, stressed and not
    stressed.

    A licensed corpus; this reads the folder as it is distributed. Valence and activation are rated
    from 1 to 9. The annotators are unknown: the file lists their numbers without ids. The numbers
    at one place of the two lists are taken as one response. The loader code of Tavernor et al.
    (github jtavernor/SER-Datasets) has a table with ids, `muse_annotators.csv`; put into the
    folder, it is read for `muse`. In `muse` annotators heard the sentence alone; in
    `muse-context`, also the sentences before it. The speakers' ratings of themselves are left out.

    Every rated clip is kept. `usable_clips` makes the selection of Tavernor et al. (2024): it
    leaves out clips without a transcript, with fewer than two annotators or whose stored mean is
    not that of their ratings, and counts them.

    Questions `valence` and `activation`, from 1 to 9; an item is a sentence.

    The attribute `condition` is `stressed` or `not stressed`. A transcript that Whisper made
    (`Whisper-Transcriptions`) is preferred, as in the paper, to the distributed one.
    """
    long_name = (folder / LONG_NAME).is_dir() and not (folder / SURVEY).is_dir()
    table = _table(present_folder(folder, LONG_NAME if long_name else SURVEY))
    other = next(name for name in PREFIX if name != corpus)
    with table.errors():
        clips = Names([name.removesuffix(".wav") for name in table.list("Sentence_name")])
        ratings, n_other = _ratings(table, clips, corpus), len(_ratings(table, clips, other))
        known = corpus == "muse" and (folder / IDS).is_file()
        means = _means(table, clips, corpus)
    if known:
        ratings = _identified(folder, clips)
    left_out = [LeftOut(q, f"other annotators: --corpus {other}", n_other) for q in MUSE_QUESTIONS]
    for question in MUSE_QUESTIONS:
        n_own = sum(text != "" for text in table.list(f"S_{question.title()}"))
        left_out.append(LeftOut(question, MUSE_OWN, n_own))
    sounds: dict[str, Path] = {}
    for name in ("Stressed", "NotStressed"):
        sounds |= sound_files(present_folder(folder, name))
    return clip_corpus(
        corpus,
        table.path,
        clips,
        ratings,
        Interval(1, 9),
        questions=MUSE_QUESTIONS,
        anonymous=not known,
        means=means,
        sounds=sounds,
        sound_folder=folder,
        texts=_transcripts(folder, clips, table.list("Type")),
        attributes={
            "speaker": [clip.split("_")[0] for clip in clips],
            "gender": table.list("Gender"),
            "condition": table.parts("Type", CONDITIONS),
            "question": table["Ques_Type"],
            "seconds": table["Duration"],
        },
        left_out=left_out,
    )


def _table(survey: Path) -> Table:
    """The file with the ratings; the columns of both corpora."""
    names = [
        f"{prefix}{question.title()}" for prefix in PREFIX.values() for question in MUSE_QUESTIONS
    ]
    columns = [f"{name}_{what}" for name in names for what in ("Mean", "Annotation")]
    own = [f"S_{question.title()}" for question in MUSE_QUESTIONS]
    texts = ("Sentence_name", "Gender", "Type", "Ques_Type", *columns, *own)
    table = csv_table(survey, MUSE_RATINGS, texts, ["Duration"])
    table.parts("Type", CONDITIONS)
    return table


def _ratings(table: Table, clips: Names, corpus: str) -> list[Rating]:
    """The responses to every clip, numbered within the clip: the annotators are unknown."""
    columns = [f"{PREFIX[corpus]}{question.title()}_Annotation" for question in MUSE_QUESTIONS]
    ratings = []
    for row, (clip, *texts) in enumerate(zip(clips, *map(table.list, columns), strict=True), 1):
        try:
            numbers = [[float(number) for number in text.split(";") if number] for text in texts]
            responses = list(zip(*numbers, strict=True))
        except ValueError:
            raise DataError(
                f"row {row}: {columns[0]!r} and {columns[1]!r} must be two lists of as many "
                f"numbers, such as 3;4;2, found {texts[0][:40]!r} and {texts[1][:40]!r}"
            ) from None
        ratings += [Rating(clip, str(i), values) for i, values in enumerate(responses)]
    return ratings


def _identified(folder: Path, clips: Names) -> list[Rating]:
    """The ratings with the ids of those who gave them; clips that have none here are not rated."""
    table, ratings = csv_table(folder, IDS, ID_COLUMNS), []
    rows = zip(*map(table.list, ID_COLUMNS), strict=True)
    for row, (name, *texts) in enumerate(rows, 1):
        clip = name.removesuffix(".wav")
        try:
            lists = [ast.literal_eval(text) for text in texts]
            triples = [(float(v), float(a), str(who)) for v, a, who in zip(*lists, strict=True)]
        except (ValueError, TypeError, SyntaxError):
            raise DataError(
                f"{table.path}, row {row}: {ID_COLUMNS[1:]} must be three lists of the same "
                f"length, found {texts[0][:40]!r}"
            ) from None
        if clip in clips:
            ratings += [
                Rating(clip, who, (valence, activation))
                for valence, activation, who in triples
                if not who.startswith(OF_SPEAKER)
            ]
    return ratings


def _means(table: Table, clips: Names, corpus: str) -> dict[str, list[float]]:
    """The stated means of every clip; nan where a cell is empty."""
    columns = [f"{PREFIX[corpus]}{question.title()}_Mean" for question in MUSE_QUESTIONS]
    means = {}
    for row, (clip, *texts) in enumerate(zip(clips, *map(table.list, columns), strict=True), 1):
        try:
            means[clip] = [float(text or "nan") for text in texts]
        except ValueError:
            raise DataError(
                f"row {row}: {columns[0]!r} and {columns[1]!r} must be numbers, found "
                f"{texts[0][:40]!r} and {texts[1][:40]!r}"
            ) from None
    return means


def _transcripts(folder: Path, clips: Names, kinds: list[str]) -> dict[str, str | None] | None:
    """The text of every clip; None if the folder has no transcripts."""
    if not any((folder / name).is_dir() for name in (MUSE_TRANSCRIPTS, *WHISPER.values())):
        return None
    return {
        clip: transcript(folder / WHISPER[kind] / f"{clip}.txt")
        or transcript(folder / MUSE_TRANSCRIPTS / f"{clip}.txt")
        for clip, kind in zip(clips, kinds, strict=True)
    }
