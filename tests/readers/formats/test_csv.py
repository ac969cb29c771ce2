"""CSV files: delimiters, quotes, line ends, encodings, and everything that can be wrong."""

from __future__ import annotations

import codecs

import pytest

from dissensus.readers import read
from dissensus.readers.delimited import find_delimiter
from tests.error_texts import error_text
from tests.readers.conftest import Write

HEADER = "task,worker,label\n"


def test_the_note_says_what_was_recognised(write: Write) -> None:
    labels = ("no", "no", "yes")
    rows = [f"t{t},w{w},{labels[(t + w) % 3]},so {t}" for t in range(30) for w in range(4)]
    corpus = read(write("task,worker,label,text\n" + "\n".join(rows)))
    assert corpus.notes == (
        "labels.csv: long table; item = task, annotator = worker, answer = label "
        "(nominal: no, yes), text = text; 120 answers by 4 annotators on 30 items",
    )
    assert corpus.name == "labels"
    assert corpus.contents["text"].values.to_pylist() == [f"so {t}" for t in range(30)]


def test_commas_in_the_texts_do_not_mislead() -> None:
    assert find_delimiter(b"text\tlabel\na, b, c\tyes\nd, e, f\tno\n") == "\t"
    assert find_delimiter(b"unknown;names\n1,5;2,5\n") == ";"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_and_a_byte_order_mark(write: Write, end: str) -> None:
    data = codecs.BOM_UTF8 + (HEADER + "t1,ann,yes\nt1,bob,no\n").replace("\n", end).encode()
    assert read(write(data))["label"].answers() == ["yes", "no"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_marked_encodings_are_read_by_themselves(write: Write, encoding: str) -> None:
    marks = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    data = marks.get(encoding, b"") + (HEADER + "t1,ann,é\nt1,bob,no\n").encode(encoding)
    assert read(write(data))["label"].answers() == ["é", "no"]


def test_other_encodings_on_request(write: Write) -> None:
    path = write((HEADER + "t1,ann,é\n").encode("latin-1"))
    assert read(path, encoding="latin-1")["label"].answers() == ["é"]


def test_a_long_field_passes_the_block_size(write: Write) -> None:
    text = "x y " * 600_000
    corpus = read(write(f'task,worker,label,text\nt1,ann,yes,"{text}"\nt2,ann,no,b\n'))
    assert corpus.contents["text"][0] == text


# ---- bad input ----


def test_not_utf8_after_a_mark_and_far_into_the_file(write: Write) -> None:
    data = codecs.BOM_UTF8 + HEADER.encode() + b"t1,ann,yes\n" * 500_000 + b"t2,ann,\xff\n"
    path = write(data)
    message = f"{path}, line 500002: byte 0xff at position {data.index(0xFF)} is not UTF-8; "
    assert error_text(read, path).startswith(message)


@pytest.mark.parametrize("ending", ["\n", "", "\r\n"])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_files_that_end_near_the_end_of_a_block(write: Write, ending: str, more: int) -> None:
    block = 1 << 20
    lines = ["item,annotator,label"]
    lines += [f"t{n // 2},{'ab'[n % 2]},{'yes' if n % 3 else 'no'}" for n in range(3000)]
    text = "\n".join(lines)
    padding = block + more - len(text) - len("\nlast,a,") - len(ending)
    corpus = read(write(f"{text}\nlast,a,{'y' * padding}{ending}"), answer="label")
    assert (corpus.n_items, corpus["label"].n_rows) == (1501, 3001)
    assert corpus["label"].answers()[-1] == "y" * padding
