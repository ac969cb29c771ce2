"""What is in a corpus: who answered what, how much they agree, what is disputed, who is odd."""

from __future__ import annotations

from dissensus.describe.corpus import describe
from dissensus.describe.description import Description, QuestionDescription
from dissensus.describe.disputed import Disputed
from dissensus.describe.people import Constant, Duplicated, Fast
from dissensus.describe.words import one_line, scale_text

__all__ = [
    "Constant",
    "Description",
    "Disputed",
    "Duplicated",
    "Fast",
    "QuestionDescription",
    "describe",
    "one_line",
    "scale_text",
]
