"""A block of code that is stopped when its time is over."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.2  # seconds after which the alarm is repeated, if the first one was not raised
WHOLE = ("<frozen importlib", "/numba/")  # in files of code that must not be stopped half-way


class TimeIsUp(BaseException):
    """The deadline of a block was reached; like KeyboardInterrupt, it is no error of the block."""


@contextmanager
def time_limit(deadline: float | None) -> Iterator[None]:
    """Raise TimeIsUp within the block when `time.monotonic()` reaches the deadline.

    As Ctrl-C, it takes effect between two steps of Python, but not within an import or while numba
    compiles: a module that is loaded by half could not be used afterwards. Outside of the main
    thread, and where the system has no timers (Windows), the block is not stopped.

    Example:
        >>> try:
        ...     with time_limit(time.monotonic() + 0.01):
        ...         time.sleep(10)
        ... except TimeIsUp:
        ...     print("stopped")
        stopped
    """
    in_main = threading.current_thread() is threading.main_thread()
    if deadline is None or not in_main or not hasattr(signal, "setitimer"):
        yield
        return
    within, block = True, sys._getframe(2)  # this generator, contextlib, the block

    def stop(number: int, frame: FrameType | None) -> None:
        if within and not _must_end(frame, block):
            raise TimeIsUp

    handler = signal.signal(signal.SIGALRM, stop)
    try:
        seconds = max(deadline - time.monotonic(), 1e-6)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        within = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def _must_end(frame: FrameType | None, block: FrameType) -> bool:
    """Whether the code that runs is part of an import or of a compilation within the block."""
    while frame is not None and frame is not block:
        if any(part in frame.f_code.co_filename for part in WHOLE):
            return True
        frame = frame.f_back
    return False
