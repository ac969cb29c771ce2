"""CSV files: delimiters, quotes, line ends, encodings, and everything that can be wrong."""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path

import pytest

from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.readers.delimited import find_delimiter
from tests.readers.conftest import Write

HEADER = "task,worker,label\n"


def refused(text: str) -> str:
    """A pattern for the whole message."""
    return f"^{re.escape(text)}$"


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


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_every_delimiter_is_found_whatever_the_ending(write: Write, delimiter: str) -> None:
    text = "example,annotator,value,text\nt1,ann,1,x\nt1,bob,2,x\n".replace(",", delimiter)
    corpus = read(write(text))
    assert corpus["value"].answers() == ["1", "2"]
    assert list(corpus.items) == ["t1"]


def test_commas_in_the_texts_do_not_mislead() -> None:
    assert find_delimiter(b"text\tlabel\na, b, c\tyes\nd, e, f\tno\n") == "\t"
    assert find_delimiter(b"unknown;names\n1,5;2,5\n") == ";"


def test_quoted_fields_hold_delimiters_quotes_and_lines(write: Write) -> None:
    corpus = read(write('item,annotator,answer\n"a,b",ann,"say ""no""\nnow"\nt2,ann,x\n'))
    assert list(corpus.items) == ["a,b", "t2"]
    assert corpus["answer"].answers() == ['say "no"\nnow', "x"]


def test_the_line_named_is_the_line_in_the_file(write: Write) -> None:
    path = write('task,worker,label\n\n"t\n1",ann,yes\n\nt2,,no\n')
    with pytest.raises(
        DataError, match=refused(f"{path}, line 6: no annotator: 'worker' is blank")
    ):
        read(path)


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


def test_unicode_stays_as_it_is(write: Write) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    text = (
        f"item,annotator,answer,text\nt1,{composed},نعم,שלום עולם\nt1,{decomposed},لا,שלום עולם\n"
    )
    corpus = read(write(text))
    assert list(corpus.annotators) == [composed, decomposed]
    assert corpus["answer"].answers() == ["نعم", "لا"]
    assert corpus.text_of(0) == "שלום עולם"


def test_ids_stay_texts(write: Write) -> None:
    huge = str(2**63 + 1)
    corpus = read(write(HEADER + f"007,1.0,yes\n{huge},1,no\n7,01,no\n"))
    assert list(corpus.items) == ["007", huge, "7"]
    assert list(corpus.annotators) == ["1.0", "1", "01"]


def test_a_long_field_passes_the_block_size(write: Write) -> None:
    text = "x y " * 600_000
    corpus = read(write(f'task,worker,label,text\nt1,ann,yes,"{text}"\nt2,ann,no,b\n'))
    assert corpus.contents["text"][0] == text


# ---- bad input ----


@pytest.mark.parametrize("content", ["", "\n", "  \r\n\n", "\ufeff"])
def test_an_empty_file(write: Write, content: str) -> None:
    path = write(content)
    with pytest.raises(DataError, match=refused(f"{path}: the file is empty")):
        read(path)


def test_only_a_header(write: Write) -> None:
    path = write(HEADER)
    with pytest.raises(DataError, match=refused(f"{path}: column names, but no rows")):
        read(path)


def test_no_such_column(write: Write) -> None:
    path = write(HEADER + "t1,ann,yes\n")
    message = (
        f"{path}: no column 'wrker' (did you mean 'worker'?); it has 'task', 'worker', 'label'"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path, annotator="wrker")


def test_no_column_of_answers(write: Write) -> None:
    path = write("t1,ann,yes\nt2,ann,no\n")
    message = (
        f"{path}: no column of answers recognised in 't1', 'ann', 'yes'; "
        'name it (answer=, --answer), or use format="wide" (--format wide) if every annotator has '
        "a column"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_no_column_of_items(write: Write) -> None:
    path = write("worker,label\nann,yes\n")
    message = f"{path}: no column of items recognised in 'worker', 'label'; name it (item=, --item)"
    with pytest.raises(DataError, match=refused(message)):
        read(path)


@pytest.mark.parametrize("row, count", [("t2,bob", 2), ("t2,bob,no,more", 4)])
def test_ragged_rows(write: Write, row: str, count: int) -> None:
    path = write(HEADER + f"t1,ann,yes\n{row}\nt3,ann,no\n")
    message = (
        f"{path}, line 3: {count} fields, but the first line has 3; "
        "is the line cut off, or a field with ',' not in quotes?"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


@pytest.mark.parametrize("rest", ["", "\n", "t2,bob,no\n" * 3, "t2,bob,no\n" * 200_000])
@pytest.mark.parametrize("opened", ['t1,ann,"yes', 't1,"ann,yes'])
def test_a_quote_left_open(write: Write, opened: str, rest: str) -> None:
    path = write(HEADER + "t0,ann,yes\n" + opened + rest)
    message = f"{path}, line 3: a quote is opened and never closed; is the file cut off?"
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_not_utf8(write: Write) -> None:
    path = write((HEADER + "t1,ann,é\n").encode("latin-1"))
    message = (
        f"{path}, line 2: byte 0xe9 at position 25 is not UTF-8; name the encoding it was "
        'written in, such as encoding="latin-1" (--encoding latin-1)'
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_not_utf8_after_a_mark_and_far_into_the_file(write: Write) -> None:
    data = codecs.BOM_UTF8 + HEADER.encode() + b"t1,ann,yes\n" * 500_000 + b"t2,ann,\xff\n"
    path = write(data)
    message = f"{path}, line 500002: byte 0xff at position {data.index(0xFF)} is not UTF-8; "
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(message)


def test_the_wrong_encoding(write: Write) -> None:
    path = write((HEADER + "t1,ann,é\n").encode("latin-1"))
    message = f"{path}: byte 0xe9 at position 25 is not ascii; was it written in another encoding?"
    with pytest.raises(DataError, match=refused(message)):
        read(path, encoding="ascii")


def test_an_unknown_encoding(write: Write) -> None:
    path = write(HEADER)
    message = f"{path}: no encoding 'klingon'; common ones are utf-8, utf-16, latin-1, cp1252"
    with pytest.raises(DataError, match=refused(message)):
        read(path, encoding="klingon")


def test_two_columns_of_one_name(write: Write) -> None:
    path = write("item,label, label ,worker\nt1,yes,no,ann\n")
    message = f"{path}: columns share the name 'label'; rename all but one"
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_numbers_as_column_names(write: Write) -> None:
    corpus = read(write("0,1,2\nt1,ann,yes\n"), item="0", annotator="1", answer="2")
    assert corpus["2"].answers() == ["yes"]


def test_columns_without_a_name_are_left_out(write: Write) -> None:
    corpus = read(write(",task,worker,label,\n0,t1,ann,yes,\n1,t2,bob,no,\n"))
    assert corpus.item_attributes == {}
    assert corpus.notes == (
        "labels.csv: long table; item = task, annotator = worker, answer = label "
        "(nominal: no, yes); also 2 columns without a name, left out; "
        "2 answers by 2 annotators on 2 items",
    )


def test_no_column_has_a_name(write: Write) -> None:
    path = write(",,\nt1,ann,yes\n")
    message = f"{path}: no column has a name; put a line of names first"
    with pytest.raises(DataError, match=refused(message)):
        read(path)


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


def test_a_file_of_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(b"\xef\xbb\xbf\xef\xbb\xbf")
    with pytest.raises(DataError, match="labels.csv: the file is empty$"):
        read(path)
