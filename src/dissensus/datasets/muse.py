"""MuSE (Jaiswal et al. 2020): the emotion of sentences of 28 speakers, stressed and not stressed.

A licensed corpus; this reads the folder as it is distributed. Valence and activation are rated from
1 to 9. The annotators are unknown: the file lists their numbers without ids. The numbers at one
place of the two lists are taken as one response. The loader code of Tavernor et al. (github
jtavernor/SER-Datasets) has a table with ids, `muse_annotators.csv`; put into the folder, it is read
for `muse`. In `muse` annotators heard the sentence alone; in `muse-context`, also the sentences
before it. The speakers' ratings of themselves are left out.

Every rated clip is kept. `clip_ratings.usable_clips` makes the selection of Tavernor et al.
(2024): it leaves out clips without a transcript, with fewer than two annotators or whose stored
mean is not that of their ratings, and counts them.
"""

from __future__ import annotations

import ast
from pathlib import Path

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.clip_ratings import Rating, clip_corpus, sound_files, transcript
from dissensus.datasets.files import Table, csv_table, present_folder
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval

SURVEY, LONG_NAME = "SurveyInformation", "Survey Information (Questions, Data etc)"
RATINGS = (
    "Emotion data from crowdsourcing "
    "(C is when annotators had access to all previous sentences).csv"
)
CONDITIONS = {"S": "stressed", "NS": "not stressed"}
WHISPER = {
    "S": "Whisper-Transcriptions/Stressed_Segments",
    "NS": "Whisper-Transcriptions/Nonstressed_Segments",
}
TRANSCRIPTS = "Combined/Utterance Transcripts"
QUESTIONS = ("valence", "activation")
PREFIX = {"muse": "", "muse-context": "C_"}  # of the columns with the ratings
OWN = "the speaker's own rating"
IDS, OF_SPEAKER = "muse_annotators.csv", "self_report"  # the second begins the ids of speakers
ID_COLUMNS = ("FileName", "soft_val_labels", "soft_act_labels", "annotators")


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `valence` and `activation`, from 1 to 9; an item is a sentence.

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
    left_out = [LeftOut(q, f"other annotators: --corpus {other}", n_other) for q in QUESTIONS]
    for question in QUESTIONS:
        n_own = sum(text != "" for text in table.list(f"S_{question.title()}"))
        left_out.append(LeftOut(question, OWN, n_own))
    sounds: dict[str, Path] = {}
    for name in ("Stressed", "NotStressed"):
        sounds |= sound_files(present_folder(folder, name))
    return clip_corpus(
        corpus,
        table.path,
        clips,
        ratings,
        Interval(1, 9),
        questions=QUESTIONS,
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
    names = [f"{prefix}{question.title()}" for prefix in PREFIX.values() for question in QUESTIONS]
    columns = [f"{name}_{what}" for name in names for what in ("Mean", "Annotation")]
    own = [f"S_{question.title()}" for question in QUESTIONS]
    texts = ("Sentence_name", "Gender", "Type", "Ques_Type", *columns, *own)
    table = csv_table(survey, RATINGS, texts, ["Duration"])
    table.parts("Type", CONDITIONS)
    return table


def _ratings(table: Table, clips: Names, corpus: str) -> list[Rating]:
    """The responses to every clip, numbered within the clip: the annotators are unknown."""
    columns = [f"{PREFIX[corpus]}{question.title()}_Annotation" for question in QUESTIONS]
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
    columns = [f"{PREFIX[corpus]}{question.title()}_Mean" for question in QUESTIONS]
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
    if not any((folder / name).is_dir() for name in (TRANSCRIPTS, *WHISPER.values())):
        return None
    return {
        clip: transcript(folder / WHISPER[kind] / f"{clip}.txt")
        or transcript(folder / TRANSCRIPTS / f"{clip}.txt")
        for clip, kind in zip(clips, kinds, strict=True)
    }
