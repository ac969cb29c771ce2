"""One disturbance: a command is disturbed while it writes, and run again."""

from __future__ import annotations

import errno
import importlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from commands import COMMANDS, INCREMENTAL, MODELS, NEVER_REPLACED, UNFINISHED, write_corpora

KINDS = ("kill", "kill", "terminate", "interrupt", "full disk", "file limit", "two processes")
SIGNALS = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}
STEPS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")
NEED_SPACE = ("before open", "before os.rename", "before os.mkdir", "before fsync",
              "before exchanged")  # fmt: skip
FOREIGN = ("out.old", "out.new", ".out.new.txt", ".out", "notes/.out.new/lock", "out.csv.bak")
LONGEST = 120  # seconds after which a command is stuck
DISK = 64 << 20  # bytes of the disk that commands write to
PAGE = 4096
PATHS = r"/|out|labels\.csv"  # one of these is in the path that a message must name
TIMES = (
    (rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00|Z| UTC)?", b"DATE"),
    (rb'("[a-z ]*seconds"|"started"|"ended"): [\[\d.,\s\]e-]+', b"SECONDS"),
    (rb"(?m),[\d.]+,(yes)?\r?$", rb",SECONDS,\1"),  # log.csv
)


@dataclass(frozen=True)
class Place:
    """The folder of a process: commands run in `work`, which may be a small disk of its own."""

    folder: Path
    own_disk: bool

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def inputs(self) -> list[str]:
        return list(json.loads((self.folder / "inputs.json").read_text()))

    def prepare(self) -> None:
        """Write what the commands read."""
        self.work.mkdir(parents=True)
        if self.own_disk:
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(self.work)], check=True)
            self.limit_disk(DISK)
        os.environ["DISSENSUS_CACHE"] = str(self.cache)
        pid = os.fork()  # so that this process has no threads of its own
        if not pid:
            write_corpora(self.work)
            os._exit(0)
        if os.waitpid(pid, 0)[1]:
            raise RuntimeError("the corpora could not be written")
        for command in MODELS.values():
            end = start(self, command).wait()
            if end.code:
                raise RuntimeError(f"{command}: exit code {end.code}, {end.error}")
        names = sorted(path.name for path in self.work.iterdir())
        (self.folder / "inputs.json").write_text(json.dumps(names))
        shutil.copytree(self.work, self.folder / "kept")

    def limit_disk(self, size: int) -> None:
        options = f"remount,size={size}"
        subprocess.run(["mount", "-o", options, str(self.work)], check=True)

    def used(self) -> int:
        disk = os.statvfs(self.work)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def clear(self) -> None:
        """Delete what commands wrote, and restore what they read and files of a user."""
        inputs = self.inputs
        for path in self.work.iterdir():
            if path.name not in inputs:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.rmtree(self.cache, ignore_errors=True)
        for name in FOREIGN:
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text(f"a user's {name}")

    def restore(self) -> None:
        """Copy what commands read again."""
        for name in self.inputs:
            path, kept = self.work / name, self.folder / "kept" / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            shutil.copytree(kept, path) if kept.is_dir() else shutil.copy(kept, path)

    def keep(self, name: str) -> None:
        """Keep what a command wrote, and the cache, so that it need not run again."""
        kept = self.folder / "complete" / name
        others = shutil.ignore_patterns(*self.inputs)
        shutil.copytree(self.work, kept / "work", ignore=others)
        if self.cache.exists():
            shutil.copytree(self.cache, kept / "cache")

    def complete(self, name: str) -> None:
        """Put back what `keep` kept."""
        shutil.copytree(self.folder / "complete" / name, self.folder, dirs_exist_ok=True)

    def lost(self) -> list[str]:
        """Files of a user that are no longer what they were."""
        kept = self.folder / "kept"
        expected = {self.work / name: f"a user's {name}".encode() for name in FOREIGN}
        for file in kept.rglob("*"):
            if file.is_file():
                expected[self.work / file.relative_to(kept)] = file.read_bytes()
        return [
            str(path.relative_to(self.work))
            for path, content in expected.items()
            if not path.is_file() or path.read_bytes() != content
        ]

    def output(self) -> dict[str, bytes]:
        """The files that a command wrote, without times."""
        inputs = self.inputs
        files = {
            str(path.relative_to(self.work)): path
            for path in self.work.rglob("*")
            if path.is_file()
            and path.relative_to(self.work).parts[0] not in inputs
            and str(path.relative_to(self.work)) not in FOREIGN
        }
        return {
            name: timeless(name, path.read_bytes())
            for name, path in sorted(files.items())
            if not name.endswith("/.lock")
        }


