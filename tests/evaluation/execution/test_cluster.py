"""A comparison on a Dask cluster is the comparison of one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import Results, compare, k_fold
from dissensus.evaluation.execution import cluster
from dissensus.evaluation.execution.processes import Queue
from dissensus.evaluation.fit import Key
from dissensus.methods.framework.base import Method
from dissensus.methods.prior import Prior
from dissensus.methods.single import Single
from dissensus.training import Training
from tests.crowds import feature_crowd
from tests.evaluation.execution.test_jobs import task_of
from tests.evaluation.faulty import Blended, Broken, Dying

distributed = pytest.importorskip("distributed")

QUICK = Training(epochs=2, device="cpu")


@pytest.fixture(scope="module")
def crowd() -> Corpus:
    return feature_crowd(n_items=40)


def run(crowd: Corpus, out: Path, methods: Any, **options: Any) -> Results:
    given: dict[str, Any] = {"folds": k_fold(crowd, 2, stratify="q"), "seeds": 2}
    return compare(crowd, methods, out=out, **(given | options))


def found(out: Path) -> tuple[dict[str, Any], bytes]:
    front = json.loads((out / "results.json").read_text())
    front["when"] = front["about"]["commit"] = None
    return front, (out / "items.parquet").read_bytes()


@contextmanager
def threads(n_workers: int) -> Iterator[str]:
    """A scheduler and workers in this process; its address."""
    options = {"processes": False, "dashboard_address": None, "threads_per_worker": 2}
    with distributed.LocalCluster(n_workers=n_workers, **options) as built:
        yield built.scheduler_address


def begun(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A process of Dask's own that finds what tests import."""
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    with open(folder / f"{words[0]}.log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:]],
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            cwd=folder,
            stdout=log,
            stderr=log,
        )


@contextmanager
def processes(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers on loopback, each a process; the address, and the workers."""
    file = folder / "scheduler.json"
    words = ["--no-dashboard", "--scheduler-file", str(file)]
    started = [begun(folder, "scheduler", "--host", "127.0.0.1", "--port", "0", *words)]
    try:
        deadline = time.monotonic() + 120
        while not file.exists():
            assert time.monotonic() < deadline, (folder / "scheduler.log").read_text()
            time.sleep(0.1)
        started += [
            begun(folder, "worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", *words)
            for _ in range(2)
        ]
        address = json.loads(file.read_text())["address"]
        with distributed.Client(address, set_as_default=False, timeout=60) as client:
            client.wait_for_workers(2, timeout=120)
        yield address, started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


# ---- in this process ----


def test_a_cluster_finds_what_one_process_finds(crowd: Corpus, tmp_path: Path) -> None:
    methods: dict[str, Method] = {
        "prior": Prior(),
        "single": Single(training=QUICK),
        "broken": Broken(),
        "blended": Blended(),
    }
    with threads(2) as address:
        results = run(crowd, tmp_path / "there", methods, cluster=address)
    run(crowd, tmp_path / "here", methods, processes=1)
    assert found(tmp_path / "there") == found(tmp_path / "here")
    assert results.counts("broken") == {"ok": 2, "failed": 2, "diverged": 0}
    assert results.counts("single")["ok"] == 4
    assert not (tmp_path / "there" / ".corpus").exists()


def test_ctrl_c_keeps_what_is_done(
    crowd: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dissensus.evaluation.execution.folder import FitFolder

    keep = FitFolder.keep
    kept: list[Any] = []

    def interrupted(self: FitFolder, fit: Any) -> None:
        if len(kept) == 2:
            raise KeyboardInterrupt
        kept.append(fit.key)
        keep(self, fit)

    with threads(1) as address:
        with monkeypatch.context() as patch:
            patch.setattr(FitFolder, "keep", interrupted)
            with pytest.raises(KeyboardInterrupt):
                run(crowd, tmp_path / "out", {"blended": Blended()}, cluster=address)
        assert len(list((tmp_path / "out" / "fits").glob("[!.]*"))) == 2
        results = run(crowd, tmp_path / "out", {"blended": Blended()}, cluster=address)
    assert results.counts("blended")["ok"] == 4


def refused(crowd: Corpus, tmp_path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        run(crowd, tmp_path / "out", {"prior": Prior()}, **options)
    return str(caught.value)


def test_a_scheduler_that_does_not_answer(
    crowd: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dissensus.cluster.CONNECT", 0.5)
    message = refused(crowd, tmp_path, cluster="tcp://127.0.0.1:1")
    start, end = (
        "cluster tcp://127.0.0.1:1: no Dask scheduler answers there (",
        ("); start one with `dask scheduler`, and use the address that it prints"),
    )
    assert message.startswith(start) and message.endswith(end) and "\n" not in message


def test_without_dask(crowd: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refused(crowd, tmp_path, cluster="tcp://127.0.0.1:1") == (
        "a cluster needs Dask, which is not installed: pip install 'dissensus[cluster]'"
    )


def test_no_workers_and_workers_of_another_version(
    crowd: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with threads(0) as address:
        assert refused(crowd, tmp_path, cluster=address) == (
            f"cluster {address}: has no workers; start some with `dask worker {address}`"
        )
    from dissensus import __version__

    monkeypatch.setattr("dissensus.cluster.VERSION", "9.9")
    with threads(1) as address:
        assert refused(crowd, tmp_path, cluster=address) == (
            f"cluster {address}: 1 of 1 workers have dissensus {__version__!r}, here it is 9.9; "
            "install the same version"
        )


def test_a_job_that_workers_die_of_is_taken_apart_and_then_given_up(crowd: Corpus) -> None:
    """The scheduler itself tries four workers before it says so; more need not die of it."""
    task = task_of(crowd, {"prior": Prior(), "single": Single(training=QUICK)})
    job = (Key("single", 0, "fold 1"), Key("single", 1, "fold 1"))
    queue, at = Queue(iter(())), cluster.Cluster("there", SimpleNamespace(status="running"))
    error = distributed.KilledWorker("_done", None, 3)
    killed = SimpleNamespace(status="error", exception=lambda: error)
    assert at.n_lost(killed) == 4 and at.n_lost(SimpleNamespace(status="lost")) == 1
    assert list(at.try_again(job, 1, queue, task)) == [] and queue.next() == job
    assert list(at.try_again(job, 4, queue, task)) == []
    assert [queue.next(), queue.next(), queue.next()] == [(job[0],), (job[1],), None]
    (fit,) = at.try_again((job[0],), 4, queue, task)
    assert (fit.key, fit.status, fit.reason) == (job[0], "failed", cluster.DIED)


# ---- processes ----


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(crowd: Corpus, tmp_path: Path) -> None:
    """One worker is killed by itself in the middle of a fit, and then another from outside."""
    tally = tmp_path / "tally"
    methods: dict[str, Method] = {
        "dying": Dying(tally=str(tally), times=1),
        "single": Single(training=Training(epochs=20, device="cpu"), hidden=(4,)),
        "blended": Blended(),
    }
    with processes(tmp_path) as (address, workers):
        run(crowd, tmp_path / "there", methods, cluster=address)
        assert [worker.poll() for worker in workers].count(-signal.SIGKILL) == 1
    assert tally.read_text() == "3"  # two folds, one of them twice
    run(crowd, tmp_path / "here", methods, processes=1)
    assert found(tmp_path / "there") == found(tmp_path / "here")
