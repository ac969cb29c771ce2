"""Corpus: contents, items, questions, and facts about items and annotators."""

from __future__ import annotations

from dissensus.corpus.corpus import Corpus
from dissensus.corpus.fields import Focus, Joint, LeftOut, Rationales

__all__ = ["Corpus", "Focus", "Joint", "LeftOut", "Rationales"]
