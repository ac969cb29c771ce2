"""Clips of speech, rated by individual annotators; licensed, read as distributed.

Every rated clip is kept, with one annotator too. `usable_clips` makes the selection of Tavernor et
al. (2024), which leaves out clips with fewer than two annotators, without a transcript, or with a
stated mean that is not that of their ratings, and counts them.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import Folder, Table, errors_in, names_in_order, text_lines
from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.scales import Interval

QUESTIONS = ("valence", "activation", "dominance")
OTHERS = "only valence, activation and dominance are read"
AVERAGED = "averaged with another rating of the clip by the same annotator"
TOLERANCE = 0.01  # between a stated mean and the mean of the ratings
MEANS_AGREE = "means_agree"  # item attribute; null where there is nothing to compare
NONE = float("nan")


class Rating(NamedTuple):
    """What one annotator answered about one clip, at one time."""

    clip: str
    annotator: str
    values: Sequence[float]  # an answer to each question, nan where there is none


@dataclass
class _Clips:
    """Rated clips, as the files of a corpus state them."""

    path: Path  # of the ratings, for messages
    scale: Interval
    questions: tuple[str, ...] = QUESTIONS
    anonymous: bool = False  # whether annotators are unknown: then a rating is a response
    means: dict[str, Sequence[float]] = field(default_factory=dict)  # by clip, nan where unknown
    ratings: list[Rating] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # by question and reason

    def corpus(
        self,
        name: str,
        sound_folders: Sequence[Folder],
        texts: Mapping[str, str | None] | None,
        attributes: dict[str, Any],
        notes: tuple[str, ...] = (),
        **facts: Any,
    ) -> Corpus:
        """The corpus, grouped by speaker.

        Args:
            sound_folders: the folders that contain the sound files.
            texts: transcripts by clip; None if the corpus is distributed without them.
        """
        clips = Names(list(self.means))
        with errors_in(self.path):
            answers, averaged = self._answers(clips)
        contents, absent = _contents(sound_folders, clips, texts)
        left_out = [LeftOut(*key, n) for key, n in (averaged + self.left_out).items()]
        return Corpus.build(
            name,
            clips,
            answers,
            contents=contents,
            item_attributes=attributes
            | {MEANS_AGREE: means_agree(clips, self.ratings, self.means)},
            group="speaker",
            left_out=left_out,
            notes=(*notes, *absent),
            **facts,
        )

    def _answers(self, clips: Names) -> tuple[dict[str, Annotations], Counter[tuple[str, str]]]:
        """The questions with their answers, and how many answers were averaged away."""
        clip = clips.codes([rating.clip for rating in self.ratings], "clip")
        names = pa.array([rating.annotator for rating in self.ratings], pa.string())
        annotators = None if self.anonymous else names_in_order(names)
        annotator = None if annotators is None else annotators.codes(names)
        values = np.array([rating.values for rating in self.ratings], float)
        answered, averaged = {}, Counter[tuple[str, str]]()
        for question, column in zip(
            self.questions, values.reshape(-1, len(self.questions)).T, strict=True
        ):
            rows = np.flatnonzero(~np.isnan(column) | self.anonymous)
            answered[question] = Annotations.from_arrays(
                clip[rows],
                None if annotator is None else annotator[rows],
                column[rows],
                self.scale,
                items=clips,
                annotators=annotators,
                response=rows if self.anonymous else None,
                repeats="mean",
            )
            averaged[question, AVERAGED] = len(rows) - answered[question].n_rows
        return answered, averaged


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


def usable_clips(corpus: Corpus, questions: Sequence[str] = ("valence", "activation")) -> Corpus:
    """The clips that Tavernor et al. (2024) use, with the questions that they use.

    A clip needs a sound file, a transcript (if the corpus has any), two annotators or more, and
    stated means that are those of its ratings (see `means_agree`). The answers about other clips
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


# ---- files ----


def _contents(
    folders: Sequence[Folder], clips: Names, texts: Mapping[str, str | None] | None
) -> tuple[dict[str, tuple[Contents, np.ndarray]], tuple[str, ...]]:
    """The contents of the clips by role, and notes about clips without a sound or a transcript."""
    files = (path for folder in folders for path in sorted(folder.path.resolve().rglob("*.wav")))
    sounds = {path.stem: str(path) for path in files if not path.name.startswith("._")}
    paths = [sounds.get(clip) for clip in clips]
    if not any(paths):
        where = os.path.commonpath([folder.path for folder in folders])
        raise DataError(f"{where}: no sound file of any clip is here, such as {clips[0]}.wav")
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


