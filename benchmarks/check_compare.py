"""A comparison that is killed twice ends as one that is left alone, byte for byte.

    python benchmarks/check_compare.py           needs DISSENSUS_DATA; keeps the tables
    python benchmarks/check_compare.py --show    prints the kept tables

HS-Brexit, EmoBank and a simulated crowd, all methods, from the command line: once undisturbed,
and once killed (SIGKILL) in the middle twice and begun again. Only times may differ.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from keeping import keep, kept

PROGRAM = str(Path(sys.executable).with_name("dissensus"))
TIMES = ("when", "seconds")  # what may differ


def commands(data: Path, scratch: Path) -> dict[str, list[str]]:
    lewidi, crowd = str(data / "lewidi2023"), str(scratch / "crowd")
    return {
        "HS-Brexit": [lewidi, "--corpus", "HS-Brexit", "--question", "hate", "--seeds", "5"],
        "EmoBank": [str(data / "emobank"), "--question", "reader V", "--seeds", "3"],
        "simulated crowd": [crowd, "--folds", "3", "--seeds", "2"],
    }


def compare(options: list[str], out: Path) -> subprocess.Popen[str]:
    line = [PROGRAM, "compare", *options, "-o", str(out)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> str:
    printed, said = process.communicate()
    if process.returncode:
        sys.exit(f"{process.args!r}\n{said[-2000:]}")
    return printed


def killed(options: list[str], out: Path, seconds: float) -> int:
    """Begin a comparison and kill it, with its workers; how many fits are done."""
    process = compare(options, out)
    done = len(list((out / "fits").glob("[!.]*"))) if out.exists() else 0
    deadline = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < deadline:
        if len(list((out / "fits").glob("[!.]*"))) >= done + 2:
            break
        time.sleep(0.1)
    time.sleep(seconds)
    if process.poll() is not None:
        sys.exit(f"{options}: was over before it could be killed")
    for child in subprocess.run(
        ["pgrep", "-P", str(process.pid)], capture_output=True, text=True
    ).stdout.split():
        subprocess.run(["kill", "-9", child])
    process.kill()
    process.communicate()
    return len(list((out / "fits").glob("[!.]*")))


def plain(content: Any) -> Any:
    """Without times."""
    if isinstance(content, dict):
        return {key: plain(held) for key, held in content.items() if key not in TIMES}
    return [plain(held) for held in content] if isinstance(content, list) else content


def same(one: Path, other: Path) -> bool:
    front = [json.loads((out / "results.json").read_text()) for out in (one, other)]
    for content in front:
        content["about"].pop("command", None)  # it names the folder
    tables = [{p.name: p.read_bytes() for p in out.glob("*.parquet")} for out in (one, other)]
    return bool(plain(front[0]) == plain(front[1]) and tables[0] == tables[1] and tables[0])


def run(data: Path) -> dict[str, Any]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        subprocess.run(
            [PROGRAM, "simulate", str(scratch / "crowd"), "--items", "600"],
            check=True,
            capture_output=True,
        )
        for name, options in commands(data, scratch).items():
            begin = time.perf_counter()
            left_alone, disturbed = scratch / "a", scratch / "b"
            table = finished(compare(options, left_alone))
            seconds = time.perf_counter() - begin
            done = [killed(options, disturbed, pause) for pause in (0.5, 1.5)]
            finished(compare(options, disturbed))
            equal = same(left_alone, disturbed)
            print(f"{name}: killed after {done} fits; the same: {equal} ({seconds:.0f} s alone)")
            shown = table.replace(str(data), "$DISSENSUS_DATA").replace(str(scratch), "OUT")
            print(shown, flush=True)
            found[name] = {"killed after": done, "same": equal, "table": shown}
            for out in (left_alone, disturbed):
                shutil.rmtree(out)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    if parser.parse_args().show:
        for name, found in kept("compare")["comparisons"].items():
            print(f"{name}: killed after {found['killed after']} fits; same: {found['same']}")
            print(found["table"])
        return
    data = os.environ.get("DISSENSUS_DATA")
    if not data:
        sys.exit("DISSENSUS_DATA does not say where the corpora are")
    found = run(Path(data))
    keep("compare", "check_compare.py", {"seeds": "5, 3 and 2, from 0", "comparisons": found})
    if not all(of_corpus["same"] for of_corpus in found.values()):
        sys.exit("a comparison that was killed ended otherwise")


if __name__ == "__main__":
    main()
