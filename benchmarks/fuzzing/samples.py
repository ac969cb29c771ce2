"""A small sample of everything that dissensus reads, and how it is read.

Files and folders are mutated and then read again. A sample of a folder that dissensus wrote also
has the values that it must have, if it is read at all.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [
    (item, annotator, mood, rating, text)
    for number, (item, text) in enumerate(
        [("t1", "so good!"), ("t2", "oh no, näh"), ("t3", 'he said "no"'), ("t4", "=1+1 😀")]
    )
    for annotator, mood, rating in [
        ("ann", ("joy", "fear")[number % 2], number),
        ("bob", "joy", 4 - number),
        ("eve", "fear", 2),
    ]
]
HEADER = ("item", "annotator", "mood", "rating", "text")


class SilentChange(Exception):
    """Something was read that is not what was written."""


@dataclass(frozen=True)
class Sample:
    """A file or folder, and the function that reads it; what it returns is thrown away.

    `change` changes a copy of it; the bytes of its files, if left out.
    """

    name: str
    path: Path
    read: Callable[[Path], Any]
    kind: str = "bytes"
    change: Callable[[Path, Random], None] | None = None


def write_samples(folder: Path) -> list[Sample]:
    """Write every sample to the folder; each has a folder of its own."""
    samples = []
    contents = {**texts(), **tables(), **folders()}
    for name, files in contents.items():
        for path, content in files.items():
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        first = Path(next(iter(files)))
        whole = folder / name if len(files) > 1 else folder / name / first.parts[0]
        samples.append(Sample(name, whole, SHAPES.get(name, read_corpus)))
    return [*samples, *known_corpora(folder / "known"), *own_folders(folder)]


# ---- files of others ----


def delimited(rows: Sequence[Sequence[Any]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def texts() -> dict[str, dict[str, str | bytes]]:
    """Samples of one text file, by name of the format."""
    long = delimited([HEADER, *ROWS])
    records = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    by_item = {row[0]: row[4] for row in ROWS}
    wide: list[tuple[str, ...]] = [("item", "text", "ann", "bob", "eve")]
    votes: list[tuple[Any, ...]] = [("item", "joy", "fear")]
    for item, text in by_item.items():
        moods = [row[2] for row in ROWS if row[0] == item]
        wide.append((item, text, *moods))
        votes.append((item, moods.count("joy"), moods.count("fear")))
    survey = "Timestamp,Email,Rate [cat.jpg],Rate [dog.jpg]\n1/2,a@x,1,2\n1/3,b@x,2,2\n"
    qualtrics = (
        "StartDate,Status,RecordedDate,ResponseId,PROLIFIC_PID,1_Q3,2_Q3\n"
        "Start Date,Response Type,Recorded,Response ID,PID,How rude?,How rude?\n"
        '"{""ImportId"":""startDate""}","{""ImportId"":""status""}",x,x,x,x,x\n'
        "1/1,IP Address,1/1,R1,p1,4,5\n1/1,IP Address,1/1,R2,p2,3,\n"
    )
    figure_eight = (
        "_unit_id,_id,_started_at,_tainted,_trust,_worker_id,_country,sentence,mood,mood_gold\n"
        '1,10,2016,false,1,w1,DE,so good,"joy\nfear",joy\n1,11,2016,false,1,w2,FR,so good,joy,\n'
        "2,12,2016,false,1,w1,DE,oh no,fear,\n2,13,2016,true,1,w2,FR,oh no,joy,\n"
    )
    turk = delimited(
        [
            ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds",
             "Input.tweet", "Answer.mood.label", "Answer.sure.yes", "Answer.sure.no"),
            ("H1", "A1", "W1", "Approved", 10, "so good", "joy", "true", "false"),
            ("H1", "A2", "W2", "Rejected", 11, "so good", "fear", "false", "true"),
            ("H2", "A3", "W1", "Submitted", 12, "so bad", "fear", "true", "false"),
        ]
    )  # fmt: skip
    tasks = json.dumps([{"task": "T0", "value": "joy"}, {"task": "T1", "value": ["a", "b"]}])
    zooniverse = delimited(
        [
            ("classification_id", "user_name", "annotations", "subject_data", "subject_ids"),
            (1, "ann", tasks, json.dumps({"7": {"file": "a.jpg"}}), 7),
            (2, "bob", tasks.replace("joy", "fear"), json.dumps({"7": {"file": "a.jpg"}}), 7),
            (3, "ann", tasks, json.dumps({"8": {"file": "b.jpg"}}), 8),
        ]
    )
    toloka = delimited(
        [
            ("INPUT:image", "OUTPUT:result", "GOLDEN:result", "ASSIGNMENT:task_id",
             "ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"),
            ("a.jpg", "cat", "cat", "t1", "a1", "w1", "APPROVED"),
            ("a.jpg", "dog", "", "t1", "a2", "w2", "APPROVED"),
            ("b.jpg", "dog", "", "t2", "a1", "w1", "SKIPPED"),
        ],
        "\t",
    )  # fmt: skip
    return {
        "csv-long": {"long.csv": long},
        "csv-wide": {"wide.csv": delimited(wide)},
        "csv-votes": {"votes.csv": delimited(votes)},
        "tsv-utf16": {"long.tsv": delimited([HEADER, *ROWS], "\t").encode("utf-16")},
        "csv-gzip": {"long.csv.gz": gzip.compress(long.encode(), mtime=0)},
        "jsonl": {"long.jsonl": "".join(f"{json.dumps(one)}\n" for one in records)},
        "json": {"long.json": json.dumps(records, indent=1)},
        "survey": {"form.csv": survey},
        "qualtrics": {"qualtrics.csv": qualtrics},
        "zooniverse": {"classifications.csv": zooniverse},
        "figure-eight": {"full.csv": figure_eight},
        "mturk": {"batch.csv": turk},
        "toloka": {"pool.tsv": toloka},
        "matrix": {"matrix.txt": "0 1 -1\n1 1 0\n2 -1 2\n"},
        "peerannot": {"answers.json": '{"0": {"12": 1, "7": 0}, "1": {"12": 1, "7": 1}}'},
        "label-studio": {"export.json": json.dumps(label_studio())},
        "label-studio-records": {"export.json": json.dumps(label_studio_records())},
        "argilla": {"records.json": json.dumps(argilla())},
        "prodigy": {"moods.jsonl": "".join(f"{json.dumps(one)}\n" for one in prodigy())},
        "lewidi2023": {"HS-Brexit_train.json": json.dumps(lewidi(2023))},
        "lewidi2025": {"MP_dev.json": json.dumps(lewidi(2025))},
        "webanno": {"study/ann_doc.tsv": webanno("PER"), "study/bob_doc.tsv": webanno("ORG")},
    }


def label_studio() -> list[dict[str, Any]]:
    def result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
        return {"id": "z", "type": kind, "from_name": name, "to_name": "text", "value": value}

    def annotation(number: int, mood: str) -> dict[str, Any]:
        span = {"start": 0, "end": 2, "text": "so", "labels": ["odd"]}
        results = [
            result("mood", "choices", {"choices": [mood]}),
            result("stars", "rating", {"rating": 1 + number}),
            result("part", "labels", span),
        ]
        about = {"id": number, "completed_by": number, "was_cancelled": False, "lead_time": 4.25}
        return about | {"ground_truth": number == 2, "result": results}

    return [
        {
            "id": number,
            "data": {"text": f"so text {number}"},
            "annotations": [annotation(1, "joy"), annotation(2, "fear")],
            "predictions": [{}],
        }
        for number in (1, 2)
    ]


def label_studio_records() -> list[dict[str, Any]]:
    return [
        {"text": "so good", "id": 7, "mood": mood, "stars": [{"rating": 3}],
         "annotator": n, "annotation_id": n, "created_at": "2024-01-01T00:00:00Z", "lead_time": 4.5}
        for n, mood in ((1, "joy"), (2, {"choices": ["joy", "fear"]}))
    ]  # fmt: skip


def argilla() -> list[dict[str, Any]]:
    return [
        {"id": f"r{n}", "fields": {"text": f"text {n}"}, "metadata": {"source": "web"},
         "suggestions": {}, "vectors": {},
         "responses": {"mood": [{"user_id": "u1", "value": "joy"},
                                {"user_id": "u2", "value": ["joy", "fear"]}]}}
        for n in (1, 2)
    ]  # fmt: skip


def prodigy() -> list[dict[str, Any]]:
    offered = [{"id": "joy", "text": "Joy"}, {"id": "fear", "text": "Fear"}]
    return [
        {"text": f"text {n}", "_input_hash": n, "_task_hash": 17, "answer": "accept",
         "_view_id": "choice", "_session_id": f"moods-{annotator}", "options": offered,
         "accept": [value], "spans": [{"start": 0, "end": 4, "label": "ODD"}]}
        for n in (1, 2)
        for annotator, value in (("ann", "joy"), ("bob", "fear"))
    ]  # fmt: skip


def lewidi(year: int) -> dict[str, Any]:
    items: dict[str, Any] = {}
    for key in ("1", "2"):
        answers: Any = "0,1" if year == 2023 else {"Ann1": "0", "Ann2": "1"}
        text: Any = "so good!" if year == 2023 else {"post": "so good!", "reply": "sure"}
        task = "hate speech detection" if year == 2023 else "irony detection"
        items[key] = {
            "text": text, "annotation task": task, "split": "train", "lang": "en",
            "number of annotations": 2, "number of annotators": 2, "annotators": "Ann1,Ann2",
            "annotations": answers, "hard_label": "0", "soft_label": {"0": 0.5, "1": 0.5},
            "other_info": {"other annotations": {}},
        }  # fmt: skip
    return items


def webanno(kind: str) -> str:
    return (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.NamedEntity|identifier|value\n\n\n"
        f"#Text=Bob saw New York\n1-1\t0-3\tBob\t*\t{kind}\t\n1-2\t4-7\tsaw\t_\t_\t\n"
        "1-3\t8-11\tNew\t*[1]\tLOC[1]\t\n1-4\t12-16\tYork\t*[1]|*\tLOC[1]|ORG\t\n"
    )


def tables() -> dict[str, dict[str, str | bytes]]:
    """Samples of one binary file, by name of the format."""
    table = pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(HEADER)})
    parquet, feather, array, zipped, files = (io.BytesIO() for _ in range(5))
    pq.write_table(table, parquet)
    with pa.ipc.new_file(feather, table.schema) as writer:
        writer.write_table(table)
    np.save(array, np.array([[0, 1, -1], [1, 1, 0], [2, -1, 2]]))
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, label in (("ann", "joy"), ("bob", "fear")):
            lines = [json.dumps({"id": n, "text": f"text {n}", "label": [label]}) for n in (1, 2)]
            packed.writestr(f"{name}.jsonl", "\n".join(lines))
    with zipfile.ZipFile(files, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in ("ann", "bob"):
            rows = [row for row in ROWS if row[1] == ROWS[name == "bob"][1]]
            packed.writestr(f"{name}.csv", "".join(f"{r[0]},{r[2]}\n" for r in (HEADER, *rows)))
    return {
        "zip": {"files.zip": files.getvalue()},
        "parquet": {"long.parquet": parquet.getvalue()},
        "arrow": {"long.arrow": feather.getvalue()},
        "matrix-numpy": {"matrix.npy": array.getvalue()},
        "doccano": {"export.zip": zipped.getvalue()},
        "spreadsheet": {"long.xlsx": workbook()},
        "spreadsheet-excel": {"long.xlsx": excel()},
        "spreadsheet-ods": {"long.ods": open_document()},
    }


def workbook() -> bytes:
    """The long table as a spreadsheet, by dissensus's own writer."""
    import tempfile

    from dissensus.readers import read
    from dissensus.writers import write

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "long.csv").write_text(delimited([HEADER, *ROWS]), encoding="utf-8")
        write(read(Path(folder, "long.csv")), Path(folder, "long.xlsx"))
        return Path(folder, "long.xlsx").read_bytes()