def transcripts(clips: Iterable[str], *folders: Path) -> dict[str, str | None] | None:
    """The text of each clip, in a file of its name in the first folder that has one; None if there
    is no such folder."""
    there = [folder for folder in folders if folder.is_dir()]
    texts: dict[str, str | None] = {}
    for clip in clips:
        paths = [folder / f"{clip}.txt" for folder in there]  # Path.is_file refuses a long name
        files = (path for path in paths if os.path.isfile(path))
        contents = (path.read_text(encoding="utf-8", errors="replace") for path in files)
        texts[clip] = next((text for one in contents if (text := " ".join(one.split()))), None)
    return texts if there else None


def _either(folder: Folder, name: str, other: str) -> str:
    """The name of a file or folder; the other one, if earlier copies have only that."""
    return other if (folder / other).exists() and not (folder / name).exists() else name


# ---- IEMOCAP ----

SESSIONS = tuple(f"Session{number}" for number in range(1, 6))
IEMOCAP_RATINGS, IEMOCAP_TRANSCRIPTS, SOUNDS = (
    "dialog/EmoEvaluation", "dialog/transcriptions", "sentences/wav",
)  # fmt: skip
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


def load_iemocap(folder: Folder, corpus: str) -> Corpus:
    """IEMOCAP (Busso et al. 2008): the emotion of 10,039 turns of ten actors in dialogs.

    A licensed corpus; this reads the folder as it is distributed (IEMOCAP_full_release). The
    actors' ratings of themselves are left out: they are not in the means of the source either.
    There is no official split. Sessions whose folder is missing are not read, but one has to be
    there.

    Questions `valence`, `activation` and `dominance`, from 1 to 5; an item is a turn.

    Annotators are `E1`, `E2`, ...; a speaker is the session and F or M.
    """
    turns, texts = _Clips(folder.path, Interval(1, 5)), dict[str, str | None]()
    facts: list[tuple[str, float]] = []  # emotion and seconds of each turn
    sessions = [session for session in SESSIONS if (folder / session).is_dir()]
    sounds = []
    for session in sessions or SESSIONS[:1]:
        inside = folder.folder(session)
        for path in _text_files(inside.folder(IEMOCAP_RATINGS)):
            _read_ratings(path, turns, facts)
        for path in _text_files(inside.folder(IEMOCAP_TRANSCRIPTS)):
            spoken = (_SPOKEN.fullmatch(line.strip()) for line in text_lines(path))
            texts |= {match["clip"]: match["text"] or None for match in spoken if match}
        sounds.append(inside.folder(SOUNDS))
    if not turns.ratings:
        raise DataError(
            f"{folder}: no ratings in {SESSIONS[0]}/{IEMOCAP_RATINGS} and the other sessions"
        )
    named = [match for clip in turns.means if (match := _IEMOCAP_CLIP.fullmatch(clip))]
    return turns.corpus(
        corpus,
        sounds,
        texts,
        {
            "speaker": [f"{match['session']}{match['gender']}" for match in named],
            **{key: [match[key] for match in named] for key in ("gender", "session", "dialog")},
            "emotion": [emotion for emotion, _ in facts],
            "seconds": [seconds for _, seconds in facts],
        },
        notes=tuple(f"{session} is not there" for session in SESSIONS if session not in sessions),
    )


def _text_files(folder: Folder) -> list[Path]:
    return sorted(path for path in folder.path.glob("*.txt") if not path.name.startswith("._"))


def _read_ratings(path: Path, turns: _Clips, facts: list[tuple[str, float]]) -> None:
    """Add the turns of one dialog: `[start - end] name emotion [v, a, d]`, then its ratings."""
    clip = None
    for number, line in enumerate(text_lines(path), 1):
        where, text = f"{path}, line {number}", line.strip()
        if text.startswith("["):
            clip, means, *_ = turn = _turn(text, where)
            if clip in turns.means:
                raise DataError(f"{where}: turn {clip!r} is there for the second time")
            turns.means[clip] = means
            facts.append(turn[2:])
        elif line.startswith(("A-", "C-")) and clip is None:
            raise DataError(f"{where}: a rating without a turn before it")
        elif line.startswith("C-"):
            turns.left_out["emotion", OTHERS] += 1
        elif line.startswith("A-"):
            _read_rating(text, where, str(clip), turns)


