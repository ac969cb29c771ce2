"""Run fits in worker processes or in this one, with one thread each, so that scores are the same.

A worker is a new process (spawn) that reads the corpus from a folder, receives jobs and sends fits
back. If a worker dies, only its job is lost; one that can no longer use its GPU ends itself. All
workers end with their parent.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from dissensus.encoders import pooling_once
from dissensus.errors import ModelError, cut
from dissensus.evaluation.fit import Job, Key
from dissensus.progress import hidden
from dissensus.within import TimeIsUp, current_deadline, deadline

READY, DONE = "ready", "done"
LOST_GPU = 75  # exit code of a worker that can no longer use its GPU
MEMORY = "perhaps there was too little memory"
ATTEMPTS = 2  # a fit whose process died is run once more
PATIENCE = 10  # seconds in which a worker may end its work on the GPU


class GpuLost(ModelError):
    """An error of the GPU, such as an invalid memory access, after which only a new process can use
    it."""


def check_gpu() -> None:
    """Raise `GpuLost` if this process used a GPU and cannot any more.

    Too little memory is no such error: the GPU can be used after it.
    """
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        raise GpuLost(
            f"the GPU cannot be used by this process any more ({cut(error)}); run the same command "
            "again to resume"
        ) from error


class Work(Protocol):
    """How the fits of keys are run: everything that determines them except the data in a folder."""

    def opened(self, folder: Path) -> Any:
        """The data that every process reads once."""
        ...

    def done(self, opened: Any, job: Job) -> Iterator[Any]:
        """The fit of each key of a job, in order; a fit that fails has the reason."""
        ...

    def died(self, key: Key, why: str) -> Any:
        """A failed fit, for a key whose process died."""
        ...


def processors() -> int:
    """How many processors this process may use; all of them if the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fits_in_this_process(
    task: Work, opened: Any, jobs: Iterable[Job], until: float = math.inf
) -> Generator[Any]:
    """The fits of these jobs, one job after another in this process.

    An empty job means that the next one must wait for others. Here all others have ended, so the
    next one can never begin, and the generator ends.

    Args:
        until: of `time.monotonic`, when the job under way is stopped. The first one is not, so that
            running again and again always ends; unless a `deadline` block stops it.
    """
    began = False
    for job in jobs:
        if not job:
            return
        try:
            with one_thread(), deadline(until if began else math.inf):
                fits = list(task.done(opened, job))
        except TimeIsUp:
            return
        began = True
        yield from fits


def fits_in_processes(
    task: Work, folder: Path, jobs: Iterable[Job], processes: int, until: float = math.inf
) -> Generator[Any]:
    """The fits of these jobs in any order, from worker processes that read the corpus folder.

    A job is taken from the iterable when a process is free. An empty job means that the next one
    must wait: the iterable is tried again after the next fit.

    Args:
        until: of `time.monotonic`, when the processes are stopped. The first fit is waited for, so
            that running again and again always ends; unless a `deadline` block stops it.
    """
    queue = Queue(iter(jobs))
    n_fits = 0
    workers: list[_Worker] = []
    idle: list[_Worker] = []
    began = False  # whether any worker has
    try:
        while len(workers) < processes and (job := queue.next()):
            workers.append(_Worker.begun(task, folder, job))
        while len(workers) > len(idle):
            reporting = _reporting(workers, until if n_fits else math.inf)
            if not reporting:
                return
            for worker in reporting:
                message = worker.receive()
                if message == READY:
                    began = True
                elif message == DONE:
                    idle.append(worker)
                elif message is None:  # the process died
                    workers.remove(worker)
                    idle = [other for other in idle if other is not worker]
                    why = f"its process died {ATTEMPTS} times ({worker.died(began)}); {MEMORY}"
                    yield from queue.died(worker.left, task, why)
                else:
                    worker.left = worker.left[1:]  # fits come in order
                    n_fits += 1
                    yield message
            while (idle or len(workers) < processes) and (job := queue.next()):
                if idle:
                    idle.pop(0).send(job)
                else:
                    workers.append(_Worker.begun(task, folder, job))
    finally:
        for worker in workers:
            worker.end()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in one thread, so that sums do not depend on the number of processors."""
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
    """Jobs to run, and the rest of those whose process died."""

    jobs: Iterator[Job]
    again: deque[Job] = field(default_factory=deque)
    attempts: dict[Key, int] = field(default_factory=dict)

    def next(self) -> Job | None:
        return self.again.popleft() if self.again else next(self.jobs, None)

    def died(self, left: Job, task: Work, why: str) -> Iterator[Any]:
        """Queue the fits of a dead process again, each by itself; after the last attempt, a fit is
        returned as failed."""
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
    left: Job  # keys of the fits that it has not sent yet

    @classmethod
    def begun(cls, task: Work, folder: Path, job: Job) -> _Worker:
        """Start a new process with its first job."""
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, task, folder), daemon=True)
        with _without_ctrl_c():
            process.start()
        theirs.close()
        worker = cls(process, mine, job)
        worker.send(job)
        return worker

    def send(self, job: Job) -> None:
        """Send a job; if the process is gone, `receive` returns None."""
        self.left = job
        with suppress(OSError):
            self.connection.send(job)

    def died(self, others_began: bool) -> str:
        """How the process ended; an error if no worker has even begun."""
        code = self.end()
        if not others_began and (code is None or code >= 0):
            raise ModelError(
                f"a worker process ended before it could start (exit code {code}); a script that "
                "calls compare needs `if __name__ == '__main__':` around it, or processes=1"
            )
        if code == LOST_GPU:
            return "error of the GPU"
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def receive(self) -> Any:
        """The next message: a fit, READY or DONE; None if the process died."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return None

    def end(self) -> int | None:
        """Make sure that the process is gone.

        It may end what runs on its GPU first: killed in the middle of that, it would take down
        other processes that share the GPU (MPS), with invalid memory accesses.
        """
        self.process.terminate()
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()
        self.connection.close()
        code: int | None = self.process.exitcode
        return code


def _reporting(workers: list[_Worker], until: float) -> list[_Worker]:
    """The workers that have sent a message, or died; none if there is none until then."""
    until = min(until, current_deadline())
    seconds = None if until == math.inf else max(until - time.monotonic(), 0.0)
    ready = wait([worker.connection for worker in workers], seconds)
    return [worker for worker in workers if worker.connection in ready]


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Processes started within the block ignore Ctrl-C; their parent handles it and ends them."""
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
    """Read the folder, then run each job that is sent, until the connection closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    opened = task.opened(folder)
    connection.send(READY)
    with hidden(), one_thread(), pooling_once(), suppress(EOFError, OSError):
        while job := connection.recv():
            try:
                for fit in task.done(opened, job):
                    connection.send(fit)
            except GpuLost:
                os._exit(LOST_GPU)
            connection.send(DONE)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave(*_: Any) -> None:
    """End this process once its GPU has done what it was given."""
    with suppress(GpuLost):
        check_gpu()
    os._exit(1)
