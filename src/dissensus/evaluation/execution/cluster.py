"""Fits on the workers of a Dask cluster.

What travels: once to each worker, the comparison and the files of the corpus's folder; then the
keys of each job, and fits back. Nothing of it is kept on a disk. Features are taken from the
cache of the worker's machine (`DISSENSUS_CACHE`), or encoded there.
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

from dissensus import __version__ as VERSION
from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, listed
from dissensus.evaluation.execution.features import encode
from dissensus.evaluation.execution.processes import MEMORY, Queue, one_thread
from dissensus.evaluation.execution.task import Task, fits_of
from dissensus.evaluation.fit import Fit, Job
from dissensus.progress import hidden

CONNECT = 15.0  # seconds until a scheduler is given up
LOOK = 2.0  # seconds between two looks at how many workers there are
LOSSES = 3  # workers lost with a job, until its fits are made one by one
ALONE = 120.0  # seconds to wait for a worker, where all are gone
DIED = f"the workers that fitted it died, several times; {MEMORY}"


@dataclass(frozen=True, eq=False)
class Parcel:
    """What a worker needs to make any fit of a comparison."""

    task: Task
    corpus: dict[str, bytes]  # the files of its folder
    number: str  # tells it from other parcels
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
    """A Dask scheduler with its workers, seen from the process that compares."""

    address: str
    client: Any
    alone_since: float | None = None
    losses: dict[Job, int] = field(default_factory=dict)  # workers that died of a job

    @classmethod
    def at(cls, address: str) -> Cluster:
        """Connect; one line says what is wanting."""
        try:
            from distributed import Client
        except ImportError:
            raise DataError(
                "a cluster needs Dask, which is not installed: pip install 'dissensus[cluster]'"
            ) from None
        try:
            client = Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(
                f"cluster {address}: no Dask scheduler answers there ({reason}); begin one with "
                "`dask scheduler`, and give the address that it prints"
            ) from None
        cluster = cls(address, client)
        try:
            cluster._check_workers()
        except BaseException:
            cluster.close()
            raise
        return cluster

    def close(self) -> None:
        self.client.close()

    @property
    def n_workers(self) -> int:
        return len(self.client.nthreads())

    def _check_workers(self) -> None:
        """There are some, and they have this version of dissensus."""

        def version() -> str:  # travels as code: there may be no dissensus to import it from
            try:
                from dissensus import __version__
            except ImportError:
                return "none"
            return __version__

        if not self.n_workers:
            raise DataError(
                f"cluster {self.address}: has no workers; begin some with "
                f"`dask worker {self.address}`"
            )
        there = self.client.run(version)
        others = sorted({v for v in there.values() if v != VERSION})
        if others:
            n = sum(v != VERSION for v in there.values())
            raise DataError(
                f"cluster {self.address}: {n} of {len(there)} workers have dissensus "
                f"{listed(others)}, here it is {VERSION}; install the same version"
            )

    # ---- fits ----

    def fits(self, task: Task, folder: Path, jobs: Iterable[Job]) -> Generator[Fit]:
        """The fits of these jobs in any order; as many jobs are under way as there are workers.

        A worker that is lost takes only its job with it, which another does again.
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
                    made = self._fetched(future)
                    if made is None:
                        lost.append((job, self.n_lost(future)))
                    else:
                        yield from made
                for job, n in lost:
                    yield from self.try_again(job, n, queue, task)
                if lost:
                    sent = self._sent(parcel)  # the worker that died may have been its keeper
        except OSError as error:
            raise ModelError(
                f"cluster {self.address}: the connection was lost ({type(error).__name__}); what "
                "is done is kept, and the same again goes on"
            ) from None
        finally:
            with suppress(OSError):
                self.client.cancel(list(pending))

    def try_again(self, job: Job, n: int, queue: Queue, task: Task) -> Iterator[Fit]:
        """Put a job back with which n workers died; after some times each of its fits by itself."""
        self.losses[job] = self.losses.get(job, 0) + n
        if self.losses[job] < LOSSES:
            queue.again.append(job)
        else:
            yield from queue.died(job, task, DIED)

    def _sent(self, parcel: Parcel) -> Any:
        """The parcel with every worker."""
        return self.client.scatter(parcel, broadcast=True, hash=False)

    def _encode(self, sent: Any) -> None:
        """Fill the feature cache of each machine, by one worker there."""
        hosts = {address.rsplit(":", 1)[0]: address for address in self.client.nthreads()}
        begun = [
            self.client.submit(_encoded, sent, workers=[one], allow_other_workers=True, pure=False)
            for one in hosts.values()
        ]
        while begun:
            done = self._ended(begun)
            begun = [future for future in begun if future not in done]

    def _ended(self, pending: Iterable[Any]) -> list[Any]:
        """Those that are over, once there are some."""
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
                    f"cluster {self.address}: all workers are gone; what is done is kept, and the "
                    "same again goes on"
                )

    def _fetched(self, future: Any) -> list[Fit] | None:
        """What a job has made; None if it failed, or if its worker died before handing it over."""
        from distributed.client import FutureCancelledError

        if future.status != "finished":
            return None
        try:
            found: list[Fit] = future.result()
            return found
        except FutureCancelledError:
            return None

    def n_lost(self, future: Any) -> int:
        """How many workers were lost with a job; raises what else went wrong."""
        from distributed import KilledWorker

        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):  # the scheduler has tried some before it says so
                return int(error.allowed_failures) + 1
            raise error
        if self.client.status != "running":
            raise ConnectionError
        return 1


# ---- in a worker ----

_one_at_a_time = threading.Lock()  # torch's settings and seeds are those of the whole process
_corpora: dict[str, Corpus] = {}  # the last parcel's


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