def can_mount() -> bool:
    """Whether a process can have a disk of its own, in a namespace of its own."""
    try:
        command = [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


# ---- a command in a process of its own ----


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    error: str  # what it printed to stderr
    seconds: float


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

    def signal(self, number: int) -> None:
        """Send a signal; nothing happens if the command has ended, as it was not waited for."""
        os.kill(self.pid, number)


def start(
    place: Place, command: Sequence[str], prepare: Callable[[], None] | None = None
) -> Running:
    """Run a command in a copy of this process, in which everything is imported already."""
    readable, writable = os.pipe()  # a file would be limited in size as others are
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the command begins
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(writable)
        return Running(pid, readable)
    code = 70
    try:
        os.close(readable)
        os.chdir(place.work)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(writable, 2)
        sys.argv = ["dissensus", *command]
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[os.getpid() % len(processors)]})  # no further processes
        if prepare is not None:
            prepare()
        from dissensus.__main__ import main

        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        except KeyboardInterrupt:  # it came before the command began
            os._exit(130)
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        if prepare is None:
            (place.folder / "modules").write_text("\n".join(sys.modules))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def import_modules(names: Sequence[str]) -> None:
    """Import here what a command has imported, so that the next one need not."""
    for name in names:
        if name not in sys.modules and name.partition(".")[0] != "__main__":
            with suppress(Exception):  # some modules cannot be imported by name
                importlib.import_module(name)


def count_steps(then: Callable[[str], object], reading: Callable[[str], object]) -> None:
    """Call `then` before and after each step that changes a file of the place, and `reading` when
    one is opened to be read; both with what happens."""
    from dissensus.files import folders

    top = str(Path.cwd().parent)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        path = os.fsdecode(arguments[0]) if arguments and _is_path(arguments[0]) else None
        if event not in STEPS or path is None or not os.path.abspath(path).startswith(top):
            return
        if event != "open" or _to_write(arguments):
            then(f"before {event}")
        else:
            reading(path)

    def around(module: Any, name: str) -> None:
        function = getattr(module, name)

        def run(*arguments: Any, **options: Any) -> Any:
            if name in ("fsync", "exchanged"):  # no events
                then(f"before {name}")
            result = function(*arguments, **options)
            then(f"after {name}")
            return result

        setattr(module, name, run)

    sys.addaudithook(hook)
    for module, name in ((os, "replace"), (os, "rename"), (os, "fsync"), (folders, "exchanged")):
        around(module, name)


def _is_path(value: Any) -> bool:
    return isinstance(value, str | bytes | os.PathLike)