def excel() -> bytes:
    """The long table as Excel writes it: references, shared texts, a date and a merged cell."""
    table = [HEADER, *ROWS]
    texts = list(dict.fromkeys(str(cell) for row in table for cell in row))
    rows = ""
    for number, row in enumerate(table, 1):
        cells = [
            f'<c r="{column}{number}" s="1"><v>{40000 + cell}</v></c>' if isinstance(cell, int)
            else f'<c r="{column}{number}" t="s"><v>{texts.index(str(cell))}</v></c>'
            for column, cell in zip("ABCDE", row, strict=True)
        ]  # fmt: skip
        rows += f'<row r="{number}" spans="1:5">{"".join(cells)}</row>'
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    shared = "".join(f"<si><r><t>{escape(text)}</t></r></si>" for text in texts)
    with zipfile.ZipFile(io.BytesIO(workbook())) as packed:
        files = {name: packed.read(name).decode() for name in packed.namelist()}
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = "".join(
        f'<Relationship Id="r{name}" Type="{kind}/{name}" Target="{name}.xml"/>'
        for name in ("styles", "sharedStrings")
    )
    place = "xl/_rels/workbook.xml.rels"
    files[place] = files[place].replace("</Relationships>", f"{relations}</Relationships>")
    files |= {
        "xl/worksheets/sheet1.xml": f'<worksheet {main}><dimension ref="A1:E{len(table)}"/>'
        f'<sheetData>{rows}</sheetData><mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
        "</worksheet>",
        "xl/sharedStrings.xml": f'<sst {main} count="{len(texts)}">{shared}</sst>',
        "xl/styles.xml": f'<styleSheet {main}><cellXfs count="2"><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    return _zipped(files)


def open_document() -> bytes:
    """The long table as LibreOffice writes it, with blank rows and cells written once."""
    rows = ""
    for row in [HEADER, *ROWS]:
        cells = "".join(
            f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
            if isinstance(cell, int)
            else '<table:table-cell office:value-type="string" table:number-columns-repeated="1">'
            f"<text:p>{escape(str(cell))}</text:p></table:table-cell>"
            for cell in row
        )
        blank = '<table:table-cell table:number-columns-repeated="1000"/>'
        rows += f'<table:table-row table:number-rows-repeated="1">{cells}{blank}</table:table-row>'
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    body = f'<table:table table:name="labels">{rows}</table:table>'
    for part in ("spreadsheet", "body"):
        body = f"<office:{part}>{body}</office:{part}>"
    content = f"<office:document-content {names}>{body}</office:document-content>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": "<a/>"})


