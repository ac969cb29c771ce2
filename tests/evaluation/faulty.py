"""Methods that fail, die or dawdle, as a comparison meets them in real life."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from dissensus import Corpus
from dissensus.evaluation.fit import Job, Key
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.settings import Choices
from dissensus.methods.prior import Prior


def counted(tally: str) -> int:
    """How often this was called with this file, which keeps the number."""
    path = Path(tally)
    n = 1 + (int(path.read_text()) if path.exists() else 0)
    path.write_text(str(n))
    return n


@dataclass(eq=False)
class Broken(Prior):
    """Fails with one seed, and otherwise answers as the prior."""

    seed: int = 0
    bad_seed: int = 1
    name: ClassVar[str] = "broken"

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        if self.seed == self.bad_seed:
            raise RuntimeError("no luck\nand more")
        super().learn_from(corpus, validation)


@dataclass(eq=False)
class Dying(Prior):
    """Is killed in the middle, as for want of memory: the first `times` times."""

    tally: str = ""  # a file that counts
    times: int = 1
    name: ClassVar[str] = "dying"

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        if counted(self.tally) <= self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        super().learn_from(corpus, validation)


@dataclass(eq=False)
class Nowhere(Prior):
    """Answers nan to everything."""

    name: ClassVar[str] = "nowhere"

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        result = super().predict_items(corpus)
        return {
            q: Answers(np.full_like(a.distribution, np.nan), a.value) for q, a in result.items()
        }


@dataclass(eq=False)
class Blended(Prior):
    """The prior with some of an even distribution; how much can be chosen."""

    even: float = 0.5
    seed: int = 0
    stop_at: int = 0  # the fit that Ctrl-C hits, where they are counted
    tally: str = ""
    name: ClassVar[str] = "blended"
    choices: ClassVar[Choices] = {"even": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)}

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        if self.tally and counted(self.tally) == self.stop_at:
            raise KeyboardInterrupt
        super().learn_from(corpus, validation)
        for question, prior in self.prior_.items():
            self.prior_[question] = (1 - self.even) * prior + self.even / len(prior)


@dataclass(eq=False)
class Faulting(Prior):
    """Breaks the GPU of its process, as an invalid memory access does: the first `times` times."""

    tally: str = ""  # a file that counts
    times: int = 1
    name: ClassVar[str] = "faulting"

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        if counted(self.tally) <= self.times:
            vars(torch.cuda).update(is_initialized=lambda: True, synchronize=_lost)
            _lost()
        super().learn_from(corpus, validation)


def _lost() -> None:
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


@dataclass(frozen=True)
class Endless:
    """Work whose jobs are done at once, but for one that never ends."""

    never: str  # the method of the job that never ends
    waited: str = ""  # a file that is written when the process waits for its GPU

    def opened(self, folder: Path) -> None:
        if self.waited:
            synchronize = Path(self.waited).touch
            vars(torch.cuda).update(is_initialized=lambda: True, synchronize=synchronize)

    def done(self, opened: None, job: Job) -> Iterator[str]:
        if job[0].method == self.never:
            signal.pause()
        yield from (key.method for key in job)

    def died(self, key: Key, why: str) -> str:
        return f"{key.method}: {why}"
