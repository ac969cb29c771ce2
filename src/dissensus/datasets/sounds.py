"""Voices and music."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    Folder,
    Table,
    names_in_order,
    numbered,
    numbers_or_nan,
    standardised,
    word_focus,
)
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Scale

SOUND = ("eGeMAPSv01a_88_femalespk.csv", "eGeMAPSv01a_88_malespk.csv")
SPEAKER = slice(1, 4)  # of the name of a sound file: "w296_avarua_d5.wav"


def load_nsc_voices(folder: Folder, corpus: str) -> Corpus:
    """NSC voices (Fernandez Gallardo & Weiss 2018): 34 impressions of 300 speakers, 0 to 100.

    An impression is a question, with the name of its high pole. In `telephone` 23 other listeners
    heard 20 of the speakers over two telephone channels each, with the same questions.

    An item is a speaker, or a speaker over a channel; its content are 88 eGeMAPS features.
    """
    poles = folder.csv("SC_Questionnaire.csv", ["right_German"]).list("right_German")
    parts = folder.csv("split.csv", ("speaker_ID", "speaker_gender", "split"))
    speakers = parts.names("speaker_ID")
    if corpus == "telephone":
        file, listener, speaker = "data_listeningtest3.csv", "nameListener", "spk_ID"
        facts = {"age": "ageListener", "gender": "genderListener"}
        shown, columns = "filename", [pole.replace("_", ".") for pole in poles]
    else:
        file, listener, speaker = "SC_ratings.csv", "listener_pseudonym", "speaker_ID"
        facts = {"age": "listener_age", "gender": "listener_gender"}
        shown, columns = "speaker_ID", poles
    named = dict.fromkeys((listener, speaker, shown, *facts.values(), *columns))
    rows = folder.csv(file, named)
    with rows.errors():
        annotators = names_in_order(rows[listener])
        annotator = annotators.codes(rows[listener])
        attributes = {key: _usual(annotator, rows[name]) for key, name in facts.items()}
        items = speakers if shown == speaker else names_in_order(rows[shown])
        item = items.codes(rows[shown], "speaker")
        voice = speakers.codes(rows[speaker], "speaker")
        questions, left_out = {}, []
        for pole, column in zip(poles, columns, strict=True):
            ratings = numbers_or_nan(rows, column, ("", "NA"))
            rated = np.flatnonzero(~np.isnan(ratings))
            left_out.append(LeftOut(pole, "empty", len(ratings) - len(rated)))
            questions[pole] = Annotations.from_arrays(
                item[rated], annotator[rated], ratings[rated], Interval(0, 100),
                items=items, annotators=annotators, response=rated,
            )  # fmt: skip
    of_item = np.arange(len(items))
    if shown != speaker:
        of_item[item] = voice
    contents, heard = Contents.distinct("features", _sound(folder, speakers))
    about = parts.columns.take(of_item)
    return Corpus.build(
        corpus if corpus == "nsc_voices" else f"nsc_voices-{corpus}",
        items,
        questions,
        annotators=annotators,
        contents={"speech": (contents, heard[of_item])},
        item_attributes={"speaker": about["speaker_ID"], "speaker_gender": about["speaker_gender"]},
        annotator_attributes=attributes,
        splits={"speaker": about["split"]} if corpus == "nsc_voices" else {},
        group="speaker",
        left_out=left_out,
    )


def _usual(annotator: np.ndarray, column: Any) -> list[str]:
    """The most frequent value of each annotator: one row of one of them says otherwise."""
    values, code = np.unique(column.to_pylist(), return_inverse=True)
    counts = np.zeros((annotator.max() + 1, len(values)), dtype=int)
    np.add.at(counts, (annotator, code), 1)
    return [str(value) for value in values[counts.argmax(axis=1)]]


def _sound(folder: Folder, speakers: Names) -> np.ndarray:
    """The standardised features of each speaker, (n_speakers, n_features)."""
    vectors = np.full((len(speakers), 0), np.nan)
    for name in SOUND:
        with folder.file(name).open(encoding="utf-8", errors="replace") as file:
            header = file.readline(100_000)
        features = [column.strip().strip('"') for column in header.split(",")][1:]
        table = folder.csv(name, ["sample_heard"], features)
        if not vectors.shape[1]:
            vectors = np.full((len(speakers), len(features)), np.nan)
        with table.errors():
            at = speakers.codes([file[SPEAKER] for file in table.list("sample_heard")], "speaker")
        vectors[at] = table.array(*features)
    missing = np.isnan(vectors).any(axis=1)
    if missing.any():
        raise DataError(f"{folder}: no features of speaker {speakers[int(missing.argmax())]!r}")
    return standardised(vectors)


WORD_SCORES = "word_scores.csv.gz"

SENTENCE: dict[str, Scale] = {name: Interval(0, 10) for name in ("accuracy", "fluency", "prosodic")}
REDEFINED: dict[str, Scale] = {"completeness": Interval(0, 1), "total": Interval(0, 10)}
AGAIN = "redefined in the later release: --corpus sentences-all"
WORD: dict[str, Scale] = {
    "word accuracy": Interval(0, 10),
    "word stress": Nominal(("5", "10")),
    "word total": Interval(1, 10),
}


def load_speechocean762(folder: Folder, corpus: str) -> Corpus:
    """speechocean762 (Zhang et al. 2021): the pronunciation of 2,500 sentences, by five experts.

    `sentences` has the questions that are comparable with the later release; `sentences-all` adds
    completeness and total, which that release redefines; in `words` an item is a word in its
    sentence.

    Roles `speech` and `text`; one `response` has the answers of one expert to one item.
    """
    texts = ("item_id", "split", "speaker", "gender", "text")
    utterances = folder.csv("utterances.csv", texts, age=pa.int32())
    if corpus == "words":
        return _words(folder, utterances)
    everything, scales = corpus == "sentences-all", SENTENCE | REDEFINED
    scores = folder.csv("sentence_scores.csv.gz", ("item_id", "annotator_id"), scales)
    items, n_words = utterances.names("item_id"), len(folder.csv(WORD_SCORES, ["item_id"]))
    item = scores.codes("item_id", items, "utterance")
    return Corpus.build(
        "speechocean762",
        items,
        _questions(scores, item, items, scales if everything else SENTENCE),
        **_shown(folder, utterances, np.arange(len(items))),
        left_out=()
        if everything
        else (
            *(LeftOut(name, AGAIN, len(scores)) for name in REDEFINED),
            *(LeftOut(name, "words are other items: --corpus words", n_words) for name in WORD),
        ),
    )


def _words(folder: Folder, utterances: Table) -> Corpus:
    texts = ("item_id", "word", "annotator_id", "phones")
    numbers = [name.removeprefix("word ") for name in WORD]
    scores = folder.csv(WORD_SCORES, texts, numbers, word_idx=pa.int32())
    sentences = utterances.names("item_id")
    sentence = scores.codes("item_id", sentences, "utterance")
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
    questions = scores.responses(scales, items, item)
    if (accuracy := questions.get("word accuracy")) is not None:
        phones = scores["phones"].combine_chunks()
        questions["word accuracy"] = replace(accuracy, extra={"phones": phones})
    return questions


def _shown(folder: Folder, utterances: Table, of_item: np.ndarray) -> dict[str, Any]:
    """Contents, attributes and splits of items that belong to these utterances."""
    sounds = folder.parquet("audio_opus.parquet", ["item_id", "seconds", "ogg_opus"])
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


SIGNS = Nominal(("-1", "1"))
DESCRIPTORS = (
    "danceability", "spotify_energy", "spotify_valence", "key", "loudness", "mode", "speechiness",
    "acousticness", "instrumentalness", "liveness", "tempo",
)  # fmt: skip
ATTRIBUTES = {"language": "motherLanguage", "birthplace": "birthPlace"}


def load_trompa_mer(folder: Folder, corpus: str) -> Corpus:
    """TROMPA-MER (Gomez-Canon et al. 2022): valence, arousal and mood of 693 excerpts of music.

    The excerpts are not part of the corpus; their contents are twelve numbers that describe the
    sound. Most answers are to the selection `choir`.

    Questions `valence` and `arousal`, -1 or 1, and `mood`, one of 11 words, in one response.

    Of several answers of one annotator to an excerpt, the last counts.
    """
    texts, types = ("item_id", "rater_id", "valence", "arousal", "mood"), {"position": pa.int32()}
    every = folder.csv("annotations.csv.gz", texts, ["time_ms"], **types)
    order = [("rater_id", "ascending"), ("position", "ascending")]
    rows = Table(every.path, every.columns.sort_by(order))
    parts = folder.csv("split.csv", ("item_id", "selection", "split"))
    items, annotators = parts.names("item_id"), names_in_order(rows["rater_id"])
    moods = Nominal(tuple(sorted(pc.unique(rows["mood"]).to_pylist())))
    who = {"annotator": "rater_id", "annotators": annotators, "what": "excerpt"}
    seconds, scales = rows.array("time_ms") / 1000, {"valence": SIGNS, "arousal": SIGNS}
    questions = rows.responses(
        scales | {"mood": moods}, items, **who, seconds=seconds, repeats="last"
    )
    about = folder.csv("raters.csv", ("rater_id", *ATTRIBUTES.values()))
    raters = about.of(annotators, "rater_id")  # null for those without an entry
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"sound": Contents.distinct("features", _descriptors(folder, items))},
        item_attributes={"selection": parts["selection"]},
        annotator_attributes={name: raters[column] for name, column in ATTRIBUTES.items()},
        splits={"selection": parts["split"]},
        left_out=[
            LeftOut(question, "the same annotator answered again", len(rows) - answers.n_rows)
            for question, answers in questions.items()
        ],
    )


def _descriptors(folder: Folder, items: Names) -> np.ndarray:
    """The numbers that describe each excerpt, standardised, (n_items, n_descriptors)."""
    tracks = folder.csv("tracks.csv", ["item_id"], DESCRIPTORS)
    with tracks.errors():
        names, code = Names.encode(tracks["item_id"])  # an excerpt may be there twice
        at = names.codes(items, "excerpt")
    first = np.unique(code, return_index=True)[1]
    return standardised(tracks.array(*DESCRIPTORS)[first[at]])
