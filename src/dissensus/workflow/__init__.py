"""The whole way from a corpus to a report, a model and predictions: Corpus -> RunResult."""

from __future__ import annotations

from dissensus.workflow.corpus_run import RunResult, run

__all__ = ["RunResult", "run"]
