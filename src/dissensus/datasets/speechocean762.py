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
from dissensus.corpus import Corpus, Focus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, names_in_order, parquet_table
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Scale

CORPORA: tuple[str, ...] = ("sentences", "sentences-all", "words")
DEFAULT: str | None = "sentences"
UTTERANCES, AUDIO = "utterances.csv", "audio_opus.parquet"
SENTENCE_SCORES, WORD_SCORES = "sentence_scores.csv.gz", "word_scores.csv.gz"

SENTENCE: dict[str, Scale] = {name: Interval(0, 10) for name in ("accuracy", "fluency", "prosodic")}
REDEFINED: dict[str, Scale] = {"completeness": Interval(0, 1), "total": Interval(0, 10)}
WORD: dict[str, Scale] = {
    "word accuracy": Interval(0, 10),
    "word stress": Nominal(("5", "10")),
    "word total": Interval(1, 10),
}


def recognise(folder: Path) -> bool:
    """Whether the folder contains the sound or the scores."""
    return any((folder / name).is_file() for name in (SENTENCE_SCORES, AUDIO))


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Roles `speech` and `text`; one `response` has the answers of one expert to one item."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    texts = dict.fromkeys(("item_id", "split", "speaker", "gender", "text"), pa.string())
    utterances = csv_table(folder, UTTERANCES, **texts, age=pa.int32())
    if wanted == "words":
        return _words(folder, utterances)
    return _sentences(folder, utterances, everything=wanted == "sentences-all")


def _sentences(folder: Path, utterances: Any, everything: bool) -> Corpus:
    scores = csv_table(
        folder,
        SENTENCE_SCORES,
        item_id=pa.string(),
        annotator_id=pa.string(),
        **dict.fromkeys(SENTENCE | REDEFINED, pa.float64()),
    )
    with errors_in(folder / UTTERANCES):
        items = Names(utterances["item_id"])
    with errors_in(folder / SENTENCE_SCORES):
        item = items.codes(scores["item_id"], "utterance")
    wanted = SENTENCE | REDEFINED if everything else SENTENCE
    return Corpus.build(
        "speechocean762",
        items,
        _questions(folder / SENTENCE_SCORES, scores, item, items, wanted),
        **_shown(folder, utterances, np.arange(len(items))),
        left_out=() if everything else _sentences_left_out(folder, scores.num_rows),
    )


def _sentences_left_out(folder: Path, n_rows: int) -> tuple[LeftOut, ...]:
    n_words = csv_table(folder, WORD_SCORES, item_id=pa.string()).num_rows
    again = "redefined in the later release: --corpus sentences-all"
    words = "words are other items: --corpus words"
    return (
        *(LeftOut(question, again, n_rows) for question in REDEFINED),
        *(LeftOut(question, words, n_words) for question in WORD),
    )


def _words(folder: Path, utterances: Any) -> Corpus:
    texts = ("item_id", "word", "annotator_id", "phones")
    scores = csv_table(
        folder,
        WORD_SCORES,
        word_idx=pa.int32(),
        **dict.fromkeys(texts, pa.string()),
        **{name.removeprefix("word "): pa.float64() for name in WORD},
    )
    path = folder / WORD_SCORES
    with errors_in(folder / UTTERANCES):
        sentences = Names(utterances["item_id"])
    with errors_in(path):
        sentence = sentences.codes(scores["item_id"], "utterance")
    words = pc.split_pattern(utterances["text"].combine_chunks(), " ")
    n_words = pc.list_value_length(words).to_numpy()  # (n_utterances,)
    first = np.cumsum(n_words) - n_words  # of each utterance, in the list of all words
    index = scores["word_idx"].to_numpy()
    item = first[sentence] + index
    known = (index >= 0) & (index < n_words[sentence])
    spelling = _spelling(path, scores, item, known, int(n_words.sum()))
    of_word = np.repeat(np.arange(len(sentences)), n_words)  # the utterance of each word
    place = np.arange(len(of_word)) - first[of_word]
    with errors_in(path):
        utterance_names = sentences.array.take(pa.array(of_word))
        places = pa.array(place).cast(pa.string())
        items = Names(pc.binary_join_element_wise(utterance_names, places, "-"))
    shown = _shown(folder, utterances, of_word)
    shown["item_attributes"] |= {"sentence": utterance_names, "word": spelling}
    return Corpus.build(
        "speechocean762-words",
        items,
        _questions(path, scores, item, items, WORD),
        **shown,
        focus=_focus(words.flatten(), of_word, first),
    )


def _spelling(path: Path, scores: Any, item: np.ndarray, known: np.ndarray, n_words: int) -> Any:
    """Each word as its first row spells it; every word of the texts must have a row.

    The texts are in capitals and the words are not, and some words have another sign for the
    apostrophe, so the two are matched by their place and not by their letters.
    """
    if not known.all():
        row = int((~known).argmax())
        utterance, index = scores["item_id"][row].as_py(), scores["word_idx"][row].as_py()
        raise DataError(f"{path}, row {row + 1}: utterance {utterance!r} has no word {index}")
    scored, first_row = np.unique(item, return_index=True)
    if len(scored) < n_words:
        raise DataError(f"{path}: {n_words - len(scored)} of {n_words} words have no scores")
    return scores["word"].take(pa.array(first_row))


def _focus(words: Any, of_word: np.ndarray, first: np.ndarray) -> Focus:
    """The characters of each word in its text, where one space separates words."""
    length = pc.utf8_length(words).to_numpy().astype(np.int64)
    begin = np.cumsum(length + 1) - length - 1
    begin -= begin[first][of_word]
    return Focus("text", begin[:, None].astype(float), (begin + length)[:, None].astype(float))


def _questions(
    path: Path, scores: Any, item: np.ndarray, items: Names, scales: dict[str, Scale]
) -> dict[str, Annotations]:
    annotators = names_in_order(scores["annotator_id"])
    annotator = annotators.codes(scores["annotator_id"])
    questions = {}
    for question, scale in scales.items():
        column = scores[question.removeprefix("word ")]
        phones = {"phones": scores["phones"]} if question == "word accuracy" else {}
        with errors_in(path):
            questions[question] = Annotations.from_arrays(
                item,
                annotator,
                column.to_numpy() if isinstance(scale, Interval) else column,
                scale,
                items=items,
                annotators=annotators,
                response=np.arange(len(item)),
                extra=phones,
            )
    return questions


def _shown(folder: Path, utterances: Any, of_item: np.ndarray) -> dict[str, Any]:
    """Contents, attributes and splits of items that belong to these utterances."""
    audio = parquet_table(folder, AUDIO, ["item_id", "seconds", "ogg_opus"])
    at = pc.index_in(utterances["item_id"], value_set=audio["item_id"].combine_chunks())
    if at.null_count:
        silent = utterances["item_id"].filter(pc.is_null(at)).to_pylist()
        raise DataError(f"{folder / AUDIO}: no sound for item {listed(silent)}")
    audio = audio.take(at)
    here = pa.array(of_item)
    speech, spoken = Contents.distinct("audio", audio["ogg_opus"].combine_chunks())
    text, read = Contents.distinct("text", utterances["text"])
    attributes = {key: utterances[key].take(here) for key in ("speaker", "age", "gender")}
    return {
        "contents": {"speech": (speech, spoken[of_item]), "text": (text, read[of_item])},
        "item_attributes": attributes | {"seconds": audio["seconds"].take(here)},
        "splits": {"official": utterances["split"].take(here)},
        "group": "speaker",
    }
