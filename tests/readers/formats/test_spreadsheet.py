"""Spreadsheets, and folders of tables, which are read the same way."""

from __future__ import annotations

import base64
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus.errors import DataError
from dissensus.files.tabular import write_workbook
from dissensus.readers import read
from dissensus.readers.layout import Layout, layouts_taken
from tests.readers.conftest import rows_of

Sheets = dict[str, list[list[Any]]]


def book(tmp_path: Path, sheets: Sheets) -> Path:
    path = tmp_path / "labels.xlsx"
    write_workbook(path, sheets)
    return path


def test_a_column_per_annotator_below_a_title(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["Our study"],
        [],
        ["item", "ann_1", "ann_2"],
        ["t1", 1, 2],
        ["t2", 2, 2],
        ["t3", 1, 1],
        [],
        ["made by ann"],
    ]
    corpus = read(book(tmp_path, {"Sheet1": rows, "empty": []}))
    assert rows_of(corpus, "answer")[:2] == [("t1", "ann_1", "1"), ("t1", "ann_2", "2")]
    assert "labels.xlsx: Sheet1: the column names are in row 3" in corpus.notes
    assert "labels.xlsx: Sheet1: 1 row of remarks below the table left out" in corpus.notes
    assert corpus.n_items == 3


def test_a_sheet_per_annotator(tmp_path: Path) -> None:
    shown = [["text", "doc_id"], ["so good!", "d1"], ["oh no", "d2"]]
    header = ["rude", "odd"]
    sheets: Sheets = {
        "Texts": shown,
        "ann": [header, [1, 3], [2, 2]],
        "bob": [header, [2, 3], [2, 1]],
    }
    corpus = read(book(tmp_path, sheets))
    assert rows_of(corpus, "rude") == [
        ("1", "ann", "1"), ("2", "ann", "2"), ("1", "bob", "2"), ("2", "bob", "2"),
    ]  # fmt: skip
    assert list(corpus.questions) == ["rude", "odd"]
    assert corpus.text_of(0) == "so good!"
    assert "labels.xlsx: an annotator in each sheet: ann, bob" in corpus.notes
    with layouts_taken() as layouts:
        read(book(tmp_path, sheets))
    assert layouts[-1] == Layout(answer=("rude", "odd"))  # no column that the file has not
    sheets["bob"].append([1, 1])
    with pytest.raises(DataError, match=r"different numbers of rows \(ann 2, bob 3\); name the"):
        read(book(tmp_path, sheets))


def test_sheets_with_their_own_items_are_joined_by_them(tmp_path: Path) -> None:
    header = ["verb", "class"]
    sheets: Sheets = {
        "ann": [header, ["see", "state"], ["run", "event"], ["win", "event"]],
        "bob": [header, ["win", "state"], ["see", "state"]],
        "remarks": [["ask ann"]],
    }
    corpus = read(book(tmp_path, sheets))
    assert rows_of(corpus, "class")[2:4] == [("win", "ann", "event"), ("win", "bob", "state")]
    assert read(book(tmp_path, sheets), corpus="ann", answer="class", item="verb").n_items == 3


def test_sheets_that_are_parts_of_one_table(tmp_path: Path) -> None:
    header = ["item", "annotator", "answer"]
    sheets: Sheets = {
        "batch 1": [header, ["t1", "ann", "yes"]],
        "batch 2": [header, ["t1", "bob", "no"]],
    }
    corpus = read(book(tmp_path, sheets))
    assert rows_of(corpus, "answer") == [("t1", "ann", "yes"), ("t1", "bob", "no")]
    assert "labels.xlsx: one table in 2 sheets: batch 1, batch 2" in corpus.notes


