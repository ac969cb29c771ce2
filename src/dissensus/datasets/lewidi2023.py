"""LeWiDi 2023 (SemEval-2023 task 11): four corpora of texts on which annotators disagree.

HS-Brexit (hate, aggressive, offensive), ArMIS (misogyny, in Arabic), ConvAbuse (severity, abusive
and twelve more about conversations with a bot) and MD-Agreement (offensive); training and
development part together, distinguished by the official split.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, present
from dissensus.readers.formats.lewidi2023 import read_parts

CORPORA: tuple[str, ...] = ("HS-Brexit", "ArMIS", "ConvAbuse", "MD-Agreement")
DEFAULT: str | None = None
PARTS = ("train", "dev")


def recognise(folder: Path) -> bool:
    """Whether the folder contains a file of one of the four."""
    return any((folder / f"{name}_{part}.json").is_file() for name in CORPORA for part in PARTS)


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Items are named "train-1"; gold is the official hard label of the main question."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    return read_parts([present(folder, f"{wanted}_{part}.json") for part in PARTS], wanted)
