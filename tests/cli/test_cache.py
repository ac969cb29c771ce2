"""dissensus cache, on what a small encoder has kept."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from pathlib import Path

import pytest

from dissensus.cli.cache import readable
from dissensus.encoders import encode
from tests.cli.conftest import Run
from tests.encoders.framework.test_cache import Letters, texts_of


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two encoders; what the first made was last used on a day in 2024."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DISSENSUS_CACHE", str(folder))
    monkeypatch.delenv("DISSENSUS_CACHE_LIMIT", raising=False)
    encode(Letters("first"), texts_of("ab"))
    (piece,) = folder.glob("*/*.safetensors")
    then = datetime(2024, 5, 17, 12, 30).timestamp()
    os.utime(piece, (then, then))
    encode(Letters("second"), texts_of("ab", "c" * 2000))
    return folder


def test_what_is_held(run: Run, cache: Path) -> None:
    ended = run("cache")
    head, columns, second, first = ended.out.splitlines()
    assert head == f"{cache}: {_total(cache)}, the limit is 20 GB"
    assert columns.split() == ["encoder", "contents", "size", "last", "used", "folder"]
    assert re.fullmatch(r"second +2 +\S+ kB  \d{4}-\d\d-\d\d \d\d:\d\d  [0-9a-f]{8}", second)
    assert re.fullmatch(r"first +1 +\S+ B  2024-05-17 12:30  [0-9a-f]{8}", first)
    assert ended.code == 0 and ended.err == ""


def _total(cache: Path) -> str:
    return readable(sum(path.stat().st_size for path in cache.glob("*/*.safetensors")))


def cached(run: Run) -> list[str]:
    """The encoders with cached features."""
    return [entry["name"] for entry in json.loads(run("cache", "--json").out)["encoders"]]


def test_json_and_one_encoder(run: Run, cache: Path) -> None:
    fields = json.loads(run("cache", "--json").out)
    assert fields["folder"] == str(cache) and fields["limit"] == 20 * 10**9
    second, first = fields["encoders"]
    assert (first["name"], first["identity"], first["contents"]) == ("first", "first", 1)
    assert first["used"].startswith("2024-05-17T12:30:00")
    assert second["bytes"] > first["bytes"] > 0
    lines = run("cache", "first").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["encoder", "first"]
    assert run("cache", "third").out == f"{cache}: no cached features of encoder 'third'\n"


def test_clear_one_and_all(run: Run, cache: Path) -> None:
    ended = run("cache", "--clear", "first")
    assert re.fullmatch(rf"{re.escape(str(cache))}: \d+ B deleted, \S+ kB left\n", ended.out)
    assert cached(run) == ["second"]
    done = json.loads(run("cache", "--clear", "--json").out)
    assert done["freed"] > 0 and done["bytes"] == 0
    assert run("cache").out == f"{cache}: no cached features\n" and cached(run) == []
    assert run("cache", "--clear").out == f"{cache}: 0 B deleted, 0 B left\n"


def test_limit_throws_the_oldest_away(run: Run, cache: Path) -> None:
    assert run("cache", "--limit", "1 GB").out.endswith(f": 0 B deleted, {_total(cache)} left\n")
    newest = json.loads(run("cache", "--json").out)["encoders"][0]["bytes"]
    run("cache", "--limit", f"{newest + 10} B")
    assert cached(run) == ["second"]
    assert run("cache", "--limit", "0").out.endswith(" deleted, 0 B left\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--clear", "third"), "{}: nothing of encoder 'third'; choose from 'first', 'second'"),
        (("--limit", "much"), "a size must be a number and a unit, e.g. '20 GB', found 'much'"),
        (
            ("--limit", "5GB", "--clear"),
            "--limit applies to the whole cache; leave out --clear and ENCODER",
        ),
    ],
)
def test_what_cannot_be_done(
    run: Run, cache: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = run("cache", *arguments)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"Error: {message.format(cache)}\n"
