"""LeWiDi 2023 (SemEval-2023 task 11): four corpora of texts on which annotators disagree.

HS-Brexit (hate, aggressive, offensive), ArMIS (misogyny, in Arabic), ConvAbuse (severity, abusive
and twelve more about conversations with a bot) and MD-Agreement (offensive); training and
development part together, distinguished by the official split.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.datasets.files import present
from dissensus.readers.formats.lewidi2023 import read_parts


def load(folder: Path, corpus: str) -> Corpus:
    """Items are named "train-1"; gold is the official hard label of the main question."""
    parts = [present(folder, f"{corpus}_{part}.json") for part in ("train", "dev")]
    return read_parts(parts, corpus)
