from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv as csv
import pytest

from dissensus.description import describe
from tests.cli.conftest import Run
from tests.test_description import crowd, small


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    small().save(tmp_path / "small")
    return tmp_path / "small"


EXPECTED = """\
small
items                 4
annotators            3
content text          4 different, text
item attributes       topic
annotator attributes  age
split official        train 2, dev 1, in no part 1
questions             rude
left out: other       7: asked of other items

question rude
scale                          nominal: no, yes
answers loaded                 8
left out: the answer is empty  5
left out: no annotator         1
loaded and left out            14
items with answers             3
items without answers          1
answers per item               min 2, mean 2.67, max 3
annotators                     3
answers per annotator          min 2, median 3, max 3
items with a gold label        1
percent                        0.444
krippendorff-alpha             0.067

value   share
no     62.5 %
yes    37.5 %

most disputed (entropy)
item  entropy  answers        shown
t3       0.69  no: 1, yes: 1  meh
t2       0.64  yes: 2, no: 1  you fool

annotators, compared with the rest
annotator  answers          agreement               kappa  mostly
ann              3  0.33 [0.01, 0.95]                0.00  no 100 %
bob              3  0.50 [0.04, 0.96]  0.18 [-0.84, 0.92]  yes 67 %
cleo             2  0.75 [0.01, 1.00]  0.50 [-0.98, 1.00]  no 50 %

no suspicious annotators (0 checked; 3 with fewer than 10 answers not checked)
"""


def test_tables_when_piped(run: Run, corpus: Path) -> None:
    ended = run("describe", corpus)
    first, second = ended.out.split("\nquestion funny\n")
    first = first.replace("questions             rude, funny", "questions             rude")
    assert first == EXPECTED
    assert "ratings                     mean 5.00, sd 3.00\n" in second
    assert "lowest, quartiles, highest  2.00, 2.00, 5.00, 8.00, 8.00\n" in second
    assert ended.code == 0
    assert "\x1b" not in ended.out


def test_json_is_the_description(run: Run, corpus: Path) -> None:
    ended = run("describe", corpus, "--json", "--most", "1")
    assert json.loads(ended.out) == describe(small(), most=1).to_dict()


def test_repeated_answers_have_a_line(run: Run, tmp_path: Path) -> None:
    rows = ["t1,ann,yes", "t1,ann,no", "t1,bob,yes", "t2,bob,no", "t2,bob,no"]
    (tmp_path / "twice.csv").write_text("item,annotator,answer\n" + "\n".join(rows) + "\n")
    described = run("describe", tmp_path / "twice.csv", "--repeats", "keep").out
    assert "\nrepeated answers       2, equal in 50 % of pairs\n" in described
    assert "\nanswers loaded         5\n" in described


def test_one_question(run: Run, corpus: Path) -> None:
    fields = json.loads(run("describe", corpus, "--question", "funny", "--json").out)
    assert [question["name"] for question in fields["questions"]] == ["funny"]


def test_a_question_that_was_not_asked(run: Run, corpus: Path) -> None:
    ended = run("describe", corpus, "--question", "polite")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        "Error: small: no question 'polite'; it has 'rude', 'funny'"
    )
    assert ended.out == ""


def test_suspicious_annotators_are_shown(run: Run, tmp_path: Path) -> None:
    from dissensus.corpus import Corpus

    Corpus.build("odd", crowd().items, {"q": crowd()}).save(tmp_path / "odd")
    lines = run("describe", tmp_path / "odd").out.splitlines()
    shown = lines[lines.index("suspicious annotators: 4 of 7 checked") + 1 :]
    assert shown == [
        "constant: p1: b in all 60 answers (by chance 9e-15)",
        "fast: p3: median 2.5 s, usual 9.82 s",
        "duplicated: p2: the same answer as p5 to 60 of 60 items, to 20 of them unlike",
        "  most others (by chance 0.003)",
        "duplicated: p5: the same answer as p2 to 60 of 60 items, to 20 of them unlike",
        "  most others (by chance 0.003)",
        "1 with fewer than 10 answers not checked",
    ]
    written = tmp_path / "annotators.csv"
    one = run("describe", tmp_path / "odd", "--top", "1", "-o", written).out
    assert "\n... 7 more\n" in one and "\n... 3 more: use --top, --json or -o FILE.csv\n" in one
    table = csv.read_csv(written).to_pylist()
    assert [row["suspicious"] for row in table].count("duplicated") == 2
    assert len(table) == 8


def test_nothing_is_cut_at_80_columns(run: Run, tmp_path: Path) -> None:
    from dissensus.annotations import Annotations
    from dissensus.contents import Contents
    from dissensus.corpus import Corpus

    item = "a-very-long-name-of-an-item-" * 3
    words = [f"word{i}" for i in range(12)]
    rows = [(item, f"annotator {i}", f"[red]value number {i}") for i in range(6)]
    contents = {"text": Contents.distinct("text", [" ".join(words)])}
    corpus = Corpus.build("long", [item], {"q": Annotations.from_rows(rows)}, contents=contents)
    corpus.save(tmp_path / "long")
    out = run("describe", tmp_path / "long").out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "…" not in out
    assert all(word in out for word in words)
    assert "[red]value" in out


def test_reading_options_reach_the_reader(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("task,worker,label\n1,ann,3\n1,bob,5\n2,ann,3\n", encoding="utf-8")
    columns = ("--item", "task", "--annotator", "worker", "--answer", "label")
    fields = json.loads(run("describe", table, *columns, "--scale", "interval:0:10", "--json").out)
    assert fields["questions"][0]["scale"] == "interval: 0..10"
    assert fields["questions"][0]["loaded"] == 3


def test_control_characters_are_spelled_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = ["t1,b\x1b[31mob,n\x1b[2Jo", "t1,ann,a\u202eb", "t2,ann,x\ty"]
    path.write_text("item,annotator,answer\n" + "\n".join(rows), encoding="utf-8")
    ended = run("describe", path)
    for text in (ended.out, ended.err):
        assert not any(character in text for character in "\x1b\u202e\t")
    assert all(f"\n{value} " in ended.out for value in (r"n\x1b[2Jo", r"a\u202eb", r"x\ty"))
    assert r"b\x1b[31mob" in run("agreement", path, "--by", "annotator").out


def test_of_many_values_the_most_frequent_are_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    answers = [f"v{number}" for number in range(30) for _ in range(number + 1)]
    rows = "".join(f"t{place},ann,{answer}\n" for place, answer in enumerate(answers))
    path.write_text(f"item,annotator,answer\n{rows}")
    shown = run("describe", path).out.split("\nvalue ")[1].split("\n\n")[0].splitlines()
    assert len(shown) == 22 and shown[1].split() == ["v29", "6.5", "%"]  # 30 of 465
    assert shown[-1].split("  ") == ["(10 others, each at most)", "2.2 %"]
    assert len(json.loads(run("describe", path, "--json").out)["questions"][0]["shares"]) == 30
