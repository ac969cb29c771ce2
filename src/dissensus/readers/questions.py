"""Tables in memory where a function needs annotations or a corpus."""

from __future__ import annotations

from typing import Any

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.readers import read


def corpus_of(source: Any) -> Corpus:
    """A corpus as it is; a pandas, polars or Arrow table, or a path, as `read` reads it."""
    return source if isinstance(source, Corpus) else read(source)


def annotations_of(source: Any) -> Annotations:
    """The answers to one question: annotations as they are, those of a corpus or of a table.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"task": ["t1", "t1"], "worker": ["ann", "bob"], "label": [1, 0]})
        >>> annotations_of(table)
        <Annotations: 2 answers by 2 annotators on 1 item, nominal>
    """
    if isinstance(source, Annotations):
        return source
    corpus = corpus_of(source)
    if len(corpus.questions) != 1:
        raise DataError(
            f"{corpus.name} has the questions {listed(corpus.questions)}; choose one, for example "
            f"corpus[{next(iter(corpus.questions), 'question')!r}]"
        )
    return next(iter(corpus.questions.values()))
