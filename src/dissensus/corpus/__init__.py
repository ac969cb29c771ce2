"""Corpus: contents, items, questions, and facts about items and annotators."""

from __future__ import annotations

from dissensus.corpus.corpus import Corpus
from dissensus.corpus.parts import Focus, Joint, LeftOut, Rationales
from dissensus.corpus.stored import StoredAnnotations, StoredCorpus, open_corpus, save_blocks

__all__ = [
    "Corpus",
    "Focus",
    "Joint",
    "LeftOut",
    "Rationales",
    "StoredAnnotations",
    "StoredCorpus",
    "open_corpus",
    "save_blocks",
]
