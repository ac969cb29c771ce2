"""Disturb every command that writes, and run it again: the outcome is the same.

    make chaos                                          every fault point, and 60 by chance
    python benchmarks/fuzzing/chaos.py --count 500 --seed 1 --keep
    python benchmarks/fuzzing/chaos.py --seconds 60 --processes 2
    python benchmarks/fuzzing/chaos.py --count 0 --commands train
    python benchmarks/fuzzing/chaos.py --only 27        one number again, in ./chaos-output
    python benchmarks/fuzzing/chaos.py --show           what was kept last

First, every fault point of every command in turn, with and without an output that exists: before
and after each rename, exchange and fsync, and before each opening for writing, creation and
deletion, it is killed, or the disk is full from there on. Each file that it opens to read is cut,
replaced, made longer or deleted, before the opening and after.

Then disturbances by chance: a command is killed (SIGKILL), terminated (SIGTERM), interrupted
(SIGINT), runs into a full disk (a small disk in memory, where a user may mount one) or a limit on
the size of files, or two processes run it at once. The moment is a time, or a step as above.

Afterwards the output must be as it was, or complete (each file or folder, if there are several),
no file of a user next to it may have changed, and the same command must end with the same bytes as
without a disturbance, except for times, and leave nothing else behind. A command that fails must
say so in one line. Everything else is a finding. Each process has a folder of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Timer
from typing import IO, Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from commands import COMMANDS, SLOW  # noqa: E402
from disturbances import (  # noqa: E402
    NAMESPACE,
    Place,
    Undisturbed,
    at_random,
    can_mount,
    disturb,
    in_turn,
    undisturbed,
)

LATE = 20  # seconds that a disturbance may take after the time is up


@dataclass
class Tally:
    """What became of the disturbances."""

    kinds: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[int]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(self.kinds.values())

    def add(self, number: int, name: str, kind: str, end: str, findings: Sequence[str]) -> None:
        self.kinds[kind] += 1
        self.commands[name] += 1
        self.ends[end] += 1
        for finding in findings:
            print(f"--only {number}: {finding}", file=sys.stderr, flush=True)
            self.findings.setdefault(finding, []).append(number)


# ---- one process: disturbances in a folder of its own ----


def work(seed: int, names: Sequence[str], folder: Path, own_disk: bool, numbers: IO[str]) -> None:
    """Do the disturbances whose numbers are given line by line, and print a line for each."""
    output = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    processors = sorted(os.sched_getaffinity(0))
    own = {processors[(int(folder.name) + n) % len(processors)] for n in range(2)}
    os.sched_setaffinity(0, own)  # the commands of other processes run elsewhere
    os.environ["GIT_DIR"] = os.devnull  # results name the commit, which may change meanwhile
    place = Place(folder, own_disk)
    place.prepare()
    usual: dict[str, Undisturbed] = {}
    for line in numbers:
        number = int(line)
        name = names[number % len(names)]
        kind = "start"
        try:
            if name not in usual:
                usual[name] = undisturbed(place, name)
            random = Random(f"{seed}-{number}")
            for one in (
                in_turn(place, name, usual[name])
                if number < len(names)
                else [at_random(place, name, usual[name], random)]
            ):
                kind = one[0]
                end, findings = disturb(place, name, usual[name], one)
                print(
                    json.dumps([number, name, re.sub(r" \(.*", "", kind), end, findings]),
                    file=output,
                )
        except Exception as error:
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}".strip().splitlines()[-1][:300]
            finding = f"{name}, {kind}: {message}"
            print(json.dumps([number, name, kind, "not disturbed", [finding]]), file=output)
        print("", file=output)


# ---- all processes ----


@dataclass
class Campaign:
    """Disturbances that several processes do."""

    seed: int
    names: Sequence[str]
    own_disk: bool
    until: float
    numbers: Iterator[int]  # of a range: threads can share it
    tally: Tally = field(default_factory=Tally)

    def run(self, processes: int, folder: Path) -> None:
        with ThreadPoolExecutor(processes) as threads:
            list(threads.map(lambda n: self._process(n, folder / str(n)), range(processes)))

    def _process(self, number: int, folder: Path) -> None:
        """Give one process after another number to disturb, until there are none or time is up."""
        folder.mkdir(parents=True)
        command = [sys.executable, __file__, "--work", str(folder), "--seed", str(self.seed)]
        command += ["--disk"] if self.own_disk else []
        command = [*(NAMESPACE if self.own_disk else ()), *command, "--commands", *self.names]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        timer = Timer(max(self.until + LATE - time.time(), 0), process.kill)
        timer.start()
        self._give_numbers(process)
        timer.cancel()
        process.kill()
        process.wait()

    def _give_numbers(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        while time.time() < self.until:
            number = next(self.numbers, None)
            if number is None:
                return
            try:
                process.stdin.write(f"{number}\n".encode())
                process.stdin.flush()
                while line := process.stdout.readline().strip():
                    self.tally.add(*json.loads(line))
                    if sys.stderr.isatty() or self.tally.count % 100 == 0:
                        print(f"\r{self.tally.count} disturbances", end="", file=sys.stderr)
            except BrokenPipeError:
                pass
            if process.poll() is not None and time.time() < self.until:
                failed = f"a process ended with exit code {process.wait()}"
                self.tally.findings.setdefault(failed, []).append(number)
                return


def lines(content: dict[str, Any]) -> Iterator[str]:
    """What was kept, as a text."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(content["kinds"].items()))
    yield f"{content['count']} disturbances of {len(content['commands'])} commands: {kinds}"
    yield f"seed {content['seed']}, {content['minutes']:.0f} minutes; {content['ends']}"
    yield f"findings: {sum(count for count, _ in content['findings'].values())}"
    for finding, (count, first) in content["findings"].items():
        yield f"  {finding} ({count}; --only {first})"
    yield from content.get("notes", [])


