"""Two classical tables: the grades of patients before anaesthesia (Dawid & Skene 1979), and caries.

In `anaesthesia` five anaesthetists graded forms, the first of them every form three times. `caries`
is a table of patterns: five dentists looked at 3,859 teeth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations, count_pairs
from dissensus.corpus import Corpus
from dissensus.datasets.files import Table, csv_table, names_in_order
from dissensus.errors import DataError
from dissensus.names import Names, string_array
from dissensus.scales import Nominal, Ordinal

MOST_TEETH = 1e6  # of a pattern
DENTISTS = ("rater_1", "rater_2", "rater_3", "rater_4", "rater_5")


def load(folder: Path, corpus: str) -> Corpus:
    """One question, named as the corpus; items are numbers, without content or gold."""
    return _anaesthesia(folder) if corpus == "anaesthesia" else _caries(folder)


def _anaesthesia(folder: Path) -> Corpus:
    columns = ("item", "rater", "rating")  # "1.0": read as a number
    numbers = csv_table(folder, "anesthesia.csv", numbers=columns)
    texts = pa.table({name: string_array(numbers[name]) for name in columns})
    forms = Table(numbers.path, texts)
    items = names_in_order(forms["item"])
    scale = Ordinal(("1", "2", "3", "4"))
    annotations = forms.annotations("rating", scale, items, "item", "rater", repeats="keep")
    n_pairs = count_pairs(annotations.item, annotations.annotator_codes("counting pairs"))
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
    table = csv_table(folder, "caries.csv", numbers=(*DENTISTS, "n"))
    n_teeth = table.array("n")
    wrong = ~((n_teeth >= 0) & (n_teeth <= MOST_TEETH) & (n_teeth == np.floor(n_teeth)))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{table.path}, row {row + 1}: 'n' counts teeth, found {n_teeth[row]:g}")
    pattern = np.repeat(np.arange(len(table)), n_teeth.astype(np.int64))  # of each tooth
    answers = [string_array(table[name]).take(pa.array(pattern)) for name in DENTISTS]
    items = Names.range(len(pattern))
    with table.errors():
        annotations = Annotations.from_arrays(
            np.tile(np.arange(len(items)), len(DENTISTS)),
            np.repeat(np.arange(len(DENTISTS)), len(items)),
            pa.concat_arrays(answers),
            Nominal(("1", "2")),
            items=items,
            annotators=Names([name.removeprefix("rater_") for name in DENTISTS]),
        )
    return Corpus.build("caries", items, {"caries": annotations})
