"""The fits of the paper: which there are, their order, and what waits for what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.execution.folder import FitFolder
from dissensus.evaluation.fit import Job, Key
from dissensus_papers.framework.fitted_paper import Plan
from dissensus_papers.seedbert import corpora as of_paper
from dissensus_papers.seedbert.conditions import N_FOLDS, SeedBertCondition
from dissensus_papers.seedbert.corpora import FIRST
from dissensus_papers.seedbert.items import Items
from dissensus_papers.seedbert.models import AT_ONCE, MODELS
from dissensus_papers.seedbert.outcome import Outcome
from dissensus_papers.seedbert.selection import best_variant

ORDER = (  # what is trained first, where time is short
    (FIRST, "choose"),
    (FIRST, "chosen"),
    ("cifar10h", "choose"),
    ("MD-Agreement", "choose"),
    ("ConvAbuse", "choose"),
    ("cifar10h", "chosen"),
    ("MD-Agreement", "chosen"),
    ("ConvAbuse", "chosen"),
    (FIRST, "paper"),
    (FIRST, "many"),
    ("snow2008-affect", "choose"),
    ("snow2008-affect", "chosen"),
)


def plan(
    corpora: Mapping[str, Corpus],
    conditions: Sequence[SeedBertCondition],
    out: Path,
    runs: int,
    settings: Sequence[tuple[str, str]],
    *,
    encoders: Mapping[str, str | dict[str, str]] | None = None,
    together: bool = False,
) -> Plan:
    """Every model in these conditions; a fit is one model on all folds of a repetition.

    Args:
        corpora: as `datasets.read` or `corpora.ready` returns them.
        encoders: corpus -> encoder, where it is not that of the corpus's source.
        together: whether all repetitions of a model with one network are one job, to be stacked
            on a GPU.
    """
    from dissensus_papers.seedbert.fits import Opened, Task

    wanted = {condition.corpus for condition in conditions}
    raw = {name: corpus for name, corpus in corpora.items() if name in wanted}
    ready = {n: c if _is_ready(c) else of_paper.ready(c) for n, c in raw.items()}
    items = []
    for name, corpus in ready.items():
        kappas = of_paper.kappas(raw[name]) if of_paper.is_rated(raw[name]) else {}
        items.append(Items.of(corpus, kappas))
    return Plan(
        items,
        ready,
        Task(out, dict(encoders or {}), tuple(settings)),
        Opened(ready),
        lambda place: Agenda(place, conditions, runs, together),
        {"settings": {name: text for name, text in settings if name != "training.compile"}},
    )


def _is_ready(corpus: Corpus) -> bool:
    """Whether a corpus is as it is learned from already, as in a kit."""
    source = of_paper.SOURCES[corpus.name]
    return list(corpus.questions) == [source.question] and not corpus.gold


@dataclass(eq=False)
class _Stage:
    """Jobs that can be begun when what they need is done."""

    jobs: list[Job]
    ready: Callable[[], bool]


@dataclass(eq=False)
class Agenda:
    """What is to be trained, in which order, and what has to wait for what.

    Models with chosen settings wait for the trials of their corpus; the variant that is put to the
    test on the others waits for all variants on the first corpus.
    """

    place: FitFolder
    conditions: Sequence[SeedBertCondition]
    runs: int
    together: bool = False
    _out: set[Key] = field(default_factory=set)  # begun, and not ended

    def __post_init__(self) -> None:
        order = {which: at for at, which in enumerate(ORDER)}
        self.conditions = sorted(
            self.conditions, key=lambda c: order.get((c.corpus, c.kind), len(order))
        )
        keys = [key for c in self.conditions for key in c.keys(self.runs)]
        missing = set(self.place.missing(keys))
        self._left = {
            c.name: {key for key in c.keys(self.runs) if key in missing} for c in self.conditions
        }
        self._confirm = [c for c in self.conditions if c.confirms]
        self.n_variant = sum(min(c.repeats, self.runs) for c in self._confirm)
        self.total, self.n_missing = len(keys), len(missing)

    def ended(self, outcome: Outcome) -> None:
        self._out.discard(outcome.key)
        self._left.get(outcome.condition, set()).discard(outcome.key)

    def left_out(self, job: Job) -> None:
        """A job failed, or there is no time for it: nothing waits for it any more."""
        self._out -= set(job)

    def jobs(self) -> Iterator[Job]:
        """The next job that can begin; empty while all that is left waits for others."""
        stages = [self._stage(condition) for condition in self.conditions]
        variants = bool(self._confirm)
        while any(stage.jobs for stage in stages) or variants:
            if variants and not self._waits(FIRST):
                stages = [*self._of_variant(), *stages]
                variants = False
                continue
            stage = next((s for s in stages if s.jobs and s.ready()), None)
            if stage is not None:
                job = stage.jobs.pop(0)
                self._out |= set(job)
                yield job
            elif self._out:
                yield ()
            else:
                return  # what the rest waits for has failed, or there was no time for it

    def _stage(self, condition: SeedBertCondition) -> _Stage:
        keys = [k for k in condition.keys(self.runs) if k in self._left[condition.name]]
        waits_for = condition.choosing if condition.waits else None
        return _Stage(
            self._grouped(condition, keys),
            lambda: waits_for is None or not self._waits(waits_for),
        )

    def _waits(self, name: str) -> bool:
        """Whether fits of a condition of this run are missing."""
        return bool(self._left.get(name))

    def _of_variant(self) -> list[_Stage]:
        """The best variant on the other corpora, where it is none that is there anyway."""
        try:
            variant, _ = best_variant(self.place.folder)
        except DataError:
            return []  # the first corpus is not part of this run
        stages = []
        for condition in self._confirm:
            more = set(condition.keys(self.runs, variant)) - set(condition.keys(self.runs))
            missing = self.place.missing(sorted(more))
            self._left[condition.name] |= set(missing)
            choosing = condition.choosing
            ready = lambda choosing=choosing: not self._waits(choosing)  # noqa: E731
            stages.append(_Stage(self._grouped(condition, missing), ready))
        return stages

    def _grouped(self, condition: SeedBertCondition, keys: Sequence[Key]) -> list[Job]:
        """Keys of a model make up one job, as many as are trained side by side."""
        if not self.together:
            return [(key,) for key in keys]
        n_folds = condition.repeats if condition.kind == "choose" else N_FOLDS
        jobs: list[Job] = []
        for model in dict.fromkeys(key.method for key in keys):
            of_model = [key for key in keys if key.method == model]
            n = max(1, AT_ONCE // (n_folds * MODELS[model].size))
            jobs += [tuple(of_model[at : at + n]) for at in range(0, len(of_model), n)]
        return jobs
