"""Give dissensus mutated input of every kind: each must be used, or refused in one line.

    make fuzz                                         20,000 inputs
    python benchmarks/fuzzing/fuzz.py --count 200000 --seed 1 --keep
    python benchmarks/fuzzing/fuzz.py --seconds 60 --processes 2 --kinds options requests
    python benchmarks/fuzzing/fuzz.py --only 1234     one input again, with its traceback
    python benchmarks/fuzzing/fuzz.py --show          what was kept last

Kinds: the bytes of files; their structure (types of JSON, Arrow and columns, cells of workbooks);
saved folders with other content and right checksums; folders of encoders; options of commands;
requests to `serve`. An input is determined by the seed and its number.

A finding is a traceback, a message of several lines or of more than 2,000 letters, a warning, more
than 10 s of processor time, more than 2 GB of memory, a crash, or a model or cached features that
are read but are not what was written.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from mutations import mutated  # noqa: E402
from samples import Sample, SilentChange, write_samples  # noqa: E402
from surfaces import write_surfaces  # noqa: E402

KINDS = {  # shares of the inputs
    "bytes": 20, "structure": 40, "saved": 12, "encoder": 2, "options": 10, "requests": 16,
}  # fmt: skip

SECONDS = 10  # of processor time for an input
MEMORY = 2 << 30  # bytes for an input
LONGEST = 2000  # letters of a message
MEMORY_DISK = "/dev/shm" if os.path.isdir("/dev/shm") else None
STUCK = 60  # seconds after which a process that does nothing more is killed


class TooLong(BaseException):
    """An input took more processor time than it may."""


@dataclass
class Tally:
    """What became of the inputs."""

    read: Counter[str] = field(default_factory=Counter)  # by kind and name of the sample
    refused: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[int]] = field(default_factory=dict)  # numbers of inputs, by finding

    @property
    def count(self) -> int:
        return sum(self.read.values()) + sum(self.refused.values()) + self.n_findings

    @property
    def n_findings(self) -> int:
        return sum(map(len, self.findings.values()))

    def of_kind(self, kind: str) -> tuple[int, int, int]:
        """Inputs that were read, refused, and findings."""
        read, refused = (
            sum(n for name, n in counts.items() if name.startswith(f"{kind}:"))
            for counts in (self.read, self.refused)
        )
        findings = (len(n) for name, n in self.findings.items() if name.startswith(f"{kind}:"))
        return read, refused, sum(findings)

    def add(self, name: str, number: int, outcome: str) -> None:
        if outcome == "read":
            self.read[name] += 1
        elif outcome == "refused":
            self.refused[name] += 1
        else:
            finding = self.findings.setdefault(f"{name}: {outcome}", [])
            finding.append(number)
            if len(finding) == 1:
                print(f"--only {number}: {name}: {outcome}", file=sys.stderr, flush=True)


# ---- one input ----


def all_samples(folder: Path) -> dict[str, list[Sample]]:
    """Every sample, by kind."""
    samples = write_samples(folder)
    samples += list(write_surfaces(folder, samples))
    return {kind: [one for one in samples if one.kind == kind] for kind in KINDS}


def chosen(samples: dict[str, list[Sample]], kinds: Sequence[str], random: Random) -> Sample:
    """The sample of an input."""
    (kind,) = random.choices(kinds, [KINDS[kind] for kind in kinds])
    return random.choice(samples[kind])


def write_input(sample: Sample, random: Random, folder: Path) -> Path:
    """Write a mutated copy of a sample; in a folder one or two of its files are mutated."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / sample.path.name
    if sample.path.is_file():
        shutil.copy(sample.path, path)
    else:
        shutil.copytree(sample.path, path, symlinks=True)
    if sample.change is not None:
        sample.change(path, random)
        return path
    if path.is_file():
        path.write_bytes(mutated(path.read_bytes(), random))
        return path
    files = sorted(file for file in path.rglob("*") if file.is_file())
    for file in random.sample(files, min(len(files), random.choice((1, 1, 2)))):
        if random.random() < 0.05:
            file.unlink()
        else:
            file.write_bytes(mutated(file.read_bytes(), random))
    return path


