"""Wide tables: which columns are people, what the others become, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.readers.layout import UnclearError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal
from tests.readers.conftest import Write, refused


def rows_of(corpus: Corpus) -> list[tuple[str, str, Any]]:
    answers = corpus["answer"]
    codes = zip(answers.item, answers.annotator_codes("a test"), answers.answers(), strict=True)
    return [(corpus.items[item], corpus.annotators[who], answer) for item, who, answer in codes]


# ---- what is recognised ----


def test_annotators_next_to_summaries_gold_and_models(write: Write) -> None:
    corpus = read(
        write(
            ",text,ann_1,ann_2,ann_3,mean,gold,majorityVote,gpt4,domain,split\n"
            "x,hi,1,0,NaN,.5,1,1,0,news,train\n"
            "y,ho,,1,1,1,0,1,1,blog,test\n"
        )
    )
    assert rows_of(corpus) == [
        ("x", "ann_1", "1"),
        ("x", "ann_2", "0"),
        ("y", "ann_2", "1"),
        ("y", "ann_3", "1"),
    ]
    assert corpus.gold["answer"].answers() == ["1", "0"]
    assert {name: values.to_pylist() for name, values in corpus.item_attributes.items()} == {
        "mean": [".5", "1"],
        "majorityVote": ["1", "1"],
        "gpt4": ["0", "1"],
        "domain": ["news", "blog"],
    }
    assert (corpus.text_of(1), corpus.parts()) == ("ho", ["train", "test"])
    assert corpus.left_out == ()
    assert corpus.notes == (
        "labels.csv: wide table; item = the column without a name, annotators = ann_1, ann_2, "
        "ann_3 (nominal: 0, 1), text = text, gold = gold, split = split; not annotators: "
        "mean, majorityVote, gpt4; also domain; 4 answers by 3 annotators on 2 items",
        "labels.csv: answer: 'NaN' (1) read as no answer",
    )


@pytest.mark.parametrize(
    "names",
    [
        ("ann1", "ann2"),
        ("Annotator 1", "Annotator 2"),
        ("rater_A", "rater_B"),
        ("CoderX", "CoderY"),
        ("worker851", "worker7"),
        ("label_rater1", "label_rater2"),
        ("annotator1_label", "annotator2_label"),
        ("17", "851"),
        ("w17", "w851"),
        ("label_1", "label_2"),
        ("A1B2C3D4E5F6", "A9Z8Y7X6W5V4"),
        ("ann@x.org", "bob@x.org"),
    ],
)
def test_names_of_annotators(write: Write, names: tuple[str, ...]) -> None:
    cells = [["yes", "no", "yes"], ["no", "no", "yes"]]
    lines = [f"t{n}," + ",".join(row[: len(names)]) for n, row in enumerate(cells)]
    corpus = read(write("\n".join([f"item,{','.join(names)}", *lines])))
    assert tuple(corpus.annotators) == names
    assert list(corpus.items) == ["t0", "t1"]


@pytest.mark.parametrize("header", ["id,anna,ben,carla", "id,text,Anna K.,Ben S.,eve_2"])
def test_columns_with_first_names_are_annotators(write: Write, header: str) -> None:
    text = ",so good" if "text" in header else ""
    corpus = read(write(f"{header}\n1{text},yes,no,yes\n2{text},no,,yes\n3{text},no,no,no\n"))
    assert list(corpus.annotators) == header.split(",")[-3:]
    assert sum(one.n_answers for one in corpus.questions.values()) == 8


@pytest.mark.parametrize(
    "header",
    [
        "id,V,A,D",  # three ratings of one person
        "id,toxic,insult,threat",  # three questions
        "id,joy,grace,hope",  # first names, but words too
        "id,anna,ben,toxic",  # one may be a gold label
        "id,anna_rude,anna_funny,anna_sad",  # three questions to one person
        "id,q1,q2,q3",
        "id,raters,workers,users",
        "id,annotator_age,annotator_country,annotator_id2x",
        "0,1,2,3",  # a header of a table without names
    ],
)
def test_columns_that_may_be_questions_are_not_read_as_annotators(
    write: Write, header: str
) -> None:
    path = write(f"{header}\n1,1,2,1\n2,2,1,2\n")
    names = [name for name in header.split(",") if name != "id"]
    file = f"dissensus describe {path}"
    answers = " ".join(f"--answer {name}" for name in names)
    message = (
        f"{path}: no column of answers recognised: {', '.join(map(repr, names))} have the same "
        f"values, but may be annotators or questions; use {file} --annotator-columns "
        f"{','.join(names)} if each is an annotator"
    )
    if names != header.split(","):  # a question needs items
        message += f", {file} {answers} if each is a question, {file} --item '{{column}}' "
        message += f"--annotator id {answers} if each is an item, and 'id' names the annotator"
    with pytest.raises(DataError, match=refused(message)):
        read(path)


@pytest.mark.parametrize(
    "header",
    [
        "item,worker,label,ann_1,ann_2",
        "item,annotator,answer,1,2",
        "item,rater,score,label_1,label_2",
        "text,id,label,w1,w2",
    ],
)
def test_a_long_table_stays_long(write: Write, header: str) -> None:
    corpus = read(write(f"{header}\nt1,a,3,1,2\nt2,b,4,2,1\n"))
    assert corpus.notes[0].startswith("labels.csv: long table; ")


def test_answers_from_many_values_are_no_small_set(write: Write) -> None:
    table = "".join(f"{n},{n / 7:.3f},{n * 11 % 30 / 7:.3f}\n" for n in range(30))
    with pytest.raises(DataError, match="no column of answers recognised in 'id', '17', '23'"):
        read(write("id,17,23\n" + table))
    corpus = read(write("id,rater_1,rater_2\n" + table))  # named plainly enough
    assert isinstance(corpus["answer"].scale, Interval)


def test_columns_of_any_name_are_annotators_if_they_are_called_like_persons(write: Write) -> None:
    draw = np.random.default_rng(0)
    cells = draw.choice(["calm", "glad", "sad"], (60, 4)).astype(object)
    cells[np.arange(60), draw.integers(0, 4, 60)] = ""
    lines = [",".join([f"i{n}", *row]) for n, row in enumerate(cells)]
    corpus = read(write("\n".join(["id,alice,bob,carol,dave", *lines])))
    assert list(corpus.annotators) == ["alice", "bob", "carol", "dave"]
    names = ["kwa", "tso", "lqe", "zxo"]  # no person is called so, whatever the columns contain
    path = write("\n".join([",".join(["id", *names]), *lines]), "strange.csv")
    with pytest.raises(UnclearError, match="may be annotators or questions") as refusal:
        read(path)
    corpus = read(path, layout=refusal.value.ways["if each is an annotator"])
    assert list(corpus.annotators) == names and corpus["answer"].n_rows == 180


@pytest.mark.parametrize(
    "header",
    [
        "label_ann1,label_ann2,rating_ann1,rating_ann2",
        "ann1_label,ann2_label,ann1_rating,ann2_rating",
        "label 1,label 2,rating 1,rating 2",
    ],
)
def test_two_questions_in_columns(write: Write, header: str) -> None:
    corpus = read(write(f"id,text,{header}\nt1,so,yes,no,1,5\nt2,ho,no,,3,2\n"))
    assert corpus["label"].answers() == ["yes", "no", "no"]
    assert corpus["rating"].answers() == ["1", "5", "3", "2"]
    assert corpus.n_annotators == 2
    assert "questions = label (nominal: no, yes), rating (ordinal: 1, 2, 3, 5)" in corpus.notes[0]


def two_question_lines(agree: float, header: str) -> str:
    """Thirty items with a label and a rating by each of three annotators, who agree so often."""
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 3, 30)[:, None]
    codes = np.where(draw.random((30, 3)) < agree, truth, draw.integers(0, 3, (30, 3)))
    words = np.array(["ok", "rude", "toxic"])[codes]
    lines = [
        ",".join([f"i{n}", f"this is text {n}", *words[n], *map(str, codes[n])]) for n in range(30)
    ]
    return "\n".join([f"id,text,{header}", *lines])


PARTS = ["label_anna", "label_ben", "label_carla", "rating_anna", "rating_ben", "rating_carla"]


@pytest.mark.parametrize(
    "header", [PARTS, [name.replace("_", " ") for name in PARTS],
               ["-".join(name.split("_")[::-1]) for name in PARTS]],
)  # fmt: skip
def test_two_questions_of_annotators_with_any_name(write: Write, header: list[str]) -> None:
    corpus = read(write(two_question_lines(0.8, ",".join(header))))
    assert list(corpus.annotators) == ["anna", "ben", "carla"]
    assert list(corpus.questions) == ["label", "rating"]


def test_two_questions_of_annotators_with_unknown_names_are_not_guessed(write: Write) -> None:
    names = ("anna", "kwa"), ("ben", "tso"), ("carla", "lqe")
    header = ",".join(PARTS)
    for person, nobody in names:
        header = header.replace(person, nobody)
    path = write(two_question_lines(0.8, header))
    with pytest.raises(DataError, match="--annotator-columns kwa,tso,lqe .* if names have a"):
        read(path)
    answer = ["label_{annotator}", "rating_{annotator}"]
    corpus = read(path, annotators=["kwa", "tso", "lqe"], answer=answer)  # as the hint says
    assert list(corpus.annotators) == ["kwa", "tso", "lqe"]
    assert corpus["rating"].n_rows == 90


def test_numbered_questions_are_not_annotators(write: Write) -> None:
    header = ",".join(f"q{n}_{what}" for what in ("answer", "rating") for n in (1, 2, 3))
    with pytest.raises(DataError):
        read(write(two_question_lines(0.9, header)))


def test_numbered_columns_and_a_named_index_of_pandas() -> None:
    """Columns with gaps are annotators, texts of an index items."""
    table = pd.DataFrame([[0, np.nan, 1], [1, 1, np.nan]])
    rows = [("0", "0", "0"), ("0", "2", "1"), ("1", "0", "1"), ("1", "1", "1")]
    assert rows_of(read(table)) == rows
    table = pd.DataFrame({"ann_1": [0, 1], "ann_2": [np.nan, 1]}, index=["item0", "item1"])
    rows = [("item0", "ann_1", "0"), ("item1", "ann_1", "1"), ("item1", "ann_2", "1")]
    assert rows_of(read(table)) == rows


def test_items_are_numbered_where_nothing_names_them(write: Write) -> None:
    corpus = read(write("sent_id,token,ann1,ann2\n0,so,X,Y\n0,good,Y,Y\n1,so,X,X\n"))
    assert list(corpus.items) == ["0", "1", "2"]
    assert list(corpus.item_attributes) == ["sent_id", "token"]
    assert corpus.notes[0].startswith("labels.csv: wide table; item = the row number, ")


def test_an_id_that_repeats_does_not_name_items(write: Write) -> None:
    corpus = read(write("id,text,ann1,ann2\n1,a,x,y\n1,b,y,x\n"))
    assert list(corpus.items) == ["0", "1"]


def test_items_and_annotators_without_answers_stay(write: Write) -> None:
    corpus = read(write("item,ann1,ann2,ann3\nt1,x,,y\nt2,,,\nt3,y,NaN,\n"))
    assert list(corpus.items) == ["t1", "t2", "t3"]
    assert list(corpus.annotators) == ["ann1", "ann2", "ann3"]
    assert corpus["answer"].per_item().tolist() == [2, 0, 1]
    assert corpus["answer"].per_annotator().tolist() == [2, 0, 1]


def test_answers_that_are_almost_numbers_stay_texts(write: Write) -> None:
    corpus = read(write("item,ann1,ann2\nt1,1,3+\nt2,2,1\n"))
    assert corpus["answer"].scale == Nominal(("1", "2", "3+"))


def test_many_annotators_are_counted_in_the_note(write: Write) -> None:
    names = [f"ann{n}" for n in range(12)]
    corpus = read(write(f"item,{','.join(names)}\nt1,{','.join('01' * 6)}\n"))
    assert corpus.notes[0] == (
        "labels.csv: wide table; item = item, annotators = ann0, ann1, ann2, ann3, ann4, ann5, "
        "ann6, ann7, ... (12 in total) (nominal: 0, 1); 12 answers by 12 annotators on 1 item"
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_sets_in_cells(write: Write, name: str) -> None:
    if name == "a.jsonl":
        lines = '{"item": 1, "ann1": ["joy", "fear"], "ann2": []}\n{"item": 2, "ann1": ["joy"]}'
        corpus = read(write(lines, name))
        expected: list[tuple[str, ...]] = [("fear", "joy"), (), ("joy",)]
    else:
        path = write('item,ann1,ann2\n1,"joy, fear",\n2,joy,fear\n', name)
        corpus = read(path, scale="multi-label")
        expected = [("fear", "joy"), ("joy",), ("fear",)]
    assert corpus["answer"].scale == MultiLabel(("fear", "joy"))
    assert corpus["answer"].answers() == expected


def test_columns_called_answer_and_annotator_next_to_annotators() -> None:
    table = pa.table({"ann1": ["x", "y"], "ann2": ["y", "y"], "answer": ["x", "y"]})
    corpus = read(table)
    assert corpus["answer_"].n_rows == 4
    assert corpus.item_attributes["answer"].to_pylist() == ["x", "y"]


# ---- what overrules ----

PLAIN = "id,domain,anna,ben,mean\n1,news,1,2,1.5\n2,blog,2,1,1.5\n3,blog,3,1,2\n"


def test_the_format_overrules(write: Write) -> None:
    corpus = read(write(PLAIN), format="wide")
    assert list(corpus.annotators) == ["anna", "ben"]
    assert corpus["answer"].scale == Ordinal(("1", "2", "3"))
    assert list(corpus.item_attributes) == ["domain", "mean"]
    path = write("item,worker,label,ann_1,ann_2\nt1,a,1,1,0\nt2,b,0,0,1\n")
    assert list(read(path, format="wide").annotators) == ["ann_1", "ann_2"]
    path = write("id,text,label,ann_1,ann_2\n1,x,1,1,0\n2,y,0,0,1\n")
    assert list(read(path).annotators) == ["ann_1", "ann_2"]
    assert list(read(path, format="long").questions) == ["label"]
    assert list(read(path, answer="label").questions) == ["label"]


def test_naming_the_annotators_overrules(write: Write) -> None:
    corpus = read(write(PLAIN), annotators=["ben"], item="anna", text="domain")
    assert rows_of(corpus) == [("1", "ben", "2"), ("2", "ben", "1"), ("3", "ben", "1")]
    assert corpus.text_of(0) == "news"
    table = pd.DataFrame([["a", 1, 2], ["b", 2, 2]])
    corpus = read(table, item=0, annotators=[1, 2])
    assert list(corpus.items) == ["a", "b"]


def test_an_item_on_two_rows(write: Write) -> None:
    path = write("item,ann1,ann2\nt1,x,\nt1,,y\nt2,x,x\n")
    assert rows_of(read(path))[:2] == [("t1", "ann1", "x"), ("t1", "ann2", "y")]
    path = write("item,ann1,ann2\nt1,x,y\nt1,y,y\nt2,x,x\n")
    assert rows_of(read(path, repeats="last"))[0] == ("t1", "ann1", "y")
    assert rows_of(read(path, repeats="set"))[:2] == [
        ("t1", "ann1", ("x", "y")),
        ("t1", "ann2", ("y",)),
    ]


# ---- bad input ----


def test_annotators_who_answer_in_different_ways(write: Write) -> None:
    path = write("id,ann1,ann2\n1,3,maybe\n2,2,no\n")
    assert read(path, scale="nominal")["answer"].answers() == ["3", "maybe", "2", "no"]
    path = write('{"item": 1, "ann1": ["joy"], "ann2": "joy"}', "a.jsonl")
    with pytest.raises(DataError, match="'ann2' answers in words .'joy'., 'ann1' answers in sets"):
        read(path)


def test_bytes_as_answers() -> None:
    table = pa.table({"ann1": [b"\xff"], "ann2": [b"\xfe"]})
    with pytest.raises(
        DataError, match=refused("table: column 'ann1' contains bytes, not answers")
    ):
        read(table, annotators=["ann1", "ann2"])


def test_a_table_in_memory_is_refused_with_a_call_that_reads_it() -> None:
    table = pa.table({"id": ["1", "2"], "toxic": ["no", "yes"], "rude": ["yes", "no"]})
    message = (
        "table: no column of answers recognised: 'toxic', 'rude' have the same values, but may be "
        "annotators or questions; use read(table, annotators=['toxic', 'rude']) if each is an "
        "annotator, read(table, answer=['toxic', 'rude']) if each is a question, read(table, "
        "item='{column}', annotator='id', answer=['toxic', 'rude']) if each is an item, and 'id' "
        "names the annotator"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(table)
    assert list(read(table, answer=["toxic", "rude"]).questions) == ["toxic", "rude"]


def test_columns_recognised_by_what_they_contain_are_listed() -> None:
    columns = {
        "key": [f"k{n}" for n in range(40)],
        "passage read": [f"some words of the text number {n}" for n in range(40)],
        "genre": [f"g{n % 3}" for n in range(40)],
        "gpt4": [str(n % 2) for n in range(40)],
    }
    columns |= {
        name: [("no", "yes")[n % at > 1] for n in range(40)]
        for at, name in enumerate(("anna", "ben", "carla"), start=3)
    }
    corpus = read(pa.table(columns))
    assert corpus.notes[0] == (
        "table: wide table; item = key, annotators = anna, ben, carla (nominal: no, yes), "
        "text = passage read; not annotators: gpt4; also genre; 120 answers by 3 annotators on "
        "40 items"
    )
    assert corpus.notes[1] == (
        "table: columns recognised by what they contain\n"
        "  item = key: another value in every row\n"
        "  content = passage read: a text for each item"
    )


def test_one_question_of_persons(write: Write) -> None:
    rows = [f"t{n},{n % 3},{(n + 1) % 3}" for n in range(9)]
    corpus = read(write("\n".join(["id,score_anna,score_ben", *rows]) + "\n", "labels.csv"))
    assert (list(corpus.annotators), list(corpus.questions)) == (["anna", "ben"], ["score"])
    mails = [f"t{n},{n}@anna.org,{n}@ben.org" for n in range(9)]
    with pytest.raises(DataError, match="no column of answers recognised"):
        read(write("\n".join(["id,email_anna,email_ben", *mails]) + "\n", "people.csv"))


def test_sets_in_a_table_whose_items_have_no_name(write: Write) -> None:
    corpus = read(write(",ann_1,ann_2\nx,1,0\ny,1,1\n"), repeats="set")
    assert list(corpus.items) == ["x", "y"]
    assert [answer for *_, answer in rows_of(corpus)] == [("1",), ("0",), ("1",), ("1",)]


def test_a_text_next_to_numbered_columns_is_no_column_of_answers(write: Write) -> None:
    rows = [f"text {n},{','.join(str(n * k % 37 / 4) for k in range(1, 6))}" for n in range(20)]
    path = write("\n".join(["text,1,2,3,4,5", *rows]))
    with pytest.raises(DataError, match="no column of answers recognised"):
        read(path)
    corpus = read(path, annotator="text", answer="{item}")
    assert (corpus.n_items, corpus.n_annotators) == (5, 20)
