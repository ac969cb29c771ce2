"""Tables as data teams and published corpora have them, each read without an option."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dissensus import read
from dissensus.errors import NoAnswersError

DRAW = np.random.default_rng(1)
WORDS = "a movie never again people think this that climate news game hate love great city".split()
TEXTS = [" ".join(DRAW.choice(WORDS, 9)) for _ in range(200)]
FIRST_NAMES = "Anna Ben Cem Dora Emil Fatma Gül Hugo".split()
MOODS = ("negative", "neutral", "positive")
LEVELS = tuple("12345")


class Answer(NamedTuple):
    item: int
    annotator: int
    value: str
    truth: str


class Everyday(NamedTuple):
    """A table, and what is in it: items, annotators (0: unknown) and questions."""

    name: str
    header: str
    rows: Iterable[Sequence[Any]]
    n_items: int
    n_annotators: int
    questions: str = "answer"
    delimiter: str = ","


def long(
    values: Sequence[str] = MOODS, n_items: int = 40, n_annotators: int = 8, per_item: int = 4
) -> list[Answer]:
    answers = []
    for item in range(n_items):
        truth = DRAW.choice(values)
        for annotator in DRAW.choice(n_annotators, per_item, replace=False):
            value = truth if DRAW.random() < 0.6 else DRAW.choice(values)
            answers.append(Answer(item, int(annotator), str(value), str(truth)))
    return answers


def wide(
    values: Sequence[str] = MOODS, n_items: int = 40, n_annotators: int = 3
) -> list[list[str]]:
    rows = []
    for _ in range(n_items):
        truth = DRAW.choice(values)
        answers = [
            truth if DRAW.random() < 0.75 else DRAW.choice(values) for _ in range(n_annotators)
        ]
        rows.append([str(answer) for answer in answers])
    return rows


def majority(row: list[str]) -> str:
    return max(sorted(set(row)), key=row.count)


def votes(n_items: int = 40) -> np.ndarray:
    return DRAW.multinomial(5, [0.3, 0.5, 0.2], n_items)


def in_order(answers: list[Answer]) -> list[tuple[int, Answer]]:
    """Answers in any order, numbered for each annotator."""
    seen: dict[int, int] = {}
    numbered = []
    for n in DRAW.permutation(len(answers)):
        annotator = answers[n].annotator
        seen[annotator] = seen.get(annotator, 0) + 1
        numbered.append((seen[annotator], answers[n]))
    return numbered


PAIRS = [(f"sys{a}", f"sys{b}") for a in range(6) for b in range(a + 1, 6)]
SLIDERS = np.clip(DRAW.normal(50, 20, (30, 1)) + DRAW.normal(0, 12, (30, 6)), 0, 100).round()
TWO_QUESTIONS = np.clip(
    np.tile(DRAW.integers(1, 6, (40, 2)), 3) + DRAW.integers(-1, 2, (40, 6)), 1, 5
)

TABLES = [
    Everyday(
        "annotators and a final label",
        "tweet_id,annotator_1,annotator_2,annotator_3,final_label",
        [(10**17 + n, *row, majority(row)) for n, row in enumerate(wide())],
        40, 3,
    ),
    Everyday(
        "first names and gold labels",
        "sentence,gold,Anna,Ben,Carla,Dave",
        [(TEXTS[n], majority(row), *row) for n, row in enumerate(wide(n_annotators=4))],
        40, 4,
    ),
    Everyday(
        "gold and time",
        "worker,task,label,gold,time",
        [(f"w{a.annotator}", a.item, a.value, a.truth, 1.5) for a in long()],
        40, 8, "label",
    ),
    Everyday(
        "a row for each respondent",
        "respondent,Q1,Q2,Q3",
        [(f"r{n}", *DRAW.integers(1, 6, 3)) for n in range(30)],
        3, 30,
    ),
    Everyday(
        "a row for each rater, a column for each picture",
        "rater,gender," + ",".join(f"img{n:03d}.jpg" for n in range(12)),
        [(f"p{n}", "fm"[n % 2], *DRAW.integers(1, 6, 12)) for n in range(9)],
        12, 9,
    ),
    Everyday(
        "comparisons of models on questions",
        "model_a,model_b,winner,judge,question_id",
        [
            (*pair, DRAW.choice(["model_a", "model_b", "tie"]), f"human_{judge}", question)
            for question in range(10)
            for pair in PAIRS[3:8]
            for judge in DRAW.choice(8, 3, replace=False)
        ],
        50, 8, "winner",
    ),
    Everyday(
        "counts of labels",
        "sentence_id,label_1_count,label_2_count,label_3_count",
        [(n, *row) for n, row in enumerate(votes())],
        40, 0,
    ),
    Everyday(
        "counts, their sum and the class",
        ",count,hate_speech,offensive_language,neither,class,tweet",
        [(n, 5, *row, row.argmax(), TEXTS[n]) for n, row in enumerate(votes())],
        40, 0,
    ),
    Everyday(
        "yes and no votes",
        "sentence,TRUE_votes,FALSE_votes,n_annotators",
        [(TEXTS[n], yes, 5 - yes, 5) for n, yes in enumerate(DRAW.integers(0, 6, 40))],
        40, 0,
    ),
    Everyday(
        "German names and attributes",
        "Nr;Rater;Äußerung;Valenz;Alter;Geschlecht",
        [
            (a.item, f"VP{a.annotator}", TEXTS[a.item], a.value, 20 + a.annotator,
             "wm"[a.annotator % 2])
            for a in long(LEVELS)
        ],
        40, 8, "Valenz", ";",
    ),
    Everyday(
        "French names",
        "identifiant;phrase;annotateur;émotion",
        [(a.item, TEXTS[a.item], f"ann{a.annotator}", a.value) for a in long()],
        40, 8, "émotion", ";",
    ),
    Everyday(
        "two questions of three raters",
        "id,text,valence_r1,arousal_r1,valence_r2,arousal_r2,valence_r3,arousal_r3",
        [(n, TEXTS[n], *row) for n, row in enumerate(TWO_QUESTIONS)],
        40, 3, "arousal valence",
    ),
    Everyday(
        "attributes of annotators in every row",
        "instance_id,user_id,text,offensiveness,gender,race,age,education",
        [
            (a.item, a.annotator, TEXTS[a.item], a.value, ("Man", "Woman")[a.annotator % 2],
             ("White", "Black", "Asian")[a.annotator % 3], ("18-24", "25-29")[a.annotator % 2],
             "College")
            for a in long(LEVELS, 60, 12)
        ],
        60, 12, "offensiveness",
    ),
    Everyday(
        "three codes for each post",
        "ID\tAnnotator\tText\thd\tcv\tvo",
        [
            (a.item, a.annotator, TEXTS[a.item], a.value, *(DRAW.random(2) < 0.2).astype(int))
            for a in long(("0", "1"), 60, 12)
        ],
        60, 12, "cv hd vo", "\t",
    ),
    Everyday(
        "a column for each emotion",
        "text,id,author,link_id,created_utc,rater_id,example_very_unclear,anger,joy,sadness",
        [
            (TEXTS[a.item], f"eew{a.item}", f"user{a.item % 37}", f"t3_{a.item}",
             1548000000 + a.item * 977, a.annotator, "FALSE", *(DRAW.random(3) < 0.2).astype(int))
            for a in long(n_items=80, n_annotators=15, per_item=3)
        ],
        80, 15, "anger joy sadness",
    ),
    Everyday(
        "pairs of sentences",
        "pairID,premise,hypothesis,annotator_id,label,gold_label",
        [(f"{a.item}n", TEXTS[a.item], TEXTS[100 + a.item], a.annotator, a.value, a.truth)
         for a in long()],
        40, 8, "label",
    ),
    Everyday(
        "five labels of each pair of sentences",
        "gold_label\tsentence1\tsentence2\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5",
        [
            (majority(row), TEXTS[n], TEXTS[100 + n], f"{n}e", *row)
            for n, row in enumerate(wide(n_annotators=5))
        ],
        40, 5, delimiter="\t",
    ),
    Everyday(
        "an experiment with trials",
        "subject,trial,image,rating,rt_ms",
        [
            (f"sub-{a.annotator:02d}", trial, f"img_{a.item}.png", a.value, 700 + 31 * trial % 900)
            for trial, a in in_order(long(LEVELS))
        ],
        40, 8, "rating",
    ),
    Everyday(
        "statements and degrees of agreement",
        "Participant ID,Statement,Response",
        [(f"P{a}", f"Statement {n}", DRAW.choice(["Disagree", "Neutral", "Agree"]))
         for a in range(12) for n in range(15)],
        15, 12, "Response",
    ),
    Everyday(
        "several emotions in a cell",
        "post,rater,emotions",
        [(a.item, f"r{a.annotator}", ";".join(sorted({a.value, a.truth}))) for a in long()],
        40, 8, "emotions",
    ),
    Everyday(
        "instructions without an item",
        "participant,stimulus,response",
        [row for a in long() for row in [(f"p{a.annotator}", f"s{a.item}", a.value),
                                         *([(f"p{a.annotator}", "", "")] if a.item < 9 else [])]],
        40, 8, "response",
    ),
    Everyday(
        "questions of two coders",
        "ID,V1_Topic_C1,V1_Topic_C2,V2_Conflict_C1,V2_Conflict_C2",
        [(f"ART_{n}", *a, *b) for n, (a, b) in enumerate(
            zip(wide(LEVELS, n_annotators=2), wide(n_annotators=2), strict=True))],
        40, 2, "V1_Topic V2_Conflict",
    ),
    Everyday(
        "boxes of readers",
        "record_id,reader_initials,lesion___1,lesion___2,lesion___3,complete",
        [(a.item, "ABCDEFGH"[a.annotator], *(int(a.value == mood) for mood in MOODS), 2)
         for a in long()],
        40, 8, "lesion",
    ),
]  # fmt: skip


def written(folder: Path, table: Everyday) -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=table.delimiter)
    writer.writerow(table.header.split(table.delimiter))
    writer.writerows(table.rows)
    path = folder / "table.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_a_table_is_read_without_options(tmp_path: Path, table: Everyday) -> None:
    corpus = read(written(tmp_path, table))
    assert (corpus.n_items, corpus.n_annotators) == (table.n_items, table.n_annotators)
    assert sorted(corpus.questions) == table.questions.split()


def test_attributes_of_annotators_who_have_a_row_each(tmp_path: Path) -> None:
    corpus = read(written(tmp_path, next(table for table in TABLES if "picture" in table.name)))
    assert list(corpus.annotator_attributes) == ["gender"]
    assert corpus.items[0] == "img000.jpg"
    assert "a row for each annotator; annotator = rater, items = img000.jpg" in corpus.notes[0]


AMBIGUOUS = [
    Everyday(
        "sliders, their mean and deviation",
        "stimulus,P1,P2,P3,P4,P5,P6,Mean,SD",
        [(f"s{n}", *row, row.mean().round(2), row.std().round(2)) for n, row in enumerate(SLIDERS)],
        30, 6,
    ),
    Everyday(
        "percentages",
        "item,pct_yes,pct_no,n",
        [(n, 20 * yes, 100 - 20 * yes, 5) for n, yes in enumerate(DRAW.integers(0, 6, 40))],
        40, 0,
    ),
    Everyday(
        "free text alone",
        "clip,worker,transcription",
        [(f"c{a.item}", f"w{a.annotator}", f"{TEXTS[n]} {n}") for n, a in enumerate(long())],
        40, 8,
    ),
    Everyday(
        "sentences of an item in several conditions",
        "participant,item,condition,sentence,rating",
        [(f"p{p}", n, "abcd"[(n + p) % 4], TEXTS[4 * n + (n + p) % 4], DRAW.integers(1, 6))
         for p in range(12) for n in range(12)],
        48, 12,
    ),
    Everyday(
        "agreement of pairs of annotators",
        "annotator1,annotator2,kappa",
        [(f"A{a}", f"A{b}", 0.3) for a in range(6) for b in range(a)],
        0, 0,
    ),
    Everyday(
        "grades of five annotators as digits",
        "id,headline,grades",
        [(n, TEXTS[n], "".join(sorted(DRAW.choice(list("0000123"), 5)))) for n in range(40)],
        40, 0,
    ),
    Everyday(
        "a survey with a row for each person",
        "CASE,LASTPAGE," + ",".join(f"RA01_{n:02d}" for n in range(1, 9)),
        [(200 + n, 4, *DRAW.integers(1, 6, 8)) for n in range(20)],
        8, 20,
    ),
]  # fmt: skip


@pytest.mark.parametrize("table", AMBIGUOUS, ids=[table.name for table in AMBIGUOUS])
def test_what_is_ambiguous_is_refused(tmp_path: Path, table: Everyday) -> None:
    with pytest.raises(
        NoAnswersError, match=r"table\.csv: .*(--annotator-columns|--format|--answer)"
    ) as refusal:
        read(written(tmp_path, table))
    readings = [read(tmp_path / "table.csv", layout=way)
                for way in getattr(refusal.value, "ways", {}).values()]  # fmt: skip
    if table.name.startswith(("sentences", "a survey")):
        assert (table.n_items, table.n_annotators) in [
            (c.n_items, c.n_annotators) for c in readings
        ]