def outcome_of(sample: Sample, path: Path) -> str:
    """ "read", "refused", or what is wrong."""
    from dissensus.errors import DissensusError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sample.read(path)
    except DissensusError as error:
        return _wrong_message(str(error)) or "refused"
    except TooLong:
        return f"more than {SECONDS} s"
    except MemoryError:
        return f"more than {MEMORY >> 30} GB"
    except SilentChange as error:
        return f"silent change: {error}"
    except Exception as error:
        outcome = f"traceback: {type(error).__name__} in {_place(error)}"
        if outcome not in _shown:
            traceback.print_exc(limit=-5)
        _shown.add(outcome)
        return outcome
    return "read"


_shown: set[str] = set()  # tracebacks of this process


def _wrong_message(message: str) -> str:
    if len(message.splitlines()) != 1:
        return "a message of several lines"
    return f"a message of more than {LONGEST} letters" if len(message) > LONGEST else ""


def _place(error: Exception) -> str:
    """The last line of dissensus in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "dissensus" in frame.filename]
    frame = (own or frames)[-1]
    return f"{Path(frame.filename).name}, {frame.name}"


def stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


# ---- one process: a part of the inputs ----


def work(seed: int, first: int, last: int, step: int, until: float, kinds: Sequence[str]) -> None:
    """Read inputs and print a line for each: its number before, the outcome after."""
    output = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGPROF, stop)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=MEMORY_DISK) as folder:
        (Path(folder) / "samples").mkdir()
        samples = all_samples(Path(folder) / "samples")
        for sample in (
            one for kind in kinds for one in samples[kind]
        ):  # so that everything is imported before memory is limited
            outcome = outcome_of(sample, sample.path)
            assert outcome == "read", f"{sample.name}: {outcome}"
        gc.freeze()  # what is imported need not be looked through again and again
        limit = _virtual_memory() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number in range(first, last, step):
            if time.time() > until:
                break
            random = Random(f"{seed}-{number}")
            sample = chosen(samples, kinds, random)
            print(f"{number}\t{sample.kind}: {sample.name}", file=output)
            try:
                path = write_input(sample, random, Path(folder) / "input")
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                outcome = outcome_of(sample, path)
            except TooLong:
                outcome = f"more than {SECONDS} s"
            except Exception as error:
                outcome = f"not mutated: {error!r}"[:200]
            signal.setitimer(signal.ITIMER_PROF, 0)
            print(outcome, file=output)


def _virtual_memory() -> int:
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


# ---- all processes ----


@dataclass
class Worker:
    """A process that reads every n-th input; it is started again after a crash."""

    seed: int
    first: int
    last: int
    step: int
    until: float
    kinds: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    waiting: bytes = b""
    current: tuple[int, str] | None = None
    since: float = 0.0

    def start(self) -> None:
        numbers = (self.seed, self.first, self.last, self.step, self.until)
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--kinds", *self.kinds, "--work", *map(str, numbers)],
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self.since = time.time()

    def look(self, tally: Tally) -> bool:
        """Take over what the process has printed; whether it is still needed."""
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdout is not None
        ended = self.process.poll() is not None
        chunk = self.process.stdout.read() or b""
        *lines, self.waiting = (self.waiting + chunk).split(b"\n")
        for line in lines:
            self._line(line.decode(), tally)
        if not ended and self.current and time.time() - self.since > STUCK:
            self.process.kill()
        if not ended:
            return True
        if self.current is None and self.process.returncode == 0:
            return False
        if self.current is None:
            raise SystemExit(f"a process ended with exit code {self.process.returncode}")
        number, name = self.current
        tally.add(name, number, f"crash with exit code {self.process.returncode}")
        self.process, self.current, self.first, self.waiting = None, None, number + self.step, b""
        return self.first < self.last and time.time() < self.until

    def _line(self, line: str, tally: Tally) -> None:
        self.since = time.time()
        if self.current is None:
            number, name = line.split("\t")
            self.current = int(number), name
        else:
            tally.add(self.current[1], self.current[0], line)
            self.current = None


def run(seed: int, count: int, seconds: float, processes: int, kinds: Sequence[str]) -> Tally:
    """Read inputs in several processes."""
    tally, until = Tally(), time.time() + seconds
    workers = [Worker(seed, n, count, processes, until, kinds) for n in range(processes)]
    try:
        while workers:
            workers = [worker for worker in workers if worker.look(tally)]
            if sys.stderr.isatty():
                print(
                    f"\r{tally.count} inputs, {tally.n_findings} findings", end="", file=sys.stderr
                )
            time.sleep(0.2)
    finally:
        for worker in workers:
            if worker.process is not None:
                worker.process.kill()
    return tally


def again(seed: int, number: int, kinds: Sequence[str]) -> None:
    """Read one input and show its traceback; it stays in ./fuzz-input."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=MEMORY_DISK) as folder:
        random, samples = Random(f"{seed}-{number}"), all_samples(Path(folder))
        sample = chosen(samples, kinds, random)
        path = write_input(sample, random, Path("fuzz-input").resolve())
        print(f"{path}: {sample.kind}, {sample.name}")
        print(sample.read(path))


