"""Options of dissensus aggregate about models: skills, first matrices, earlier fits, history."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.aggregation import Aggregator
    from dissensus.corpus import Corpus, StoredCorpus


@dataclass(frozen=True)
class ModelOptions:
    """What a user gave besides the method."""

    skills: Path | None
    start: Path | None
    warm_start: Path | None
    save_model: Path | None
    history: bool

    def check_none(self, method: str) -> None:
        """Refuse all of them."""
        for name, value in vars(self).items():
            if value:
                raise DataError(
                    f"--method {method} has no --{name.replace('_', '-')}; leave it out"
                )

    def arguments(
        self, corpus: Corpus | StoredCorpus, method: str, questions: list[str] | None
    ) -> dict[str, Any]:
        """The arguments of `aggregation.aggregate` that the files contain."""
        names = questions or list(corpus.questions)
        if (self.start or self.warm_start or self.save_model) and len(names) != 1:
            raise DataError(f"choose one question with --question: {listed(names)}")
        given: dict[str, Any] = {}
        if self.skills is not None:
            columns = _columns(self.skills, ("annotator", "skill"))
            pairs = zip(columns["annotator"], _numbers(self.skills, columns["skill"]), strict=True)
            given["skills"] = dict(pairs)
        if self.start is not None:
            values = getattr(corpus[names[0]].scale, "values", ())
            given["start"] = _matrices(self.start, values)
        if self.warm_start is not None:
            given["warm_start"] = _restored(self.warm_start, method)
        return given

    def report(self, fitted: Mapping[str, Aggregator]) -> None:
        """Print the history, and save the model."""
        from dissensus.aggregation.em import HiddenTruth

        for question, aggregator in fitted.items():
            each = getattr(aggregator, "by_value_", {"": aggregator})
            for value, model in each.items():
                if self.history:
                    _say_history(f"{question} {value}".strip(), model)
            if self.save_model is not None:
                if not isinstance(aggregator, HiddenTruth) or "" not in each:
                    raise DataError(
                        f"--save-model is for models of annotators of nominal or ordinal answers, "
                        f"not {aggregator.name}"
                    )
                aggregator.save(self.save_model)
                console.say(f"{self.save_model}: written")


def _say_history(about: str, model: Any) -> None:
    history = getattr(model, "log_likelihood_", None)
    if history is None:
        raise DataError(
            f"{model.name} has no iterations with a log-likelihood; leave out --history"
        )
    for iteration, likelihood in enumerate(history, 1):
        console.say(f"{about}: iteration {iteration}, log-likelihood {likelihood:.6f}")


def _restored(folder: Path, method: str) -> Any:
    from dissensus.aggregation import AGGREGATORS
    from dissensus.aggregation.em import HiddenTruth

    aggregator = AGGREGATORS[method]()
    if not isinstance(aggregator, HiddenTruth):
        raise DataError(f"{method} does not take a warm start; use dawid-skene, one-coin or mace")
    return aggregator.restore(folder)


def _matrices(path: Path, values: Iterable[str]) -> dict[str, Any]:
    """The first confusion matrix of each annotator, (true, answered)."""
    import numpy as np

    codes = {value: code for code, value in enumerate(values)}
    columns = _columns(path, ("annotator", "true", "answer", "probability"))
    unknown = [v for name in ("true", "answer") for v in columns[name] if v not in codes]
    if unknown:
        raise DataError(f"{path}: {unknown[0]!r} is no value; there are {listed(codes, 20)}")
    matrices: dict[str, Any] = {}
    numbers = _numbers(path, columns["probability"])
    rows = zip(columns["annotator"], columns["true"], columns["answer"], numbers, strict=True)
    for annotator, true, answer, probability in rows:
        matrix = matrices.setdefault(annotator, np.zeros((len(codes), len(codes))))
        matrix[codes[true], codes[answer]] = probability
    return matrices


def _columns(path: Path, names: tuple[str, ...]) -> dict[str, list[str]]:
    """These columns of a table, as texts."""
    from dissensus.evaluation.outside_predictions import read_columns

    columns = read_columns(path)
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(f"{path}: no column {listed(missing)}; it has {listed(columns)}")
    return {name: [str(value) for value in columns[name]] for name in names}


def _numbers(path: Path, texts: list[str]) -> list[float]:
    numbers = []
    for row, text in enumerate(texts, 2):
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise DataError(f"{path}, line {row}: {text!r} is not a number")
        numbers.append(number)
    return numbers


def say_encoders(model: Path, fitted: Any) -> None:
    """Print what a model reads its encoders from, if that is not installed, before it is read."""
    from dissensus.encoders.framework.catalogue import AND, outside_source

    named = getattr(fitted, "encoder", None) or ()
    names = named.values() if isinstance(named, dict) else [named] if isinstance(named, str) else ()
    sources = [outside_source(part) for name in names for part in name.split(AND)]
    for source in dict.fromkeys(source for source in sources if source is not None):
        console.say(f"{model}: its encoder is read from {source}, which is not part of the model")
