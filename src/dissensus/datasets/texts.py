"""Texts: sentences, comments, tweets and jokes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Focus, LeftOut, Rationales
from dissensus.datasets.files import (
    Folder,
    Table,
    first_with,
    labels,
    names_in_order,
    numbered,
    word_focus,
)
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.readers.files import read_utf8
from dissensus.readers.formats.lewidi import read_parts
from dissensus.readers.json_text import as_object, parsed
from dissensus.scales import Interval, Nominal, as_numbers

MEANS = "emobank.csv"
PERSPECTIVES = ("reader", "writer")
SIDES = ("V", "A", "D")  # valence, arousal, dominance
NO_DOCUMENT = "SemEval"  # headlines of many newspapers, one document in the file
NOT_ANSWERED = "V = A = D = 1: probably not answered (--corpus emobank-all keeps them)"


def load_emobank(folder: Folder, corpus: str) -> Corpus:
    """EmoBank (Buechel & Hahn 2017): valence, arousal and dominance of 10,548 sentences.

    The questions about the reader are what the annotator feels, those about the writer what the
    writer felt. Annotators are unknown, but the three numbers of one response belong together.
    `emobank` leaves out the responses (1, 1, 1), which are probably not answered, as the authors do
    in their means; `emobank-all` keeps them.

    Questions `reader V`, ..., `writer D`, numbers from 1 to 5, linked by `response`.
    """
    sentences = folder.csv("raw.csv", ("id", "text"))
    items, texts = sentences.names("id"), sentences["text"]
    about = folder.tsv("meta.tsv", ("id", "document", "category", "subcategory"))
    facts = about.of(items, "id", "sentence")
    blank = pc.equal(pc.utf8_trim_whitespace(facts["subcategory"]), "")
    questions: dict[str, Annotations] = {}
    left_out: list[LeftOut] = []
    for perspective in PERSPECTIVES:
        rated, n_empty = _rated(folder, perspective, items, everything=corpus == "emobank-all")
        questions |= rated
        left_out += [LeftOut(question, NOT_ANSWERED, n_empty) for question in rated]
    means = folder.csv(MEANS, ("id", "split"))  # without what the authors' means leave out
    means.codes("id", items, "sentence")
    return Corpus.build(
        corpus,
        items,
        questions,
        contents={"text": texts},
        item_attributes={
            "document": facts["document"],
            "category": facts["category"],
            "subcategory": pc.if_else(blank, None, facts["subcategory"]),
            "unit": _units(texts.to_pylist(), facts["document"].to_pylist(), items),
        },
        splits={"official": means.of(items, "id")["split"]},
        group="unit",
        left_out=left_out,
        notes=(
            "sentences of one document make one unit; one whose text occurs in several documents "
            "('Sincerely,'), and every headline of SemEval, is a unit by its text",
            f"{MEANS} contains means over readers and writers together: only its split is read",
        ),
    )


def _rated(
    folder: Folder, perspective: str, items: Names, everything: bool
) -> tuple[dict[str, Annotations], int]:
    """The three questions of one perspective, and how many responses are not answers."""
    table = folder.csv(f"individual_{perspective}_ratings.csv", ["id"], SIDES)
    ratings = table.array(*SIDES)  # (n_responses, 3)
    kept = (ratings != 1).any(axis=1) | everything
    number = np.arange(len(ratings)) * len(PERSPECTIVES) + PERSPECTIVES.index(perspective)
    questions = {
        f"{perspective} {side}": table.annotations(
            side, Interval(1, 5), items, "id", None, what="sentence", response=number
        ).take(kept)
        for side in SIDES
    }
    return questions, int((~kept).sum())


def _units(texts: list[str], documents: list[str], items: Names) -> list[str]:
    """The unit of each sentence, which a split must keep together: its document, or the name of
    the first sentence with the same text if that text occurs in several documents.

    Joining the documents that share a text instead would put a quarter of all sentences into one
    unit, because "Oh." is a sentence of many of them.
    """
    documents_of: dict[str, set[str]] = defaultdict(set)
    first: dict[str, str] = {}
    for text, document, name in zip(texts, documents, items, strict=True):
        documents_of[text].add(document)
        first.setdefault(text, name)
    return [
        first[text] if len(documents_of[text]) > 1 or document == NO_DOCUMENT else document
        for text, document in zip(texts, documents, strict=True)
    ]


def load_jester5k(folder: Folder, corpus: str) -> Corpus:
    """Jester 5k (Goldberg et al. 2001): 100 jokes, rated by 5,000 annotators from -10 to 10.

    Question `rating`, a number from -10 to 10; an item is a joke.
    """
    jokes = folder.csv("jokes.csv", ("item_id", "text"))
    ratings = folder.csv("ratings.csv.gz", ("item_id", "annotator_id"), ["rating"])
    items = jokes.names("item_id")
    answers = ratings.annotations("rating", Interval(-10, 10), items, what="joke")
    return Corpus.build(corpus, items, {"rating": answers}, contents={"text": jokes["text"]})


LEWIDI_PARTS = ("train", "dev")
ONLY_DEV = ("CSC", "MP")  # corpora of 2025 that may lack the training part
MISSING = ("", "nan", "DATA_EXPIRED", "CONSENT_REVOKED")
_COMMA_TOO_MANY = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def load_lewidi2023(folder: Folder, corpus: str) -> Corpus:
    """LeWiDi 2023 (SemEval-2023 task 11): texts on which annotators disagree.

    HS-Brexit (hate, aggressive, offensive), ArMIS (misogyny, in Arabic), ConvAbuse (severity,
    abusive and twelve more about conversations with a bot) and MD-Agreement (offensive). Training
    and development part together, distinguished by the official split; items are named "train-1".
    Gold is the official hard label of the main question.
    """
    parts = [folder.file(f"{corpus}_{part}.json") for part in LEWIDI_PARTS]
    return read_parts(parts, corpus, 2023)


def load_lewidi2025(folder: Folder, corpus: str) -> Corpus:
    """LeWiDi 2025 (third edition): as 2023, with the attributes of annotators.

    CSC (how sarcastic is the response, 1 to 6), MP (is the reply ironic, in nine languages),
    Paraphrase (from -5 to 5, each answer with an explanation) and VariErrNLI (which of entailment,
    neutral and contradiction hold, each with an explanation).
    """
    parts = [
        folder.file(f"{corpus}_{part}.json")
        for part in LEWIDI_PARTS
        if part == "dev" or corpus not in ONLY_DEV or (folder / f"{corpus}_{part}.json").is_file()
    ]
    about = folder.file(f"{corpus}_annotators_meta.json")
    loaded = read_parts(parts, corpus, 2025)
    return replace(loaded, annotator_attributes=_annotator_attributes(about, loaded.annotators))


def _annotator_attributes(path: Path, annotators: Names) -> dict[str, Any]:
    """The attributes of each annotator; None where they are missing."""
    text = read_utf8(path).decode("utf-8")
    tidy = _COMMA_TOO_MANY.sub(lambda match: match[1] or "", text)  # two of the files need it
    attributes_of = as_object(parsed(tidy, path), str(path), "annotators by name")
    for name, facts in attributes_of.items():
        as_object(facts, f"{path}, annotator {name!r}", "facts")
    known = [
        attributes_of.get(name) or attributes_of.get(name.removeprefix("Ann"), {})
        for name in annotators
    ]
    keys = dict.fromkeys(key for facts in attributes_of.values() for key in facts)
    return {key: _column([facts.get(key) for facts in known]) for key in keys}


def _column(facts: list[Any]) -> Any:
    """Facts as Arrow texts, or as whole numbers if all of them are."""
    texts = [None if fact is None or str(fact) in MISSING else str(fact) for fact in facts]
    numbers = as_numbers([text for text in texts if text is not None])
    if numbers and all(number == int(number) and abs(number) < 2**53 for number in numbers):
        return pa.array([None if t is None else int(float(t)) for t in texts], pa.int64())
    return pa.array(texts, pa.string())


SECOND = "marked as not applicable: a second question"


def load_nli_variation(folder: Folder, corpus: str) -> Corpus:
    """NLI variation (Pavlick & Kwiatkowski 2019): how likely is the hypothesis, given the premise?

    500 pairs of texts, about 50 annotators each, a slider from 0 to 100. An annotator can also mark
    that the question does not apply: that is a second question, `not applicable`, and the position
    of the slider is then not read as a rating. Three annotators answered items in two batches; both
    answers are kept.

    Roles `premise` and `hypothesis`; items that share a premise stay together in a split. One
    `response` is one row of the file of answers.
    """
    columns = ("item_id", "task", "orig_label", "premise", "hypothesis")
    pairs = folder.csv("items.csv", columns)
    texts, types = ("item_id", "annotator_id", "status"), {"na": pa.bool_(), "batch": pa.int32()}
    rows = folder.csv("annotations_raw.csv.gz", texts, ["rating_0_100"], **types)
    items = pairs.names("item_id")
    not_applicable = np.asarray(rows["na"])
    options: dict[str, Any] = {
        "annotators": names_in_order(rows["annotator_id"]),
        "response": np.arange(len(rows)),
        "extra": {key: rows[key] for key in ("batch", "status")},
        "repeats": "keep",
    }
    rating = rows.annotations("rating_0_100", Interval(0, 100), items, **options)
    applies = rows.annotations(
        not_applicable.astype(np.int32), Nominal(("no", "yes")), items, **options
    )
    premise = Contents.distinct("text", pairs["premise"])
    facts = {key: pairs[key] for key in ("task", "orig_label")}
    note = (
        "orig_label is the label of five other corpora, on scales of their own: it is not read "
        "as gold"
    )
    return Corpus.build(
        corpus,
        items,
        {"rating": rating.take(~not_applicable), "not applicable": applies},
        contents={"premise": premise, "hypothesis": pairs["hypothesis"]},
        item_attributes={**facts, "premise": first_with(items, premise[1])},
        group="premise",
        left_out=[LeftOut("rating", SECOND, int(not_applicable.sum()))],
        notes=(note,),
    )


TAGS = ("ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", ".", "VERB", "X")
EXPERTS = "plank2014_500tweets_2annotators.csv"
OTHER_CORPUS = (
    "most test tweets are among its 500, so it must not be trained on here: --corpus plank2014"
)
NO_TAG = {"FLAG": "FLAG: the expert gave no tag", "": "an empty cell: the expert gave no tag"}


def load_pos_tweets(folder: Folder, corpus: str) -> Corpus:
    """Part-of-speech tags of tweets by a crowd (Gimpel et al. 2011; Hovy, Plank & Sogaard 2014).

    An item is a token in its tweet. `crowd` has the answers of 177 annotators, and gold for every
    token, also for those without answers. `plank2014` has the tags of two experts for 500 tweets;
    112 of the crowd's 200 test tweets are among them, so the two corpora are separate.

    Question `tag`, one of 12; the text is the tweet, the focus the token in it.
    """
    text = ("item_id", "split", "sent_id", "token", "gold", "orig_id")
    types = {"pos_in_sent": pa.int32(), "auto_labelled": pa.bool_()}
    tokens = folder.csv("tokens.csv", text, **types)
    experts = folder.csv(EXPERTS, ("sent_id", "token", "ann1", "ann2"))
    return _crowd(folder, tokens, experts) if corpus == "crowd" else _experts(experts, tokens)


class _Tweets(NamedTuple):
    texts: Any  # Arrow strings, one per tweet
    tweet: np.ndarray  # (n_items,) the tweet of each token
    position: np.ndarray  # (n_items,) the token's place in its tweet, from 0
    focus: Focus

    @property
    def contents(self) -> dict[str, tuple[Contents, np.ndarray]]:
        contents, code = Contents.distinct("text", self.texts)  # one text for repeated tweets
        return {"text": (contents, code[self.tweet])}


def _tweets(tokens: Any, tweet_ids: Any) -> _Tweets:
    """Tokens, one below the other, as tweets: joined by a space, each token with its characters."""
    identity = pc.dictionary_encode(tweet_ids).combine_chunks().indices.to_numpy()
    starts = np.flatnonzero(np.r_[True, np.diff(identity) != 0])  # where another tweet begins
    tweet = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(identity)]))
    offsets = pa.array(np.r_[starts, len(identity)].astype(np.int32))
    texts = pc.binary_join(pa.ListArray.from_arrays(offsets, tokens.combine_chunks()), " ")
    position = np.arange(len(identity)) - starts[tweet]
    return _Tweets(texts, tweet, position, word_focus(tokens, starts, tweet))


def _tweet_ids(tokens: Table) -> Any:
    """A name for the tweet of each token of the crowd: sent_id restarts in test."""
    return numbered(tokens["split"], tokens["sent_id"])


def _crowd(folder: Folder, tokens: Table, experts: Table) -> Corpus:
    rows = folder.csv("annotations.csv.gz", ("item_id", "annotator_id", "label"))
    tweet_ids = _tweet_ids(tokens)
    tweets = _tweets(tokens["token"], tweet_ids)
    with tokens.errors():
        if not np.array_equal(tweets.position, tokens.array("pos_in_sent")):
            raise DataError("the tokens of a tweet must follow one another, pos_in_sent from 0")
        items = Names(tokens["item_id"])
        gold = labels(tokens["gold"], Nominal(TAGS), items)
    n_automatic = pc.sum(tokens["auto_labelled"]).as_py() or 0
    n_tags = sum(int(_is_tag(experts[name]).sum()) for name in ("ann1", "ann2"))
    return Corpus.build(
        "pos_tweets",
        items,
        {"tag": rows.annotations("label", gold.scale, items)},
        contents=tweets.contents,
        item_attributes={
            "tweet": tweet_ids,
            **{key: tokens[key] for key in ("sent_id", "pos_in_sent", "orig_id", "auto_labelled")},
        },
        gold={"tag": gold},
        focus=tweets.focus,
        splits={"official": tokens["split"]},
        left_out=(LeftOut("tag, two experts (plank2014)", OTHER_CORPUS, n_tags),),
        notes=(
            f"{n_automatic} tokens (@USER, URL) were tagged NOUN automatically and have gold but "
            "no answers; attribute auto_labelled",
        ),
    )


def _is_tag(cells: Any) -> np.ndarray:
    return ~np.asarray(pc.is_in(cells, value_set=pa.array(list(NO_TAG))))


def _experts(experts: Table, tokens: Table) -> Corpus:
    tweets = _tweets(experts["token"], experts["sent_id"])
    with experts.errors():
        items = Names(numbered(experts["sent_id"], tweets.position))
        cells = pa.concat_arrays([experts[name].combine_chunks() for name in ("ann1", "ann2")])
        tagged = np.flatnonzero(_is_tag(cells))
        annotations = Annotations.from_arrays(
            tagged % len(items),
            tagged // len(items),
            cells.take(pa.array(tagged)),
            Nominal(TAGS),
            items=items,
            annotators=Names(["ann1", "ann2"]),
        )
    test = tokens.filter(pc.equal(tokens["split"], "test"))
    texts = _tweets(test["token"], _tweet_ids(test)).texts if len(test) else pa.array([], "string")
    in_test = pc.is_in(tweets.texts, value_set=texts)
    left_out = [
        LeftOut("tag, cells without an answer", why, pc.sum(pc.equal(cells, empty)).as_py())
        for empty, why in NO_TAG.items()
    ]
    return Corpus.build(
        "plank2014",
        items,
        {"tag": annotations},
        contents=tweets.contents,
        item_attributes={
            "sent_id": experts["sent_id"],
            "in_test": in_test.take(pa.array(tweets.tweet)),
        },
        focus=tweets.focus,
        left_out=left_out,
        notes=("attribute in_test: tweets that are also in the test part of pos_tweets",),
    )


ANSWERS = "annotations.csv"
TOXIC_PARTS = ("train", "trial", "test")
CUT_OFF = {"Insu": "Insult", "Identity based ": "Identity based Attack"}

Spans = tuple[Any, ...]  # item, annotator, start, stop and kind of each
Notes = dict[str, int]  # what was counted, as the end of a sentence


def load_toxic_spans(folder: Folder, corpus: str) -> Corpus:
    """Toxic Spans (Pavlopoulos et al. 2021, 2022): is this comment toxic, and which words make it
    so?

    16,100 comments, 3 or more annotators each; the spans of each annotator are the rationales. For
    10,777 of the comments SemEval-2021 task 5 has one set of spans: rationales without an
    annotator.

    Question `toxic`, 0 or 1; rationales in characters of the text, their kind the kind of
    toxicity, or "gold" where they are the task's.
    """
    comments = folder.csv("comments.csv", ("comment_id", "comment_text"))
    items, texts = comments.names("comment_id"), comments["comment_text"].combine_chunks()
    types = {"all toxic": pa.bool_(), "not toxic": pa.bool_()}
    columns = ("annotation", "comment_id", "worker", "country")
    rows = folder.csv(ANSWERS, columns, **types)
    toxic = 1 - np.asarray(rows["not toxic"]).astype(np.int32)  # "all toxic" is marked on most of
    who = ("comment_id", "worker")  # the answers that are 0, too
    more: dict[str, Any] = {key: rows[key] for key in ("country", "all toxic")}
    answers = rows.annotations(
        toxic, Nominal(("0", "1")), items, *who, what="comment", extra=more, repeats="keep"
    )
    own, own_notes = _own_spans(folder, rows, answers)
    gold, part, part_notes = _official(folder, texts)
    spans, clip_notes = _rationales(own, gold, pc.utf8_length(texts).to_numpy())
    notes = own_notes | clip_notes | part_notes
    countries: list[set[str]] = [set() for _ in range(answers.n_annotators)]
    for code, country in zip(answers.annotator_codes(""), rows.list("country"), strict=True):
        countries[code].add(country)
    alone = [one.pop() if len(one) == 1 else None for one in countries]  # who answered from two
    return Corpus.build(
        corpus,
        items,
        {"toxic": answers},
        contents={"text": texts},
        annotator_attributes={"country": pa.array(alone, pa.string())},
        rationales=spans,
        splits={"official": part},
        notes=tuple(f"{n} {what}" for what, n in notes.items() if n),
    )


def _own_spans(folder: Folder, rows: Table, answers: Annotations) -> tuple[Spans, Notes]:
    """What each annotator marked; a span without its answer is dropped."""
    types = {"start": pa.int64(), "end": pa.int64()}
    table = folder.csv("spans.csv", ("annotation", "type"), **types)
    row = rows.names("annotation").find(table["annotation"])  # of the answer
    dropped = int((row < 0).sum())
    table, row = table.filter(pa.array(row >= 0)), row[row >= 0]
    kinds = table.list("type")
    marked = np.bincount(row, minlength=answers.n_rows) > 0
    annotator, kind = answers.annotator_codes("a span"), [CUT_OFF.get(kind, kind) for kind in kinds]
    return (answers.item[row], annotator[row], table.array("start"), table.array("end"), kind), {
        f"spans belong to no row of {ANSWERS} and are dropped": dropped,
        "spans have a kind that was cut off in the source, and is completed": sum(
            kind in CUT_OFF for kind in kinds
        ),
        "answers are 'not toxic' and have spans; both are kept": int(
            (marked & (answers.answer == 0)).sum()
        ),
        "answers are toxic and have no span": int((~marked & (answers.answer == 1)).sum()),
    }


def _official(folder: Folder, texts: Any) -> tuple[Spans, Any, Notes]:
    """The task's spans and parts, matched by the text; a text in two parts stays in the first."""
    tables = {part: folder.csv(f"tsd_{part}.csv", ("spans", "text")) for part in TOXIC_PARTS}
    known: dict[str, tuple[str, list[tuple[int, int]]]] = {}  # text -> part and spans
    for part, table in tables.items():
        for text, spans in zip(table.list("text"), _runs(table), strict=True):
            known.setdefault(text, (part, spans))
    written = texts.to_pylist()
    shown = [
        (item, start, stop)
        for item, text in enumerate(written)
        if text in known
        for start, stop in known[text][1]
    ]
    item, start, stop = np.array(shown, np.int64).reshape(-1, 3).T
    parts = pa.array([known[text][0] if text in known else None for text in written], pa.string())
    return (item, np.full(len(shown), -1), start, stop, ["gold"] * len(shown)), parts, {
        "texts are in two official parts and are kept in the first": sum(map(len, tables.values()))
        - len(known),
        "texts of the official parts are not among the comments and are left out": len(
            known.keys() - set(written)
        ),
    }  # fmt: skip


