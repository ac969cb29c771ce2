"""What a paper declares: corpora, models, conditions and claims."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import EvaluationProtocol, Fold

if TYPE_CHECKING:
    from dissensus.methods import Method

Typed = Sequence[tuple[str, str]]  # names and values of settings, as users type them
Folds = Sequence[Fold] | EvaluationProtocol
Printed = Mapping[str, Mapping[str, float]]  # model -> metric -> figure of the paper
Figures = Mapping[str, Mapping[str, Mapping[str, float]]]  # question -> name -> metric -> figure


@dataclass(frozen=True)
class Source:
    """A corpus of a paper.

    Args:
        folder: its folder in DATA, as it is distributed; empty if it is simulated.
        corpus: which one, if the folder has several.
        prepared: what methods learn from: a sample, other questions, another name of a scale.
        simulated: makes the corpus, if no folder has it.
        parts: names of other sources that it is made of, as they are prepared, by `joined`.
    """

    folder: str
    corpus: str | None = None
    prepared: Callable[[Corpus], Corpus] = lambda corpus: corpus
    simulated: Callable[[], Corpus] | None = None
    parts: tuple[str, ...] = ()
    joined: Callable[[Mapping[str, Corpus]], Corpus] | None = None


def some_items(corpus: Corpus, n: int) -> Corpus:
    """So many items, spread evenly over the corpus: for trying out."""
    return corpus.select(items=np.unique(np.linspace(0, corpus.n_items - 1, n).astype(int)))


def read_sources(data: Path, sources: Mapping[str, Source]) -> dict[str, Corpus]:
    """The corpora that a folder contains: saved by name, or in the folders they came in; those that
    are simulated; and those that are made of others."""
    from dissensus import datasets

    corpora: dict[str, Corpus] = {}
    distributed: dict[tuple[str, str | None], Corpus] = {}
    for name, source in sources.items():
        folder, which = data / source.folder, (source.folder, source.corpus)
        if (data / name / "corpus.json").is_file():
            corpora[name] = Corpus.load(data / name)
        elif source.folder and folder.is_dir() and not (folder / "corpus.json").is_file():
            if which not in distributed:
                distributed[which] = datasets.read(folder, corpus=source.corpus)
            corpora[name] = replace(distributed[which], name=name)
    if not corpora:
        folders = ", ".join(filter(None, dict.fromkeys(s.folder for s in sources.values())))
        raise DataError(f"{data}: none of {folders} is in it")
    for name, source in sources.items():
        if name not in corpora and source.simulated is not None:
            corpora[name] = replace(source.simulated(), name=name)
        elif source.joined is not None and set(source.parts) <= set(corpora):
            prepared = {part: sources[part].prepared(corpora[part]) for part in source.parts}
            corpora[name] = replace(source.joined(prepared), name=name)
    return corpora


@dataclass(frozen=True)
class Model:
    """A row of a paper's tables: a method with settings.

    Args:
        title: in tables.
        method: its name in `METHODS`; or a module of this package and what makes the method there,
            as "individual.methods:Heads", which is imported when it is first built.
        settings: where they are not the method's defaults.
        choices: the values that trials draw settings from; those of the method if None.
    """

    title: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[Any, ...]] | None = None

    def built(self, shared: Mapping[str, Any], typed: Typed = ()) -> Method:
        """The method, not fitted.

        Args:
            shared: settings of all models; those that the method does not have are left out.
            typed: the same, as typed; they replace all others.
        """
        from dissensus.methods import build, changed

        module, _, made_by = self.method.partition(":")
        default: Method
        if made_by:
            own = importlib.import_module(f"dissensus_papers.{module}")
            default = attrgetter(made_by)(own)()
        else:
            default = build(self.method)
        return with_typed(changed(default, known(default, shared) | dict(self.settings)), typed)


def known(method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a method has."""
    from dissensus.methods import settings_of

    names = settings_of(method)
    return {name: value for name, value in settings.items() if name in names}


def with_typed(method: Method, typed: Typed) -> Method:
    """A method with those of the typed settings that it has."""
    from dissensus.methods import configured, settings_of

    names = settings_of(method)
    return configured(method, [(name, text) for name, text in typed if name in names])


@dataclass(frozen=True)
class ComparisonCondition:
    """One block of a paper's tables: models on a corpus, with the same folds and seeds.

    Args:
        models: names of the paper's models.
        reference: the model that others are compared with.
        settings: of all models that have them, e.g. the encoder of this corpus.
        of_model: the same of single models, by name.
        folds: of the corpus; `evaluation.choose_protocol` if None.
        questions, metrics, densities, by, trials, scoring: as in `evaluation.compare`. A density
            has a table like that of a question.
        printed: figures of the paper that stand next to ours, in all tables.
        printed_in: the same for single tables, by question or by density reading.
        figures: from the corpus to figures that no model has to be fitted for, such as how far
            annotators agree; rows below the models.
        decided_by: the metric that decides claims, of those that name none.
        licensed: whether its corpus is not public.
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
    of_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folds: Callable[[Corpus], Folds] | None = None
    questions: tuple[str, ...] | None = None
    by: str | None = None
    trials: int = 0
    scoring: str | None = None
    densities: tuple[str, ...] = ()
    printed: Printed = field(default_factory=dict)
    printed_in: Mapping[str, Printed] = field(default_factory=dict)
    figures: Callable[[Corpus], Figures] | None = None
    decided_by: str = ""
    licensed: bool = False
    not_counted: str = ""


def with_models(conditions: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The conditions that compare some of these models, with these alone."""
    some = []
    for condition in conditions:
        own = tuple(name for name in getattr(condition, "models", ()) if name in names)
        some += [replace(condition, models=own)] if own else []
    unknown = [name for name in names if not any(name in condition.models for condition in some)]
    if unknown:
        raise DataError(f"no condition that is run has a model {unknown[0]!r}")
    return some


@dataclass(frozen=True)
class BetterThan:
    """The claim that one model has a better score than another; it is tested in every condition.

    Args:
        claim: as the paper states it.
        conditions: names of those that it is tested in; if empty, all that count.
        metric: what decides; if empty, that of each condition.
        question: its name, or its place in each condition; the first one if None. Also the name of
            a density reading, which may begin with its bracket ("(soft)") if the questions differ
            between conditions.
        second_question: of the second model, if it differs: two readings of densities are compared.
        matters: the smallest difference that would matter.
    """

    claim: str
    first: str
    second: str
    conditions: tuple[str, ...] = ()
    metric: str = ""
    question: str | int | None = None
    second_question: str | None = None
    matters: float = 0.02
