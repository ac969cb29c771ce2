"""The paper's protocol on each corpus: which models, how often, with which settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dissensus.corpus import Corpus
from dissensus.evaluation import Fold, nested, repeated
from dissensus.evaluation.fit import Key
from dissensus_papers.seedbert.corpora import FIRST, SOURCES, Source
from dissensus_papers.seedbert.models import DEEP, MANY, SEEDS, SINGLE, TABLE_4, VARIANTS, trials

Kind = Literal["choose", "chosen", "paper", "many", "again"]
N_FOLDS, N_REPEATS = 5, 5


@dataclass(frozen=True)
class SeedBertCondition:
    """Models on a corpus.

    Args:
        kind: settings are chosen ("choose"); models have those that were ("chosen"), or the
            paper's rate and epochs ("paper"); "many": ensembles of 20 members with chosen ones;
            "again": what was found after the fact, with chosen ones on other items.
        models: without a variant that is chosen on the first corpus.
        repeats: how often the folds are dealt out; of "choose", folds of the first time.
    """

    name: str
    corpus: str
    kind: Kind
    models: tuple[str, ...]
    repeats: int = N_REPEATS

    @property
    def source(self) -> Source:
        return SOURCES[self.corpus]

    @property
    def choosing(self) -> str:
        """The condition in which its settings are chosen."""
        return f"{self.source.again or self.corpus}-choose"

    @property
    def waits(self) -> bool:
        """Whether its settings are chosen in another condition."""
        return self.kind in ("chosen", "many", "again")

    def keys(self, runs: int, variant: str | None = None) -> list[Key]:
        """Everything that is trained; of "choose" a key is a trial."""
        if self.kind == "choose":
            return [Key(m, n, self.name) for m in self.models for n in range(len(trials(m)))]
        more = [variant] if self.confirms and variant and variant not in self.models else []
        models = [*more, *self.models]
        n = min(self.repeats, runs)
        return [Key(model, repeat, self.name) for model in models for repeat in range(n)]

    @property
    def confirms(self) -> bool:
        """Whether the variant that is best on the first corpus is put to the test here."""
        return self.kind == "chosen" and self.corpus != FIRST


def _of(name: str) -> tuple[SeedBertCondition, ...]:
    """All conditions of a corpus."""
    if SOURCES[name].again:
        return (SeedBertCondition(name, name, "again", (SINGLE, SEEDS, DEEP)),)
    plain = SeedBertCondition(name, name, "chosen", (SINGLE, SEEDS, DEEP, *TABLE_4))
    plain = replace(plain, models=tuple(dict.fromkeys(plain.models)))
    if name == FIRST:
        plain = replace(plain, models=(SINGLE, *VARIANTS, *TABLE_4[1:-1]))
    folds = 2 if name in ("ConvAbuse", "MD-Agreement") else N_FOLDS
    conditions = [
        SeedBertCondition(f"{name}-choose", name, "choose", TABLE_4, folds),
        plain,
        SeedBertCondition(f"{name}-paper", name, "paper", TABLE_4),
    ]
    many = {FIRST: (f"{SEEDS}-{MANY}", f"{DEEP}-{MANY}"), "ConvAbuse": (f"{SEEDS}-{MANY}",)}
    if name in many:
        conditions.append(SeedBertCondition(f"{name}-many", name, "many", many[name], repeats=2))
    return tuple(conditions)


CONDITIONS: dict[str, SeedBertCondition] = {
    condition.name: condition for name in SOURCES for condition in _of(name)
}


def with_choosing(named: Iterable[SeedBertCondition]) -> list[SeedBertCondition]:
    """These conditions, and those in which their settings are chosen."""
    wanted = set(named)
    wanted |= {CONDITIONS[c.choosing] for c in wanted if c.waits}
    return [condition for condition in CONDITIONS.values() if condition in wanted]


# ---- folds ----


def folds(corpus: Corpus, source: Source) -> list[list[Fold]]:
    """Five folds, dealt out five times: by repetition, balanced by the labels."""
    dealt = repeated(corpus, N_FOLDS, N_REPEATS, source.seed, stratify=source.question)
    return [[fold for fold in dealt if fold.run == run] for run in range(N_REPEATS)]


def to_choose(corpus: Corpus, condition: SeedBertCondition) -> list[Fold]:
    """Of each of the first folds' training parts a fifth to judge settings on, the rest to learn
    from."""
    source = condition.source
    first = folds(corpus, source)[0][: condition.repeats]
    return [
        nested(corpus, fold, N_FOLDS, source.seed, stratify=source.question)[0] for fold in first
    ]


def seed_of(source: Source, repeat: int, fold: int) -> int:
    """Of a fit: different ones for all folds of all repetitions."""
    return source.seed + N_FOLDS * repeat + fold


def fold_of_items(dealt: list[Fold], n_items: int) -> np.ndarray:
    """The fold that tests each item, (n_items,)."""
    fold_of = np.full(n_items, -1)
    for number, fold in enumerate(dealt):
        fold_of[fold.test] = number
    return fold_of
