"""Corpus: contents, items, questions, and facts about items and annotators."""

from __future__ import annotations

from dissensus.corpus.corpus import Corpus, save_blocks
from dissensus.corpus.fields import Focus, Joint, LeftOut, Rationales
from dissensus.corpus.folder import StoredAnnotations, StoredCorpus, open_corpus

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
