"""Which fits of the paper are missing, their order, and what waits for what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dissensus.errors import DataError
from dissensus.evaluation import FitFolder, Key
from dissensus_papers.framework.paper import Agenda, Fits
from dissensus_papers.seedbert.outcomes import best_variant
from dissensus_papers.seedbert.protocol import (
    AT_ONCE,
    CONDITIONS,
    FIRST,
    MODELS,
    N_FOLDS,
    SeedBertCondition,
)

ORDER = (  # what is trained first, where time is short
    (FIRST, "choose"), (FIRST, "chosen"),
    ("cifar10h", "choose"), ("MD-Agreement", "choose"), ("ConvAbuse", "choose"),
    ("cifar10h", "chosen"), ("MD-Agreement", "chosen"), ("ConvAbuse", "chosen"),
    (FIRST, "paper"), (FIRST, "many"),
    ("snow2008-affect", "choose"), ("snow2008-affect", "chosen"),
)  # fmt: skip


class SeedBertAgenda(Agenda):
    """Models with chosen settings wait for the trials of their corpus; the variant that is put to
    the test on the others waits for all variants on the first corpus."""

    def __init__(
        self,
        place: FitFolder,
        conditions: Sequence[SeedBertCondition],
        runs: int,
        together: bool = False,
    ) -> None:
        order = {which: at for at, which in enumerate(ORDER)}
        self.place, self.runs, self.together = place, runs, together
        self.conditions = sorted(
            conditions, key=lambda c: order.get((c.corpus, c.kind), len(order))
        )
        keys = [key for c in self.conditions for key in c.keys(runs)]
        super().__init__(place.missing(keys), len(keys))
        self._out: set[Key] = set()  # begun, and not ended
        self._left: dict[str, set[Key]] = {c.name: set() for c in self.conditions}
        for key in self.missing:
            self._left[key.fold].add(key)

    def ended(self, key: Key) -> None:
        self._out.discard(key)
        self._left[key.fold].discard(key)

    def left_out(self, job: Fits) -> None:
        """Nothing waits for it any more."""
        self._out -= set(job)

    def jobs(self) -> Iterator[Fits]:
        jobs = self._grouped(self.missing)
        confirm = [condition for condition in self.conditions if condition.confirms]
        while jobs or confirm:
            if confirm and not self._left.get(FIRST):
                jobs = [*self._grouped(self._of_variant(confirm)), *jobs]
                confirm = []
                continue
            job = next((job for job in jobs if self._is_ready(job[0])), None)
            if job is not None:
                jobs.remove(job)
                self._out |= set(job)
                yield job
            elif self._out:
                yield ()
            else:
                return  # what the rest waits for has failed, or there was no time for it

    def _is_ready(self, key: Key) -> bool:
        condition = CONDITIONS[key.fold]
        return not (condition.waits and self._left.get(condition.choosing))

    def _of_variant(self, conditions: Sequence[SeedBertCondition]) -> list[Key]:
        """The best variant on the other corpora, where it is none that is there anyway."""
        try:
            variant, _ = best_variant(self.place.folder)
        except DataError:
            return []  # the first corpus is not part of this run
        keys = []
        for condition in conditions:
            more = set(condition.keys(self.runs, variant)) - set(condition.keys(self.runs))
            missing = self.place.missing(sorted(more))
            self._left[condition.name] |= set(missing)
            keys += missing
        return keys

    def _grouped(self, keys: Sequence[Key]) -> list[Fits]:
        """Keys of a model in a condition make up one job, as many as are trained side by side."""
        if not self.together:
            return [(key,) for key in keys]
        jobs: list[Fits] = []
        for name, model in dict.fromkeys((key.fold, key.method) for key in keys):
            condition = CONDITIONS[name]
            n_folds = condition.repeats if condition.kind == "choose" else N_FOLDS
            own = [key for key in keys if (key.fold, key.method) == (name, model)]
            n = max(1, AT_ONCE // (n_folds * MODELS[model].size))
            jobs += [tuple(own[at : at + n]) for at in range(0, len(own), n)]
        return jobs
