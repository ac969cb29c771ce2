"""A Dask scheduler and its workers: how to reach them, and that they have the same version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from dissensus.errors import DataError, ModelError, listed
from dissensus.version import __version__ as VERSION

CONNECT = 15.0  # seconds to wait for a scheduler
PATIENCE = 3.0  # seconds after which to see whether all workers are there


class Packed(Protocol):
    """What is sent in few bytes, and unpacked by the worker."""

    def unpacked(self) -> Any: ...


class SentBlock(NamedTuple):
    """A block of items that a worker has."""

    items: slice
    future: Any  # of the block
    worker: str


def connect(address: str) -> Any:
    """A Dask client of the scheduler at this address; an error in one line says what is missing."""
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
            f"cluster {address}: no Dask scheduler answers there ({reason}); start one "
            "with `dask scheduler`, and use the address that it prints"
        ) from None
    try:
        _check_workers(client, address)
    except BaseException:
        client.close()  # type: ignore[no-untyped-call]
        raise
    return client


def _check_workers(client: Any, address: str) -> None:
    """Check that there are workers and that they have this version of dissensus."""

    def version() -> str:  # sent as code: dissensus may not be installed there
        try:
            from dissensus.version import __version__
        except ImportError:
            return "none"
        return __version__

    if not client.nthreads():
        raise DataError(
            f"cluster {address}: has no workers; start some with `dask worker {address}`"
        )
    versions = list(client.run(version).values())
    others = [other for other in versions if other != VERSION]
    if others:
        raise DataError(
            f"cluster {address}: {len(others)} of {len(versions)} workers have dissensus "
            f"{listed(sorted(set(others)))}, here it is {VERSION}; install the same version"
        )


def sent_blocks(client: Any, blocks: Iterable[tuple[slice, Packed]]) -> Iterator[SentBlock]:
    """Send each block of items to a worker, one worker after another."""
    workers = list(client.nthreads())
    for number, (items, block) in enumerate(blocks):
        worker = workers[number % len(workers)]
        packed = sent(client, block, worker)
        unpacked = client.submit(_unpacked, packed, workers=[worker], pure=False)
        yield SentBlock(items, unpacked, worker)


def _unpacked(packed: Packed) -> Any:
    return packed.unpacked()


def sent(client: Any, data: Any, worker: str) -> Any:
    """Send data to a worker; a future of it."""
    with _naming_losses():
        return client.scatter(data, workers=[worker], hash=False)


def results(
    client: Any, parts: Sequence[SentBlock], function: Any, *given: Any, shared: Any = None
) -> list[Any]:
    """Call a function of each part where the part is; a lost worker ends it in one line.

    Args:
        shared: a further argument, which is sent to each worker once, however many parts it has.
    """
    from distributed import wait

    workers = {part.worker for part in parts}
    with _naming_losses(), client.as_current():
        _check_there(client, workers)
        by_worker = {} if shared is None else {one: sent(client, shared, one) for one in workers}
        pending = [
            client.submit(
                function,
                part.future,
                *([by_worker[part.worker]] if by_worker else []),
                *given,
                workers=[part.worker],
                pure=False,
            )
            for part in parts
        ]
        while True:
            try:
                wait(pending, timeout=PATIENCE)  # type: ignore[no-untyped-call]
                break
            except TimeoutError:  # a call that is to run on a lost worker would wait for ever
                _check_there(client, workers)
        return list(client.gather(pending, direct=True))


def _check_there(client: Any, workers: Iterable[str]) -> None:
    """Refuse to go on without one of these workers."""
    if not set(workers) <= client.nthreads().keys():
        raise _lost("it left")


@contextmanager
def _naming_losses() -> Iterator[None]:
    """Turn what Dask raises if a worker is lost into one line."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        yield
    except (OSError, KilledWorker, FutureCancelledError) as error:
        raise _lost(type(error).__name__) from None


def _lost(reason: str) -> ModelError:
    return ModelError(f"the cluster lost a worker ({reason}); run the same command again")
