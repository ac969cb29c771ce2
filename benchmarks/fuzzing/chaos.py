"""Disturb every command that writes, at random moments, and run it again: the outcome is the same.

    make chaos                                          60 disturbances
    python benchmarks/fuzzing/chaos.py --count 500 --seed 1 --keep
    python benchmarks/fuzzing/chaos.py --only 17        one disturbance again, in ./chaos-output
    python benchmarks/fuzzing/chaos.py --show           what was kept last

A command is killed (SIGKILL), interrupted (SIGINT), runs into a full disk (a limit on the size of
files), or two processes run it at once. The moment is a time, or a step: the opening, moving or
deleting of a file. Half of the time, the output exists already.

Afterwards the output must be as it was, or complete (of a report each of its two files), and the
same command must end with the same bytes as without a disturbance, except for times, and leave
nothing else behind. A command that fails must say so in one line. Everything else is a finding.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

TINY = ("--encoder", "characters", "--epochs", "2")
COMMANDS: dict[str, tuple[str, ...]] = {  # what is written is OUT, or begins with it
    "convert": ("convert", "labels.csv", "OUT", "--overwrite"),
    "convert to a table": ("convert", "crowd", "OUT.xlsx"),
    "aggregate": ("aggregate", "labels.csv", "-o", "OUT.csv"),
    "train": ("train", "crowd", "--method", "single", *TINY, "-o", "OUT", "--overwrite",
              "--resume"),
    "predict": ("predict", "model", "crowd", "-o", "OUT"),
    "report": ("report", "labels.csv", "-o", "OUT.html"),
    "compare": ("compare", "crowd", "-o", "OUT", "--methods", "prior,annotator-majority",
                "--seeds", "1", "--folds", "3", "--processes", "1"),
    "run": ("run", "crowd", "-o", "OUT", "--methods", "prior,annotator-majority", "--seeds", "1"),
}  # fmt: skip
INCREMENTAL = ("compare", "run")  # their folders grow, so that they can be resumed
KINDS = ("kill", "kill", "interrupt", "full disk", "two processes")
STEPS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")
LONGEST = 120  # seconds after which a command is stuck
TIMES = (
    (rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00|Z| UTC)?", b"DATE"),
    (rb'("[a-z ]*seconds"|"started"|"ended"): [\[\d.,\s\]e-]+', b"SECONDS"),
    (rb"(?m),[\d.]+,(yes)?\r?$", rb",SECONDS,\1"),  # log.csv
)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    error: str  # what it printed to stderr
    seconds: float


@dataclass
class Tally:
    """What became of the disturbances."""

    kinds: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, kind: str, end: str, findings: Sequence[str]) -> None:
        self.kinds[kind] += 1
        self.ends[end] += 1
        for finding in findings:
            self.findings.setdefault(finding, []).append(number)


# ---- a command in a process of its own ----


@dataclass
class Running:
    """A command that was started; `wait` says how it ended."""

    pid: int
    errors: int  # a pipe with what it prints to stderr
    began: float = field(default_factory=time.monotonic)

    def wait(self) -> Ended:
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - self.began > LONGEST:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.002)
        seconds = time.monotonic() - self.began
        with os.fdopen(self.errors, "rb") as errors:
            error = errors.read().decode(errors="replace")
        return Ended(os.waitstatus_to_exitcode(status), error, seconds)


def start(
    folder: Path, command: Sequence[str], prepare: Callable[[], None] | None = None
) -> Running:
    """Run a command in a copy of this process, in which everything is imported already."""
    readable, writable = os.pipe()  # a file would be limited in size as others are
    pid = os.fork()
    if pid:
        os.close(writable)
        return Running(pid, readable)
    code = 70
    try:
        os.chdir(folder / "work")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(writable, 2)
        sys.argv = ["dissensus", *command]
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[os.getpid() % len(processors)]})  # no further processes
        if prepare is not None:
            prepare()
        from dissensus.cli import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        if prepare is None:
            (folder / "modules").write_text("\n".join(sys.modules))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def count_steps(then: Callable[[int], object]) -> None:
    """Call `then` with the number of each file that is opened for writing, moved or deleted."""
    steps = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event not in STEPS or (event == "open" and not _to_write(arguments)):
            return
        steps += 1
        then(steps)

    sys.addaudithook(hook)


def _to_write(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def writing_steps(path: Path) -> Callable[[], None]:
    """Keep the number of steps in a file."""

    def prepare() -> None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT)
        count_steps(lambda steps: os.pwrite(handle, str(steps).encode(), 0))

    return prepare


def signal_at(step: int, number: int) -> Callable[[], None]:
    def then(steps: int) -> None:
        if steps == step:
            os.kill(os.getpid(), number)

    return lambda: count_steps(then)


def limit_files(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


# ---- what is there ----


def output(work: Path) -> dict[str, bytes]:
    """The files that a command wrote, without times."""
    files = (path for path in work.rglob("*") if path.is_file())
    written = {str(path.relative_to(work)): path for path in files}
    return {
        name: timeless(name, path.read_bytes())
        for name, path in sorted(written.items())
        if name.startswith(("OUT", ".OUT")) and not name.endswith("/.lock")
    }


def timeless(name: str, content: bytes) -> bytes:
    """A file without dates and times, and without the checksums that cover them."""
    if name.endswith(".xlsx"):
        return _unzipped(content)
    if name.endswith(".parquet"):
        return _without_seconds(content)
    for pattern, replacement in TIMES:
        content = re.sub(pattern, replacement, content)
    return content


def _unzipped(content: bytes) -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return b"".join(name.encode() + packed.read(name) for name in packed.namelist())


def _without_seconds(content: bytes) -> bytes:
    import pyarrow.parquet as pq
    from pyarrow import BufferReader

    table = pq.read_table(BufferReader(content))
    names = [name for name in table.column_names if "seconds" in name]
    return repr(table.drop(names).to_pydict()).encode() if names else content


# ---- one disturbance ----


@dataclass(frozen=True)
class Undisturbed:
    """What a command does if nothing happens."""

    files: dict[str, bytes]
    seconds: float
    steps: int
    largest: int


def undisturbed(folder: Path, command: Sequence[str]) -> Undisturbed:
    """Run a command twice; its output must be the same."""
    results = []
    for prepare in (None, writing_steps(folder / "steps")):
        clear(folder / "work")
        end = start(folder, command, prepare).wait()
        assert end.code == 0, f"{command}: {end.error}"
        import_modules((folder / "modules").read_text().splitlines())
        results.append(output(folder / "work"))
    differing = [name for name in results[0] if results[0][name] != results[1].get(name)]
    assert not differing, f"{command}: {differing} differ between two runs"
    steps = int((folder / "steps").read_text())
    (folder / "steps").unlink()
    return Undisturbed(results[0], end.seconds, steps, max(map(len, results[0].values())))


def clear(work: Path) -> None:
    for path in [*work.glob("OUT*"), *work.glob(".OUT*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def disturb(
    folder: Path, name: str, usual: Undisturbed, kind: str, random: Random
) -> tuple[str, list[str]]:
    """Disturb a command, and run it again; how it ended, and findings."""
    work, command = folder / "work", COMMANDS[name]
    clear(work)
    replaced = bool(random.randrange(2))
    if replaced:
        start(folder, command).wait()
    ends = list(_disturbed(folder, command, usual, kind, random))
    findings = [line for end in ends for line in _wrong_end(end, kind)]
    if kind == "two processes" and all(end.code for end in ends):
        findings.append("neither of two processes succeeded")
    left = {file: content for file, content in output(work).items() if not file.startswith(".")}
    if name not in INCREMENTAL and not any(file.startswith("OUT.unf") for file in left):
        whole = left in ({}, usual.files) or (
            name == "report" and left.items() <= usual.files.items()
        )
        if not whole or (replaced and left != usual.files):
            findings.append("the output was neither as before nor complete")
    again = start(folder, command).wait()
    if again.code:
        findings.append(f"the same command failed afterwards: {again.error[-200:]}")
    elif (files := output(work)) != usual.files:
        names = {*files} ^ {*usual.files}
        names |= {file for file in {*files} & {*usual.files} if files[file] != usual.files[file]}
        findings.append(f"other files afterwards: {sorted(names)[:3]}")
    end = "completed" if ends[0].code == 0 else "ended early"
    return end, [f"{name}, {kind}: {line}" for line in findings]


def _disturbed(
    folder: Path, command: Sequence[str], usual: Undisturbed, kind: str, random: Random
) -> Iterator[Ended]:
    moment, step = random.uniform(0, 1.02 * usual.seconds), random.randint(1, usual.steps)
    if kind == "full disk":
        yield start(folder, command, limit_files(random.randint(0, usual.largest))).wait()
    elif kind == "two processes":
        first = start(folder, command)
        time.sleep(random.choice((0, moment)))
        second = start(folder, command)
        yield first.wait()
        yield second.wait()
    else:
        number = signal.SIGKILL if kind == "kill" else signal.SIGINT
        if random.randrange(2):
            yield start(folder, command, signal_at(step, number)).wait()
        else:
            running = start(folder, command)
            time.sleep(moment)
            if os.waitpid(running.pid, os.WNOHANG)[0] == 0:
                os.kill(running.pid, number)
                yield running.wait()
            else:
                os.close(running.errors)
                yield Ended(0, "", moment)


def _wrong_end(end: Ended, kind: str) -> Iterator[str]:
    if end.seconds > LONGEST:
        yield "stuck"
    elif "Traceback" in end.error:
        yield f"traceback: {end.error.strip().splitlines()[-1][:200]}"
    elif end.code not in (0, -signal.SIGKILL if kind == "kill" else 0, 1, 130):
        yield f"exit code {end.code}"
    elif end.code == 1:
        last = end.error.strip().splitlines()[-1:]
        if not last or not last[0].startswith("Error: "):
            yield f"no message: {end.error[-200:]!r}"
        elif kind == "full disk" and "/" not in last[0] and "OUT" not in last[0]:
            yield f"a message without a path: {last[0]}"


# ---- all disturbances ----


def prepared(folder: Path) -> None:
    """Write what the commands read."""
    from dissensus import simulate
    from dissensus.writers import write

    work = folder / "work"
    work.mkdir(parents=True)
    os.environ["DISSENSUS_CACHE"] = str(folder / "cache")
    pid = os.fork()  # so that this process has no threads of its own
    if not pid:
        corpus = simulate.text(n_items=40, n_annotators=4, labels_per_item=3)
        corpus.save(work / "crowd")
        write(corpus, work / "labels.csv")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, "the corpus could not be written"
    command = ("train", "crowd", "--method", "single", *TINY, "-o", "model")
    end = start(folder, command).wait()
    assert end.code == 0, end.error


def import_modules(names: Sequence[str]) -> None:
    """Import here what a command has imported, so that the next one need not."""
    for name in names:
        if name not in sys.modules and name.partition(".")[0] != "__main__":
            with suppress(Exception):  # some modules cannot be imported by name
                importlib.import_module(name)


def run(
    seed: int, numbers: Sequence[int], seconds: float, folder: Path, names: Sequence[str]
) -> Tally:
    """Disturb commands in turn."""
    prepared(folder)
    usual = {name: undisturbed(folder, COMMANDS[name]) for name in names}
    tally, until = Tally(), time.monotonic() + seconds
    for number in numbers:
        if time.monotonic() > until:
            break
        random = Random(f"{seed}-{number}")
        name, kind = names[number % len(names)], random.choice(KINDS)
        end, findings = disturb(folder, name, usual[name], kind, random)
        tally.add(number, kind, end, findings)
        if sys.stderr.isatty():
            print(f"\r{sum(tally.kinds.values())} disturbances", end="", file=sys.stderr)
    return tally


def lines(content: dict[str, Any]) -> Iterator[str]:
    """What was kept, as a text."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(content["kinds"].items()))
    yield f"{content['count']} disturbances of {len(content['commands'])} commands: {kinds}"
    yield f"seed {content['seed']}, {content['minutes']:.0f} minutes; {content['ends']}"
    yield f"findings: {sum(count for count, _ in content['findings'].values())}"
    for finding, (count, first) in content["findings"].items():
        yield f"  {finding} ({count}; --only {first})"
    yield from content.get("notes", [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60, help="disturbances")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--only", type=int, help="number of one disturbance")
    parser.add_argument("--keep", action="store_true", help="keep the counts in results/chaos.json")
    parser.add_argument("--show", action="store_true", help="print what was kept")
    options = parser.parse_args()
    if options.show:
        from keeping import kept

        print("\n".join(lines(kept("chaos"))))
        return
    begin = time.monotonic()
    numbers = range(options.count) if options.only is None else [options.only]
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        folder = Path(temporary) if options.only is None else Path("chaos-output").resolve()
        tally = run(options.seed, numbers, options.seconds, folder, options.commands)
    content = {
        "seed": options.seed,
        "count": sum(tally.kinds.values()),
        "minutes": (time.monotonic() - begin) / 60,
        "commands": options.commands,
        "kinds": dict(tally.kinds),
        "ends": dict(tally.ends),
        "findings": {name: (len(n), n[0]) for name, n in sorted(tally.findings.items())},
    }
    print("\n".join(lines(content)))
    if options.keep:
        from keeping import keep

        keep("chaos", f"fuzzing/chaos.py --count {options.count} --seed {options.seed}", content)
    sys.exit(bool(tally.findings))


if __name__ == "__main__":
    main()
