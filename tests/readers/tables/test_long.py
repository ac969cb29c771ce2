"""From a table of texts to a corpus: what each column becomes, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal
from tests.readers.conftest import Write, refused

HEADER = "task,worker,label\n"


# ---- columns ----


@pytest.mark.parametrize(
    "names",
    [
        ("item", "annotator", "answer"),
        ("taskId", "workerId", "answer"),
        ("TASK_ID", "Performer", "OUTPUT"),
        ("unit-id", "coder id", "judgment"),
        ("_unit_id", "_worker_id", "Vote"),
        ("HITId", "WorkerId", "Rating"),
        ("id", "user", "value"),
        ("example", "judge", "response"),
        ("text_id", "rater", "annotation"),
    ],
)
def test_names_are_recognised(write: Write, names: tuple[str, str, str]) -> None:
    corpus = read(write(",".join(names) + "\nt1,ann,yes\nt1,bob,no\n"))
    item, annotator, answer = names
    assert corpus.notes[0].startswith(
        f"labels.csv: long table; item = {item}, annotator = {annotator}, answer = {answer} ("
    )


def test_options_overrule(write: Write) -> None:
    path = write("item,annotator,answer,other,who,said\nt1,a,yes,o1,x,no\nt1,b,no,o2,y,yes\n")
    corpus = read(path, item="other", annotator="who", answer="said", name="mine")
    assert (corpus.name, list(corpus.items), list(corpus.annotators)) == (
        "mine",
        ["o1", "o2"],
        ["x", "y"],
    )
    assert corpus["said"].answers() == ["no", "yes"]


def test_other_columns_are_attributes_of_what_they_are_constant_in(write: Write) -> None:
    corpus = read(
        write(
            "item,annotator,answer,lang,age,remark,split,seconds,gold\n"
            "t1,ann,1,en,30,x,train,1.5,1\nt1,bob,2,en,40,,train,,1\nt2,ann,1,de,30,z,dev,2,\n"
        )
    )
    assert {k: v.to_pylist() for k, v in corpus.item_attributes.items()} == {"lang": ["en", "de"]}
    assert {k: v.to_pylist() for k, v in corpus.annotator_attributes.items()} == {"age": [30, 40]}
    answers = corpus["answer"]
    assert {k: v.to_pylist() for k, v in answers.extra.items()} == {"remark": ["x", None, "z"]}
    assert answers.seconds is not None
    assert [str(s) for s in answers.seconds] == ["1.5", "nan", "2.0"]
    assert corpus.parts() == ["train", "dev"]
    assert corpus.gold["answer"].item.tolist() == [0]
    assert corpus.gold["answer"].answers() == ["1"]
    assert corpus.notes == (
        "labels.csv: long table; item = item, annotator = annotator, answer = answer "
        "(nominal: 1, 2), gold = gold, seconds = seconds, split = split; also lang (of the item), "
        "age (of the annotator), remark (of the answer); 3 answers by 2 annotators on 2 items",
    )


def test_attributes_of_annotators_who_saw_different_items(write: Write) -> None:
    corpus = read(write("item,annotator,answer,age\nt1,a,x,30\nt2,a,y,30\nt3,b,x,41\n"))
    assert corpus.annotator_attributes["age"].to_pylist() == [30, 41]


def test_without_items_each_text_is_one(write: Write) -> None:
    corpus = read(write("text,label\nso good,yes\nso good,no\nbad,no\n"))
    assert list(corpus.items) == ["so good", "bad"]
    assert corpus["label"].annotator is None
    assert corpus["label"].counts().tolist() == [[1, 1], [1, 0]]
    assert corpus.notes[0] == (
        "labels.csv: long table; item = text, no annotators, answer = label (nominal: no, yes), "
        "text = text; 3 answers on 2 items"
    )


def test_an_id_that_counts_rows_is_no_item(write: Write) -> None:
    corpus = read(write("id,text,rater,label\n1,good,a,yes\n2,good,b,no\n3,bad,a,no\n"))
    assert list(corpus.items) == ["good", "bad"]
    assert corpus["label"].extra["id"].to_pylist() == ["1", "2", "3"]


def test_a_task_of_one_name_is_no_item(write: Write) -> None:
    corpus = read(write("task,id,rater,label\nhate,1,a,yes\nhate,1,b,no\nhate,2,a,no\n"))
    assert list(corpus.items) == ["1", "2"]
    corpus = read(write("task,id,text,label\nQA,1,so,yes\nQA,2,no,no\nIR,3,hm,no\n"))
    assert list(corpus.items) == ["1", "2", "3"]


def test_a_comment_of_the_annotator_is_no_text(write: Write) -> None:
    corpus = read(write("item,annotator,answer,comment\nt1,a,x,why\nt1,b,y,ok\nt2,a,x,hm\n"))
    assert corpus.contents == {}
    assert corpus["answer"].extra["comment"].to_pylist() == ["why", "ok", "hm"]


def test_several_texts_are_roles(write: Write) -> None:
    text = "premise,hypothesis,annotator,label\np,h1,a,e\np,h2,a,n\n"
    assert read(write(text)).text_of(1) == "p | h2"
    corpus = read(
        write(text.replace("premise", "left").replace("hypothesis", "right")),
        text=["left", "right"],
    )
    assert list(corpus.contents) == ["left", "right"]
    assert list(corpus.items) == ["p | h1", "p | h2"]
    assert len(corpus.contents["left"]) == 1


def test_several_answer_columns_are_questions(write: Write) -> None:
    path = write("item,valence,arousal\nt1,1,9\nt1,5,\nt2,3.5,2\n")
    corpus = read(path, answer=["valence", "arousal"], scale={"valence": "interval:1:9"})
    assert corpus["valence"].scale == Interval(1, 9)
    assert corpus["arousal"].answers() == ["9", "2"]
    joint = corpus.joint("valence", "arousal")  # anonymous, but linked by the row
    assert joint.answers["valence"].tolist() == [1.0, 3.5]
    assert corpus.left_out == (LeftOut("arousal", "no answer", 1),)


def test_a_column_of_questions(write: Write) -> None:
    corpus = read(
        write(
            "item,annotator,question,answer,gold\nt1,a,valence,3,3\nt1,a,mood,sad,sad\n"
            "t1,b,valence,1,3\nt2,b,mood,glad,\n"
        )
    )
    assert list(corpus.questions) == ["valence", "mood"]
    assert corpus["valence"].answers() == ["3", "1"]
    assert corpus["mood"].answers() == ["sad", "glad"]
    assert corpus.gold["valence"].answers() == ["3"]
    assert corpus.notes[0] == (
        "labels.csv: long table; item = item, annotator = annotator, question = question, "
        "answer = answer (valence, nominal: 1, 3; mood, nominal: glad, sad), gold = gold; "
        "4 answers by 2 annotators on 2 items"
    )


def test_the_wording_of_an_items_question_names_no_question(write: Write) -> None:
    corpus = read(write("item,question,annotator,answer\nt1,why?,a,x\nt1,why?,b,y\nt2,who?,a,x\n"))
    assert list(corpus.questions) == ["answer"]
    assert corpus.item_attributes["question"].to_pylist() == ["why?", "who?"]


def test_responses_link_questions(write: Write) -> None:
    text = "item,question,answer,assignment_id\nt1,q,1,A\nt1,r,2,A\nt2,q,3,A\nt2,r,4,B\nt2,q,5,B\n"
    joint = read(write(text)).joint("q", "r")
    assert joint.item.tolist() == [0, 1]


def test_counts_of_anonymous_answers(write: Write) -> None:
    corpus = read(write("item,answer,count\nt1,yes,3\nt1,no,2\nt2,no,0\n"))
    assert corpus["answer"].counts().tolist() == [[2, 3], [0, 0]]
    assert corpus.left_out == ()


def test_a_count_beside_annotators_is_none(write: Write) -> None:
    corpus = read(write("item,annotator,answer,n\nt1,a,x,3\nt1,b,y,2\n"))
    assert corpus["answer"].count is None


def test_items_only(write: Write) -> None:
    corpus = read(write("id,text\n1,good\n2,bad\n"), answer=())
    assert (list(corpus.items), corpus.questions) == (["1", "2"], {})


def test_gold_that_nobody_answered_has_a_scale_of_its_own(write: Write) -> None:
    corpus = read(write("item,annotator,answer,gold\nt1,a,x,z\nt1,b,y,z\n"))
    assert corpus.gold["answer"].scale == Nominal(("z",))
    corpus = read(write("item,annotator,answer,gold\nt1,a,x,x\nt1,b,y,x\n"))
    assert corpus.gold["answer"].scale == Nominal(("x", "y"))


def test_an_item_that_nobody_answered(write: Write) -> None:
    corpus = read(write("item,annotator,answer\nt1,a,x\nt1,b,y\nt2,,\n"))
    assert list(corpus.items) == ["t1", "t2"]
    assert list(corpus.annotators) == ["a", "b"]


# ---- media ----


def test_media_are_files_beside_the_table(write: Write, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    for name in ("a.wav", "b.wav"):
        (tmp_path / "clips" / name).write_bytes(b"RIFF" + name.encode())
    corpus = read(write("item,annotator,answer,audio\nt1,x,1,clips/a.wav\nt2,x,2,clips/b.wav\n"))
    contents = corpus.contents["audio"]
    assert contents.kind == "audio"
    assert contents.values.to_pylist() == [str(tmp_path / "clips" / n) for n in ("a.wav", "b.wav")]
    assert contents.bytes_of(corpus.content["audio"][1]) == b"RIFFb.wav"


def test_missing_media_files(write: Write, tmp_path: Path) -> None:
    """They are said, so that what needs no media goes on."""
    path = write("image,annotator,answer\na.png,x,1\nb.png,x,1\n")
    assert (
        f"labels.csv: 2 of 2 image files missing, the first: {tmp_path / 'a.png'}; put them there "
        "before a command reads them"
    ) in read(path).notes
    (tmp_path / "a.png").write_bytes(b"")
    assert (
        f"labels.csv: 1 of 2 image files missing, the first: {tmp_path / 'b.png'}; commands that "
        "read them need --skip-bad"
    ) in read(path).notes


def test_a_blank_column_of_gold_is_no_gold(write: Write) -> None:
    corpus = read(write("item,annotator,answer,gold\nt1,x,1,\nt2,y,0,\n"))
    assert (corpus.gold, corpus["answer"].n_rows) == ({}, 2)


# ---- answers ----


def test_scales_are_inferred(write: Write) -> None:
    def scale(*answers: str) -> object:
        rows = "".join(f"t{i},a,{answer}\n" for i, answer in enumerate(answers))
        return read(write(HEADER + rows))["label"].scale

    assert scale("yes", "no") == Nominal(("no", "yes"))
    assert scale("10", "9", "8") == Ordinal(("8", "9", "10"))
    assert scale("0.5", "2") == Interval(0.5, 2)


def test_sets_of_values(write: Write) -> None:
    path = write(HEADER + 't1,a,"joy,fear"\nt1,b,joy\n')
    answers = read(path, scale="multi-label")["label"]
    assert answers.scale == MultiLabel(("fear", "joy"))
    assert answers.answers() == [("fear", "joy"), ("joy",)]


def test_blank_answers_are_left_out_and_counted(write: Write) -> None:
    corpus = read(write(HEADER + "t1,a,yes\nt1,b,\nt2,a,NaN\nt2,b,  \nt3,a,null\nt3,b,no\n"))
    assert corpus.left_out == (LeftOut("label", "no answer", 4),)
    assert corpus["label"].answers() == ["yes", "no"]
    assert list(corpus.items) == ["t1", "t2", "t3"]


def test_none_is_a_value_among_words_and_a_gap_among_numbers(write: Write) -> None:
    corpus = read(write(HEADER + "t1,a,joy\nt1,b,None\nt2,a,NA\n"))
    assert corpus["label"].answers() == ["joy", "None", "NA"]
    corpus = read(write(HEADER + "t1,a,1\nt1,b,None\nt2,a,NA\nt2,b,2\n"))
    assert corpus["label"].answers() == ["1", "2"]
    assert "labels.csv: label: 'None' (1), 'NA' (1) read as no answer" in corpus.notes
    corpus = read(write(HEADER + "t1,a,nan\nt1,b,yes\n"), scale="nominal:yes,nan")
    assert corpus["label"].answers() == ["nan", "yes"]


SPANS = [
    '[[10, 28, "Subject"]]',
    '[[10, 28, "Subject"], [30, 34, "Object"]]',
    "[[10, 28]]",
    '[10, 28, "Subject"]',
    "[(10, 28, 'Subject')]",
]


@pytest.mark.parametrize("spans", SPANS)
@pytest.mark.parametrize("others", ["[]", "[[1, 2]]"])
def test_spans_are_no_values(write: Write, spans: str, others: str) -> None:
    if spans.startswith("[10") and others != "[]":
        others = '[1, 2, "Verb"]'
    answers = [others, spans, others]
    rows = [("item", "annotator", "label"), *((f"t{n}", "a", one) for n, one in enumerate(answers))]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    with pytest.raises(DataError, match="is a list of spans .* name a column of values"):
        read(write(text.getvalue()))
    if "(" in spans:
        return
    lines = [
        json.dumps({"item": f"t{n}", "annotator": "a", "label": json.loads(one)})
        for n, one in enumerate(answers)
    ]
    path = write("\n".join(lines), "labels.jsonl")
    with pytest.raises(DataError, match="is a list of spans .* name a column of values"):
        read(path)
    table = pa.table({"item": ["t0", "t1"], "annotator": ["a", "a"], "label": [[[1, 2]], [[3, 4]]]})
    with pytest.raises(DataError, match="is a list of spans"):
        read(table)


def test_sets_of_numbers_are_no_spans(write: Write) -> None:
    lines = [{"item": "t1", "annotator": "a", "label": [1, 2]}]
    lines += [{"item": "t1", "annotator": "b", "label": [2, 3]}]
    path = write("\n".join(map(json.dumps, lines)), "labels.jsonl")
    assert read(path)["label"].answers() == [("1", "2"), ("2", "3")]


VARIANTS = HEADER + "t1,a,yes\nt2,b,no\nt2,a,Yes\nt3,a,yes \nt4,a,yes\n"


def test_variants_are_merged_on_request(write: Write) -> None:
    corpus = read(write(VARIANTS), merge_variants=True)
    assert corpus["label"].answers() == ["yes", "no", "yes", "yes", "yes"]
    corpus = read(write(VARIANTS), merge_variants=True, scale="nominal:NO,YES")
    assert corpus["label"].answers() == ["YES", "NO", "YES", "YES", "YES"]


def test_large_whole_numbers(write: Write) -> None:
    """Beyond 2**53 floats of neighbours are equal."""
    path = write(HEADER + f"t1,a,{2**53}\nt2,a,{2**53 + 1}\nt3,a,{2**64}\nt4,a,{2**64 + 1}\n")
    corpus = read(path, merge_variants=True, scale="nominal")
    assert len(set(corpus["label"].answers())) == 4
    assert len(corpus.notes) == 1


# ---- items and annotators ----


@pytest.mark.parametrize("written", ['"[""joy"", ""fear""]"', "\"['joy', 'fear']\""])
@pytest.mark.parametrize("scale", [None, "multi-label"])
def test_lists_that_are_written_out_are_sets(write: Write, written: str, scale: str | None) -> None:
    """As JSON writes them, and as pandas does."""
    path = write(HEADER + f"t1,ann,{written}\nt1,bob,[]\n")
    answers = read(path, scale=scale)["label"]
    assert answers.scale == MultiLabel(("fear", "joy"))
    assert answers.answers() == [("fear", "joy"), ()]


def test_texts_in_brackets_are_no_lists(write: Write) -> None:
    answers = read(write(HEADER + "t1,ann,[good]\nt1,bob,[]\n"))["label"]
    assert answers.answers() == ["[good]", "[]"]


@pytest.mark.parametrize(
    ("lines", "scale", "kind"),
    [
        ("t1;ann;1,5\nt1;bob;2\nt2;ann;-0,25\n", None, "interval"),
        ("t1|ann|1,5\nt1|bob|3,0\nt2|ann|2\n", None, "interval"),  # no set is written 3,0
        ("t1|ann|1,5\nt1|bob|2\nt2|ann|2,3\n", None, "nominal"),
        ("t1|ann|1,5\nt1|bob|2\nt2|ann|2,3\n", "interval", "interval"),
    ],
)
def test_decimal_commas(write: Write, lines: str, scale: str | None, kind: str) -> None:
    header = "task;worker;label\n".replace(";", lines[2])
    corpus = read(write(header + lines), scale=scale)
    assert corpus["label"].scale.kind == kind
    numbers = "read as numbers with a decimal comma" in corpus.notes[1]
    names = 'if they are ratings, use scale="interval"' in corpus.notes[1]
    assert numbers == (kind == "interval") != names


def test_rules_for_repeats(write: Write) -> None:
    path = write(HEADER + "t1,ann,yes\nt1,ann,no\nt2,ann,no\n")
    assert read(path, repeats="keep")["label"].n_rows == 3
    corpus = read(path, repeats="last")
    assert corpus["label"].answers() == ["no", "no"]
    assert corpus.left_out == (LeftOut("label", "repeated answer", 1),)


def test_a_column_named_twice(write: Write) -> None:
    path = write(HEADER + "t1,a,yes\n")
    with pytest.raises(DataError, match=refused("a column is named twice in ['label', 'label']")):
        read(path, answer=["label", "label"])


# ---- invariances ----


def test_the_order_of_columns_does_not_matter(write: Write) -> None:
    rows = [("task", "worker", "label"), ("t1", "ann", "yes"), ("t1", "bob", "no")]
    first = read(write("\n".join(",".join(row) for row in rows)))
    second = read(write("\n".join(",".join(row[::-1]) for row in rows)))
    assert first.equals(second)


def test_a_corpus_read_is_saved_and_loaded(write: Write, tmp_path: Path) -> None:
    corpus = read(write("item,annotator,answer,text,age\nt1,a,x,so,3\nt1,b,,so,4\nt2,a,y,no,3\n"))
    corpus.save(tmp_path / "saved")
    assert read(tmp_path / "saved").equals(corpus)


# ---- tables as spreadsheets have them ----


def test_a_messy_spreadsheet_is_read_without_options(write: Write) -> None:
    lines = ["ID;Comment;Annotator;Label;Rating", "c1;café;ann;ok;1,5", ";;;;", "c1;café;bob;-;N/A"]
    lines += ["c1;café;ann;ok;1,5", "c2;no!;ann;bad;4,0", "c2;no!;bob;bad;?", "Total;;;6;"]
    corpus = read(write("\ufeff" + "\n".join(lines)), answer=["Label", "Rating"])
    assert corpus["Label"].answers() == ["ok", "bad", "bad"]
    assert corpus["Rating"].answers() == [1.5, 4.0]
    assert [tuple(row) for row in corpus.left_out if row.reason == "repeated row"] == [
        ("Label", "repeated row", 1),
        ("Rating", "repeated row", 1),
    ]
    notes = " ".join(corpus.notes)
    assert "Label: '-' (1) read as no answer" in notes
    assert "'N/A' (1), '?' (1) read as no answer" in notes
    assert "1 row left out that repeat another row in every column, the first in line 5" in notes
    assert "1 blank row skipped, the first in line 3" in notes
    assert "1 row of totals or notes left out, the first in line 8" in notes


def test_totals_and_notes_below_the_ids(write: Write) -> None:
    lines = ["No.;Text;ann;bob", *(f"{n};text {n};ok;bad" for n in range(1, 8))]
    lines += [";Total;7;7", ";Contact: ann;;"]
    corpus = read(write("\n".join(lines)), annotators=["ann", "bob"])
    assert corpus.n_items == 7 and corpus["answer"].scale == Nominal(("bad", "ok"))
    assert any("2 rows of totals or notes left out, the first" in n for n in corpus.notes)


def test_repeated_answers_in_different_rows_are_still_refused(write: Write) -> None:
    table = "item,annotator,label,time\nt1,ann,yes,1\nt1,ann,yes,2\nt1,bob,no,3\nt1,bob,no,3\n"
    with pytest.raises(DataError, match=r"annotator 'ann' answered item 't1' 2 times \(1 such"):
        read(write(table))
    kept = read(write("item,annotator,label\nt1,ann,yes\nt1,ann,yes\n"), repeats="keep")
    assert kept["label"].n_rows == 2


def test_a_total_is_an_item_if_its_row_is_complete(write: Write) -> None:
    table = "item,annotator,label\nt1,ann,yes\nTotal,ann,no\n"
    assert list(read(write(table)).items) == ["t1", "Total"]


@pytest.mark.parametrize(
    ("cells", "n"), [("-,0,+", 3), ("-,0,0", 3), ("-,0,1", 2), ("?,yes,no", 3)]
)
def test_signs_are_missing_among_numbers_only(write: Write, cells: str, n: int) -> None:
    rows = [f"t{k},ann,{cell}" for k, cell in enumerate(cells.split(","))]
    assert read(write("\n".join(["item,annotator,label", *rows])))["label"].n_rows == n


def test_repeats_that_are_one_answer(write: Write) -> None:
    header = "doc,seg,rater,category\n"
    path = write(header + "d1,1,ann,a\nd1,1,ann,b\nd1,2,ann,a\nd2,1,ann,c\n" * 2)
    corpus = read(path, item=["doc", "seg"], annotator="rater", answer="category", repeats="set")
    assert corpus["category"].answers() == [("a", "b"), ("a",), ("c",)]


def long_rows(n_items: int, cells: Callable[[int, int], str]) -> str:
    """A line for each of six annotators and each item."""
    return "".join(f"{cells(i, w)}\n" for i in range(n_items) for w in range(6))


def test_a_sentence_in_its_document_is_the_item(write: Write) -> None:
    rows = long_rows(40, lambda i, w: f"d{i // 5},{i % 5},w{w},{'ab'[(i * w) % 2]}")
    corpus = read(write("document,sentence,worker,label\n" + rows))
    assert (corpus.n_items, corpus.n_annotators) == (40, 6)
    assert "item = document + sentence" in corpus.notes[0]


def test_what_may_be_the_question_or_a_part_of_the_item_is_asked(write: Write) -> None:
    facets = ("fluency", "style")
    rows = long_rows(40, lambda i, w: f"t{i // 2},w{w},{facets[i % 2]},{(i * w) % 3}")
    path = write("item,worker,facet,label\n" + rows)
    with pytest.raises(DataError, match="--question-column facet .*if 'facet' names the question"):
        read(path)
    assert sorted(read(path, question="facet").questions) == sorted(facets)
    assert read(path, item=["item", "facet"]).n_items == 40
    known = path.read_text().replace("facet", "criterion", 1)
    assert sorted(read(write(known)).questions) == sorted(facets)


@pytest.mark.parametrize(
    ("names", "boxes", "question", "answers"),
    [
        ("mood_joy,mood_fear,mood_rage", ("1", "0"), "mood", ["joy", "fear", "rage"]),
        ("joy,fear,rage", ("TRUE", "FALSE"), "answer", ["joy", "fear", "rage"]),
        ("joy,fear,rage", ("x", ""), "answer", ["joy", "fear", "rage"]),
    ],
)
def test_one_box_of_several_is_ticked(
    write: Write, names: str, boxes: tuple[str, str], question: str, answers: list[str]
) -> None:
    marks = [",".join(boxes[at != code] for at in range(3)) for code in range(3)]
    rows = long_rows(20, lambda i, w: f"t{i},w{w},{marks[(i * i + w) % 3]}")
    corpus = read(write(f"item,worker,{names}\n" + rows))
    assert corpus[question].scale == Nominal(tuple(sorted(answers)))
    assert corpus[question].answers()[:3] == answers
    assert list(read(write(f"item,worker,{names}\n" + rows), answer=names.split(",")).questions)


def test_several_boxes_with_a_name_in_common_are_a_set(write: Write) -> None:
    rows = long_rows(
        20, lambda i, w: f"t{i},w{w},{(i * i + w) % 2},{i * w % 3 // 2},{(i + w) % 4 // 3}"
    )
    corpus = read(write("item,worker,mood: joy,mood: fear,mood: rage\n" + rows))
    assert corpus["mood"].scale == MultiLabel(("fear", "joy", "rage"))
    assert corpus["mood"].answers()[:4] == [(), ("joy",), (), ("joy", "rage")]
    plain = read(write("item,worker,joy,fear,rage\n" + rows))
    assert sorted(plain.questions) == ["fear", "joy", "rage"]


def test_columns_that_look_like_answers_are_all_read(write: Write) -> None:
    rows = "".join(f"t{n // 4},w{n % 4},{'ab'[n % 2]},{'xyz'[n * 7 % 3]}\n" for n in range(80))
    corpus = read(write("task,worker,label,verdict\n" + rows))
    assert sorted(corpus.questions) == ["label", "verdict"]
    assert any("2 columns look like answers" in note for note in corpus.notes)
