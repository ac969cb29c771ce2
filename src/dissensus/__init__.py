"""Learning from annotators who disagree, and keeping what they disagree about.

Its parts are loaded when they are first used, so that `import dissensus` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dissensus import conversion
from dissensus.version import __version__ as __version__

if TYPE_CHECKING:
    from dissensus import (
        aggregation,
        agreement,
        datasets,
        densities,
        description,
        drawing,
        encoders,
        evaluation,
        methods,
        metrics,
        plot,
        readers,
        report,
        scales,
        simulate,
        testing,
        training,
        workflow,
    )
    from dissensus.aggregation import aggregate
    from dissensus.annotations import Annotations
    from dissensus.corpus import Corpus, open_corpus
    from dissensus.datasets import read
    from dissensus.description import describe
    from dissensus.drawing import draw
    from dissensus.errors import DissensusError
    from dissensus.evaluation import compare, evaluate
    from dissensus.methods import load
    from dissensus.names import Names
    from dissensus.prediction import Prediction, Predictions
    from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal
    from dissensus.workflow import run

__all__ = [
    "Annotations",
    "Corpus",
    "DissensusError",
    "Interval",
    "MultiLabel",
    "Names",
    "Nominal",
    "Ordinal",
    "Prediction",
    "Predictions",
    "aggregate",
    "aggregation",
    "agreement",
    "compare",
    "datasets",
    "densities",
    "describe",
    "description",
    "draw",
    "drawing",
    "encoders",
    "evaluate",
    "evaluation",
    "load",
    "methods",
    "metrics",
    "open_corpus",
    "plot",
    "read",
    "readers",
    "report",
    "run",
    "scales",
    "simulate",
    "testing",
    "training",
    "workflow",
]

_HOMES = {  # the module of each name that is not a module itself
    "Annotations": "annotations",
    "Corpus": "corpus",
    "DissensusError": "errors",
    "Interval": "scales",
    "MultiLabel": "scales",
    "Names": "names",
    "Nominal": "scales",
    "Ordinal": "scales",
    "Prediction": "prediction",
    "Predictions": "prediction",
    "aggregate": "aggregation",
    "compare": "evaluation",
    "describe": "description",
    "draw": "drawing",
    "evaluate": "evaluation",
    "load": "methods",
    "open_corpus": "corpus",
    "read": "datasets",
    "run": "workflow",
}


def _read(source: Any) -> Any:
    from dissensus.readers import read

    return read(source)


conversion.reader = _read


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"dissensus.{_HOMES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"dissensus.{name}")
    raise AttributeError(f"module 'dissensus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
