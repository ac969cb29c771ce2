"""Fits on the workers of a Dask cluster.

Each worker receives the comparison and the files of the corpus folder once, then the keys of each
job, and returns fits. Nothing of it is saved to disk. Features come from the cache of the worker's
machine (`DISSENSUS_CACHE`), or are encoded there.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dissensus.cluster import connect
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.evaluation.execution.processes import MEMORY, Queue, one_thread
from dissensus.evaluation.execution.task import Task, encode, fits_of
from dissensus.evaluation.fit import Fit, Job
from dissensus.progress import hidden
from dissensus.version import __version__ as VERSION

LOOK = 2.0  # seconds between two counts of the workers
LOSSES = 3  # workers lost with a job, until its fits are run one by one
ALONE = 120.0  # seconds to wait for a worker if all are gone
DIED = f"the workers that ran this fit died several times; {MEMORY}"


@dataclass(frozen=True, eq=False)
class Parcel:
    """What a worker needs to run any fit of a comparison."""

    task: Task
    corpus: dict[str, bytes]  # the files of its folder
    number: str  # differs from that of any other parcel
    version: str = VERSION

    @classmethod
    def packed(cls, task: Task, folder: Path) -> Parcel:
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        return cls(task, files, f"{time.time_ns()}")


@dataclass(eq=False)
class Cluster:
    """A Dask scheduler and its workers, as used by the process that runs the comparison."""

    address: str
    client: Any
    alone_since: float | None = None
    losses: dict[Job, int] = field(default_factory=dict)  # workers that died with a job

    @classmethod
    def at(cls, address: str) -> Cluster:
        """Connect; an error in one line says what is missing."""
        return cls(address, connect(address))

    def close(self) -> None:
        self.client.close()

    @property
    def n_workers(self) -> int:
        return len(self.client.nthreads())

    # ---- fits ----

    def fits(self, task: Task, folder: Path, jobs: Iterable[Job]) -> Generator[Fit]:
        """The fits of these jobs in any order; each worker runs one job at a time.

        If a worker is lost, only its job is lost, and another worker runs it again.
        """
        queue = Queue(iter(jobs))
        pending: dict[Any, Job] = {}
        parcel = Parcel.packed(task, folder)
        try:
            sent = self._sent(parcel)
            self._encode(sent)
            while True:
                while len(pending) < max(self.n_workers, 1) and (job := queue.next()) is not None:
                    future = self.client.submit(_done, sent, job, parcel.version, pure=False)
                    pending[future] = job
                if not pending:
                    return
                lost = []
                for future in self._ended(pending):
                    job = pending.pop(future)
                    fits = self._fetched(future)
                    if fits is None:
                        lost.append((job, self.n_lost(future)))
                    else:
                        yield from fits
                for job, n in lost:
                    yield from self.try_again(job, n, queue, task)
                if lost:
                    sent = self._sent(parcel)  # the worker that died may have had the only copy
        except OSError as error:
            raise ModelError(
                f"cluster {self.address}: the connection was lost ({type(error).__name__}); run "
                "the same command again to resume"
            ) from None
        finally:
            with suppress(OSError):
                self.client.cancel(list(pending))

    def try_again(self, job: Job, n: int, queue: Queue, task: Task) -> Iterator[Fit]:
        """Queue a job again that n workers died with; after several losses, each fit by itself."""
        self.losses[job] = self.losses.get(job, 0) + n
        if self.losses[job] < LOSSES:
            queue.again.append(job)
        else:
            yield from queue.died(job, task, DIED)

    def _sent(self, parcel: Parcel) -> Any:
        """Send the parcel to every worker."""
        return self.client.scatter(parcel, broadcast=True, hash=False)

    def _encode(self, sent: Any) -> None:
        """Fill the feature cache of each machine: one worker there does it."""
        hosts = {address.rsplit(":", 1)[0]: address for address in self.client.nthreads()}
        running = [
            self.client.submit(_encoded, sent, workers=[one], allow_other_workers=True, pure=False)
            for one in hosts.values()
        ]
        while running:
            done = self._ended(running)
            running = [future for future in running if future not in done]

    def _ended(self, pending: Iterable[Any]) -> list[Any]:
        """Wait until some have ended, and return these."""
        from distributed import wait
        from distributed.client import FuturesCancelledError

        while True:
            with self.client.as_current(), suppress(TimeoutError, FuturesCancelledError):
                wait(list(pending), LOOK, "FIRST_COMPLETED")  # type: ignore[no-untyped-call]
            ended = [future for future in pending if future.status != "pending"]
            if ended:
                return ended
            if self.n_workers:
                self.alone_since = None
            elif self.alone_since is None:
                self.alone_since = time.monotonic()
            elif time.monotonic() - self.alone_since > ALONE:
                raise ModelError(
                    f"cluster {self.address}: all workers are gone; start some, and run the same "
                    "command again to resume"
                )

    def _fetched(self, future: Any) -> list[Fit] | None:
        """The fits of a job; None if it failed, or if its worker died before it sent them."""
        from distributed.client import FutureCancelledError

        if future.status != "finished":
            return None
        try:
            fits: list[Fit] = future.result()
            return fits
        except FutureCancelledError:
            return None

    def n_lost(self, future: Any) -> int:
        """How many workers were lost with a job; any other error is raised."""
        from distributed import KilledWorker

        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):  # the scheduler tried several workers
                return int(error.allowed_failures) + 1
            raise error
        if self.client.status != "running":
            raise ConnectionError
        return 1


# ---- in a worker ----

_one_at_a_time = threading.Lock()  # torch's settings and seeds belong to the whole process
_corpora: dict[str, Corpus] = {}  # only that of the last parcel


def _done(parcel: Parcel, job: Job, version: str) -> list[Fit]:
    """The fits of a job."""
    if VERSION != version:
        raise ModelError(
            f"a worker has dissensus {VERSION}, the comparison {version}; install the same version"
        )
    with _one_at_a_time, tempfile.TemporaryDirectory() as folder, hidden(), one_thread():
        task = replace(parcel.task, unfinished=Path(folder))
        return list(fits_of(task, _corpus(parcel), job))


def _encoded(parcel: Parcel) -> None:
    with _one_at_a_time, hidden():
        encode(_corpus(parcel), parcel.task.methods.values())


def _corpus(parcel: Parcel) -> Corpus:
    """The parcel's corpus, read once."""
    if parcel.number not in _corpora:
        with tempfile.TemporaryDirectory() as folder:
            for name, content in parcel.corpus.items():
                path = Path(folder, "corpus", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            _corpora.clear()
            _corpora[parcel.number] = Corpus.load(Path(folder, "corpus"))
    return _corpora[parcel.number]
