"""The corpora that replace the paper's own, which is not public."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dissensus.agreement import mean_kappa
from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.snow2008 import EMOTIONS
from dissensus.scales import Nominal
from dissensus_papers.framework.corpora import read_sources

N_SAMPLED = 2000  # items of the larger corpora, a fixed sample
TURNS = "prev_agent+prev_user+agent+user"
TEXT = "minilm:max_length=64"
NONE = "none"
SHARED = 60  # votes of an annotator, so that two to six emotions share them evenly
THRESHOLD = 50  # of 100, above which an emotion counts as present


@dataclass(frozen=True)
class Source:
    """A corpus: its folder, the question that is learned, and its encoder.

    Args:
        counted: whether its figures count for the verdicts.
        sampled: whether a fixed sample of 2,000 items stands for it.
        seed: of its folds and fits.
        again: the corpus that is put to the test again here: by items that are not in its sample,
            or where there are none by other folds.
    """

    name: str
    folder: str
    corpus: str | None
    question: str
    encoder: str | tuple[tuple[str, str], ...] = TEXT
    counted: bool = True
    sampled: bool = False
    seed: int = 1000
    again: str = ""

    def readers(self) -> str | dict[str, str]:
        """The encoder, or one for roles."""
        return self.encoder if isinstance(self.encoder, str) else dict(self.encoder)


FIRST = "HS-Brexit"  # where the best variant is chosen
_ONCE = (
    Source(FIRST, "lewidi2023", FIRST, "hate", seed=0),
    Source("ConvAbuse", "lewidi2023", "ConvAbuse", "abusive", ((TURNS, TEXT),)),
    Source("MD-Agreement", "lewidi2023", "MD-Agreement", "offensive", sampled=True),
    Source("cifar10h", "cifar10h", None, "class", "last-block:efficientnet-lite0", sampled=True),
    Source("snow2008-affect", "snow2008", "affect", "emotion", counted=False),
)
_AGAIN = tuple(
    replace(source, name=f"{source.name}-again", counted=False, seed=3000, again=source.name)
    for source in _ONCE
    if source.counted and source.name != FIRST
)
SOURCES: dict[str, Source] = {source.name: source for source in (*_ONCE, *_AGAIN)}


def read(data: Path) -> dict[str, Corpus]:
    """Those of the corpora that a folder contains."""
    return read_sources(data, SOURCES)


def ready(corpus: Corpus) -> Corpus:
    """A corpus as it is learned from: one question, and of the larger ones a sample."""
    source = SOURCES[corpus.name]
    if source.question not in corpus.questions:
        corpus = with_emotion(corpus)
    if source.sampled:
        corpus = sampled(corpus, N_SAMPLED, first=N_SAMPLED if source.again else 0)
    if "image" in corpus.contents:
        corpus = before_last_block(corpus)
    return replace(corpus, questions={source.question: corpus[source.question]}, gold={})


def sampled(corpus: Corpus, n_items: int, first: int = 0) -> Corpus:
    """About so many items, whole contents or groups of them, always the same ones.

    Args:
        first: items that are passed over: those of a sample of so many.
    """
    units = corpus.units()
    order = np.random.default_rng(0).permutation(units.max(initial=-1) + 1)
    sizes = np.bincount(units)[order]
    before = np.cumsum(sizes) - sizes
    taken = order[(before >= first) & (before < first + n_items)]
    return corpus.select(items=np.isin(units, taken))


def before_last_block(corpus: Corpus) -> Corpus:
    """Pictures as what all blocks of EfficientNet-Lite0 but the last make of them, in half
    precision: these never change where only the last one learns."""
    from dissensus.encoders.framework.catalogue import encode
    from dissensus_papers.encoders.last_block import FrontEncoder

    shown = corpus.contents["image"]
    store = encode(FrontEncoder(), shown)
    grids = np.split(np.asarray(store.vectors, np.float32), store.offsets[1:-1])
    features, code = Contents.distinct("features", grids)
    return replace(
        corpus,
        contents={"image": features},
        content={"image": code[corpus.content["image"]]},
    )


# ---- the paper's three questions, of ratings of six emotions ----


def with_emotion(corpus: Corpus) -> Corpus:
    """The emotion that is most present, or none; several that are equally so share the vote."""
    ratings, item, _ = _ratings(corpus)
    share = _most_present(ratings) * SHARED
    item_of, value = np.nonzero(share)
    emotions = Annotations.from_arrays(
        item[item_of],
        None,
        value.astype(np.int32),
        Nominal((*EMOTIONS, NONE)),
        items=corpus.items,
        count=np.rint(share[item_of, value]).astype(np.int64),
        repeats="keep",
    )
    return replace(corpus, questions={"emotion": emotions})


def is_rated(corpus: Corpus) -> bool:
    """Whether it has annotators' ratings of the six emotions."""
    return set(EMOTIONS) <= set(corpus.questions)


def kappas(corpus: Corpus) -> dict[str, float]:
    """Cohen's kappa of the three questions of the paper's Table 1, mean over pairs of annotators.

    An emotion is present where it is rated above 50 of 100. Of several that are most present, the
    first counts.
    """
    ratings, item, annotator = _ratings(corpus)
    present = ratings > THRESHOLD
    most = ratings.argmax(axis=1)
    most = np.where(ratings.any(axis=1), most, len(EMOTIONS))

    def kappa(answer: np.ndarray, n_values: int) -> float:
        scale = Nominal(tuple(str(value) for value in range(n_values)))
        answers = Annotations.from_arrays(
            item, annotator, answer, scale, items=corpus.items, annotators=corpus.annotators
        )
        return mean_kappa(answers)

    each = [kappa(column.astype(np.int64), 2) for column in present.T]
    return {
        "any": kappa(np.any(present, axis=1).astype(np.int64), 2),
        "most": kappa(most, len(EMOTIONS) + 1),
        "all": float(np.nanmean(each)),
    }


def _ratings(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each response the six ratings, (n_responses, 6), its item and its annotator."""
    joint = corpus.joint(*EMOTIONS)
    ratings = np.stack([np.asarray(joint.answers[name], float) for name in EMOTIONS], axis=1)
    assert joint.annotator is not None
    return ratings, joint.item, joint.annotator


def _most_present(ratings: np.ndarray) -> np.ndarray:
    """The share of an annotator's vote for each emotion, and last for none: (n_responses, 7)."""
    highest = ratings.max(axis=1, keepdims=True)
    chosen = (ratings == highest) & (highest > 0)
    votes = np.column_stack([chosen, highest[:, 0] <= 0]).astype(float)
    return votes / votes.sum(axis=1, keepdims=True)


def biases(corpus: Corpus, question: str, least: int = 50) -> np.ndarray:
    """How often each annotator with so many answers gives each one, (n_annotators, n_values)."""
    annotations = corpus[question]
    if annotations.annotator is None:
        return np.zeros((0, annotations.scale.n_columns))
    counts = np.zeros((annotations.n_annotators, annotations.scale.n_columns))
    np.add.at(counts, (annotations.annotator, annotations.answer), 1)
    counts = counts[counts.sum(axis=1) >= least]
    return counts / counts.sum(axis=1, keepdims=True)