def test_spreadsheets_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))  # as Excel stores one with a password
    with pytest.raises(DataError, match="protected by a password, or damaged; save a copy"):
        read(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/workbook.xml", bytes(100_000_000))
    with pytest.raises(DataError, match=r"unpacks to 100 MB, \d+ times its size"):
        read(path)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("../workbook.xml", "<x/>")
    with pytest.raises(DataError, match=r"'../workbook.xml' is outside the zip's own folder"):
        read(path)
    with pytest.raises(DataError, match="no sheet contains a table"):
        read(book(tmp_path, {"Sheet1": [], "Sheet2": []}))


def folder(tmp_path: Path, **files: str) -> Path:
    path = tmp_path / "study"
    path.mkdir(exist_ok=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text)
    return path


def test_a_file_per_annotator_without_names(tmp_path: Path) -> None:
    one = '"see","telic"\n"run","atelic"\n"win","telic"\n"eat","telic"\n'
    two = '"win","atelic"\n"see","telic"\n"go","atelic"\n"do","atelic"\n'
    corpus = read(folder(tmp_path, ann__csv=one, bob__csv=two, README__md="mine"))
    assert rows_of(corpus, "column 2")[:2] == [("see", "ann", "telic"), ("run", "ann", "atelic")]
    assert (corpus.n_items, corpus.n_annotators, corpus["column 2"].n_rows) == (6, 2, 8)


def test_a_file_per_annotator_as_json_lines(tmp_path: Path) -> None:
    one = '{"id": 1, "text": "a", "rude": 2}\n{"id": 2, "text": "b", "rude": 1}\n'
    two = '{"id": 2, "text": "b", "rude": 3}\n{"id": 1, "text": "a", "rude": 2}\n'
    corpus = read(folder(tmp_path, ann__jsonl=one, bob__jsonl=two))
    assert rows_of(corpus, "rude")[1:3] == [("2", "ann", "1"), ("2", "bob", "3")]
    assert corpus.text_of(1) == "b"


def test_a_hugging_face_dataset(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for split, item in (("train", "t1"), ("test", "t2")):
        table = pa.table({"item": [item, item], "annotator": ["ann", "bob"], "label": [1, 0]})
        pq.write_table(table, tmp_path / "data" / f"{split}-00000-of-00001.parquet")
    corpus = read(tmp_path)
    assert corpus.parts() == ["train", "test"] and corpus["label"].n_rows == 4
    assert read(tmp_path, corpus="test").n_items == 1


# ---- old Excel, LibreOffice and merged cells ----

OLD_EXCEL = (  # a workbook of Excel 97 with the table below, packed
    "c-"
    "rk)O=uHA6#iy+^K05BH5FQ+go0ITFV%~eHY#XOmg+@OK@+oRY0OHpp!H(4<|qiB6fcEdyi~pTgC6weL8$0K5QIdJ"
    "o&*ICZPqt$Co!uzG^j;ozh&OM_vXzvvpYXKyDyg#mHB&pRs4W4=%_gn1e<(<QlxIgLFJAk)p{PL<oNif5DC*j1_O"
    "B9@ggM0P>y#M8txj;NCNLE9m82nSOqh+hS<Y>$OzeoQIZ0;$kT~l?o~I-"
    "lPuS>yu*=CSnguaRhFX^TM<XFl%5#csb=wEZGg)<A$cEgoww{6K@XnGS$y%DaAO15U7X6~|IUJbBZdXgxQ&|yvzW"
    "<OkfZ@zz!xV4e6Fw5rzzjRwtfNffA#u9E&SIt1DJ(#f+u*HCL|1Z5#}>lGhbT9QK|{Vzy(vbd4~4iOrc=e8QUrbr"
    "CvH`7OBiO&)YPE?Gc>=NY0ogni(Z4b;`1GWM{1`1r#h9wVi}@Ix6>bUjK2=`tRU%5hIyH7wZXL9dX*>mv4W1wLd$"
    "VKF*$5-"
    "t*lz!zOt%aBxZ1pvs+G5@0DyhPcKymY11zBkO%ElN3q$;AD?d_RVq36)qj5c6Kmcr#Cn0TSzZ|Jn*o;{2{%S^u_V"
    "&h2-"
    "L!^gIUWO_ihi@|wf27#25gNIXi{bD?&TcPx8<+EKz<T=m^iufHy=Aj)cjrEAHjBN~>bo|S9qWa)}awBQoVWvF<;T"
    "!Drqxq=N#a)lI^)`Cm(aJi!vZdj5l(y*Gj^cGw?b469W?&+8A;nJCFo#HZDa2Xyh!_zOr!(}wM#<XtSmp4Rv`FBL"
    "&!-o$aK79D_;p0~!_{<7*3Utrw^2`}h|8-"
    "U<)%@Qi|1A!}qRXZa)4eEAUc^jW^JfDBqRu5&S*QNLP~s4^Uc@xA+>hzD=P!N3iRSxRb;bDaTSD!&Uu&nIf4Kc`E"
    "U)D;"
)
TABLE = [
    ["item", "annotator", "answer", "text"],
    ["t1", "ann", "yes", "so good"],
    ["t1", "bob", "no", "so good"],
    ["t2", "ann", "no", "oh"],
    ["t2", "bob", "no", "oh"],
]


def open_document(path: Path, rows: list[list[str]]) -> Path:
    """A spreadsheet as LibreOffice writes it, with many blank cells and rows written once."""
    lines = ""
    for row in rows:
        cells = "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p>'
            "</table:table-cell>"
            for cell in row
        )
        blanks = '<table:table-cell table:number-columns-repeated="1000"/>'
        lines += f"<table:table-row>{cells}{blanks}</table:table-row>"
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="labels">{lines}<table:table-row '
        'table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("content.xml", content)
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
    return path


def test_old_excel_and_libre_office(tmp_path: Path) -> None:
    old = tmp_path / "labels.xls"
    old.write_bytes(zlib.decompress(base64.b85decode(OLD_EXCEL)))
    for path in (old, open_document(tmp_path / "labels.ods", TABLE)):
        corpus = read(path)
        assert rows_of(corpus, "answer") == [tuple(row[:3]) for row in TABLE[1:]]
        assert corpus.text_of(1) == "oh"


def test_merged_cells_and_formulas(tmp_path: Path) -> None:
    """A cell that is merged over rows counts for each; of a formula, the saved value is read."""
    path = book(tmp_path, {"Sheet1": [row[:3] for row in TABLE]})
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    inline = '<c t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'
    for item in ("t1", "t2"):  # the second row of each is merged with the first
        before, first, after = sheet.partition(inline.format(item))
        sheet = before + first + after.replace(first, "<c/>", 1)
    sheet = sheet.replace(inline.format("yes"), '<c t="str"><f>"ye"</f><v>yes</v></c>', 1)
    merged = '<mergeCells count="2"><mergeCell ref="A2:A3"/><mergeCell ref="A4:A5"/></mergeCells>'
    sheet = sheet.replace("</sheetData>", f"</sheetData>{merged}")
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    with zipfile.ZipFile(path, "w") as packed:
        for name, part in parts.items():
            packed.writestr(name, part)
    assert "<f>" in sheet and rows_of(read(path), "answer") == [tuple(r[:3]) for r in TABLE[1:]]
