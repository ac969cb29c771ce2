"""Fits in worker processes, or here: each with one thread, so that figures are the same anywhere.

A worker is a fresh process (spawn) that reads the corpus from a folder, is sent jobs and sends
fits back. One that dies takes only its job with it, and all of them die with their parent.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from dissensus.encoders import pooling_once
from dissensus.errors import ModelError
from dissensus.evaluation.fit import Job, Key
from dissensus.progress import hidden

READY, DONE = "ready", "done"
MEMORY = "too little memory, perhaps"
ATTEMPTS = 2  # a fit whose process died is begun once more


class Work(Protocol):
    """What is done for keys: everything that decides how fits end, but for what a folder holds."""

    def opened(self, folder: Path) -> Any:
        """What every process reads once."""
        ...

    def done(self, opened: Any, job: Job) -> Iterator[Any]:
        """The fit of each key of a job, in order; whatever goes wrong is kept in it."""
        ...

    def died(self, key: Key, why: str) -> Any:
        """The fit of a key whose process does not live to tell."""
        ...


def processors() -> int:
    """How many processors this process may use; not every system says so, then all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fits_in_this_process(task: Work, opened: Any, jobs: Iterable[Job]) -> Generator[Any]:
    """The fits of these jobs, one job after another in this process.

    An empty one says that what comes next cannot begin before others have ended: all have, so that
    it never will, and nothing more is asked for.
    """
    for job in jobs:
        if not job:
            return
        with one_thread():
            fits = list(task.done(opened, job))
        yield from fits


def fits_in_processes(
    task: Work, folder: Path, jobs: Iterable[Job], processes: int
) -> Generator[Any]:
    """The fits of these jobs in any order, from worker processes that read the corpus's folder.

    A job is taken from the iterable when a process is free for it. An empty one says that what
    comes next cannot begin yet: the iterable is asked again when another fit has come.
    """
    queue = Queue(iter(jobs))
    workers: list[_Worker] = []
    idle: list[_Worker] = []
    began = False  # one of them
    try:
        while len(workers) < processes and (job := queue.next()):
            workers.append(_Worker.begun(task, folder, job))
        while len(workers) > len(idle):
            for worker in _reporting(workers):
                told = worker.told()
                if told == READY:
                    began = True
                elif told == DONE:
                    idle.append(worker)
                elif told is None:  # it died
                    workers.remove(worker)
                    idle = [other for other in idle if other is not worker]
                    why = f"its process died {ATTEMPTS} times ({worker.died(began)}); {MEMORY}"
                    yield from queue.died(worker.left, task, why)
                else:
                    worker.left = worker.left[1:]  # they come in order
                    yield told
            while (idle or len(workers) < processes) and (job := queue.next()):
                if idle:
                    idle.pop(0).ask(job)
                else:
                    workers.append(_Worker.begun(task, folder, job))
    finally:
        for worker in workers:
            worker.end()


@contextmanager
def one_thread() -> Iterator[None]:
    """Arithmetic in one thread: sums come out the same however many there could be."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)


# ---- in the parent ----


@dataclass
class Queue:
    """Jobs to be done, and what is left of those whose process died."""

    jobs: Iterator[Job]
    again: deque[Job] = field(default_factory=deque)
    attempts: dict[Key, int] = field(default_factory=dict)

    def next(self) -> Job | None:
        return self.again.popleft() if self.again else next(self.jobs, None)

    def died(self, left: Job, task: Work, why: str) -> Iterator[Any]:
        """Put the fits of a dead process back, each by itself now; those that have had some
        attempts are given up."""
        for key in left:
            self.attempts[key] = self.attempts.get(key, 0) + 1
            if self.attempts[key] < ATTEMPTS:
                self.again.append((key,))
                continue
            yield task.died(key, why)


@dataclass(eq=False)
class _Worker:
    process: Any
    connection: Connection[Any, Any]
    left: Job  # what it has still to send

    @classmethod
    def begun(cls, task: Work, folder: Path, job: Job) -> _Worker:
        """A new process at work on a job."""
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, task, folder), daemon=True)
        with _deaf():
            process.start()
        theirs.close()
        worker = cls(process, mine, job)
        worker.ask(job)
        return worker

    def ask(self, job: Job) -> None:
        """Send a job; where nobody is there any more, `told` will say so."""
        self.left = job
        with suppress(OSError):
            self.connection.send(job)

    def died(self, others_began: bool) -> str:
        """How the process ended; an error where none comes as far as to begin."""
        code = self.end()
        if not others_began and (code is None or code >= 0):
            raise ModelError(
                f"a worker process ended before it began (exit code {code}); a script that calls "
                "compare needs `if __name__ == '__main__':` around it, or processes=1"
            )
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def told(self) -> Any:
        """What it says, a fit or that it is ready; None if it died."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return None

    def end(self) -> int | None:
        """Make sure that the process is gone."""
        self.process.kill()
        self.process.join()
        self.connection.close()
        code: int | None = self.process.exitcode
        return code


def _reporting(workers: list[_Worker]) -> list[_Worker]:
    """Those that have something to say, or died."""
    heard = wait([worker.connection for worker in workers])
    return [worker for worker in workers if worker.connection in heard]


@contextmanager
def _deaf() -> Iterator[None]:
    """What is started inside does not hear Ctrl-C; its parent does, and ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---- in a worker ----


def _work(connection: Connection[Any, Any], task: Work, folder: Path) -> None:
    """Read the folder, then do whatever job is sent, until there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    opened = task.opened(folder)
    connection.send(READY)
    with hidden(), one_thread(), pooling_once(), suppress(EOFError, OSError):
        while job := connection.recv():
            for fit in task.done(opened, job):
                connection.send(fit)
            connection.send(DONE)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
