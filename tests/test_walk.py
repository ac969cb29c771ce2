"""What a reader passes who follows `dissensus describe labels.csv` from call to call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dissensus

SOURCE = Path(dissensus.__file__).parent
TABLE = Path(__file__).parent / "cli" / "files" / "labels.csv"
MOST_FILES = 45
FOLLOWED = f"""
import sys
files = set()

def note(frame, event, argument):
    file = frame.f_code.co_filename
    if event != "call" or not file.startswith({str(SOURCE)!r}):
        return
    while frame is not None:  # what an import runs is not part of the walk
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename != "<string>":
            return
        frame = frame.f_back
    files.add(file)

from dissensus.cli import main
sys.argv = ["dissensus", "describe", {str(TABLE)!r}]
sys.setprofile(note)
main()
"""


def test_describe_passes_through_few_files() -> None:
    """`python -m tests.test_walk` lists them."""
    assert len(files_of_describe()) <= MOST_FILES


def files_of_describe() -> list[str]:
    program = f"{FOLLOWED.replace('main()', 'try: main()')}except SystemExit: pass\n"
    program += "sys.setprofile(None)\nprint(*sorted(files), sep='\\n', file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    paths = [Path(line) for line in done.stderr.splitlines() if line.startswith(str(SOURCE))]
    return [str(path.relative_to(SOURCE)) for path in paths]


if __name__ == "__main__":
    print(*files_of_describe(), sep="\n")
