"""Fixtures that every folder of tests shares, and what a test that needs real data must do."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# a slow machine is no reason to fail
settings.register_profile("dissensus", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dissensus")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real corpora; a test that asks for it is skipped where there is none."""
    named = os.environ.get("DISSENSUS_DATA")
    if not named:
        pytest.skip("DISSENSUS_DATA is not set: the real corpora are not here")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"DISSENSUS_DATA names {named}, which is no folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _own_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[None]:
    """A feature cache for the tests alone. Processes of one run (`-n 2`) share it, so that nothing
    is encoded twice."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(request.config, "workerinput") else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISSENSUS_CACHE", str(shared / "feature-cache"))
        yield


@pytest.fixture(autouse=True)
def _among_the_samples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of a page runs where a reader types it: in a folder with `samples`."""
    if request.path.suffix == ".md":
        monkeypatch.chdir(Path(__file__).parent / "docs")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the process: no GPU, Ctrl-C is handled, one thread for each of several processes.

    A background job of a shell, as CI may be one, ignores Ctrl-C; tests that send it would then
    fail or wait for ever.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    if hasattr(config, "workerinput"):
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch are loaded
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for the folder of real corpora is a data test, marked or not."""
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With DISSENSUS_REQUIRE_DATA=1 a data test that is skipped has failed."""
    report = yield
    required = os.environ.get("DISSENSUS_REQUIRE_DATA", "0") not in ("", "0")
    if required and report.skipped and item.get_closest_marker("data"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} needs the real corpora and was skipped: {reason}"
    return report
