"""Datasets: the folder of a known public corpus -> Corpus.

A corpus is a function here, in the file of its kind:

    load_NAME(folder: Folder, corpus: str) -> Corpus     of a name in `corpora`

and an entry in the catalogue, `DATASETS`, with the files by which its folder is recognised.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dissensus import readers
from dissensus.annotations import Repeats
from dissensus.contents import media_within
from dissensus.corpus import Corpus
from dissensus.datasets.files import Folder
from dissensus.errors import DataError, DissensusError, cut, listed
from dissensus.files.folders import DAMAGE
from dissensus.files.plain import unpacking_up_to
from dissensus.readers.layout import Cells, Layout
from dissensus.scales import Scale

__all__ = [
    "DATASETS",
    "Dataset",
    "corpora_in",
    "dataset",
    "load",
    "located",
    "named",
    "read",
    "recognise",
    "usable_clips",
]


def __getattr__(name: str) -> Any:
    """`usable_clips`, which is loaded when it is first used."""
    if name != "usable_clips":
        raise AttributeError(name)
    from dissensus.datasets.speech import usable_clips

    return usable_clips


@dataclass(frozen=True)
class Dataset:
    """A folder of a public corpus, or of several.

    Sizes are of the first corpus in the folder; None if they are not known here, or if answers
    have no annotators.
    """

    name: str
    module: str  # with the function that loads it, `load_NAME`
    items: int | None
    annotators: int | None
    answers: int | None
    licence: str
    good_for: str
    files: tuple[str, ...]  # a folder with one of them is this corpus; with "a & b": with both;
    # with "a: b": if the first line of a contains b
    several: tuple[str, ...] = ()  # the corpora, if there are several
    has_default: bool = True  # whether the first corpus is read if none is named

    @property
    def corpora(self) -> tuple[str, ...]:
        """The names of the corpora in the folder."""
        return self.several or (self.name,)

    @property
    def default(self) -> str | None:
        """The corpus that is read if none is named; None: the user must choose."""
        return self.corpora[0] if self.has_default else None

    def recognise(self, folder: Path) -> bool:
        """Whether a folder contains this corpus, by the names of its files."""
        return any(
            all(_is_there(folder, file) for file in files.split(" & ")) for files in self.files
        )

    def load(self, folder: Path, corpus: str | None = None) -> Corpus:
        """The corpus in a folder; an error lists them if one must be chosen."""
        if corpus is None and self.default is None:
            raise DataError(
                f"{folder}: contains {len(self.corpora)} corpora, choose one with corpus= "
                f"(--corpus): {listed(self.corpora)}"
            )
        wanted = corpus or self.default
        if wanted not in self.corpora:
            raise DataError(f"{folder}: no corpus {corpus!r}; choose from {listed(self.corpora)}")
        module = importlib.import_module(f"dissensus.datasets.{self.module}")
        try:
            with np.errstate(invalid="raise"):
                loaded: Corpus = getattr(module, f"load_{self.name}")(Folder(folder), wanted)
        except DissensusError:
            raise
        except DAMAGE as error:  # columns of other types
            reason = f"{type(error).__name__}: {error}"
            raise DataError(f"{folder}: damaged ({cut(reason)}); download it again") from None
        return loaded


def _is_there(folder: Path, file: str) -> bool:
    name, _, text = file.partition(": ")
    for path in folder.glob(name):
        if not text:
            return True
        with path.open("rb") as opened:
            if text.encode() in opened.readline(10_000):
                return True
    return False


UNSTATED = "none stated"
LICENSED = "from its authors"
ANNOUNCED = "not public yet"
LEWIDI2023 = ("HS-Brexit", "ArMIS", "ConvAbuse", "MD-Agreement")
LEWIDI2025 = ("CSC", "MP", "Paraphrase", "VariErrNLI")
# fmt: off
_EVERY = (
    Dataset("pos_tweets", "texts", 17503, 177, 70177, UNSTATED,
            "aggregation with gold; words in context",
            ("tokens.csv & annotations.csv.gz", "plank2014_500tweets_2annotators.csv"),
            ("crowd", "plank2014")),
    Dataset("speechocean762", "sounds", 2500, 5, 37500, "free for any use (README)",
            "few experts who rated everything; speech",
            ("sentence_scores.csv.gz", "audio_opus.parquet"),
            ("sentences", "sentences-all", "words")),
    Dataset("jester5k", "texts", 100, 5000, 363209, UNSTATED,
            "many annotators, taste; ratings of texts",
            ("jokes.csv",)),
    Dataset("cifar10h", "votes", 10000, None, 511000, "CC BY-NC-SA 4.0", "soft labels of pictures",
            ("cifar10h-counts.npy",)),
    Dataset("lewidi2023", "texts", 952, 6, 17136, UNSTATED,
            "shared task on texts: the same annotators, or a crowd",
            tuple(f"{name}_{part}.json" for name in LEWIDI2023 for part in ("train", "dev")),
            LEWIDI2023, has_default=False),
    Dataset("stemming", "votes", 6679, None, 26692, UNSTATED, "votes with gold; pairs of words",
            ("stemming_votes.csv",)),
    Dataset("emobank", "texts", 10548, None, 288702, "CC BY-SA 4.0",
            "ratings of texts, reader and writer",
            ("individual_reader_ratings.csv", "individual_writer_ratings.csv"),
            ("emobank", "emobank-all")),
    Dataset("eye_fixations_12coders", "pictures", 105641, 12, 1262877, "CC BY-NC-SA 4.0",
            "experts on sequences; long recordings", ("samples_with_12_labels.csv.gz",)),
    Dataset("lewidi2025", "texts", 704, 850, 3186, UNSTATED,
            "shared task: ordinal answers and sets",
            tuple(f"{name}_{part}.json" for name in LEWIDI2025 for part in ("train", "dev")),
            LEWIDI2025, has_default=False),
    Dataset("toxic_spans", "texts", 16100, 3579, 59215, "CC0 1.0",
            "rationales: words that annotators marked", ("annotations.csv & spans.csv",)),
    Dataset("nli_variation", "texts", 500, 509, 50763, UNSTATED,
            "distributions of ratings, 50 for each item", ("annotations_raw.csv.gz",)),
    Dataset("faces_3dsk", "pictures", 100, 2000, 100000, "CC BY 4.0",
            "individual taste; ratings of pictures",
            ("faces.csv & ratings.csv.gz",)),
    Dataset("labelme_crowds", "pictures", 2688, 59, 2547, UNSTATED,
            "learning from crowds with gold; features",
            ("vgg16_avg_features.npz",)),
    Dataset("snow2008", "classics", 100, 38, 7000, UNSTATED,
            "aggregation with gold: ratings, rte, temp",
            ("text_affect.tsv", "text_rte1.tsv", "wordsim.csv"),
            ("affect", "rte", "temp", "wsd", "wordsim"), has_default=False),
    Dataset("bluebirds_ducks", "classics", 108, 39, 4212, "BSD",
            "aggregation with gold; a complete table",
            ("bluebirds.csv", "ducks.csv"), ("bluebirds", "ducks"), has_default=False),
    Dataset("msp_improv", "speech", None, None, None, LICENSED, "individual annotators; speech",
            ("Evaluation.txt", "Evalution.txt", "session1/*/*/MSP-IMPROV-*.wav",
             "Audio/session1/*/*/MSP-IMPROV-*.wav")),
    Dataset("msp_podcast", "speech", None, None, None, LICENSED, "individual annotators; speech",
            ("Labels/labels_detailed.csv", "Audios/MSP-PODCAST_*.wav")),
    Dataset("iemocap", "speech", None, None, None, LICENSED, "few annotators; acted dialogs",
            ("Session[1-5]/dialog/EmoEvaluation",)),
    Dataset("muse", "speech", None, None, None, LICENSED, "individual annotators; stressed speech",
            ("Survey*Information*/Emotion data from crowdsourcing*.csv",
             "Stressed/Audio & NotStressed/Audio"),
            ("muse", "muse-context")),
    Dataset("tvsum", "pictures", 329, 400, 6580, "CC BY 3.0 (videos)",
            "annotators who share no video; frames",
            ("shot_scores.csv.gz & keyframe_scores.csv",), ("tvsum", "tvsum-shots")),
    Dataset("crema_d_votes", "votes", 7442, None, 212000, "ODbL 1.0",
            "votes on voice, face and both",
            ("tabulatedVotes.csv.gz",)),
    Dataset("ferplus_votes", "votes", 35887, None, 358869, "MIT",
            "soft labels of faces, without pictures",
            ("fer2013new.csv.gz",)),
    Dataset("cue_conflict16", "pictures", 1280, 30, 37924, "CC BY 4.0",
            "a panel with three known tendencies; pictures", ("answers.csv & images/cc0001.jpg",),
            ("conflict", "neutral", "shape", "texture", "edges")),
    Dataset("ca_patterns216", "pictures", 216, 80, 8640, UNSTATED,
            "two ratings of each picture; densities",
            ("answers.csv & images/ca001.png",)),
    Dataset("nsc_voices", "sounds", 300, 114, 153484, UNSTATED,
            "impressions of voices; other listeners",
            ("SC_ratings.csv & SC_Questionnaire.csv",), ("nsc_voices", "telephone")),
    Dataset("trompa_mer", "sounds", 693, 196, 14229, "AGPL 3",
            "valence and arousal of music; raters known",
            ("annotations.csv.gz & tracks.csv & raters.csv",)),
    Dataset("street", "pictures", None, 10, None, ANNOUNCED, "five perspectives on photographs",
            ("labels.csv: Happiness_1",)),
    Dataset("amer", "pictures", None, 13, None, ANNOUNCED, "emotions in clips of films",
            ("discrete-multi-annotator.csv",)),
)
# fmt: on
DATASETS = {dataset.name: dataset for dataset in _EVERY}
DATA = "DISSENSUS_DATA"  # the variable that names the folder of known corpora


def dataset(name: str) -> Dataset:
    """A known corpus by its name.

    Example:
        >>> dataset("lewidi2023").corpora
        ('HS-Brexit', 'ArMIS', 'ConvAbuse', 'MD-Agreement')
    """
    if name not in DATASETS:
        raise DataError(f"no dataset {name!r}; there are {listed(DATASETS)}")
    return DATASETS[name]


def recognise(path: str | Path) -> str | None:
    """The name of the known corpus in a folder, by the names of its files; else None."""
    folder = Path(path)
    if not folder.is_dir():
        return None
    return next((name for name, one in DATASETS.items() if one.recognise(folder)), None)


def named(source: str | Path) -> tuple[str, str | None] | None:
    """The dataset, and the corpus in it, that a name means; None if it means none.

    Example:
        >>> named("snow2008"), named("ArMIS"), named("labels.csv")
        (('snow2008', None), ('lewidi2023', 'ArMIS'), None)
    """
    name = str(source)
    if name in DATASETS:
        return name, None
    folder, _, corpus = name.partition("/")
    if folder in DATASETS and corpus in DATASETS[folder].corpora:
        return folder, corpus
    return next(((one.name, name) for one in DATASETS.values() if name in one.corpora), None)


def located(source: str | Path) -> tuple[Path, str | None]:
    """The folder of a corpus that is given by its name, in the folder DISSENSUS_DATA, and which
    corpus in it; any other path is returned as it is."""
    known = None if os.path.exists(source) else named(source)
    if known is None:
        return Path(source), None
    data = os.environ.get(DATA)
    if not data:
        raise DataError(
            f"{source}: no such file or folder; to read the known corpus {known[0]} by its name, "
            f"set {DATA} to the folder that contains the folder {known[0]}"
        )
    folder = Path(data) / known[0]
    if not folder.is_dir():
        raise DataError(f"{source}: no such file, and {DATA} contains no folder {known[0]}")
    return folder, known[1]


def corpora_in(source: str | Path) -> list[tuple[Path, str | None]]:
    """Every corpus in a folder that contains several: of a known corpus, or in its folders.

    Empty if the source is a single corpus.
    """
    folder, corpus = located(source)
    if corpus is not None or not folder.is_dir() or (folder / "corpus.json").is_file():
        return []
    name = recognise(folder)
    if name is not None:
        known = DATASETS[name]
        return [] if known.default else [(folder, one) for one in known.corpora]
    inside = sorted(one for one in folder.iterdir() if one.is_dir())
    corpora = [
        entry
        for one in inside
        if recognise(one) is not None or (one / "corpus.json").is_file()
        for entry in (corpora_in(one) or [(one, None)])
    ]
    return corpora if len(corpora) > 1 else []


def load(folder: str | Path, corpus: str | None = None) -> Corpus:
    """The corpus in a folder that is known.

    Args:
        folder: contains the files of the corpus, under the names that they have in their source.
        corpus: which one, if the folder contains several.
    """
    name = recognise(folder)
    if name is None:
        raise DataError(f"{folder}: contains no known corpus; there are {listed(DATASETS)}")
    loaded = dataset(name).load(Path(folder), corpus)
    note = f"{Path(folder).resolve().name}: the known corpus {name}, read as {loaded.name}"
    return replace(loaded, notes=(note, *loaded.notes))


def read(
    source: Any,
    *,
    format: str | None = None,
    item: str | Sequence[str] | None = None,
    annotator: str | None = None,
    annotators: str | Sequence[str] | None = None,
    answer: str | Sequence[str] | None = None,
    text: str | Sequence[str] | None = None,
    question: str | None = None,
    gold: str | Path | None = None,
    scale: Scale | str | Mapping[str, Scale | str] | None = None,
    repeats: Repeats | Literal["set"] = "error",
    encoding: str | None = None,
    name: str | None = None,
    corpus: str | None = None,
    merge_variants: bool = False,
    missing: str | Sequence[str] = (),
    items: Any = None,
    features: Any = None,
    annotator_attributes: Any = None,
    cells: Cells = "values",
    header: int | None = None,
    layout: Layout | str | Path | Mapping[str, Any] | None = None,
    max_unpacked: int | str | None = None,
    media_root: str | Path | Sequence[str | Path] = (),
) -> Corpus:
    """Read annotations as a Corpus: from a file, a folder or a table in memory.

    The format and the meaning of columns are recognised by their names and content;
    `print(*corpus.notes, sep="\\n")` says how. The arguments below are needed only where this is
    wrong. Public corpora (`dissensus.datasets.DATASETS`) are recognised by the files of their
    folder.

    Args:
        source: a path, or a table in memory: of pandas, polars or Arrow, a dataset of Hugging
            Face, a list of dicts or a dict of columns. A file is a table (CSV, TSV, XLSX, ODS,
            JSON, JSONL, Parquet, Arrow; it may be compressed) or an export of Label Studio,
            Argilla, Prodigy, doccano, potato, Mechanical Turk, Toloka or Figure Eight. A folder
            is a corpus that `Corpus.save` or `dissensus convert` wrote, a public corpus, or
            contains a file for each annotator. A public corpus in the folder DISSENSUS_DATA may
            be given by its name, such as "snow2008".
        format: a name in `dissensus.readers.READERS`, if the file is not recognised correctly; or
            the shape of a table: "long" (a row per answer), "wide" (a row per item, a column per
            annotator) or "votes" (a row per item, a column of counts per value).
        item: the column that names the item, or the columns that name it together; without one,
            each distinct content is an item.
        annotator: the column that names the annotator; without one, answers are anonymous.
        annotators: the columns of a wide table that contain the answers of one annotator each.
        answer: the column of answers; a list of columns is a list of questions; in a vote table,
            the columns of counts. () reads items only.
        text: the column shown to annotators, a text or the path of an image, a sound or a video;
            several are a role each.
        question: the column that names the question, if one column contains the answers to
            several.
        gold: the column of gold labels; or a file of them, by item.
        scale: "nominal", "nominal:no,yes", "ordinal:low,mid,high", "interval:0:10",
            "multi-label:joy,fear", or a scale object; or a dictionary with one for each question.
            Inferred if left out.
        repeats: what to do with several answers of one annotator to one item: "error", "keep",
            "first", "last", "mean", or "set", which makes one answer of them, a set of values.
        encoding: of a text file, such as "latin-1"; UTF-8, or what its byte order mark says, if
            left out.
        name: the name of the corpus; the name of the file without its ending if left out.
        corpus: which corpus to read, if the source contains several.
        merge_variants: make one value of answers that differ only in case, outer space or the
            way to write a number.
        missing: words that mean that an answer is missing, such as "-" or "N/A".
        items: a table of items, joined by item: their contents, attributes and `split`.
        features: columns of numbers, such as "x*"; or a file: an array (.npy) with a row per item
            in the order of `items`, or a table, joined by item.
        annotator_attributes: a table with a row per annotator, such as gender and age.
        cells: what a cell of answers contains, if that is not one value: "lists", "keys", "counts",
            "records" or "digits", as in `Layout`.
        header: rows of column names: 0, 1 or 2.
        layout: all of this as a `Layout`, or as a file of TOML; by default the one next to the
            file, if there is one. What is stated besides overrules it.
        max_unpacked: the size that a compressed file may unpack to, such as "8GB"; if left out,
            2 GB, and 200 times its own size if that is more than 50 MB.
        media_root: folders that pictures, sounds and videos may be in, besides that of the file.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"task": ["t1", "t1"], "worker": ["ann", "bob"], "label": [1, 0]})
        >>> read(table, scale="ordinal:0,1")["label"]
        <Annotations: 2 answers by 2 annotators on 1 item, ordinal>
    """
    options = dict(locals())
    for key in ("source", "corpus", "max_unpacked", "media_root"):
        del options[key]
    roots = (media_root,) if isinstance(media_root, str | Path) else media_root
    with unpacking_up_to(max_unpacked), media_within(*roots) if roots else nullcontext():
        return _read(source, corpus, options)


def _read(source: Any, corpus: str | None, options: dict[str, Any]) -> Corpus:
    if isinstance(source, str | Path):
        source, named_corpus = located(source)
        corpus = corpus or named_corpus
    known = recognise(source) if isinstance(source, str | Path) else None
    if known is None:
        return readers.read(source, corpus=corpus, **options)
    usual = vars(Layout())
    refused = [f"{k}=" for k, v in options.items() if v is not None and v != usual.get(k)]
    if refused:
        raise DataError(
            f"{source}: this is the known corpus {known}, which is read as it is; "
            f"leave out {', '.join(refused)}"
        )
    return load(source, corpus)