def _turn(text: str, where: str) -> tuple[str, list[float], str, float]:
    turn = _TURN.fullmatch(text)
    try:
        if turn is None or _IEMOCAP_CLIP.fullmatch(turn["clip"]) is None:
            raise ValueError
        valence, activation, dominance = map(float, turn["means"].split(","))
        seconds = float(turn["stop"]) - float(turn["start"])
    except ValueError:
        raise DataError(
            f"{where}: expected '[START - END] Ses01F_impro01_F000 EMOTION [V, A, D]', found "
            f"{text[:60]!r}"
        ) from None
    return turn["clip"], [valence, activation, dominance], turn["emotion"], seconds


def _read_rating(text: str, where: str, clip: str, turns: _Clips) -> None:
    """Add a line such as `A-E1: val 3; act 2; dom 2; ()`. A blank number is no answer."""
    line = _RATING.fullmatch(text)
    if line is None:
        raise DataError(f"{where}: expected 'A-E1: val 3; act 2; dom 2;', found {text[:60]!r}")
    own = not line["annotator"].startswith("E")
    values = []
    for question in QUESTIONS:
        try:
            value = NONE if own else float(line[question])
        except ValueError:
            value = NONE
        values.append(value if turns.scale.low <= value <= turns.scale.high else NONE)
        if line[question].strip() and np.isnan(values[-1]):
            turns.left_out[question, IEMOCAP_OWN if own else UNREADABLE] += 1
    if not np.isnan(values).all():
        turns.ratings.append(Rating(clip, line["annotator"], values))


# ---- MSP-Improv and MSP-Podcast ----


class RatedLine(NamedTuple):
    """A line of the MSP corpora: a file or an annotator, and numbers; nan where there is none."""

    name: str
    emotions: str  # the category, and for annotators what else they named
    valence: float
    activation: float
    dominance: float
    naturalness: float


_LINE = re.compile(
    r"(?P<name>[^;]+);(?P<emotions>.*);\s*A:(?P<A>[^;]*);\s*V:(?P<V>[^;]*);\s*D:(?P<D>[^;]*);"
    r"(?:\s*N:(?P<N>[^;]*);)?\s*"
)


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
IMPROV_ATTRIBUTES = ("speaker", "gender", "session", "scenario", "sentence", "intended_emotion")


def load_msp_improv(folder: Folder, corpus: str) -> Corpus:
    """MSP-Improv (Busso et al. 2017): the emotion of 8,438 turns of twelve actors, rated by a
    crowd.

    A licensed corpus; this reads the folder as it is distributed. The file has activation the other
    way round (1 is the most active): the answer here is 6 minus that number, as in Tavernor et al.
    (2024). Their speaker-independent split is `paper`.

    Questions `valence`, `activation` and `dominance`, from 1 to 5; an item is a clip.
    """
    path = folder.file(_either(folder, "Evaluation.txt", "Evalution.txt"))
    rated, emotions = _Clips(path, Interval(1, 5)), []
    clip = None
    for number, text in enumerate(text_lines(path), 1):
        where = f"{path}, line {number}"
        if not text.strip():
            clip = None
        elif text.startswith(VIDEO):
            line = rated_line(text, rated.scale, where)
            clip = CLIP + line.name.removeprefix(VIDEO).removesuffix(".avi")
            if clip in rated.means:
                raise DataError(f"{where}: clip {clip!r} is there for the second time")
            rated.means[clip] = _flipped(line)
            emotions.append(line.emotions)
        elif clip is None:
            raise DataError(f"{where}: expected a line that begins with {VIDEO}")
        else:
            line = rated_line(text, rated.scale, where)
            rated.ratings.append(Rating(clip, line.name, _flipped(line)))
            rated.left_out["naturalness", OTHERS] += not np.isnan(line.naturalness)
            rated.left_out["emotion", OTHERS] += 1
    if not rated.ratings:
        raise DataError(f"{path}: no ratings")
    named = [match for clip in rated.means if (match := _IMPROV_CLIP.fullmatch(clip))]
    if len(named) < len(rated.means):
        strange = next(clip for clip in rated.means if not _IMPROV_CLIP.fullmatch(clip))
        raise DataError(
            f"{path}: {strange!r} is no name of a clip, such as 'MSP-IMPROV-S01A-F01-P-FM01'"
        )
    attributes = {key: [match[key] for match in named] for key in IMPROV_ATTRIBUTES}
    part_of = {speaker: part for part, speakers in IMPROV_PARTS.items() for speaker in speakers}
    return rated.corpus(
        corpus,
        [folder],
        transcripts(rated.means, folder / "Text"),
        attributes | {"emotion": emotions},
        splits={"paper": pa.array([part_of.get(s) for s in attributes["speaker"]], pa.string())},
        notes=("activation is 6 minus the number in the file",),
    )


