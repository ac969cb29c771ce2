"""A Dask scheduler and its workers: how to reach them, and that they have the same version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from dissensus import __version__ as VERSION
from dissensus.errors import DataError, ModelError, listed

CONNECT = 15.0  # seconds to wait for a scheduler


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
            from dissensus import __version__
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


def sent_blocks(client: Any, blocks: Iterable[tuple[slice, Any]]) -> Iterator[SentBlock]:
    """Send each block of items to a worker, one worker after another."""
    workers = list(client.nthreads())
    for number, (items, block) in enumerate(blocks):
        worker = workers[number % len(workers)]
        yield SentBlock(items, client.scatter(block, workers=[worker], hash=False), worker)


def results(pending: Iterable[Any]) -> list[Any]:
    """Wait for all futures; a lost worker ends it in one line."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    begun = list(pending)
    try:
        return [future.result() for future in begun]
    except (OSError, KilledWorker, FutureCancelledError) as error:
        raise ModelError(
            f"the cluster lost a worker ({type(error).__name__}); run the same command again"
        ) from None
