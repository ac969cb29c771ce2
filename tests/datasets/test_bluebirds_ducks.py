"""Birds without pictures: ids, a crowd and gold, given or read from the species."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus.datasets import bluebirds_ducks
from dissensus.errors import DataError
from tests.datasets.crowd_folders import BLUEBIRDS, DUCKS, SPECIES
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, corpus: str, name: str, text: str) -> str:
    write(folder, name, text)
    with pytest.raises(DataError) as caught:
        bluebirds_ducks.load(folder, corpus)
    return str(caught.value)


def test_bluebirds(sample_folder: SampleFolder) -> None:
    corpus = bluebirds_ducks.load(sample_folder("bluebirds_ducks"), "bluebirds")
    assert list(corpus.items) == ["9", "11573"] and list(corpus.annotators) == ["9", "10"]
    assert corpus["bluebird"].item.tolist() == [1, 0, 1, 0]
    assert corpus["bluebird"].answers() == ["1", "0", "0", "1"]
    assert corpus.gold["bluebird"].answers() == ["1", "1"]
    assert corpus.contents == {}


def test_ducks_have_gold_by_their_species(sample_folder: SampleFolder) -> None:
    corpus = bluebirds_ducks.load(sample_folder("bluebirds_ducks"), "ducks")
    assert list(corpus.items) == ["0", "1", "10"]
    assert corpus["duck"].answers() == ["1", "1", "0", "0"]
    species = corpus.item_attributes["species"].to_pylist()
    assert species == ["Canada Goose", "Mallard", "Non Bird"]
    assert corpus.gold["duck"].answers() == ["0", "1", "0"]
    assert corpus.notes == (
        "gold is derived from the species (Mallard and American Black Duck are ducks); "
        "it is not a column of the source",
    )


def test_wrong_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("bluebirds_ducks")
    birds, classes = folder / "bluebirds.csv", folder / "ducks_classes.yaml"
    assert refusal(folder, "bluebirds", birds.name, BLUEBIRDS.replace("9,10,0,1", "9,10,0,0")) == (
        f"{birds}: row 4: gold is '1', but '0' in row 2"
    )
    assert refusal(folder, "bluebirds", birds.name, BLUEBIRDS.replace(",gold", ",truth")) == (
        f"{birds}: no column ['gold']; the file has ['item_id', 'annotator_id', 'label', 'truth']"
    )
    assert refusal(folder, "bluebirds", birds.name, "") == f"{birds}: damaged (Empty CSV file)"
    assert refusal(folder, "ducks", "ducks.csv", DUCKS.replace("10,1,0", "10,1,2")) == (
        f"{folder / 'ducks.csv'}: row 3: no value '2' on the nominal scale of '0', '1'"
    )
    write(folder, "ducks.csv", DUCKS)
    assert refusal(folder, "ducks", classes.name, SPECIES[:20]) == (
        f"{classes}: damaged (no mapping 'labels' in braces)"
    )
    assert refusal(folder, "ducks", classes.name, SPECIES.replace("10: 3", "11: 3")) == (
        f"{classes}: no species for item '10'"
    )
    assert refusal(folder, "ducks", classes.name, SPECIES.replace(", Non Bird: 3", "")) == (
        f"{classes}: no species for item '10'"
    )


@pytest.mark.data
def test_the_real_birds(data_folder: Path) -> None:
    folder = data_folder / "bluebirds_ducks"
    corpus = bluebirds_ducks.load(folder, "bluebirds")
    answers, gold = corpus["bluebird"], corpus.gold["bluebird"].answer
    assert (answers.answer == gold[answers.item]).mean() == pytest.approx(0.636, abs=5e-4)
    assert (answers.majority().answer == gold).mean() == pytest.approx(0.759, abs=5e-4)
    corpus = bluebirds_ducks.load(folder, "ducks")
    answers, gold = corpus["duck"], corpus.gold["duck"].answer
    assert (answers.answer == gold[answers.item]).mean() == pytest.approx(0.673, abs=5e-4)
    assert (answers.majority(ties="first").answer == gold).mean() == pytest.approx(0.692, abs=5e-4)
    counted = corpus.item_attributes["species"].value_counts().to_pylist()
    assert {row["values"]: row["counts"] for row in counted} == {
        "Mallard": 50,
        "Canada Goose": 50,
        "American Black Duck": 50,
        "Non Bird": 40,
        "Red-necked Grebe": 50,
    }
