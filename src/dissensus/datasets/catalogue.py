"""The catalogue of known corpora: their files, licence and size, and what each is good for."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed


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
    files: tuple[str, ...]  # a folder with one of them is this corpus; with "a & b": with both
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
            all(any(folder.glob(file)) for file in files.split(" & ")) for files in self.files
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
        loaded: Corpus = getattr(module, f"load_{self.name}")(folder, wanted)
        return loaded


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
    Dataset("dawid_skene_classics", "classics", 45, 5, 315, "GPL-2",
            "the first examples of aggregation",
            ("anesthesia.csv", "caries.csv"), ("anaesthesia", "caries"), has_default=False),
    Dataset("vgmidi", "sounds", 204, 3070, 12202, UNSTATED, "ratings over time; music",
            ("pieces.csv & notes.csv.gz",)),
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
            ("street_labels.csv",)),
    Dataset("amer", "pictures", None, 13, None, ANNOUNCED, "emotions in clips of films",
            ("amer_labels.csv",)),
)
# fmt: on
DATASETS = {dataset.name: dataset for dataset in _EVERY}
