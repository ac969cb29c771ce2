"""Jobs that wait for others, in this process, and its threads."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dissensus.evaluation.execution.processes import fits_in_this_process
from dissensus.evaluation.fit import Job, Key
from dissensus.within import check_deadline, deadline


class Told:
    """Work whose fits are the names of their methods."""

    def opened(self, folder: Path) -> None: ...

    def done(self, opened: Any, job: Job) -> Iterator[str]:
        return (key.method for key in job)

    def died(self, key: Key, why: str) -> str:
        return why


def test_what_waits_for_a_fit_that_never_ends_well_ends_the_rest() -> None:
    def jobs() -> Iterator[Job]:
        yield (Key("failed", 0, "fold 1"),)
        for _ in range(3):  # as long as it is asked, as agendas do
            arguments.append("again")
            yield ()

    arguments: list[str] = []
    assert list(fits_in_this_process(Told(), None, jobs())) == ["failed"]
    assert arguments == ["again"]


def test_the_job_under_way_is_stopped_at_the_deadline_but_not_the_first_one() -> None:
    """As worker processes are; what the first one did is kept, so that resuming always ends."""

    class Slow(Told):
        def done(self, opened: Any, job: Job) -> Iterator[str]:
            time.sleep(0.02)
            check_deadline()  # as a training does before each epoch
            return super().done(opened, job)

    jobs = [(Key(name, 0, "fold 1"),) for name in ("first", "second", "third")]
    fits = fits_in_this_process(Slow(), None, jobs, time.monotonic() + 0.01)
    assert list(fits) == ["first"]
    with deadline(time.monotonic()):  # of the caller
        assert list(fits_in_this_process(Slow(), None, jobs)) == []


@pytest.mark.slow
def test_one_thread_although_torch_was_not_loaded_before() -> None:
    program = (
        "import sys\n"
        "from dissensus.evaluation.execution.processes import one_thread\n"
        "assert 'torch' not in sys.modules\n"
        "with one_thread():\n"
        "    import torch\n"
        "    print(torch.get_num_threads())\n"
        "print(torch.get_num_threads())\n"
    )
    known = os.environ | {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", program], env=known, capture_output=True)
    assert done.stdout.split() == [b"1", b"2"], done.stderr