def _to_write(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def nothing(what: str) -> None:
    pass


def writing_steps(path: Path) -> Callable[[], None]:
    """Keep the steps, and then what is read, in a file."""

    def prepare() -> None:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

        def write(word: str) -> Callable[[str], object]:
            return lambda what: os.write(handle, f"{word}\t{what}\n".encode())

        count_steps(write("write"), write("read"))

    return prepare


def at(number: int, action: Callable[[], None]) -> Callable[[str], None]:
    """Call the action the n-th time that this is called."""
    calls = itertools.count(1)
    return lambda what: action() if next(calls) == number else None


def signal_at(step: int, number: int) -> Callable[[], None]:
    return lambda: count_steps(at(step, lambda: os.kill(os.getpid(), number)), nothing)


def full_at(step: int) -> Callable[[], None]:
    """From this step on the disk is full."""
    steps = itertools.count(1)

    def then(what: str) -> None:
        if next(steps) >= step and what in NEED_SPACE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return lambda: count_steps(then, nothing)


def change_at(read: int, later: bool, how: str) -> Callable[[], None]:
    """Change a file when it is opened the n-th time, or just after that."""
    reads, waiting = itertools.count(1), list[str]()

    def reading(path: str) -> None:
        if next(reads) == read:
            waiting.append(path)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if waiting and not (later and event == "open" and arguments[0] == waiting[0]):
            change(Path(waiting.pop()), how)

    def prepare() -> None:
        count_steps(nothing, reading)
        sys.addaudithook(hook)

    return prepare


CHANGES = ("cut", "other", "longer", "missing", "a folder")


def change(path: Path, how: str) -> None:
    """Change a file under the hands of a command."""
    with suppress(OSError):
        data = path.read_bytes()
        if how == "cut":
            os.truncate(path, len(data) // 2)
        elif how == "longer":
            path.write_bytes(data * 2)
        elif how == "other":
            path.write_bytes(bytes(reversed(data)))
        else:
            path.unlink()
            if how == "a folder":
                path.mkdir()


def limit_files(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


# ---- what is written, without times ----


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

    with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as packed:
        return b"".join(name.encode() + packed.read(name) for name in packed.namelist())
    return content


def _without_seconds(content: bytes) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with suppress(pa.ArrowException, OSError):
        source = pa.BufferReader(content)
        table = pq.read_table(source, use_threads=False, pre_buffer=False)  # none before a fork
        names = [name for name in table.column_names if "seconds" in name]
        return repr(table.drop(names).to_pydict()).encode() if names else content
    return content


# ---- a disturbance ----


@dataclass(frozen=True)
class Undisturbed:
    """What a command does if nothing happens."""

    files: dict[str, bytes]
    seconds: float
    steps: dict[bool, list[str]]  # that write, by whether the output exists already
    reads: int

    @property
    def largest(self) -> int:
        return max(map(len, self.files.values()))

    @property
    def pages(self) -> int:
        """The pages of a disk that its files and folders take."""
        return sum(len(content) // PAGE + 2 for content in self.files.values())


def undisturbed(place: Place, name: str) -> Undisturbed:
    """Run a command twice, and where it replaces its output, once more; all must be the same."""
    results: list[dict[str, bytes]] = []
    steps, reads, seconds = dict[bool, list[str]](), 0, 0.0
    for prepare in (
        None,
        *[writing_steps(place.folder / "steps")] * (2 - (name in NEVER_REPLACED)),
    ):
        replaced = len(results) > 1
        if not replaced:
            place.clear()
        end = start(place, COMMANDS[name], prepare).wait()
        if end.code:
            raise RuntimeError(f"{name}: exit code {end.code}, {end.error}")
        import_modules((place.folder / "modules").read_text().splitlines())
        results.append(place.output())
        if prepare is not None:
            seconds = seconds or end.seconds
            lines = (place.folder / "steps").read_text().splitlines()
            steps[replaced] = [line[6:] for line in lines if line.startswith("write\t")]
            reads = reads or sum(line.startswith("read\t") for line in lines)
    for result in results[1:]:
        differing = {file for file, _ in results[0].items() ^ result.items()}
        if differing:
            raise RuntimeError(f"{name}: {sorted(differing)} differ between two runs")
    place.keep(name)
    return Undisturbed(results[0], seconds, steps, reads)


Disturbance = tuple[str, bool, Callable[[], Iterator[Ended]]]  # kind, whether replaced, action


def at_random(place: Place, name: str, usual: Undisturbed, random: Random) -> Disturbance:
    """A disturbance at a moment, or a step, that is chosen by chance."""
    kind = random.choice(KINDS)
    replaced = bool(random.randrange(2)) and name not in NEVER_REPLACED
    return kind, replaced, lambda: _disturbed(place, COMMANDS[name], usual, kind, random)


def in_turn(place: Place, name: str, usual: Undisturbed) -> Iterator[Disturbance]:
    """Every fault point of a command: killed there, or a disk that is full from there on; and
    every opening of a file, which changes just before or after."""

    def one(prepare: Callable[[], None]) -> Callable[[], Iterator[Ended]]:
        return lambda: iter([start(place, COMMANDS[name], prepare).wait()])

    for replaced, steps in usual.steps.items():
        for step, what in enumerate(steps, 1):
            yield f"kill {what} ({step})", replaced, one(signal_at(step, signal.SIGKILL))
            if what in NEED_SPACE:
                yield f"no space {what} ({step})", replaced, one(full_at(step))
    for number in range(2 * usual.reads):
        how = CHANGES[number % len(CHANGES)]
        prepare = change_at(number // 2 + 1, bool(number % 2), how)
        yield f"change to {how} ({number})", False, one(prepare)


def disturb(
    place: Place, name: str, usual: Undisturbed, disturbance: Disturbance
) -> tuple[str, list[str]]:
    """Disturb a command, and run it again; how it ended, and findings."""
    kind, replaced, action = disturbance
    command = COMMANDS[name]
    place.clear()
    if replaced:
        place.complete(name)
    ends = list(action())
    findings = [line for end in ends for line in _wrong_end(end, kind)]
    if kind == "two processes" and all(end.code for end in ends):
        findings.append("neither of two processes succeeded")
    changed = kind.startswith("change")
    if changed:
        place.restore()
    if lost := place.lost():
        findings.append(f"files of a user are lost: {lost[:3]}")
        place.restore()
    left = {file: content for file, content in place.output().items() if file[0] != "."}
    if name not in INCREMENTAL and not any(file.startswith(UNFINISHED) for file in left):
        if not changed and not _whole(left, usual.files, replaced):
            findings.append("the output was neither as before nor complete")
    if (name in NEVER_REPLACED and left == usual.files) or (changed and left != usual.files):
        place.clear()
    again = start(place, command).wait()
    if again.code:
        findings.append(f"the same command failed afterwards: {again.error[-200:]}")
    elif (files := place.output()) != usual.files:
        names = {file for file, _ in files.items() ^ usual.files.items()}
        findings.append(f"other files afterwards: {sorted(names)[:3]}")
    end = "completed" if ends[0].code == 0 else "ended early"
    word = f"{kind}{', replacing' * replaced}"
    return end, [f"{name}, {word}: {line}" for line in findings]


def _whole(left: dict[str, bytes], usual: dict[str, bytes], replaced: bool) -> bool:
    """Whether each file or folder that the command writes is complete or missing."""
    if replaced:
        return left == usual
    names = {file.partition("/")[0] for file in left}
    return left == {file: b for file, b in usual.items() if file.partition("/")[0] in names}


def _disturbed(
    place: Place, command: Sequence[str], usual: Undisturbed, kind: str, random: Random
) -> Iterator[Ended]:
    moment, step = (
        random.uniform(0, 1.02 * usual.seconds),
        random.randint(1, len(usual.steps[False])),
    )
    if kind == "full disk" and place.own_disk:
        free = PAGE * random.randint(0, usual.pages)
        place.limit_disk(place.used() + free)
        yield start(place, command).wait()
        place.limit_disk(DISK)
    elif kind in ("full disk", "file limit"):
        yield start(place, command, limit_files(random.randint(0, usual.largest))).wait()
    elif kind == "two processes":
        first = start(place, command)
        time.sleep(random.choice((0, moment)))
        second = start(place, command)
        yield first.wait()
        yield second.wait()
    elif random.randrange(2):
        yield start(place, command, signal_at(step, SIGNALS[kind])).wait()
    else:
        running = start(place, command)
        time.sleep(moment)
        running.signal(SIGNALS[kind])
        yield running.wait()


def _wrong_end(end: Ended, kind: str) -> Iterator[str]:
    killed = -signal.SIGKILL if kind.startswith("kill ") else 0
    if end.seconds > LONGEST:
        yield "stuck"
    elif "Traceback" in end.error:
        yield f"traceback: {end.error.strip().splitlines()[-1][:200]}"
    elif end.code not in (0, killed, -SIGNALS[kind] if kind in SIGNALS else 0, 1, 130):
        yield f"exit code {end.code}"
    elif end.code == 1:
        last = end.error.strip().splitlines()[-1:]
        if not last or not last[0].startswith("Error: "):
            yield f"no message: {end.error[-200:]!r}"
        elif kind.startswith(("full disk", "file limit", "no space")) and not re.search(
            PATHS, last[0]
        ):
            yield f"a message without a path: {last[0]}"
