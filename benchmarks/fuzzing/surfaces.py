"""Samples beyond files: saved folders that are used, encoders, options of commands, requests."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from commands import MODELS, TINY, write_bert
from mutations import HOSTILE_TEXTS, json_key, json_value
from samples import Sample
from structures import COLUMN_NAMES, everywhere, of_encoder, restructured, tampered

WITH_CHECKSUMS = ("corpus", "predictions", "attention", "results", "fit", "model",
                  "cache", "checkpoint")  # fmt: skip


class Wrong(Exception):
    """What a command or a server may not do."""


def write_surfaces(folder: Path, samples: list[Sample]) -> Iterator[Sample]:
    """The samples of structure, and of everything that is not a file of others."""
    for one in samples:
        if one.name not in WITH_CHECKSUMS:
            yield Sample(one.name, one.path, one.read, "structure", restructured)
    work = folder / "work"
    write_inputs(work)
    yield from saved(work)
    yield from encoders(work)
    for name in options_of():
        yield Sample(name, work, run_planned(work), "options", plan(name))
    yield from served(work)


def write_inputs(work: Path) -> None:
    """What commands read: a corpus, tables, models, predictions, a comparison, an encoder."""
    from dissensus import simulate
    from dissensus.writers import write

    corpus = simulate.text(n_items=12, n_annotators=4, labels_per_item=3)
    corpus.save(work / "crowd")
    write(corpus, work / "labels.csv")
    write_bert(work / "bert")
    (work / "loop").symlink_to("loop")
    (work / "layout.toml").write_text(
        'item = "item"\nannotator = "annotator"\nanswer = "emotion"\n'
    )
    floors = ("--methods", "prior,annotator-majority", "--seeds", "1", "--processes", "1")
    for command in (
        *MODELS.values(),
        ("compare", "crowd", "-o", "results", *floors),
        ("run", "crowd", "-o", "project", *floors[:4]),
    ):  # fmt: skip
        run_command(work, command)


def run_command(work: Path, command: Any) -> None:
    """Run a command as its process would, in a folder; an error of one line is an error here."""
    from dissensus import cli
    from dissensus.errors import DissensusError

    errors = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    before, arguments, code = os.getcwd(), sys.argv, 0
    os.chdir(work)
    sys.argv = ["dissensus", *command]
    try:
        with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(errors):
            cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else bool(end.code)
    finally:
        os.chdir(before)
        sys.argv = arguments
    lines = errors.buffer.getvalue().decode().rstrip("\n").splitlines()
    if "not enough memory" in (lines[-1:] or [""])[0]:
        raise MemoryError
    if code in (1, 2) and lines and "Error: " in lines[-1]:
        raise DissensusError(lines[-1] or lines[-2])
    if code not in (0, 3):
        raise Wrong(f"exit code {code}: {lines[-1:]}")


# ---- saved folders ----


def saved(work: Path) -> Iterator[Sample]:
    """Folders whose checksums are right, though their content is not, and what uses them."""
    uses: dict[str, list[str]] = {
        "crowd": ["describe crowd", "agreement crowd", "disputed crowd", "convert crowd out.csv",
                  "aggregate crowd -o out.csv", "layout crowd", "report crowd -o out.html",
                  "draw crowd -o out.svg", "judge labels.csv crowd", "convert crowd out.xlsx"],
        "predictions": ["evaluate predictions crowd", "attention predictions crowd",
                        "draw crowd --predictions predictions -o out.svg",
                        "judge predictions crowd"],
        "results": ["report results -o out.html", "report crowd --results results -o out.html"],
        "model": ["predict model crowd -o out.csv", "predict model labels.csv -o out"],
        "queries": ["predict queries crowd --attention -o out"],
    }  # fmt: skip
    for name, commands in uses.items():
        for words in commands:
            yield Sample(
                words, work / name, command_on(work, name, words.split()), "saved",
                tampered,
            )  # fmt: skip


def command_on(work: Path, name: str, words: list[str]) -> Callable[[Path], Any]:
    """Run a command next to a changed copy of one of the things that it reads."""

    def run(path: Path) -> None:
        place = path.parent / "place"
        place.mkdir()
        for other in [path, *(one for one in work.iterdir() if one.name != name)]:
            (place / other.name).symlink_to(other)
        fresh_cache(place)
        try:
            run_command(place, words)
        finally:
            shutil.rmtree(place)

    return run


def fresh_cache(folder: Path) -> None:
    os.environ["DISSENSUS_CACHE"] = str(folder / ".cache")


# ---- encoders ----


def encoders(work: Path) -> Iterator[Sample]:
    """Folders of models of transformers."""
    from PIL import Image

    from dissensus.contents import Contents
    from tests.tiny import tiny_vit

    tiny_vit(work / "vit")
    Image.new("RGB", (16, 16)).save(work / "a.png")
    contents = {
        "bert": Contents.distinct("text", ["so good", "oh no"])[0],
        "vit": Contents.distinct("image", [str(work / "a.png")])[0],
    }
    for name, kind in (("bert", "text"), ("vit", "image")):

        def read(path: Path, kind: str = kind, content: Any = contents[name]) -> None:
            from dissensus.encoders import encode, encoder
            from dissensus.encoders.framework import catalogue

            fresh_cache(path.parent)
            catalogue.known_encoder.cache_clear()
            encode(encoder(str(path), kind), content)

        yield Sample(name, work / name, read, "encoder", of_encoder)


# ---- options of every command ----

WRITES = ("-o", "out")
BASES: dict[str, list[str]] = {
    "run": "run crowd -o out --methods prior,annotator-majority --seeds 1".split(),
    "report": "report labels.csv -o out.html".split(),
    "demo": "demo out --items 12".split(),
    "serve": "serve labels.csv".split(),
    "describe": "describe labels.csv".split(),
    "disputed": "disputed labels.csv".split(),
    "review": "review labels.csv".split(),
    "plan": "plan labels.csv".split(),
    "layout": "layout labels.csv".split(),
    "agreement": "agreement labels.csv".split(),
    "aggregate": "aggregate labels.csv -o out.csv".split(),
    "convert": "convert labels.csv out".split(),
    "datasets": ["datasets"],
    "simulate": "simulate out --items 12".split(),
    "train": ["train", "crowd", "--method", "single", *TINY, "-o", "out"],
    "predict": "predict model crowd -o out".split(),
    "evaluate": "evaluate predictions crowd".split(),
    "judge": "judge predictions crowd".split(),
    "attention": "attention predictions crowd".split(),
    "draw": "draw crowd -o out.svg".split(),
    "compare": "compare crowd -o out --methods prior,annotator-majority --seeds 1 --folds 3 "
    "--processes 1".split(),
}
PLACES = [
    *("crowd", "labels.csv", "model", "predictions", "results", "project", "bert"),
    *(
        "layout.toml",
        "loop",
        ".",
        "missing",
        "missing/a/b",
        "crowd/corpus.json",
        "/dev/null",
        "a.zip",
    ),
    *(
        "labels.csv/out",
        "out.txt",
        "out.parquet",
        "out.xlsx",
        "out.json",
        "n" * 300,
        "/proc/self/mem",
    ),
    *("out.tsv", "out.jsonl", "out/", "out.html", "model/config.json", "/dev/full", "-", "--", "~"),
]
WORDS = [
    *("emotion", "item", "annotator", "text", "answer", "a1", "annotator-1", "joy", "all", "own"),
    *("train", "test", "0", "1", "2", "3", "-1", "0.5", "-0.5", "1.5", "1e-9", "1e308", "0.1,0.9"),
    *(
        "single",
        "annotator-heads",
        "annotator-queries",
        "crowd-layer",
        "dawid-skene",
        "majority",
        "mean",
    ),
    *("glad", "mace", "gaussian", "soft-vote", "krippendorff-alpha", "icc2", "nominal", "ordinal"),
    *(
        "interval:0:1",
        "interval:1:0",
        "likert:1:5",
        "a<b<c",
        "ordinal:a,b",
        "multi",
        "text",
        "long",
    ),
    *(
        "wide",
        "votes",
        "{k}",
        "{annotator}",
        "a{k}_{question}",
        "characters",
        "minilm:max_length=x",
    ),
    *("words:labels.csv", "none", "auto", "utf-16", "rot13", "idna", "first", "item=joy", "joy=1"),
    *("a=b=c", "=", ",", ",,", "accuracy", "brier", "no", "yes", "error", "8GB", "1e9GB", "0GB"),
    *(
        "epochs=2",
        "training.epochs=0",
        "training.batch_size=-1",
        "training.learning_rate=nan",
        "seed=-1",
    ),
    *("training.dropout=2", "encoder=1", "hidden=0", "hidden=9999999999", "training=3", "x.y.z=1"),
]
SLOW_IF_LARGE = {"--items", "--epochs", "--seeds", "--annotators", "--runs", "--trials", "--folds",
                 "--labels", "--labels-per-item", "--processes", "--time", "--minutes",
                 "--seconds", "--tune", "--search"}  # fmt: skip


@cache
def options_of() -> dict[str, list[tuple[list[str], bool]]]:
    """The options of each command: their spellings, and whether they take no value."""
    from typer.main import get_command

    from dissensus.cli import app

    group = get_command(app)
    return {
        name: [
            (list(one.opts), bool(getattr(one, "is_flag", False)))
            for one in group.commands[name].params  # type: ignore[attr-defined]
            if one.param_type_name == "option"
        ]
        for name in BASES
    }


def plan(name: str) -> Callable[[Path, Random], None]:
    """Choose options of a command, with values that they may not expect."""

    def change(path: Path, random: Random) -> None:
        words = list(BASES[name])
        for _ in range(random.choice((1, 1, 1, 2, 3)) if options_of()[name] else 0):
            spellings, flag = random.choice(options_of()[name])
            option = random.choice(spellings)
            if flag:
                words.append(option)
                continue
            value = random.choice(
                random.choice((WORDS, WORDS, PLACES, HOSTILE_TEXTS, COLUMN_NAMES[:30]))
            )
            if option in SLOW_IF_LARGE and value.strip("0123456789") == "" and len(value) > 1:
                value = "2"
            words += (
                [f"{option}={value}"]
                if option[:2] == "--" and "-" == value[:1]
                else [option, value]
            )
        if not random.randrange(6):
            at = random.randrange(1, len(words) + 1)
            words[at : at + 1] = [random.choice((*PLACES, *HOSTILE_TEXTS))]
        words = [word.replace("\0", "") for word in words]  # no process can be given a NUL
        words = [word.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
                 for word in words]  # fmt: skip
        if not random.randrange(8):
            restructured(path / "layout.toml", random)
            words += ["--layout", "layout.toml"]
        (path / "arguments.json").write_text(json.dumps(words))

    return change


def run_planned(work: Path) -> Callable[[Path], Any]:
    """Run the command in arguments.json; a page is not served."""

    def run(path: Path) -> None:
        from dissensus import web

        fresh_cache(path)
        web.listen = lambda app, token, port=0: None
        arguments = path / "arguments.json"
        run_command(path, json.loads(arguments.read_text()) if arguments.exists() else ["datasets"])

    return run


# ---- requests of a browser, or of anyone on this computer ----

TOKEN = "t" * 32


VALID: dict[str, list[dict[str, Any]]] = {
    "report": [{"text": "so good"}, {"text": ""}, {"text": "a b " * 4000}],
    "page": [
        {"layout": {"item": "item", "annotator": "annotator", "answer": "emotion"}},
        {"layout": {"delimiter": ",", "header": 1, "skip": 0, "missing": ["joy"], "scale": "a"}},
        {"layout": {"cells": "lists", "features": ["x*"], "repeats": "mean", "columns": ["a"]}},
        {"toml": 'item = "item"\nannotator = "annotator"\nanswer = "emotion"\n'},
        {"toml": '[scale]\nemotion = ["joy"]\n'},
    ],
}


def served(work: Path) -> Iterator[Sample]:
    """Requests to the report with a model, and to the page of layouts."""
    for name, valid in VALID.items():
        yield Sample(
            name, work / "labels.csv", answered(work, name), "requests", asked_of(name, valid)
        )  # fmt: skip


def asked_of(name: str, valid: list[dict[str, Any]]) -> Callable[[Path, Random], None]:
    def change(path: Path, random: Random) -> None:
        body = json.dumps(random.choice(valid)).encode()
        for _ in range(random.choice((0, 1, 1, 2))):
            body = random.choice((json_value, json_value, json_key, everywhere))(body, random)
        if not random.randrange(8):
            body = random.choice(
                (b"", b"\xff\0", b"[" * 60000, b"x" * 70_000, b"1" * 5000, b"null")
            )
        actions = ["predict"] if name == "report" else ["read", "read", "keep"]
        target = random.choice(
            [*actions * 6, "", "", "favicon.ico", "../etc/passwd", "%00", "é", "a" * 9000]
        )
        usual = random.random() < 0.8
        hostile = [
            *HOSTILE_TEXTS,
            "127.0.0.1:x",
            "[::1",
            "evil.org",
            "localhost:80:80",
            TOKEN,
            "\r\nA: b",
        ]
        headers = [
            ("host", "127.0.0.1:8000" if usual else random.choice(hostile)),
            ("x-token", TOKEN if random.random() < 0.9 else random.choice(hostile)),
            ("cookie", f"dissensus-8000={TOKEN}" if usual else random.choice((
                *hostile, f"dissensus-8000={TOKEN}; a=\"b; é", ";;=;=", "dissensus-8000=\xff"))),
        ]  # fmt: skip
        for _ in range(random.choice((0, 0, 1, 3))):
            kind = random.choice(("content-length", "content-type", "transfer-encoding", "cookie",
                                  "x-forwarded-host", "origin", "range", "host", ""))  # fmt: skip
            headers.append((kind, random.choice(hostile)))
        random.shuffle(headers)
        query = random.choice(
            ("", "", f"token={TOKEN}", "token=", "token=%ff%00", "token=é&token=a", "&&=")
        )
        request = {
            "method": "POST" if usual and target in actions else random.choice(
                ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "", "é")),
            "path": f"/{target}", "query": query, "headers": headers,
            "body": body.hex(), "parts": random.choice((1, 1, 2, 7)),
            "leaves": not random.randrange(20),
        }  # fmt: skip
        path.with_name("request.json").write_text(json.dumps(request))

    return change


def answered(work: Path, name: str) -> Callable[[Path], Any]:
    """Give the request in request.json to the application, without a network."""

    @cache
    def report() -> Any:
        from dissensus.corpus import Corpus
        from dissensus.methods import load
        from dissensus.report import make_report
        from dissensus.report.server import web_app

        return web_app(make_report(Corpus.load(work / "crowd")), load(work / "queries"), TOKEN)

    @cache
    def page(path: Path) -> Any:
        from dissensus.cli.layout_page import LayoutPage
        from dissensus.web import web_app

        page = LayoutPage(path)
        return web_app(page.html(), {"read": page.read, "keep": page.keep}, TOKEN)

    def run(path: Path) -> None:
        from dissensus.errors import DissensusError

        fresh_cache(work)
        file = path.with_name("request.json")
        usual = {"method": "GET", "path": "/", "query": f"token={TOKEN}", "body": "", "parts": 1,
                 "headers": [["host", "localhost"]], "leaves": False}  # fmt: skip
        request = json.loads(file.read_text()) if file.exists() else usual
        status = asyncio.run(status_of(report() if name == "report" else page(path), request))
        if status >= 500:
            raise Wrong(f"status {status}")
        if status >= 400:
            raise DissensusError(f"status {status}")

    return run


async def status_of(app: Any, request: dict[str, Any]) -> int:
    """The status with which an application answers; an error in it is an error here."""
    body, size = (
        bytes.fromhex(request["body"]),
        max(1, -(-len(request["body"]) // 2 // request["parts"])),
    )
    parts = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    events = [{"type": "http.request", "body": part, "more_body": at + 1 < len(parts)}
              for at, part in enumerate(parts)]  # fmt: skip
    if request["leaves"]:
        events[-1] = {"type": "http.disconnect"}
    statuses = [0]

    async def receive() -> dict[str, Any]:
        return events.pop(0) if events else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        statuses.append(message.get("status", statuses[-1]))

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": request["method"], "path": request["path"], "root_path": "",
        "raw_path": request["path"].encode("utf-8", "replace"),
        "query_string": request["query"].encode(), "client": ("127.0.0.1", 9),
        "server": ("127.0.0.1", 8000),
        "headers": [(k.encode(), v.encode("utf-8", "replace")) for k, v in request["headers"]],
    }  # fmt: skip
    await app(scope, receive, send)
    return statuses[-1]
