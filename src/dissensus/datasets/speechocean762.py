"""speechocean762 (Zhang et al. 2021): the pronunciation of 2,500 sentences, by five experts.

`sentences` has the questions that are comparable with the later release; `sentences-all` adds
completeness and total, which that release redefines; in `words` an item is a word in its sentence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    Table,
    csv_table,
    names_in_order,
    numbered,
    parquet_table,
    word_focus,
)
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Scale

WORD_SCORES = "word_scores.csv.gz"

SENTENCE: dict[str, Scale] = {name: Interval(0, 10) for name in ("accuracy", "fluency", "prosodic")}
REDEFINED: dict[str, Scale] = {"completeness": Interval(0, 1), "total": Interval(0, 10)}
WORD: dict[str, Scale] = {
    "word accuracy": Interval(0, 10),
    "word stress": Nominal(("5", "10")),
    "word total": Interval(1, 10),
}


def load(folder: Path, corpus: str) -> Corpus:
    """Roles `speech` and `text`; one `response` has the answers of one expert to one item."""
    texts = ("item_id", "split", "speaker", "gender", "text")
    utterances = csv_table(folder, "utterances.csv", texts, age=pa.int32())
    if corpus == "words":
        return _words(folder, utterances)
    return _sentences(folder, utterances, everything=corpus == "sentences-all")


def _sentences(folder: Path, utterances: Table, everything: bool) -> Corpus:
    columns = ("item_id", "annotator_id")
    scores = csv_table(folder, "sentence_scores.csv.gz", columns, SENTENCE | REDEFINED)
    items = utterances.names("item_id")
    with scores.errors():
        item = items.codes(scores["item_id"], "utterance")
    wanted = SENTENCE | REDEFINED if everything else SENTENCE
    return Corpus.build(
        "speechocean762",
        items,
        _questions(scores, item, items, wanted),
        **_shown(folder, utterances, np.arange(len(items))),
        left_out=() if everything else _sentences_left_out(folder, len(scores)),
    )


def _sentences_left_out(folder: Path, n_rows: int) -> tuple[LeftOut, ...]:
    n_words = len(csv_table(folder, WORD_SCORES, ["item_id"]))
    again = "redefined in the later release: --corpus sentences-all"
    words = "words are other items: --corpus words"
    return (
        *(LeftOut(question, again, n_rows) for question in REDEFINED),
        *(LeftOut(question, words, n_words) for question in WORD),
    )


def _words(folder: Path, utterances: Table) -> Corpus:
    texts = ("item_id", "word", "annotator_id", "phones")
    numbers = [name.removeprefix("word ") for name in WORD]
    scores = csv_table(folder, WORD_SCORES, texts, numbers, word_idx=pa.int32())
    sentences = utterances.names("item_id")
    with scores.errors():
        sentence = sentences.codes(scores["item_id"], "utterance")
    words = pc.split_pattern(utterances["text"].combine_chunks(), " ")
    n_words = pc.list_value_length(words).to_numpy()  # (n_utterances,)
    first = np.cumsum(n_words) - n_words  # of each utterance, in the list of all words
    index = scores.array("word_idx")
    item = first[sentence] + index
    known = (index >= 0) & (index < n_words[sentence])
    spelling = _spelling(scores, item, known, int(n_words.sum()))
    of_word = np.repeat(np.arange(len(sentences)), n_words)  # the utterance of each word
    utterance_names = sentences.array.take(pa.array(of_word))
    with scores.errors():
        items = Names(numbered(utterance_names, np.arange(len(of_word)) - first[of_word]))
    shown = _shown(folder, utterances, of_word)
    shown["item_attributes"] |= {"sentence": utterance_names, "word": spelling}
    return Corpus.build(
        "speechocean762-words",
        items,
        _questions(scores, item, items, WORD),
        **shown,
        focus=word_focus(words.flatten(), first, of_word),
    )


def _spelling(scores: Table, item: np.ndarray, known: np.ndarray, n_words: int) -> Any:
    """Each word as its first row spells it; every word of the texts must have a row.

    The texts are in capitals and the words are not, and some words have another sign for the
    apostrophe, so the two are matched by their place and not by their letters.
    """
    if not known.all():
        row = int((~known).argmax())
        utterance, index = scores["item_id"][row].as_py(), scores["word_idx"][row].as_py()
        raise DataError(
            f"{scores.path}, row {row + 1}: utterance {utterance!r} has no word {index}"
        )
    scored, first_row = np.unique(item, return_index=True)
    if len(scored) < n_words:
        raise DataError(f"{scores.path}: {n_words - len(scored)} of {n_words} words have no scores")
    return scores["word"].take(pa.array(first_row))


def _questions(
    scores: Table, item: np.ndarray, items: Names, scales: dict[str, Scale]
) -> dict[str, Annotations]:
    annotators = names_in_order(scores["annotator_id"])
    return {
        question: scores.annotations(
            question.removeprefix("word "),
            scale,
            items,
            item,
            annotators=annotators,
            response=np.arange(len(item)),
            extra={"phones": scores["phones"]} if question == "word accuracy" else {},
        )
        for question, scale in scales.items()
    }


def _shown(folder: Path, utterances: Table, of_item: np.ndarray) -> dict[str, Any]:
    """Contents, attributes and splits of items that belong to these utterances."""
    sounds = parquet_table(folder, "audio_opus.parquet", ["item_id", "seconds", "ogg_opus"])
    audio = sounds.of(utterances["item_id"])
    silent = utterances["item_id"].filter(audio["item_id"].is_null())
    if len(silent):
        raise DataError(f"{sounds.path}: no sound for item {listed(silent.to_pylist())}")
    speech, spoken = Contents.distinct("audio", audio["ogg_opus"].combine_chunks())
    text, read = Contents.distinct("text", utterances["text"])
    about = utterances.columns.take(of_item)
    attributes = {key: about[key] for key in ("speaker", "age", "gender")}
    return {
        "contents": {"speech": (speech, spoken[of_item]), "text": (text, read[of_item])},
        "item_attributes": attributes | {"seconds": audio["seconds"].take(pa.array(of_item))},
        "splits": {"official": about["split"]},
        "group": "speaker",
    }
