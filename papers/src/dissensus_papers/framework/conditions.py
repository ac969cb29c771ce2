"""Conditions of a paper by their names, and in their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.evaluation import EvaluationProtocol, Fold


class OnCorpus(Protocol):
    """A condition: it has a name, and a corpus that it needs."""

    @property
    def name(self) -> str: ...

    @property
    def corpus(self) -> str: ...


C = TypeVar("C", bound=OnCorpus)
Folds = Sequence[Fold] | EvaluationProtocol
Printed = Mapping[str, Mapping[str, float]]  # model -> metric -> figure of the paper
Figures = Mapping[str, Mapping[str, Mapping[str, float]]]  # question -> name -> metric -> figure


@dataclass(frozen=True)
class ComparisonCondition:
    """One block of a paper's tables: models on a corpus, with the same folds and seeds.

    Args:
        models: names of the paper's models.
        settings: of all models that have them, e.g. the encoder of this corpus.
        folds: of the corpus; `evaluation.choose_protocol` if None.
        questions, metrics, densities, by, trials, scoring: as in `evaluation.compare`. A density
            has a table like that of a question.
        reference: the model that others are compared with.
        printed: figures of the paper that stand next to ours, in all tables.
        printed_in: the same for single tables, by question or by density reading.
        figures: from the corpus to figures that no model has to be fitted for, such as how far
            annotators agree; rows below the models.
        not_counted: why claims do not count this condition; it counts if empty.
    """

    name: str
    title: str
    corpus: str
    models: tuple[str, ...]
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    reference: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    folds: Callable[[Corpus], Folds] | None = None
    questions: tuple[str, ...] | None = None
    by: str | None = None
    trials: int = 0
    scoring: str | None = None
    densities: tuple[str, ...] = ()
    printed: Printed = field(default_factory=dict)
    printed_in: Mapping[str, Printed] = field(default_factory=dict)
    figures: Callable[[Corpus], Figures] | None = None
    not_counted: str = ""


def named_conditions(
    conditions: Mapping[str, C],
    text: str | None,
    default: Iterable[str],
    corpora: Collection[str],
) -> list[C]:
    """The conditions whose names stand in `text`, separated by commas.

    Args:
        default: the names if `text` is None; those whose corpus is missing are left out.
        corpora: the corpora that are there.
    """
    names = list(default) if text is None else [part.strip() for part in text.split(",")]
    unknown = [name for name in names if name not in conditions]
    if unknown:
        raise DataError(f"no condition {listed(unknown)}; there are {', '.join(conditions)}")
    wanted = [conditions[name] for name in dict.fromkeys(names)]
    missing = [condition for condition in wanted if condition.corpus not in corpora]
    if missing and text is not None:
        raise DataError(
            f"{missing[0].name} needs the corpus {missing[0].corpus!r}; it is not in DATA"
        )
    return [condition for condition in wanted if condition.corpus in corpora]


def in_order(
    report: dict[str, Any], conditions: Iterable[str], models: Iterable[str]
) -> dict[str, Any]:
    """A report with its conditions and models in the paper's order; JSON files are sorted."""
    models = list(models)
    ordered = {}
    for name in conditions:
        if name in report["conditions"]:
            condition = report["conditions"][name]
            sides = {
                side: {
                    model: condition[side][model] for model in models if model in condition[side]
                }
                for side in ("models", "against")
            }
            ordered[name] = condition | sides
    return report | {"conditions": ordered}
