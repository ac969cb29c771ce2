"""Facts about the items of a corpus, saved with the outcomes: a report reads no corpus, and
outcomes of other data are refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.folders import reading
from dissensus_papers.framework.outcomes import refuse_other_data, write_whole
from dissensus_papers.seedbert.conditions import fold_of_items, folds
from dissensus_papers.seedbert.corpora import SOURCES, biases

FOLDER = "corpora"


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a corpus: the annotators' answers, the label of each item, and the folds."""

    corpus: str
    values: tuple[str, ...]
    counts: np.ndarray  # (n_items, n_values) how many annotators gave each answer
    label: np.ndarray  # (n_items,) codes
    groups: np.ndarray  # (n_items,) the content or conversation
    folds: np.ndarray  # (n_repeats, n_items) the fold that tests each
    biases: np.ndarray  # (n_annotators, n_values) how often each gives which answer
    kappas: np.ndarray  # of any, most, all; empty but for emotions

    @classmethod
    def of(cls, corpus: Corpus, kappas: dict[str, float]) -> Items:
        source = SOURCES[corpus.name]
        annotations = corpus[source.question]
        dealt = folds(corpus, source)
        label = np.full(corpus.n_items, -1)
        majority = annotations.consensus("first")
        label[majority.item] = majority.answer
        return cls(
            corpus.name,
            tuple(str(value) for value in annotations.scale.values),  # type: ignore[attr-defined]
            annotations.counts(),
            label,
            np.unique(corpus.units(), return_inverse=True)[1].reshape(-1),
            np.stack([fold_of_items(each, corpus.n_items) for each in dealt]),
            biases(corpus, source.question),
            np.array([kappas[name] for name in ("any", "most", "all")] if kappas else []),
        )

    @property
    def shares(self) -> np.ndarray:
        """The share of annotators that gave each answer, (n_items, n_values)."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def keep(self, folder: Path) -> None:
        """Write them; refuse a folder that was begun with other data."""
        path = folder / FOLDER / f"{self.corpus}.npz"
        content = {
            name: np.asarray(array) for name, array in vars(self).items() if name != "corpus"
        }
        if path.exists():
            kept = vars(Items.load(folder, self.corpus))
            known = not len(self.kappas) or len(kept["kappas"])  # a kit has no ratings
            differing = [
                name
                for name, array in content.items()
                if (name != "kappas" or (known and len(array)))
                and not _same(array, np.asarray(kept[name]))
            ]
            refuse_other_data(folder, self.corpus, differing, "the data")
            if known:
                return
        write_whole(path, lambda new: np.savez_compressed(new, **content))  # type: ignore[arg-type]

    @classmethod
    def load(cls, folder: str | Path, corpus: str) -> Items:
        path = Path(folder) / FOLDER / f"{corpus}.npz"
        if not path.exists():
            raise DataError(f"{path}: missing; run the paper into this folder again")
        with reading(path), np.load(path) as arrays:
            values = tuple(str(value) for value in arrays["values"])
            return cls(corpus, values, **{n: arrays[n] for n in _NUMBERS})


_NUMBERS = ("counts", "label", "groups", "folds", "biases", "kappas")


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    if first.shape != second.shape:
        return False
    if first.dtype.kind == "U" or second.dtype.kind == "U":
        return bool((first == second).all())
    return bool(np.allclose(first, second, equal_nan=True))
