"""What a user passes where a function needs a corpus or annotations: a table in memory, or a path.

Computing needs no reader: the package itself (`dissensus/__init__.py`) sets which one is used. This
module is light, so that it can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dissensus.annotations import Annotations
    from dissensus.corpus import Corpus

reader: Callable[[Any], Corpus] | None = None  # of a pandas, polars or Arrow table, or a path


def corpus_of(source: Any) -> Corpus:
    """A corpus as it is; a pandas, polars or Arrow table, or a path, as `read` reads it."""
    from dissensus.corpus import Corpus

    if isinstance(source, Corpus):
        return source
    assert reader is not None, "dissensus/__init__.py sets it"
    return reader(source)


def annotations_of(source: Any) -> Annotations:
    """The answers to one question: annotations as they are, those of a corpus or of a table.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"task": ["t1", "t1"], "worker": ["ann", "bob"], "label": [1, 0]})
        >>> annotations_of(table)
        <Annotations: 2 answers by 2 annotators on 1 item, nominal>
    """
    from dissensus.annotations import Annotations
    from dissensus.errors import DataError, listed

    if isinstance(source, Annotations):
        return source
    corpus = corpus_of(source)
    if len(corpus.questions) != 1:
        raise DataError(
            f"{corpus.name} has the questions {listed(corpus.questions)}; choose one, for example "
            f"corpus[{next(iter(corpus.questions), 'question')!r}]"
        )
    return next(iter(corpus.questions.values()))