def kept_form(tally: Tally, seed: int, seconds: float, own_disk: bool) -> dict[str, Any]:
    return {
        "seed": seed,
        "count": tally.count,
        "minutes": seconds / 60,
        "full disk": "a small disk" if own_disk else "a limit on the size of files",
        "commands": dict(sorted(tally.commands.items())),
        "kinds": dict(tally.kinds),
        "ends": dict(tally.ends),
        "findings": {name: (len(n), n[0]) for name, n in sorted(tally.findings.items())},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60, help="disturbances by chance")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    usual = [name for name in COMMANDS if name not in SLOW]
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=usual)
    parser.add_argument("--only", type=int, help="number of one disturbance")
    parser.add_argument(
        "--keep",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="keep the counts in chaos.json, in benchmarks/results or a folder",
    )
    parser.add_argument("--commit", help="of the code, if this is not a git clone")
    parser.add_argument("--show", action="store_true", help="print what was kept")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "--disk", action="store_true", help="with --only: on a small disk, as without --only"
    )
    options = parser.parse_args()
    if options.work:
        work(options.seed, options.commands, options.work, options.disk, sys.stdin)
        return
    from keeping import keep, kept

    if options.show:
        print("\n".join(lines(kept("chaos"))))
        return
    begin, own_disk = time.time(), can_mount()
    numbers = range(len(options.commands) + options.count)
    processes = min(options.processes, len(numbers))
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    if options.only is not None:
        numbers, processes = range(options.only, options.only + 1), 1
        folder = Path("chaos-output").resolve()
        shutil.rmtree(folder, ignore_errors=True)
        own_disk = own_disk and options.disk  # what is on it is gone afterwards
    until = begin + options.seconds
    campaign = Campaign(options.seed, options.commands, own_disk, until, iter(numbers))
    try:
        campaign.run(processes, folder)
    finally:
        if options.only is None:
            shutil.rmtree(folder, ignore_errors=True)
    content = kept_form(campaign.tally, options.seed, time.time() - begin, own_disk)
    print("\n".join(lines(content)))
    if options.keep is not None:
        given = f"--count {options.count} --seed {options.seed} --processes {processes}"
        given += " --commands " + shlex.join(options.commands) if options.commands != usual else ""
        keep("chaos", f"fuzzing/chaos.py {given}", content, options.keep, options.commit)
    sys.exit(bool(campaign.tally.findings))


if __name__ == "__main__":
    main()
