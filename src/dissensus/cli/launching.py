"""Start the processes of one training, and end all of them together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TypeGuard

from dissensus.cli.console import quiet
from dissensus.errors import DataError, ModelError, ProcessLost

LAUNCHED = "DISSENSUS_LAUNCHED"  # in the environment of processes that were started here
STOPPED = 130  # exit code after Ctrl-C, which the first process reports
REPORTED = (1, 2, STOPPED)  # exit codes of a process that has printed its error
SECONDS_TO_BEGIN = 1.0  # within which a process may not yet handle Ctrl-C
SECONDS_TO_END = 8.0  # after Ctrl-C, or after another process has failed
LOOK_EVERY = 0.05  # seconds
# Ctrl-C before the command has begun ends it without a message
START = (
    f"import os, signal; signal.signal(signal.SIGINT, lambda *_: os._exit({ProcessLost.code})); "
    "from dissensus.cli import main; main()"
)


def to_launch(devices: int | None) -> TypeGuard[int]:
    """Whether to start processes here: not within one of them, and not if torchrun does it."""
    running = int(os.environ.get("WORLD_SIZE", "1"))
    if devices is not None and running not in (1, devices):
        raise DataError(
            f"--devices {devices} and torchrun with {running} processes; use only one of them"
        )
    return devices is not None and devices > 1 and running == 1


def launched(n: int) -> int:
    """Run the current command line in n processes; return the exit code.

    They end together, and one of them prints why. KeyboardInterrupt if none did after Ctrl-C.
    """
    group, port = _Group(), _free_port()
    try:
        for rank in range(n):
            group.processes.append(_started(rank, n, port))
        group.wait()
    except KeyboardInterrupt:
        return group.stopped()
    finally:
        group.kill()
    return group.code()


@dataclass
class _Group:
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)  # in the order in which they failed
    began: float = field(default_factory=time.monotonic)

    def wait(self, seconds: float = float("inf")) -> None:
        """Wait until all have ended, or until one has failed and the others had time to end."""
        last = time.monotonic() + seconds
        while any(process.poll() is None for process in self.processes):
            if time.monotonic() > last:
                return
            if self._look() and last == float("inf"):
                last = time.monotonic() + SECONDS_TO_END
            time.sleep(LOOK_EVERY)
        self._look()

    def _look(self) -> bool:
        """Whether a process has failed."""
        for rank, process in enumerate(self.processes):
            if process.poll() and rank not in self.failed:
                self.failed.append(rank)
        return bool(self.failed)

    def stopped(self) -> int:
        """After Ctrl-C: the first process saves a checkpoint and prints where, if there is time."""
        if time.monotonic() - self.began > SECONDS_TO_BEGIN:
            with suppress(KeyboardInterrupt):  # a second one does not wait
                for process in self.processes:
                    process.send_signal(signal.SIGINT)
                self.wait(SECONDS_TO_END)
        self.kill()
        if not self.processes or self.processes[0].returncode != STOPPED:
            raise KeyboardInterrupt
        return STOPPED

    def kill(self) -> None:
        """End all processes that are still running."""
        for process in self.processes:
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()

    def code(self) -> int:
        """The exit code of the process that failed first; an error if it printed none."""
        if not self.failed:
            return 0
        codes = {rank: self.processes[rank].returncode for rank in self.failed}
        if STOPPED in codes.values() and codes.get(0) != STOPPED:
            raise KeyboardInterrupt
        causes = [rank for rank in self.failed if codes[rank] != ProcessLost.code]
        if not causes:
            raise ModelError("the processes lost contact with each other; resume with --resume")
        code = codes[causes[0]]
        if code in REPORTED:
            return code
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise ModelError(
            f"process {causes[0] + 1} of {len(self.processes)} {how}, and the others were "
            "stopped; perhaps there was too little memory"
        )


def _started(rank: int, n: int, port: int) -> subprocess.Popen[bytes]:
    """Start one process of n; the end of its stdin tells it that its parent is gone."""
    of_process = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": n,
        "LOCAL_WORLD_SIZE": n,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        LAUNCHED: 1,
    }
    defaults = {
        "OMP_NUM_THREADS": max(1, (os.cpu_count() or 1) // n),
        "TORCH_CPP_LOG_LEVEL": "ERROR",
    }
    environment = {name: str(value) for name, value in defaults.items()} | os.environ
    environment |= {name: str(value) for name, value in of_process.items()}
    from_here = (
        [] if sys.path[0] in ("", os.getcwd()) else ["-P"]
    )  # import modules as this process does
    return subprocess.Popen(
        [sys.executable, *from_here, "-c", START, *sys.argv[1:]],
        env=environment,
        stdin=subprocess.PIPE,
        start_new_session=True,  # the terminal's Ctrl-C reaches only the parent
    )


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# ---- in a process that was started ----


@contextmanager
def among_others() -> Iterator[bool]:
    """Within the block, this process takes part in a command that several processes run.

    Yields whether it is the first or only one; the others print nothing and write nothing.
    """
    if "WORLD_SIZE" not in os.environ:
        yield True
        return
    launched_here = LAUNCHED in os.environ
    if launched_here:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=_end_with_parent, daemon=True).start()
    with _silent_on_ctrl_c():
        from dissensus.training.processes import joined

    try:
        with (
            joined(watched=launched_here) as processes,
            nullcontext() if processes.is_first else quiet(),
        ):
            yield processes.is_first
    except (KeyboardInterrupt, SystemExit):
        if launched_here:  # the parent's signal may come after another process has stopped this one
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise


@contextmanager
def _silent_on_ctrl_c() -> Iterator[None]:
    """Only the first process reports Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        if os.environ.get("RANK", "0") == "0":
            raise
        raise SystemExit(STOPPED) from None


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(ProcessLost.code)
