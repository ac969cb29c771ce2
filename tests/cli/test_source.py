"""The options that read FILE, as every command takes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


def test_the_columns_of_a_wide_table(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("id,anna,ben,toxic\n1,yes,no,yes\n2,no,,no\n", encoding="utf-8")
    ended = run("describe", table, "--annotator-columns", "anna, ben", "--json")
    assert ended.err == (
        "labels.csv: wide table; item = id, annotators = anna, ben (nominal: no, yes); "
        "also toxic; 3 answers by 2 annotators on 2 items\n"
    )
    assert json.loads(ended.out)["questions"][0]["loaded"] == 3
    assert "annotators = anna, ben, toxic" in run("describe", table, "--format", "wide").out


def test_a_file_that_is_cut_off(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv.gz"
    table.write_bytes(b"\x1f\x8b\x08")
    ended = run("describe", table)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"Error: {table}: damaged gzip (Compressed file ended before the end-of-stream marker "
        "was reached); is the file cut off?\n"
    )


def test_an_option_that_is_given_twice(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("a,b,annotator,answer\n1,1,x,yes\n1,2,x,no\n", encoding="utf-8")
    ended = run("describe", table, "--item", "a", "--item", "b")
    assert ended.code == 0 and "item = a + b," in ended.out
    ended = run("agreement", table, "--item=a", "--scale", "nominal", "--scale", "nominal:yes,no")
    assert ended.err == (
        "Error: --scale is given 2 times; name the question of each, as in --scale "
        "QUESTION=nominal\n"
    )
    assert run("agreement", table, "--item", "a", "-o", "a.json", "--output", "b.json").err == (
        "Error: --output is given more than once; leave all but one out\n"
    )
    answers = run("describe", table, "--item", "b", "--answer", "answer", "--answer", "a", "--json")
    assert answers.code == 0  # repeatable


@pytest.mark.parametrize("name", ["out.txt", "out.XLS", "out.zip", "out.arrow"])
def test_convert_writes_no_other_file(run: Run, tmp_path: Path, name: str) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,answer\n1,x,yes\n1,y,no\n", encoding="utf-8")
    ended = run("convert", table, tmp_path / name)
    assert ended.err.startswith(f"Error: {tmp_path / name}: write a file that ends in '.csv', ")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert run("convert", table, tmp_path / "out.v2").code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("simulate", "OUT"),
        ("train", "FILE", "-o", "OUT"),
        ("compare", "FILE", "-o", "OUT"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_that_writes_a_folder_writes_no_file(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    table, output = tmp_path / "labels.csv", tmp_path / "out.csv"
    table.write_text("item,annotator,answer\n1,x,yes\n1,y,no\n", encoding="utf-8")
    paths = {"FILE": str(table), "OUT": str(output)}
    ended = run(*(paths.get(word, word) for word in command))
    assert ended.err.splitlines()[-1] == (
        f"Error: {output}: {command[0]} writes a folder; name one, such as {tmp_path / 'out'}"
    )
    assert not output.exists()


def test_how_to_read_a_file_is_remembered(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("item,annotator,mood,note\nt1,ann,a,x\nt1,bob,b,y\nt2,ann,a,z\nt2,bob,a,x\n")
    first = run("agreement", table, "--answer", "mood", "--remember")
    kept = tmp_path / "mine.csv.dissensus.toml"
    assert first.err.splitlines()[-1] == f"{kept}: remembers how to read mine.csv"
    assert "answer = mood" in first.err and kept.exists()
    again = run("agreement", table)
    assert again.out == first.out
    assert again.err == (
        "mine: 4 answers to mood by 2 annotators on 2 items; read as in mine.csv.dissensus.toml\n"
    )
    assert "answer = note" in run("agreement", table, "--answer", "note").err
    kept.unlink()
    assert run("aggregate", table, "-o", tmp_path / "c.csv").err.startswith(
        "mine.csv: mood (nominal)"
    )
    assert "item = item" in run("describe", table).out
    for content, reason in [
        ("item = ", "not TOML (Invalid value (at end of document))"),
        ("items = ['a']", 'items must be a text, found ["a"]'),
        (
            "cells = 'list'",
            "cells is one of values, lists, keys, counts, records, digits, found 'list'",
        ),
    ]:
        kept.write_text(content)
        refused = run("agreement", table)
        assert refused.err == (
            f"Error: {kept}: {reason}; delete it, or write it again with --remember\n"
        )
    assert run("agreement", table, "--answer", "mood", "--remember").code == 0
    people = tmp_path / "people.csv"
    people.write_text("annotator,gender\nann,f\nbob,m\n")
    options = ("--answer", "mood", "--annotator-attributes", people)
    assert run("agreement", table, *options, "--remember").code == 0
    assert "by gender" in run("agreement", table, "--groups", "gender").out


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("aggregate", "--method", "dawid_sken"), "'dawid_sken' (did you mean 'dawid-skene'?)"),
        (("agreement", "--measure", "kripendorf"), "(did you mean 'krippendorff-alpha'?)"),
        (("train", "-o", "m", "--method", "softlabel"), "'softlabel' (did you mean 'soft-label'?)"),
        (("train", "-o", "m", "--set", "epochs=3"), "'epochs' (did you mean 'training.epochs'?)"),
        (
            ("train", "-o", "m", "--method", "prior", "--epochs", "3"),
            "prior has no setting 'training.epochs'",
        ),
    ],
)
def test_did_you_mean(run: Run, tmp_path: Path, typed: tuple[str, ...], message: str) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("item,annotator,label\nt1,ann,a\nt1,bob,b\n")
    command, *options = typed
    ended = run(command, table, *options)
    assert ended.code == 1 and message in ended.err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            "describe FILE --item comment",
            "no column 'comment' (did you mean 'comment_id'?); it has ",
        ),
        ("describe FILE --annotator Codr", "no column 'Codr' (did you mean 'coder'?); it has "),
        ("describe FILE --answer lable", "no column 'lable' (did you mean 'label'?); it has "),
        ("describe FILE --text Text", "no column 'Text' (did you mean 'text'?); it has "),
        ("describe FILE --format lng", "no format 'lng' (did you mean 'long'?); there are "),
        ("convert FILE out.csv --to wid", "to write (did you mean 'wide'?); there are "),
        ("agreement FILE --question labels", "no question 'labels' (did you mean 'label'?); it "),
        ("agreement FILE --groups Genre", "attribute 'Genre' (did you mean 'gender'?); there are"),
        ("describe FILE --scale lable=nominal", "for 'lable' (did you mean 'label'?); the quest"),
    ],
)
def test_a_name_that_is_almost_right(run: Run, tmp_path: Path, typed: str, message: str) -> None:
    table = tmp_path / "mine.csv"
    table.write_text(
        "comment_id,coder,gender,label,text\n1,ann,f,ok,hello\n1,bob,m,bad,hello\n"
        "2,ann,f,ok,bye now\n2,bob,m,ok,bye now\n",
        encoding="utf-8",
    )
    ended = run(*(str(table) if word == "FILE" else word for word in typed.split()))
    assert (ended.code, ended.out) == (1, "")
    assert message in ended.err.splitlines()[-1]
