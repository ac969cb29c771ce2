"""What was loaded and what was left out sum to the Counts table of each corpus's card."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dissensus.corpus import Corpus
from dissensus.datasets import DATASETS, dataset
from dissensus.scales import MultiLabel
from tests.datasets.folders import ABSENT

pytestmark = pytest.mark.data

PANELS = ("cue_conflict16", "ca_patterns216", "nsc_voices")  # see test_panels.py
OTHER = ("toxic_spans", "nli_variation", *PANELS, *ABSENT)  # counted otherwise, or not at hand
WHOLE = [n for n in DATASETS if dataset(n).default is not None and n not in OTHER]
NAMED = [  # corpora that are chosen by name, with what the card's table calls their questions
    ("pos_tweets", "plank2014", {"tag": "tag, two experts (plank2014)"}),
    ("speechocean762", "sentences-all", {}),
    ("speechocean762", "words", {}),
    ("emobank", "emobank-all", {}),
    ("tvsum", "tvsum-shots", {"importance": "importance, shots"}),
]
TITLES = {  # what the card's table calls the questions of a default corpus, where it differs
    "pos_tweets": {"tag": "tag, crowd"},
    "tvsum": {"importance": "importance, key frames"},
    "crema_d_votes": {side: f"emotion, {side}" for side in ("voice", "face", "audio-visual")},
    "eye_fixations_12coders": {"fixation": "fixation, per sample"},
}


def card_counts(folder: Path) -> dict[str, tuple[str, str, str]]:
    """The Counts table: question -> items, annotators, rows."""
    section = (folder / "CARD.md").read_text(encoding="utf-8").split("## Counts")[1]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: (row[2], row[3], row[4]) for row in cells}


def counted(corpus: Corpus, question: str) -> tuple[str, str, str]:
    """Items, annotators and rows of a question, as the card writes them."""
    answers = corpus[question]
    people = (
        "none (votes)" if answers.annotator is None else str((answers.per_annotator() > 0).sum())
    )
    return str((answers.per_item() > 0).sum()), people, str(answers.n_answers)


@pytest.mark.parametrize("name", WHOLE)
def test_the_default_corpus_accounts_for_the_whole_folder(name: str, data_folder: Path) -> None:
    corpus = dataset(name).load(data_folder / name)
    titles = TITLES.get(name, {})
    accounted: Counter[str] = Counter()
    for question, answers in corpus.questions.items():
        accounted[titles.get(question, question)] += answers.n_answers
    for row in corpus.left_out:
        accounted[row.question] += row.answers
    table = card_counts(data_folder / name)
    assert dict(accounted) == {question: int(row[2]) for question, row in table.items()}
    for question in set(corpus.questions) - {row.question for row in corpus.left_out}:
        assert counted(corpus, question) == table[titles.get(question, question)]


@pytest.mark.parametrize(("name", "corpus_name", "titles"), NAMED)
def test_a_corpus_chosen_by_name_is_complete(
    name: str, corpus_name: str, titles: dict[str, str], data_folder: Path
) -> None:
    corpus = dataset(name).load(data_folder / name, corpus_name)
    table = card_counts(data_folder / name)
    for question in corpus.questions:
        assert counted(corpus, question) == table[titles.get(question, question)]
    wanted = {title for title in table if title.startswith("word ") == (corpus_name == "words")}
    if name == "speechocean762":
        assert set(corpus.questions) == wanted and corpus.left_out == ()


@pytest.mark.parametrize("name", ["lewidi2023", "lewidi2025", "snow2008", "bluebirds_ducks"])
def test_the_corpora_of_a_folder_make_the_whole_table(name: str, data_folder: Path) -> None:
    """Of sets each value is a question; LeWiDi names the corpus before the question."""
    results: dict[str, tuple[str, str, str]] = {}
    for corpus_name in dataset(name).corpora:
        corpus = dataset(name).load(data_folder / name, corpus_name)
        assert corpus.left_out == ()
        start = f"{corpus_name} " if name.startswith("lewidi") else ""
        for question, answers in corpus.questions.items():
            values = answers.scale.values if isinstance(answers.scale, MultiLabel) else (question,)
            results |= {f"{start}{value}": counted(corpus, question) for value in values}
    assert results == card_counts(data_folder / name)


def test_ratings_with_those_that_do_not_apply_are_all_rows(data_folder: Path) -> None:
    corpus = dataset("nli_variation").load(data_folder / "nli_variation")
    table = card_counts(data_folder / "nli_variation")
    assert counted(corpus, "rating") == table["rating, na dropped"]
    assert counted(corpus, "not applicable") == table["rating, all rows"]
    accounted = corpus["rating"].n_answers + corpus.left_out[0].answers
    assert accounted == int(table["rating, all rows"][2])


def test_spans_are_rationales_of_the_answers_they_came_with(data_folder: Path) -> None:
    corpus = dataset("toxic_spans").load(data_folder / "toxic_spans")
    table = card_counts(data_folder / "toxic_spans")
    assert set(table) == {"toxic", "spans"} and corpus.left_out == ()
    assert counted(corpus, "toxic") == table["toxic"] == table["spans"]
    spans = corpus.rationales
    assert spans is not None
    n_dropped = int(next(note for note in corpus.notes if "wholly outside" in note).split()[0])
    card = (data_folder / "toxic_spans" / "CARD.md").read_text(encoding="utf-8")
    assert f"hold {(spans.annotator >= 0).sum() + n_dropped:,} spans" in card
