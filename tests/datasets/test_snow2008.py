"""Five tasks of one crowd: linked ratings, pairs of texts, and items that are only ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dissensus.datasets import snow2008
from dissensus.errors import DataError
from dissensus.scales import Interval, Nominal
from tests.datasets.crowd_folders import EMOTIONS, ENTAILED, HEADLINES, PAIRS
from tests.datasets.writing import write

SampleFolder = Callable[[str], Path]


def refusal(folder: Path, corpus: str, name: str, text: str) -> str:
    write(folder, name, text)
    with pytest.raises(DataError) as caught:
        snow2008.load(folder, corpus)
    return str(caught.value)


def test_affect_is_seven_linked_answers(sample_folder: SampleFolder) -> None:
    corpus = snow2008.load(sample_folder("snow2008"), "affect")
    assert list(corpus.questions) == list(EMOTIONS)
    assert corpus["joy"].scale == Interval(0, 100)
    assert corpus["valence"].scale == Interval(-100, 100)
    assert list(corpus.items) == ["500", "501"] and list(corpus.annotators) == ["W001", "W003"]
    joint = corpus.joint(*EMOTIONS)  # the rows of fear come in another order
    order = np.argsort(joint.answers["anger"])
    assert joint.item[order].tolist() == [1, 1, 0]
    assert [joint.answers["fear"][order].tolist(), joint.answers["joy"][order].tolist()] in (
        [[0, 2, 52], [0, 3, 53]],
        [[2, 0, 52], [3, 0, 53]],
    )
    assert corpus.gold["valence"].answer.tolist() == [0, 60]


def test_only_headlines_that_were_asked_about_are_items(sample_folder: SampleFolder) -> None:
    corpus = snow2008.load(sample_folder("snow2008"), "affect")
    assert [corpus.text_of(item) for item in range(2)] == ['Tea "prices" rise', "A mug, again"]
    assert corpus.notes == ("1 headlines of text_affect.tsv without answers are left out",)


def test_texts_that_entail_or_not(sample_folder: SampleFolder) -> None:
    corpus = snow2008.load(sample_folder("snow2008"), "rte")
    assert corpus.name == "snow2008-rte"
    assert list(corpus.items) == ["5", "7", "10"]
    assert corpus.text_of(0) == '"Tea" is hot. | It is tea.'
    assert corpus["rte"].scale == Nominal(("0", "1"))
    assert corpus["rte"].item.tolist() == [2, 2, 0, 1]
    assert corpus["rte"].answers() == ["1", "0", "1", "0"]
    assert corpus.gold["rte"].answers() == ["1", "0", "0"]
    assert corpus.item_attributes["task"].to_pylist() == ["CD", "IE", "IE"]
    assert corpus.units().tolist() == [0, 0, 1]  # two hypotheses about one text


def test_items_without_text_are_grouped_by_where_they_stand(sample_folder: SampleFolder) -> None:
    folder = sample_folder("snow2008")
    events = snow2008.load(folder, "temp")
    assert list(events.items) == ["7_0", "42_0", "42_1"]
    assert events.contents == {} and events.units().tolist() == [0, 1, 1]
    assert events["temp"].answers() == ["1", "2", "2", "1"]
    senses = snow2008.load(folder, "wsd")
    documents = dict(zip(senses.items, senses.item_attributes["document"].to_pylist(), strict=True))
    assert documents["5:0@35@wsj/23/a@wsj@en@on"] == "wsj/23/a"
    assert len(set(senses.units().tolist())) == 2


def test_a_pair_of_words_and_gold_on_its_own_scale(sample_folder: SampleFolder) -> None:
    corpus = snow2008.load(sample_folder("snow2008"), "wordsim")
    assert corpus.text_of(0) == "tea | mug" and list(corpus.contents) == ["first", "second"]
    assert corpus["wordsim"].scale == Interval(0, 10)
    assert corpus.gold["wordsim"].scale == Interval(0, 4)
    assert corpus.gold["wordsim"].answer.tolist() == [3.62]


def test_wrong_files_are_refused(sample_folder: SampleFolder) -> None:
    folder = sample_folder("snow2008")
    rte, texts = folder / "rte.csv", folder / "text_rte1.tsv"
    assert refusal(folder, "rte", rte.name, ENTAILED.replace("W001,10,0,0", "W001,10,0,1")) == (
        f"{rte}: row 2: gold is '1', but '0' in row 1"
    )
    assert refusal(folder, "rte", rte.name, ENTAILED.replace("W001,10,0,0", "W001,10,2,0")) == (
        f"{rte}: row 2: no value '2' on the nominal scale of '0', '1'"
    )
    assert refusal(folder, "rte", rte.name, ENTAILED.replace("W001,10", "W002,10")) == (
        f"{rte}: annotator 'W002' answered item '10' 2 times (1 such pairs); keep one row each, "
        "or say what to do with repeats (--repeats): keep, first, last"
    )
    assert refusal(folder, "rte", rte.name, ENTAILED.replace("gold", "label")) == (
        f"{rte}: no column ['gold']; the file has ['annotator_id', 'item_id', 'response', 'label']"
    )
    write(folder, rte.name, ENTAILED)
    assert refusal(folder, "rte", texts.name, PAIRS.replace("\n10\t", "\n11\t")) == (
        f"{texts}: no text for item '10'"
    )
    assert refusal(folder, "rte", texts.name, PAIRS.replace("\tIt is cold.", "")) == (
        f"{texts}: damaged (CSV parse error: Expected 5 columns, got 4: "
        '7\tFALSE\tIE\t"Tea" is hot.)'
    )
    headlines = folder / "text_affect.tsv"
    assert refusal(folder, "affect", headlines.name, HEADLINES.replace("501", "500")) == (
        f"{headlines}: names occur twice: '500'"
    )


def test_an_answer_outside_its_scale_names_its_file(sample_folder: SampleFolder) -> None:
    folder = sample_folder("snow2008")
    anger = folder / "anger.csv"
    text = anger.read_text(encoding="utf-8")
    assert refusal(folder, "affect", anger.name, text.replace("500,50", "500,-1")) == (
        f"{anger}: row 2: -1 lies outside 0 to 100 (1 such answers); "
        "declare other ends or leave the row out"
    )
    assert refusal(folder, "affect", anger.name, text.replace("500,50", "500,much")) == (
        f"{anger}: row 2: 'much' is not a number"
    )


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "single", "majority", "ties"),
    [("rte", 0.729, 0.932, 65), ("temp", 0.734, 0.953, 17), ("wsd", 0.982, 0.994, 0)],
)
def test_the_real_choices(
    name: str, single: float, majority: float, ties: int, data_folder: Path
) -> None:
    corpus = snow2008.load(data_folder / "snow2008", name)
    answers, gold = corpus[name], corpus.gold[name].answer
    assert (answers.answer == gold[answers.item]).mean() == pytest.approx(single, abs=5e-4)
    clear = answers.majority(ties="drop")
    assert corpus.n_items - clear.n_rows == ties
    assert (clear.answer == gold[clear.item]).mean() == pytest.approx(majority, abs=5e-4)


@pytest.mark.data
def test_the_real_gold_of_pairs_is_that_of_the_texts(data_folder: Path) -> None:
    folder = data_folder / "snow2008"
    corpus = snow2008.load(folder, "rte")
    lines = (folder / "text_rte1.tsv").read_text(encoding="utf-8").splitlines()[1:]
    value = {line.split("\t")[0]: str(int(line.split("\t")[1] == "TRUE")) for line in lines}
    assert corpus.gold["rte"].answers() == [value[item] for item in corpus.items]


@pytest.mark.data
def test_the_real_ratings_follow_gold(data_folder: Path) -> None:
    published = {
        "anger": 0.711,
        "disgust": 0.765,
        "fear": 0.699,
        "joy": 0.640,
        "sadness": 0.792,
        "surprise": 0.526,
        "valence": 0.850,
        "wordsim": 0.952,
    }
    affect = snow2008.load(data_folder / "snow2008", "affect")
    words = snow2008.load(data_folder / "snow2008", "wordsim")
    for question, expected in published.items():
        corpus = words if question == "wordsim" else affect
        means = corpus[question].consensus().answer
        result = np.corrcoef(means, corpus.gold[question].answer)[0, 1]
        assert result == pytest.approx(expected, abs=5e-4)
    assert affect.joint(*EMOTIONS).item.shape == (1000,)
