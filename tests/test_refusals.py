"""What is refused, and in which words: the sessions in `refusals/` are typed again.

After ">>> " comes what is typed, then what it prints, or the error. A session begins in an empty
folder. After a change that is meant, write all anew: `python -m tests.test_refusals`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from dissensus.errors import DissensusError

SESSIONS = sorted((Path(__file__).parent / "refusals").glob("*.txt"))


def typed(source: str, names: dict[str, Any]) -> str:
    """What a statement prints."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "typed", "single"), names)
    except DissensusError as error:
        return f"{type(error).__name__}: {error}\n"
    return printed.getvalue()


def typed_again(session: str) -> str:
    """The session with what its statements print now."""
    names: dict[str, Any] = {}
    parts = doctest.DocTestParser().parse(session)
    return "".join(
        part
        if isinstance(part, str)
        else ">>> " + part.source[:-1].replace("\n", "\n... ") + "\n" + typed(part.source, names)
        for part in parts
    )


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_what_is_refused(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = path.read_text(encoding="utf-8")
    assert typed_again(session).splitlines() == session.splitlines()


if __name__ == "__main__":
    for path in SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            path.write_text(typed_again(path.read_text(encoding="utf-8")), encoding="utf-8")
