"""What commands print: each transcript in `transcripts/` is typed again, on the files in `files/`.

A line that begins with "$ " is typed; then comes what it prints, messages on stderr after "! ", and
the exit code in brackets if it is not 0. `$ cat FILE` shows a file, `$ printf TEXT > FILE` writes
one. After a change that is meant, write all anew: `python -m tests.cli.test_transcripts`.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from dissensus.cli import main

HERE = Path(__file__).parent
TRANSCRIPTS = sorted((HERE / "transcripts").glob("*.txt"))


def typed(line: str) -> str:
    """What a line prints in the current folder."""
    program, *arguments = shlex.split(line)
    if program in ("cat", "head"):  # head -3 FILE
        lines = Path(arguments[-1]).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(lines[: -int(arguments[0]) if program == "head" else None])
    if program == "printf":
        text, _, name = arguments
        Path(name).write_bytes(text.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        return ""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code: object = 0
    before, sys.argv = sys.argv, [program, *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    output, messages = (stream.buffer.getvalue().decode() for stream in (out, err))
    messages = "".join(f"! {message}\n" for message in messages.splitlines())
    return output + messages + (f"[{code}]\n" if code else "")


def typed_again(transcript: str) -> str:
    """The transcript with what its lines print now."""
    lines = [line for line in transcript.splitlines() if line.startswith(("$ ", "# "))]
    return "\n".join(f"{line}\n{typed(line[2:]) if line[0] == '$' else ''}" for line in lines)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_commands_print_what_they_did(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(shutil.copytree(HERE / "files", tmp_path / "files"))
    transcript = path.read_text(encoding="utf-8")
    assert typed_again(transcript) == transcript


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for path in TRANSCRIPTS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(shutil.copytree(HERE / "files", Path(folder) / "files"))
            path.write_text(typed_again(path.read_text(encoding="utf-8")), encoding="utf-8")
            os.chdir(HERE)
