"""MuSE (Jaiswal et al. 2020): the emotion of sentences of 28 speakers, stressed and not stressed.

A licensed corpus; this reads the folder as it is distributed. Valence and activation are rated from
1 to 9. The annotators are unknown: the file lists their numbers without ids. The numbers at one
place of the two lists are taken as one response. In `muse` annotators heard the sentence alone; in
`muse-context`, also the sentences before it. The speakers' ratings of themselves are left out.

Every rated clip is kept. `clip_ratings.usable_clips` makes the selection of Tavernor et al.
(2024): it leaves out clips without a transcript, with fewer than two annotators or whose stored
mean is not that of their ratings, and counts them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.clip_ratings import (
    MEANS_AGREE,
    Rating,
    clip_contents,
    means_agree,
    sound_files,
    transcript,
)
from dissensus.datasets.files import chosen, csv_table, errors_in, present_folder
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("muse", "muse-context")
DEFAULT: str | None = "muse"
SURVEY, LONG_NAME = "SurveyInformation", "Survey Information (Questions, Data etc)"
RATINGS = (
    "Emotion data from crowdsourcing "
    "(C is when annotators had access to all previous sentences).csv"
)
CONDITIONS = {"S": "stressed", "NS": "not stressed"}
SOUNDS = {"S": "Stressed", "NS": "NotStressed"}  # folders, as below
WHISPER = {
    "S": "Whisper-Transcriptions/Stressed_Segments",
    "NS": "Whisper-Transcriptions/Nonstressed_Segments",
}
TRANSCRIPTS = "Combined/Utterance Transcripts"
QUESTIONS = ("valence", "activation")
PREFIX = {"muse": "", "muse-context": "C_"}  # of the columns with the ratings
SCALE = Interval(1, 9)
OWN = "the speaker's own rating"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the ratings, or sound of both conditions."""
    survey = any((folder / name / RATINGS).is_file() for name in (SURVEY, LONG_NAME))
    return survey or all((folder / name / "Audio").is_dir() for name in SOUNDS.values())


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `valence` and `activation`, from 1 to 9; an item is a sentence.

    The attribute `condition` is `stressed` or `not stressed`. A transcript that Whisper made
    (`Whisper-Transcriptions`) is preferred, as in the paper, to the distributed one.
    """
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    long_name = (folder / LONG_NAME).is_dir() and not (folder / SURVEY).is_dir()
    survey = present_folder(folder, LONG_NAME if long_name else SURVEY)
    table = _table(survey)
    facts = {key: table[key].to_pylist() for key in ("Sentence_name", "Type", "Gender")}
    with errors_in(survey / RATINGS):
        clips = Names([name.removesuffix(".wav") for name in facts["Sentence_name"]])
        _check_conditions(facts["Type"])
        ratings = _ratings(table, clips, PREFIX[wanted])
        means = _means(table, clips, PREFIX[wanted])
    other = next(name for name in CORPORA if name != wanted)
    sounds: dict[str, Path] = {}
    for name in SOUNDS.values():
        sounds |= sound_files(present_folder(folder, name))
    contents, notes = clip_contents(
        folder, clips, sounds, _transcripts(folder, clips, facts["Type"])
    )
    return Corpus.build(
        wanted,
        clips,
        _questions(survey / RATINGS, ratings, clips),
        contents=contents,
        item_attributes={
            "speaker": [clip.split("_")[0] for clip in clips],
            "gender": facts["Gender"],
            "condition": [CONDITIONS[kind] for kind in facts["Type"]],
            "question": table["Ques_Type"],
            "seconds": table["Duration"],
            MEANS_AGREE: means_agree(clips, ratings, means),
        },
        group="speaker",
        left_out=_left_out(survey, table, clips, other),
        notes=notes,
    )


def _table(survey: Path) -> Any:
    """The file with the ratings; the columns of both corpora."""
    names = [f"{prefix}{q.title()}" for prefix in PREFIX.values() for q in QUESTIONS]
    return csv_table(
        survey,
        RATINGS,
        Duration=pa.float64(),
        **dict.fromkeys(("Sentence_name", "Gender", "Type", "Ques_Type"), pa.string()),
        **{f"{name}_Mean": pa.string() for name in names},
        **{f"{name}_Annotation": pa.string() for name in names},
        **{f"S_{question.title()}": pa.string() for question in QUESTIONS},
    )


def _check_conditions(kinds: list[str]) -> None:
    for row, kind in enumerate(kinds, 1):
        if kind not in CONDITIONS:
            raise DataError(f"row {row}: 'Type' must be S or NS, found {kind!r}")


def _ratings(table: Any, clips: Names, prefix: str) -> list[Rating]:
    """The responses to every clip, numbered within the clip: the annotators are unknown."""
    columns = [f"{prefix}{question.title()}_Annotation" for question in QUESTIONS]
    lists = zip(*(table[column].to_pylist() for column in columns), strict=True)
    ratings = []
    for row, (clip, texts) in enumerate(zip(clips, lists, strict=True), 1):
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


def _questions(path: Path, ratings: list[Rating], clips: Names) -> dict[str, Annotations]:
    """Anonymous answers, linked by response."""
    clip = clips.codes([rating.clip for rating in ratings])
    values = np.array([rating.values for rating in ratings]).reshape(-1, len(QUESTIONS))
    with errors_in(path):
        return {
            question: Annotations.from_arrays(
                clip, None, column.copy(), SCALE, items=clips, response=np.arange(len(clip))
            )
            for question, column in zip(QUESTIONS, values.T, strict=True)
        }


def _means(table: Any, clips: Names, prefix: str) -> dict[str, tuple[float, ...]]:
    """The stated means of every clip; nan where a cell is empty."""
    columns = [f"{prefix}{question.title()}_Mean" for question in QUESTIONS]
    texts = zip(*(table[column].to_pylist() for column in columns), strict=True)
    means = {}
    for row, (clip, pair) in enumerate(zip(clips, texts, strict=True), 1):
        try:
            means[clip] = tuple(float(text or "nan") for text in pair)
        except ValueError:
            raise DataError(
                f"row {row}: {columns[0]!r} and {columns[1]!r} must be numbers, found "
                f"{pair[0][:40]!r} and {pair[1][:40]!r}"
            ) from None
    return means


def _left_out(survey: Path, table: Any, clips: Names, other: str) -> tuple[LeftOut, ...]:
    """The ratings of the other corpus, and those of the speakers."""
    with errors_in(survey / RATINGS):
        n_other = len(_ratings(table, clips, PREFIX[other]))
    rows = [
        LeftOut(question, f"other annotators: --corpus {other}", n_other) for question in QUESTIONS
    ]
    for question in QUESTIONS:
        n_own = sum(text != "" for text in table[f"S_{question.title()}"].to_pylist())
        rows.append(LeftOut(question, OWN, n_own))
    return tuple(row for row in rows if row.answers)


def _transcripts(folder: Path, clips: Names, kinds: list[str]) -> dict[str, str | None] | None:
    """The text of every clip; None if the folder has no transcripts."""
    if not any((folder / name).is_dir() for name in (TRANSCRIPTS, *WHISPER.values())):
        return None
    return {
        clip: transcript(folder / WHISPER[kind] / f"{clip}.txt")
        or transcript(folder / TRANSCRIPTS / f"{clip}.txt")
        for clip, kind in zip(clips, kinds, strict=True)
    }
