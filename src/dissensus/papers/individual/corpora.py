"""The corpora of the paper: ratings of annotators with names."""

from __future__ import annotations

from dissensus.papers.framework.corpora import Source

SOURCES: dict[str, Source] = {"speechocean762": Source("speechocean762", "sentences")}
