"""Blocks that are stopped in time, but never within an import."""

from __future__ import annotations

import importlib
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dissensus.time_limit import TimeIsUp, time_limit


def test_an_import_is_not_stopped_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import time\ntime.sleep(0.1)\nwhole = True\n"
    (tmp_path / "slowly_imported.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(TimeIsUp), time_limit(time.monotonic() + 0.01):
        importlib.import_module("slowly_imported")
        time.sleep(30)
    assert sys.modules.pop("slowly_imported").whole


def test_an_alarm_that_is_lost_is_repeated() -> None:
    with pytest.raises(TimeIsUp), time_limit(time.monotonic() + 0.01):
        with suppress(TimeIsUp):  # as in a destructor, whose exceptions are ignored
            time.sleep(30)
        time.sleep(30)


def test_nothing_is_left_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with time_limit(time.monotonic() + 100):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    with time_limit(None):
        pass
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