def _zipped(files: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def folders() -> dict[str, dict[str, str | bytes]]:
    """Samples of several files, by name of the format."""
    spans = {"ann": "T1\tPerson 0 3\tBob\n", "bob": "T1\tPlace 8 11;12 16\tNew York\n"}
    brat = {f"{who}/d1.ann": lines for who, lines in spans.items()}
    brat |= {f"{who}/d1.txt": "Bob saw New York." for who in spans}
    folder = {
        f"{who}.csv": delimited(
            [("item", "answer", "text"), *((row[0], row[2], row[4]) for row in ROWS[at::3])]
        )
        for at, who in enumerate(("ann", "bob", "eve"))
    }
    potato = {}
    for who, mood in (("ann", "joy"), ("bob", "fear")):
        plain = {"t1": {"mood": {"labels": {mood: True}}}, "t2": {"mood": {"labels": {"joy": 1}}}}
        state = {"user_id": f"{who}@x", "instance_id_to_label_to_value": plain}
        potato[f"{who}/user_state.json"] = json.dumps(state)
    named: dict[str, Mapping[str, str]] = {
        "brat": brat, "folder": folder, "potato": potato,
    }  # fmt: skip
    return {name: dict(files) for name, files in named.items()}


def known_corpora(folder: Path) -> Iterator[Sample]:
    """A small folder of every public corpus, with invented texts."""
    from dissensus.datasets import DATASETS, dataset
    from dissensus.errors import DissensusError
    from tests.datasets.folders import sample

    def read(path: Path) -> None:
        module, errors = dataset(path.name), []
        for corpus in module.corpora:
            try:
                module.load(path, corpus)
            except DissensusError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    for name in DATASETS:
        yield Sample(f"known {name}", sample(name, folder / name), read)


# ---- folders of dissensus ----


def own_folders(folder: Path) -> list[Sample]:
    """A sample of every folder and file that dissensus writes and reads, and how each is read."""
    from dissensus import simulate
    from dissensus.evaluation import compare
    from dissensus.evaluation.fit import Fit
    from dissensus.methods import AnnotatorMajority, AnnotatorQueries, Single
    from dissensus.training import Training

    corpus = simulate.text(n_items=40, n_annotators=4, labels_per_item=3)
    corpus.save(folder / "corpus")
    os.environ["DISSENSUS_CACHE"] = str(folder / "cache")
    training = Training(epochs=1)
    model = Single(encoder="characters", training=training).fit(corpus)
    model.save(folder / "model")
    model.predict(corpus).save(folder / "predictions")
    queries = AnnotatorQueries(encoder="characters", training=training).fit(corpus)
    queries.predict(corpus, attention=True).save(folder / "attention")
    compare(corpus, {"majority": AnnotatorMajority()}, out=folder / "results", seeds=1, processes=1)
    read_results(folder / "results").fits[0].save(folder / "fits")
    next((folder / "fits").iterdir()).rename(folder / "fit")
    saved: dict[str, Callable[[Path], Any]] = {
        "corpus": read_corpus,
        "predictions": read_predictions,
        "attention": read_predictions,
        "results": read_results,
        "fit": Fit.load,
    }
    return [
        *(
            Sample(name, folder / name, checked(read, folder / name))
            for name, read in saved.items()
        ),
        Sample("model", folder / "model", checked_model(folder / "model")),
        Sample("cache", folder / "cache", checked_cache(folder / "cache")),
        resumed_training(folder / "checkpoint", corpus),
        *read_by_commands(folder / "commands", corpus),
    ]


def resumed_training(folder: Path, corpus: Any) -> Sample:
    """The checkpoint of a training, from which it resumes."""
    from dissensus.methods import Single
    from dissensus.training import Training

    def resume(path: Path) -> Any:
        training = Training(epochs=2, save_every=0)
        return Single(encoder="characters", training=training).fit(corpus, checkpoint=path)

    resume(folder)
    return Sample("checkpoint", folder, resume)


def read_by_commands(folder: Path, corpus: Any) -> Iterator[Sample]:
    """Files that only the options of commands read, and commands that show what they read."""
    from dissensus.encoders.words import read_vectors
    from dissensus.evaluation.outside_predictions import read_predictions as read_outside

    folder.mkdir()
    corpus.save(folder / "crowd")
    crowd = str(folder / "crowd")
    names, items = list(corpus.annotators), list(corpus.items)
    values = list(corpus["emotion"].scale.values)
    vectors = "".join(f"word{n} 0.5 -1e-3 {n}\n" for n in range(9))
    long = delimited([HEADER, *ROWS])
    files: dict[str, str | bytes] = {
        "skills.csv": delimited([("annotator", "skill"), *((who, 0.5) for who in names)]),
        "outside.csv": delimited([("item", "answer"), *((item, values[0]) for item in items)]),
        "outside.jsonl": "".join(
            json.dumps({"item": item, "annotator": names[0], "answer": values[0]}) + "\n"
            for item in items
        ),
        "vectors.txt": vectors,
        "vectors.gz": gzip.compress(vectors.encode(), mtime=0),
        "describe.csv": long,
        "agreement.csv": long,
        "aggregate.csv": long,
        "convert.csv": long,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    readers: dict[str, Callable[[Path], Any]] = {
        "skills.csv": command("aggregate", crowd, "--method", "weighted-vote", "--skills"),
        "outside.csv": lambda path: read_outside(path, corpus),
        "outside.jsonl": lambda path: read_outside(path, corpus),
        "vectors.txt": read_vectors,
        "vectors.gz": read_vectors,
        "describe.csv": command("describe"),
        "agreement.csv": command("agreement"),
        "aggregate.csv": command("aggregate"),
        "convert.csv": lambda path: command("convert", str(path), "--overwrite")(
            path.with_suffix(".xlsx")
        ),
    }
    for name, read in readers.items():
        yield Sample(f"command {name}", folder / name, read)
    (folder / "remembered").mkdir()
    (folder / "remembered" / "long.csv").write_text(long, encoding="utf-8")
    remembered = command("describe", "--item", "item", "--remember")
    remembered(folder / "remembered" / "long.csv")
    describe = command("describe")
    yield Sample(
        "command remembered", folder / "remembered", lambda path: describe(path / "long.csv")
    )


@cache
def all_commands() -> Any:
    """The command line, which takes a while to build."""
    from typer.main import get_command

    from dissensus.cli import app

    return get_command(app)


def command(*arguments: str) -> Callable[[Path], Any]:
    """A command of the command line, whose last argument is the path."""
    group = all_commands()

    def run(path: Path) -> Any:
        with open(os.devnull, "w") as nothing, redirect_stderr(nothing), redirect_stdout(nothing):
            return group.main([*arguments, str(path)], standalone_mode=False)

    return run


def read_corpus(path: Path) -> Any:
    from dissensus.readers import read

    return read(path)


def read_wide(path: Path) -> Any:
    from dissensus.readers import read

    return read(path, format="wide", annotators=["ann", "bob", "eve"])


def read_votes(path: Path) -> Any:
    from dissensus.readers import read

    return read(path, format="votes", answer=["joy", "fear"])


SHAPES = {"csv-wide": read_wide, "csv-votes": read_votes}


def read_predictions(path: Path) -> Any:
    from dissensus.prediction import Predictions

    return Predictions.load(path)


def read_results(path: Path) -> Any:
    from dissensus.evaluation import Results

    return Results.load(path)


def checked(read: Callable[[Path], Any], original: Path) -> Callable[[Path], Any]:
    """Read a folder; if it still has its checksums, it must contain what was written."""
    expected = read(original)

    def check(path: Path) -> Any:
        content = read(path)
        if has_checksums(path) and not same(content, expected):
            raise SilentChange("other content was read")
        return content

    return check


def has_checksums(path: Path) -> bool:
    """Whether no checksum of a folder is missing; without them it is one of an earlier version."""
    for file in path.rglob("*.json"):
        try:
            sums = json.loads(file.read_bytes())["checksums"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return False
        names = {table.name for table in file.parent.glob("*.parquet")} | {file.name}
        if not isinstance(sums, dict) or not names <= sums.keys():
            return False
    return True


def same(one: Any, other: Any) -> bool:
    """Whether two objects have the same content, down to their arrays; times do not count."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if isinstance(one, pa.Table | pa.Array | pa.ChunkedArray | pa.Scalar):
        return bool(one.equals(other))
    if isinstance(one, Mapping):
        keys = [key for key in one if key not in ("when", "seconds")]
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in keys)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dict__"):
        return same(vars(one), vars(other))
    return bool(one == other) or one != one


def checked_model(original: Path) -> Callable[[Path], Any]:
    """Load a model; if it can be loaded, its settings and weights must be those of the original."""
    from dissensus.methods import load

    expected = load(original)

    def check(path: Path) -> Any:
        model = load(path)
        weights = model.weights()
        same = weights.keys() == expected.weights().keys() and all(
            np.array_equal(weights[name], value) for name, value in expected.weights().items()
        )
        if not same or model.config() != expected.config():
            raise SilentChange("a model with other settings or weights was loaded")
        return model

    return check


def checked_cache(original: Path) -> Callable[[Path], Any]:
    """Read features from a cache; they must be the same as without it."""
    from dissensus.contents import Contents
    from dissensus.encoders import Encoder, Store, encode

    class Letters(Encoder):
        """A vector for each letter."""

        kinds = ("text",)
        identity = "letters"
        name = "letters"
        piece = 20

        def encode(self, contents: Contents) -> Store:
            texts = contents.values.to_pylist()
            letters = np.array([ord(letter) for text in texts for letter in text], np.float32)
            places = np.zeros((len(letters), 1, 2), np.float32)
            offsets = np.r_[0, np.cumsum([len(text) for text in texts])]
            return Store(np.stack([letters, -letters], axis=1), places, offsets)

    contents = Contents.distinct("text", [f"text {n} of some" for n in range(60)])[0]
    shutil.rmtree(original, ignore_errors=True)
    os.environ["DISSENSUS_CACHE"] = str(original)
    expected = np.array(encode(Letters(), contents).vectors)

    def check(path: Path) -> Any:
        os.environ["DISSENSUS_CACHE"] = str(path)
        if not np.array_equal(encode(Letters(), contents).vectors, expected):
            raise SilentChange("damaged features were read from the cache")

    return check