def lines(content: dict[str, Any]) -> Iterator[str]:
    """What was kept, as a text."""
    yield f"{content['count']:,} inputs, seed {content['seed']}, {content['minutes']:.0f} minutes"
    for kind, (read, refused, findings) in content.get("by kind", {}).items():
        yield f"  {kind}: {read:,} read, {refused:,} refused, {findings} findings"
    yield f"read {content['read']:,}, refused in one line {content['refused']:,}"
    yield f"findings: {sum(count for count, _ in content['findings'].values())}"
    for finding, (count, first) in content["findings"].items():
        yield f"  {finding} ({count}; --only {first})"
    yield from content.get("notes", [])


def kept_form(tally: Tally, seed: int, seconds: float) -> dict[str, Any]:
    return {
        "seed": seed,
        "count": tally.count,
        "minutes": seconds / 60,
        "read": sum(tally.read.values()),
        "refused": sum(tally.refused.values()),
        "by kind": {kind: tally.of_kind(kind) for kind in KINDS},
        "findings": {name: (len(n), n[0]) for name, n in sorted(tally.findings.items())},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20_000, help="inputs")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--only", type=int, help="number of one input, with the same --kinds")
    parser.add_argument(
        "--keep",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="keep the counts in fuzz.json, in benchmarks/results or a folder",
    )
    parser.add_argument("--commit", help="of the code, if this is not a git clone")
    parser.add_argument("--show", action="store_true", help="print what was kept")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        seed, first, last, step = map(int, options.work[:4])
        work(seed, first, last, step, float(options.work[4]), options.kinds)
        return
    if options.only is not None:
        again(options.seed, options.only, options.kinds)
        return
    from keeping import keep, kept

    if options.show:
        print("\n".join(lines(kept("fuzz"))))
        return
    begin = time.time()
    tally = run(options.seed, options.count, options.seconds, options.processes, options.kinds)
    content = kept_form(tally, options.seed, time.time() - begin)
    print("\n".join(lines(content)))
    if options.keep is not None:
        given = f"--count {options.count} --seed {options.seed} --processes {options.processes}"
        given += f" --kinds {' '.join(options.kinds)}" if len(options.kinds) < len(KINDS) else ""
        keep("fuzz", f"fuzzing/fuzz.py {given}", content, options.keep, options.commit)
    sys.exit(bool(tally.findings))


if __name__ == "__main__":
    main()
