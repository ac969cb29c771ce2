"""Two classical tables: the grades of patients before anaesthesia (Dawid & Skene 1979), and caries.

In `anaesthesia` five anaesthetists graded forms, the first of them every form three times. `caries`
is a table of patterns: five dentists looked at 3,859 teeth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order
from dissensus.errors import DataError
from dissensus.names import Names, string_array
from dissensus.scales import Nominal, Ordinal

CORPORA: tuple[str, ...] = ("anaesthesia", "caries")
DEFAULT: str | None = None
FORMS, PATTERNS = "anesthesia.csv", "caries.csv"
MOST_TEETH = 1e6  # of a pattern
DENTISTS = ("rater_1", "rater_2", "rater_3", "rater_4", "rater_5")


def recognise(folder: Path) -> bool:
    """Whether the folder contains one of the two tables."""
    return any((folder / name).is_file() for name in (FORMS, PATTERNS))


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """One question, named as the corpus; items are numbers, without content or gold."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    return _anaesthesia(folder) if wanted == "anaesthesia" else _caries(folder)


def _anaesthesia(folder: Path) -> Corpus:
    columns = dict.fromkeys(("item", "rater", "rating"), pa.float64())  # "1.0": read as a number
    forms = csv_table(folder, FORMS, **columns)
    items, annotators = (names_in_order(string_array(forms[key])) for key in ("item", "rater"))
    with errors_in(folder / FORMS):
        annotations = Annotations.from_arrays(
            items.codes(string_array(forms["item"])),
            annotators.codes(string_array(forms["rater"])),
            string_array(forms["rating"]),
            Ordinal(("1", "2", "3", "4")),
            items=items,
            annotators=annotators,
            repeats="keep",
        )
    n_pairs = len(
        np.unique(
            np.stack([annotations.item, annotations.annotator_codes("counting pairs")]), axis=1
        ).T
    )
    return Corpus.build(
        "anaesthesia",
        items,
        {"anaesthesia": annotations},
        notes=(
            f"{annotations.n_rows - n_pairs} of {annotations.n_rows} answers are second and third "
            "answers of the same annotator, and are kept",
        ),
    )


def _caries(folder: Path) -> Corpus:
    table = csv_table(folder, PATTERNS, **dict.fromkeys((*DENTISTS, "n"), pa.float64()))
    n_teeth = _whole_numbers(folder / PATTERNS, table["n"].to_numpy())
    row = np.repeat(np.arange(len(n_teeth)), n_teeth)  # the pattern of each tooth
    answers = [string_array(table[name]).take(pa.array(row)) for name in DENTISTS]
    items = Names.range(len(row))
    with errors_in(folder / PATTERNS):
        annotations = Annotations.from_arrays(
            np.tile(np.arange(len(items)), len(DENTISTS)),
            np.repeat(np.arange(len(DENTISTS)), len(items)),
            pa.concat_arrays(answers),
            Nominal(("1", "2")),
            items=items,
            annotators=Names([name.removeprefix("rater_") for name in DENTISTS]),
        )
    return Corpus.build("caries", items, {"caries": annotations})


def _whole_numbers(path: Path, numbers: np.ndarray) -> np.ndarray:
    wrong = ~((numbers >= 0) & (numbers <= MOST_TEETH) & (numbers == np.floor(numbers)))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{path}, row {row + 1}: 'n' counts teeth, found {numbers[row]:g}")
    return numbers.astype(np.int64)
