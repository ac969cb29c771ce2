"""LeWiDi 2023 (SemEval-2023 task 11) and 2025 (third edition): texts on which annotators disagree.

2023: HS-Brexit (hate, aggressive, offensive), ArMIS (misogyny, in Arabic), ConvAbuse (severity,
abusive and twelve more about conversations with a bot) and MD-Agreement (offensive). 2025: CSC (how
sarcastic is the response, 1 to 6), MP (is the reply ironic, in nine languages), Paraphrase (from -5
to 5, each answer with an explanation) and VariErrNLI (which of entailment, neutral and
contradiction hold, each with an explanation), with the attributes of the annotators. Training and
development part together, distinguished by the official split.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.datasets.catalogue import LEWIDI2023
from dissensus.datasets.files import present
from dissensus.names import Names
from dissensus.readers.files import read_utf8
from dissensus.readers.formats.lewidi import read_parts
from dissensus.readers.json_text import as_object, parsed
from dissensus.scales import as_numbers

PARTS = ("train", "dev")
ONLY_DEV = ("CSC", "MP")  # corpora of 2025 that may lack the training part
MISSING = ("", "nan", "DATA_EXPIRED", "CONSENT_REVOKED")
_COMMA_TOO_MANY = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def load(folder: Path, corpus: str) -> Corpus:
    """Items are named "train-1". 2023: gold is the official hard label of the main question. 2025:
    facts about annotators are named as in their file."""
    if corpus in LEWIDI2023:
        parts = [present(folder, f"{corpus}_{part}.json") for part in PARTS]
        return read_parts(parts, corpus, 2023)
    parts = [
        present(folder, f"{corpus}_{part}.json")
        for part in PARTS
        if part == "dev" or corpus not in ONLY_DEV or (folder / f"{corpus}_{part}.json").is_file()
    ]
    about = present(folder, f"{corpus}_annotators_meta.json")
    loaded = read_parts(parts, corpus, 2025)
    return replace(loaded, annotator_attributes=_annotator_attributes(about, loaded.annotators))


def _annotator_attributes(path: Path, annotators: Names) -> dict[str, Any]:
    """The attributes of each annotator; None where they are missing."""
    text = read_utf8(path).decode("utf-8")
    tidy = _COMMA_TOO_MANY.sub(lambda match: match[1] or "", text)  # two of the files need it
    attributes_of = as_object(parsed(tidy, path), str(path), "annotators by name")
    for name, facts in attributes_of.items():
        as_object(facts, f"{path}, annotator {name!r}", "facts")
    known = [
        attributes_of.get(name) or attributes_of.get(name.removeprefix("Ann"), {})
        for name in annotators
    ]
    keys = dict.fromkeys(key for facts in attributes_of.values() for key in facts)
    return {key: _column([facts.get(key) for facts in known]) for key in keys}


def _column(facts: list[Any]) -> Any:
    """Facts as Arrow texts, or as whole numbers if all of them are."""
    texts = [None if fact is None or str(fact) in MISSING else str(fact) for fact in facts]
    numbers = as_numbers([text for text in texts if text is not None])
    if numbers and all(number == int(number) and abs(number) < 2**53 for number in numbers):
        return pa.array([None if t is None else int(float(t)) for t in texts], pa.int64())
    return pa.array(texts, pa.string())
