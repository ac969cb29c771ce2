"""Roles that columns have by what they depend on, whatever they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus.errors import DataError, NoAnswersError
from dissensus.readers import read
from dissensus.readers.layout import UnclearError

N_ITEMS, N_ANNOTATORS, PER_ITEM = 60, 12, 5


def table(**names: str) -> dict[str, list[Any]]:
    """A long table; `names` rename its columns, whose order is that of their new names."""
    draw = np.random.default_rng(0)
    item = np.repeat(np.arange(N_ITEMS), PER_ITEM)
    chosen = [draw.choice(N_ANNOTATORS, PER_ITEM, replace=False) for _ in range(N_ITEMS)]
    annotator = np.concatenate(chosen)
    truth = draw.integers(0, 3, N_ITEMS)
    right = draw.random(len(item)) < 0.5
    mood = np.where(right, truth[item], draw.integers(0, 3, len(item)))
    counts = np.zeros((N_ITEMS, 3))
    np.add.at(counts, (item, mood), 1)
    words = np.array(["calm", "glad", "sad"])
    columns = {
        "item": [f"x{i:03d}" for i in item],
        "text": [f"a text of several words, number {i}" for i in item],
        "topic": [f"topic{i % 4}" for i in item],
        "annotator": [f"p{a}" for a in annotator],
        "gender": [("male", "female")[a % 2] for a in annotator],
        "age": [str(30 + a // 2) for a in annotator],
        "mood": words[mood].tolist(),
        "rating": [str(x) for x in draw.integers(1, 6, len(item))],
        "most": words[counts.argmax(axis=1)][item].tolist(),
        "truth": words[truth][item].tolist(),
        "when": [f"2024-03-{1 + n % 28:02d} 12:{n % 60:02d}" for n in range(len(item))],
        "remark": [f"remark {n}" if n % 3 else "" for n in range(len(item))],
    }
    order = draw.permutation(len(item))
    renamed = {names.get(name, name): cells for name, cells in columns.items()}
    return {name: [renamed[name][row] for row in order] for name in sorted(renamed) if name}


NONSENSE = dict(
    zip(
        "item text topic annotator gender age mood rating most truth when remark".split(),
        "qa wb ec rater te yf ug ih oi pj ak sl".split(),
        strict=True,
    )
)


def test_every_column_of_a_table_that_names_the_annotators_only() -> None:
    corpus = read(pa.table(table(**NONSENSE)))
    assert (corpus.n_items, corpus.n_annotators) == (N_ITEMS, N_ANNOTATORS)
    assert list(corpus.questions) == ["ih", "ug"]
    assert {"x000", "x001"} <= set(corpus.items)
    assert list(corpus.contents) == ["text"]
    assert sorted(corpus.item_attributes) == ["ec", "oi", "pj"]
    assert sorted(corpus.annotator_attributes) == ["te", "yf"]
    assert sorted(corpus["ug"].extra) == ["ak", "sl"]
    assert "\n  answer = ug: depends on neither: 3 different values\n" in corpus.notes[1]
    assert "\n  about the assignment = ak: dates or times\n" in corpus.notes[1]


def test_a_known_item_and_annotator_need_no_known_answer() -> None:
    cells = table(rating="", truth="", most="")
    corpus = read(pa.table(cells))
    assert list(corpus.questions) == ["mood"]
    assert "answer = mood" in corpus.notes[0]


def test_a_second_column_of_answers_is_a_question_if_it_is_named_so() -> None:
    corpus = read(pa.table(table(mood="label")))
    assert sorted(corpus.questions) == ["label", "rating"]


def test_a_few_wrong_cells_are_said() -> None:
    cells = table(**NONSENSE)
    cells["te"][0] = "male" if cells["te"][0] == "female" else "female"
    corpus = read(pa.table(cells))
    assert "te" in corpus.annotator_attributes
    assert "the same for each annotator, except in 1 row" in corpus.notes[1]


def test_an_attribute_of_the_item_may_be_wrong_in_one_row_of_a_small_table() -> None:
    draw = np.random.default_rng(1)
    item, annotator = np.indices((30, 3)).reshape(2, -1)
    cells = {
        "qa": [f"k{code}" for code in item],
        "rater": [f"worker{code}" for code in annotator],
        "topic": ["glad" if code < 4 else "calm" for code in item],
        "ug": draw.choice(["calm", "glad", "sad"], 90).tolist(),
    }
    cells["topic"][40] = "glad"
    corpus = read(pa.table(cells))
    assert (list(corpus.questions), list(corpus.item_attributes)) == (["ug"], ["topic"])


def test_what_may_be_either_is_refused_with_a_command() -> None:
    one, other = np.indices((20, 20)).reshape(2, -1)
    cells = {
        "qa": [f"k{code}" for code in one],
        "rd": [f"k{code}" for code in other],
        "ug": np.random.default_rng(0).choice(["calm", "glad"], 400).tolist(),
    }
    message = (
        "table: 'qa' and 'rd' look like items and annotators, but no name says which is which; "
        "use read(table, item='qa', annotator='rd') if 'qa' is the item and "
        "'rd' the annotator, read(table, item='rd', annotator='qa') if 'rd' is the item and 'qa' "
        "the annotator"
    )
    with pytest.raises(NoAnswersError, match=re.escape(message)):
        read(pa.table(cells))
    assert list(read(pa.table(cells), item="rd", annotator="qa").questions) == ["ug"]


def test_free_text_is_no_answer() -> None:
    cells = table(mood="", rating="", truth="", most="")
    with pytest.raises(DataError, match=r"'remark': 200 different in 200 rows.*answer=.'remark'"):
        read(pa.table(cells))


def sparse_table() -> dict[str, list[str]]:
    """30 items, 25 annotators, two answers each: few pairs would repeat by chance."""
    draw = np.random.default_rng(3)
    item = np.repeat(np.arange(30), 2)
    annotator = np.concatenate([draw.choice(25, 2, replace=False) for _ in range(30)])
    return {
        "item": [f"x{i}" for i in item],
        "wb": [f"a text of several words, number {i}" for i in item],
        "annotator": [f"k{a}" for a in annotator],
        "te": [("male", "female")[a % 2] for a in annotator],
        "yf": [("north", "south", "west")[a % 3] for a in annotator],
        "ug": draw.choice(["calm", "glad"], len(item)).tolist(),
    }


def test_an_attribute_with_a_mistake_is_not_the_name_that_it_stands_for() -> None:
    cells = table(**NONSENSE)
    ages = {name: str(20 + n) for n, name in enumerate(sorted(set(cells["rater"])))}
    cells["yf"] = [ages[name] for name in cells["rater"]]
    cells["yf"][7] = cells["yf"][8]
    corpus = read(pa.table(cells))
    assert corpus.columns["item"] == "qa"
    assert "yf" in corpus.annotator_attributes


def test_of_several_pairs_of_columns_some_are_proposed() -> None:
    """Each annotator answers every item, at another place of the day."""
    draw = np.random.default_rng(0)
    item, annotator = np.indices((20, 10)).reshape(2, -1)
    places = np.stack([draw.permutation(20) for _ in range(10)], axis=1)
    cells = {
        "qa": [f"x{code}" for code in item],
        "rd": [f"y{code}" for code in annotator],
        "sl": [f"z{code}" for code in places[item, annotator]],
        "ug": draw.choice(["calm", "glad"], len(item)).tolist(),
    }
    with pytest.raises(UnclearError, match="no name says which is which") as refusal:
        read(pa.table(cells))
    ways = [(way.item, way.annotator) for way in refusal.value.ways.values()]
    assert ways == [("qa", "rd"), ("sl", "rd")]


def test_several_answers_come_with_the_call_that_chooses() -> None:
    corpus = read(pa.table(table(**NONSENSE)))
    assert corpus.notes[2] == (
        "table: 2 columns look like answers, each is a question; to choose: read(table, "
        "answer=['ih'])"
    )
    chosen = read(pa.table(table(**NONSENSE)), item="qa", annotator="rater", answer="ih")
    assert list(chosen.questions) == ["ih"]
    assert not any("to choose" in note for note in chosen.notes)


def refusal_and_readings(cells: dict[str, list[str]], name: str) -> tuple[str, list[list[str]]]:
    """The message for a table, and the questions that the two calls in it read."""
    with pytest.raises(NoAnswersError) as refusal:
        read(pa.table(cells))
    item, annotator = ("qa", "rater") if "qa" in cells else ("item", "annotator")
    options: dict[str, Any] = {"item": item, "annotator": annotator}
    call = f"read(table, item={item!r}, annotator={annotator!r}, answer=['ug'])"
    both = call.replace("['ug']", f"['ug', {name!r}]")
    message = f"; use {call} if it is no answer, {both} if it is an answer"
    assert str(refusal.value).endswith(message)
    readings = [read(pa.table(cells), **options, answer=answer) for answer in ("ug", ["ug", name])]
    return str(refusal.value), [list(corpus.questions) for corpus in readings]


def test_ratings_that_never_repeat_by_accident_are_not_set_aside() -> None:
    cells = sparse_table()
    draw = np.random.default_rng(5)
    first = draw.integers(0, 8, 30)
    second = (first + draw.integers(1, 8, 30)) % 8  # chance would repeat 30 / 8
    cells["sl"] = [str(40 + rating) for pair in zip(first, second, strict=True) for rating in pair]
    message, questions = refusal_and_readings(cells, "sl")
    assert message.startswith(
        "table: 'sl' is an answer, or about the assignment, such as a time or a position (never "
        "the same twice for one item); use "
    )
    assert questions == [["ug"], ["ug", "sl"]]


def test_ratings_in_groups_by_accident_are_not_set_aside() -> None:
    """Two annotators of an item who agree, and no other pair of annotators does."""
    cells = sparse_table()
    cells["sl"] = [str(20 + n // 2 if n < 10 else 20 + n) for n in range(60)]
    message, questions = refusal_and_readings(cells, "sl")
    assert "(each value belongs to one item)" in message
    assert questions == [["ug"], ["ug", "sl"]]


def test_whole_numbers_with_a_long_tail_are_ratings_or_durations() -> None:
    cells = {name: table(**NONSENSE)[name] for name in ("qa", "rater", "te", "ug", "wb")}
    draw = np.random.default_rng(2)
    seconds = np.minimum(draw.exponential(12, len(cells["qa"])).astype(int), 96)
    cells["sl"] = [str(x) for x in seconds]
    message, questions = refusal_and_readings(cells, "sl")
    assert "a few large numbers among small ones: durations?" in message
    assert questions == [["ug"], ["ug", "sl"]]
    cells["sl"] = [f"{x + 0.5:.1f}" for x in 3 * seconds]
    assert list(read(pa.table(cells)).questions) == ["ug"]


def test_fine_ratings_are_answers_though_none_occurs_twice() -> None:
    cells = {name: table(**NONSENSE)[name] for name in ("qa", "rater", "te", "ug", "wb")}
    cells["sl"] = [f"{x:.6f}" for x in np.random.default_rng(2).random(len(cells["qa"]))]
    assert sorted(read(pa.table(cells)).questions) == ["sl", "ug"]


def test_rare_sets_of_frequent_values_are_answers_not_free_text() -> None:
    cells = {name: table(**NONSENSE)[name] for name in ("qa", "rater", "te", "wb")}
    draw = np.random.default_rng(4)
    moods = np.array([f"mood{n:02d}" for n in range(12)])
    chosen = [draw.choice(12, draw.integers(1, 6), replace=False) for _ in cells["qa"]]
    cells["ug"] = ["|".join(moods[np.sort(codes)]) for codes in chosen]
    assert 3 * len(set(cells["ug"])) > len(cells["ug"])  # so few uses would be free text
    corpus = read(pa.table(cells))
    assert corpus["ug"].scale.kind == "multi-label"
    assert "depends on neither: sets of 12 values, separated by '|'" in corpus.notes[1]


@pytest.mark.parametrize("name", ["confidence", "How certain?_certainty", "remarks", "time (s)"])
def test_what_is_about_an_answer_is_no_question(name: str) -> None:
    corpus = read(pa.table(table(rating=name, mood="mood", annotator="annotator")))
    assert list(corpus.questions) == ["mood"]


def test_numbers_of_something_are_asked_about_and_a_single_remark_is_no_question() -> None:
    cells = table(rating="n_replays", most="")
    with pytest.raises(UnclearError, match="a number of something, by its name"):
        read(pa.table(cells))
    del cells["n_replays"]
    cells["zz"] = ["not sure" if n % 3 else "" for n in range(len(cells["mood"]))]
    assert list(read(pa.table(cells)).questions) == ["mood"]


def test_a_long_name_ends_in_annotator() -> None:
    corpus = read(pa.table(table(annotator="hash that identifies the participant.", rating="")))
    assert corpus.columns["annotator"] == "hash that identifies the participant."


# ---- small tables ----


def long_table(answers: Sequence[str], n_annotators: int = 2) -> dict[str, list[str]]:
    """Every annotator answers every item, in this order."""
    items, annotators = divmod(np.arange(len(answers)), n_annotators)
    return {
        "item": [f"t{at}" for at in items],
        "annotator": [f"a{at}" for at in annotators],
        "harm": list(answers),
    }


def test_four_rows_with_two_values_are_answers() -> None:
    assert list(read(long_table(["none", "none", "some", "none"])).questions) == ["harm"]


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([f"{1_700_000_000 + at % 3}" for at in range(24)], "large numbers: dates or ids"),
        ([f"{at % 3} " + "this goes on and on " * 4 for at in range(24)], "long texts"),
        (["a", "b", "c", "a", "b"], "3 different in 5 rows"),
    ],
)
def test_columns_that_only_look_like_answers(answers: list[str], why: str) -> None:
    with pytest.raises(DataError, match=why):
        read(long_table(answers, n_annotators=4 if len(answers) > 5 else 2))
