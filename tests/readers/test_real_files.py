"""Real long tables, as their authors published them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.readers import read
from dissensus.scales import Interval, Nominal


@pytest.mark.data
def test_snow_2008(data_folder: Path) -> None:
    # Snow et al. (2008), Cheap and fast - but is it good?, section 4: 10 answers per item
    rte = read(data_folder / "snow2008" / "rte.csv")
    assert (rte["response"].n_rows, rte.n_items, rte.n_annotators) == (8000, 800, 164)
    assert rte["response"].scale == Nominal(("0", "1"))
    assert rte.gold["response"].n_rows == 800
    valence = read(data_folder / "snow2008" / "valence.csv")
    assert valence["response"].scale == Interval(-100, 100)
    assert (valence["response"].n_rows, valence.n_items, valence.n_annotators) == (1000, 100, 38)


@pytest.mark.data
def test_bluebirds(data_folder: Path) -> None:
    # Welinder et al. (2010): 39 annotators looked at all of 108 pictures
    birds = read(data_folder / "bluebirds_ducks" / "bluebirds.csv")
    assert birds["label"].counts().sum(axis=1).tolist() == [39] * 108