def _runs(table: Table) -> Iterator[list[tuple[int, int]]]:
    """Lists of characters, "[3, 4, 5, 9]", as spans from and to: (3, 6) and (9, 10)."""
    for row, cell in enumerate(table.list("spans"), 1):
        try:
            members = json.loads(cell)
            if not isinstance(members, list) or not all(type(place) is int for place in members):
                raise ValueError(cell)
            places = np.unique(np.array(members, dtype=np.int64))
        except (ValueError, OverflowError, RecursionError):
            raise DataError(
                f"{table.path}, row {row}: spans must be a list of characters such as [3, 4], "
                f"found {cell[:40]!r}"
            ) from None
        runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []
        yield [(int(run[0]), int(run[-1]) + 1) for run in runs]


def _rationales(own: Spans, gold: Spans, length: np.ndarray) -> tuple[Rationales, Notes]:
    """All spans within their texts, whose lengths are (n_items,); those of which nothing is left
    are dropped."""
    item, annotator, start, stop, kind = map(np.concatenate, zip(own, gold, strict=True))
    cut_start, cut_stop = np.maximum(start, 0), np.minimum(stop, length[item])
    inside = cut_start < cut_stop
    cut = inside & ((cut_start > start) | (cut_stop < stop))
    question, role, kinds = (
        pa.array(texts, pa.string())
        for texts in (["toxic"] * len(item), ["text"] * len(item), kind.tolist())
    )
    ends = cut_start.astype(float), cut_stop.astype(float)
    return Rationales(item, annotator, question, role, *ends, kinds).take(inside), {
        "spans reach past the end of their text and are cut there": int(cut.sum()),
        "spans lie wholly outside their text and are dropped": int((~inside).sum()),
    }