def _flipped(line: RatedLine) -> tuple[float, float, float]:
    return line.valence, 6 - line.activation, line.dominance


MEANS = ("EmoVal", "EmoAct", "EmoDom")  # of valence, activation and dominance
PODCAST_PARTS = {"Train": "train", "Development": "dev", "Validation": "dev"}
PODCAST_PARTS |= {f"Test{number}": f"test{number}" for number in (1, 2, 3)}


def load_msp_podcast(folder: Folder, corpus: str) -> Corpus:
    """MSP-Podcast 1.11 and 1.12 (Lotfian & Busso 2019): the emotion of turns in podcasts.

    A licensed corpus; this reads the folder as it is distributed. The split `official` has the
    parts train, dev, test1 and test2; Test3 is distributed without labels and is not read.

    Questions `valence`, `activation` and `dominance`, from 1 to 7; an item is a clip.

    A speaker who is not known is null, so that the clip is in a group of its own.
    """
    labels, sounds = folder.folder("Labels"), folder.folder("Audios")
    texts = ("FileName", "EmoClass", "SpkrID", "Gender", "Split_Set")
    file = _either(labels, "labels_consensus.csv", "labels_concensus.csv")
    stated = labels.csv(file, texts, MEANS)
    rows = labels.csv("labels_detailed.csv", ("FileName", "EmoDetail"))
    parts = stated.parts("Split_Set", PODCAST_PARTS)
    rated = _Clips(rows.path, Interval(1, 7))
    pairs = zip(rows.list("FileName"), rows.list("EmoDetail"), strict=True)
    for number, (name, detail) in enumerate(pairs, 1):
        line = rated_line(detail, rated.scale, f"{rows.path}, row {number}")
        values = (line.valence, line.activation, line.dominance)
        rated.ratings.append(Rating(name.removesuffix(".wav"), line.name, values))
    rated.left_out["emotion", OTHERS] = len(rated.ratings)
    with stated.errors():
        clips = Names([name.removesuffix(".wav") for name in stated.list("FileName")])
    rated.means = dict(zip(clips, stated.array(*MEANS), strict=True))
    facts = {
        name: pc.if_else(pc.equal(stated[column], "Unknown"), None, stated[column])
        for name, column in (("speaker", "SpkrID"), ("gender", "Gender"))
    }
    facts["podcast"] = [clip.split("_")[1] if "_" in clip else None for clip in clips]
    facts["emotion"] = stated["EmoClass"]
    texts_of = transcripts(clips, folder / "Transcripts")
    return rated.corpus(corpus, [sounds], texts_of, facts, splits={"official": parts})


# ---- MuSE ----

SURVEY, LONG_NAME = "SurveyInformation", "Survey Information (Questions, Data etc)"
MUSE_RATINGS = (
    "Emotion data from crowdsourcing "
    "(C is when annotators had access to all previous sentences).csv"
)
CONDITIONS = {"S": "stressed", "NS": "not stressed"}
MUSE_TRANSCRIPTS = (  # the first one of a clip counts
    "Whisper-Transcriptions/Stressed_Segments",
    "Whisper-Transcriptions/Nonstressed_Segments",
    "Combined/Utterance Transcripts",
)
MUSE_QUESTIONS = ("valence", "activation")
PREFIX = {"muse": "", "muse-context": "C_"}  # of the columns with the ratings
MUSE_OWN = "the speaker's own rating"
IDS, OF_SPEAKER = "muse_annotators.csv", "self_report"  # the second begins the ids of speakers
ID_COLUMNS = ("soft_val_labels", "soft_act_labels", "annotators")
Numbers = tuple[float, ...]


