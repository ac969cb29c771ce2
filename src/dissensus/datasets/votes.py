"""Votes without annotators."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import Folder, errors_in, labels, votes
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Nominal

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
IMAGES, COUNTS = "cifar10_test_jpg.parquet", "cifar10h-counts.npy"


def load_cifar10h(folder: Folder, corpus: str) -> Corpus:
    """CIFAR-10H (Peterson et al. 2019): 10,000 small photographs with about 51 votes each.

    Question `class`, votes without annotators; gold `class`; contents are JPEG bytes.
    """
    images = folder.parquet(IMAGES, ["item_id", "label", "jpg"])
    counts, scale = folder.array(COUNTS), Nominal(CLASSES)
    if counts.shape != (len(images), len(CLASSES)) or counts.dtype.kind not in "iu":
        raise DataError(
            f"{folder / COUNTS}: expected whole numbers for {len(images)} images x "
            f"{len(CLASSES)} classes, found {counts.dtype} of shape {counts.shape}"
        )
    row = images.array("item_id")  # a row of the vote table each
    items = images.names("item_id")
    with images.errors():
        if not 0 <= row.min() <= row.max() < len(counts):
            raise DataError(f"item_id {row.max()} has no row in {COUNTS}")
        gold = labels(images.array("label").astype(np.int32), scale, items)
    with errors_in(folder / COUNTS):
        answers = {"class": votes(counts[row], scale, items)}
    shown = {"image": Contents.distinct("image", images["jpg"].combine_chunks())}
    return Corpus.build(corpus, items, answers, contents=shown, gold={"class": gold})


CREMA_EMOTIONS = {  # the columns of votes
    "A": "anger", "D": "disgust", "F": "fear", "H": "happy", "N": "neutral", "S": "sad",
}  # fmt: skip
INTENDED = {"ANG": 0, "DIS": 1, "FEA": 2, "HAP": 3, "NEU": 4, "SAD": 5}  # -> place in EMOTIONS
QUESTIONS = {1: "voice", 2: "face", 3: "audio-visual"}  # 100,000 times this is in the row's number
ROW = "Unnamed: 0"
OF_ACTOR = ("Age", "Sex", "Race", "Ethnicity")


def load_crema_d_votes(folder: Folder, corpus: str) -> Corpus:
    """CREMA-D (Cao et al. 2014): the emotion in 7,442 acted clips, as votes on voice, face and
    both.

    Questions `voice`, `face` and `audio-visual`, votes without annotators; gold is the emotion
    that the actor intended; items are grouped by `actor`.
    """
    counts = dict.fromkeys((ROW, *CREMA_EMOTIONS), pa.int64())
    table = folder.csv("tabulatedVotes.csv.gz", ["fileName"], **counts)
    scale, every = Nominal(tuple(CREMA_EMOTIONS.values())), table.array(*CREMA_EMOTIONS)
    with table.errors():
        items, item = Names.encode(table["fileName"])
        modality = table.array(ROW) // 100_000
        strange = sorted(set(modality.tolist()) - set(QUESTIONS))
        if strange:
            raise DataError(f"row numbers begin with 1, 2 or 3, found {strange[0]}")
        questions = {
            question: votes(every[modality == number], scale, items, item[modality == number])
            for number, question in QUESTIONS.items()
        }
        parts = [name.split("_") for name in items]
        wrong = next((p for p in parts if len(p) != 4 or p[2] not in INTENDED), None)
        if wrong is not None:
            raise DataError(
                f"a file is named actor_sentence_emotion_level, found {'_'.join(wrong)!r}"
            )
        gold = labels(np.array([INTENDED[part[2]] for part in parts], np.int32), scale, items)
    actor, sentence, _, level = (pa.array(texts) for texts in zip(*parts, strict=True))
    about = folder.csv("VideoDemographics.csv", ("ActorID", *OF_ACTOR)).of(actor, "ActorID")
    facts = {"actor": actor, "sentence": sentence, "level": level}
    facts |= {f"actor {name.lower()}": about[name] for name in OF_ACTOR}
    labelled = dict.fromkeys(questions, gold)
    return Corpus.build(
        corpus, items, questions, item_attributes=facts, gold=labelled, group="actor"
    )


FERPLUS_EMOTIONS = (
    "neutral", "happiness", "surprise", "sadness", "anger", "disgust", "fear", "contempt",
    "unknown", "NF",
)  # fmt: skip
FERPLUS_PARTS = {"Training": "train", "PublicTest": "dev", "PrivateTest": "test"}


def load_ferplus_votes(folder: Folder, corpus: str) -> Corpus:
    """FER+ (Barsoum et al. 2016): the emotion in 35,887 photographs of faces, ten votes each.

    Question `emotion`, votes without annotators; `NF` is "not a face". An item is a row of the
    file, as some photographs have no name; without pictures.
    """
    counts = dict.fromkeys(FERPLUS_EMOTIONS, pa.int64())
    table = folder.csv("fer2013new.csv.gz", ("Usage", "Image name"), **counts)
    items, name = Names.range(len(table)), table["Image name"]
    with table.errors():
        answers = votes(table.array(*FERPLUS_EMOTIONS), Nominal(FERPLUS_EMOTIONS), items)
    facts = {"image name": pc.if_else(pc.equal(name, ""), pa.scalar(None, pa.string()), name)}
    splits = {"official": table.parts("Usage", FERPLUS_PARTS)}
    return Corpus.build(corpus, items, {"emotion": answers}, item_attributes=facts, splits=splits)


QUESTION, SCALE = "is the stem", Nominal(("0", "1"))
STEMMING_PARTS = {"trn": "train", "dev": "dev", "hard-tst": "test"}


def load_stemming(folder: Folder, corpus: str) -> Corpus:
    """Stems of words (Carpenter et al. 2009; Jamison & Gurevych 2015): is this the stem of the
    word?

    An item is a word with a proposed stem, in the version of Fornaciari et al. (2021).

    Question `is the stem`, votes without annotators; gold; roles `word` and `stem`.

    The columns `mv` (the majority of the votes, 2 where they tie), `soft` and `prob` are computed
    from the votes: none of them is an answer.
    """
    texts = ("item_id", "word", "stem", "fold10", "fold20", "set", "gold")
    numbers = dict.fromkeys(("vote0", "vote1", "freq"), pa.int32())
    pairs = folder.csv("stemming_votes.csv", texts, **numbers)
    items = pairs.names("item_id")
    with pairs.errors():
        annotations = votes(pairs.array("vote0", "vote1"), SCALE, items)
        gold = labels(pairs["gold"], SCALE, items)
    return Corpus.build(
        corpus,
        items,
        {QUESTION: annotations},
        contents={role: pairs[role] for role in ("word", "stem")},
        item_attributes={"word": pairs["word"], "freq": pairs["freq"]},
        gold={QUESTION: gold},
        splits={
            "official": pairs.parts("set", STEMMING_PARTS),
            "fold10": pairs["fold10"],
            "fold20": pairs["fold20"],
        },
        group="word",
        notes=(
            "freq, the number of a word's pairs, gives gold away (exactly one pair of each word "
            "is right): never learn from it, and keep a word's pairs on one side of a split",
            "fold10 and fold20 cut through words; the official split does not",
        ),
    )