def load_muse(folder: Folder, corpus: str) -> Corpus:
    """MuSE (Jaiswal et al. 2020): the emotion of sentences of 28 speakers, stressed and not
    stressed.

    A licensed corpus; this reads the folder as it is distributed. The annotators are unknown: the
    file lists their numbers without ids. The numbers at one place of the two lists are taken as one
    response. The loader code of Tavernor et al. (github jtavernor/SER-Datasets) has a table with
    ids, `muse_annotators.csv`; put into the folder, it is read for `muse`. In `muse` annotators
    heard the sentence alone; in `muse-context`, also the sentences before it. The speakers' ratings
    of themselves are left out.

    Questions `valence` and `activation`, from 1 to 9; an item is a sentence.

    The attribute `condition` is `stressed` or `not stressed`. A transcript that Whisper made
    (`Whisper-Transcriptions`) is preferred, as in the paper, to the distributed one.
    """
    titles = [question.title() for question in MUSE_QUESTIONS]
    columns = {
        (prefix, end): tuple(f"{prefix}{title}_{end}" for title in titles)
        for prefix in PREFIX.values()
        for end in ("Mean", "Annotation")
    }
    own = [f"S_{title}" for title in titles]
    texts = ("Sentence_name", "Gender", "Type", "Ques_Type", *sum(columns.values(), ()), *own)
    survey = folder.folder(_either(folder, SURVEY, LONG_NAME))
    table = survey.csv(MUSE_RATINGS, texts, ["Duration"])
    condition = table.parts("Type", CONDITIONS)
    other = next(name for name in PREFIX if name != corpus)
    rated = _Clips(table.path, Interval(1, 9), MUSE_QUESTIONS, anonymous=True)

    def responses(*texts: str) -> list[Numbers]:
        numbers = [[float(number) for number in text.split(";") if number] for text in texts]
        return list(zip(*numbers, strict=True))

    def stated(*texts: str) -> list[float]:
        return [float(text or "nan") for text in texts]

    expected = "two lists of as many numbers, such as 3;4;2"
    with table.errors():
        clips = Names([name.removesuffix(".wav") for name in table.list("Sentence_name")])
        rows, others = (
            _parsed(table, columns[PREFIX[name], "Annotation"], responses, expected)
            for name in (corpus, other)
        )
        means = _parsed(table, columns[PREFIX[corpus], "Mean"], stated, "numbers")
    rated.means = dict(zip(clips, means, strict=True))
    for clip, numbers in zip(clips, rows, strict=True):
        rated.ratings += [Rating(clip, str(n), values) for n, values in enumerate(numbers)]
    if corpus == "muse" and (folder / IDS).is_file():
        rated.ratings, rated.anonymous = _identified(folder, clips), False
    n_others, elsewhere = sum(map(len, others)), f"other annotators: --corpus {other}"
    rated.left_out.update({(question, elsewhere): n_others for question in MUSE_QUESTIONS})
    for question, column in zip(MUSE_QUESTIONS, own, strict=True):
        rated.left_out[question, MUSE_OWN] = sum(text != "" for text in table.list(column))
    facts = {"speaker": [clip.split("_")[0] for clip in clips], "gender": table.list("Gender")}
    facts |= {"condition": condition, "question": table["Ques_Type"], "seconds": table["Duration"]}
    sounds = [folder.folder(name) for name in ("Stressed", "NotStressed")]
    texts_of = transcripts(clips, *(folder / name for name in MUSE_TRANSCRIPTS))
    return rated.corpus(corpus, sounds, texts_of, facts)


def _parsed(
    table: Table, columns: Sequence[str], parse: Callable[..., Any], expected: str
) -> list[Any]:
    """What the texts of these columns mean in each row."""
    values = []
    for row, texts in enumerate(zip(*map(table.list, columns), strict=True), 1):
        try:
            values.append(parse(*texts))
        except (ValueError, TypeError, SyntaxError):
            named, cells = (
                " and ".join(map(repr, of)) for of in (columns, [text[:40] for text in texts])
            )
            raise DataError(f"row {row}: {named} must be {expected}, found {cells}") from None
    return values


def _identified(folder: Folder, clips: Names) -> list[Rating]:
    """The ratings with the ids of those who gave them; clips that have none here are not rated."""

    def with_ids(*texts: str) -> list[tuple[Numbers, str]]:
        lists = zip(*map(ast.literal_eval, texts), strict=True)
        return [((float(valence), float(act)), str(name)) for valence, act, name in lists]

    table = folder.csv(IDS, ("FileName", *ID_COLUMNS))
    with table.errors():
        rows = _parsed(table, ID_COLUMNS, with_ids, "three lists of the same length")
    return [
        Rating(clip, name, values)
        for file, ones in zip(table.list("FileName"), rows, strict=True)
        for values, name in ones
        if (clip := file.removesuffix(".wav")) in clips and not name.startswith(OF_SPEAKER)
    ]
