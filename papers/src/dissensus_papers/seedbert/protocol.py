"""What the paper prints; the corpora, models and conditions that stand for its own.

Reference: Sampath, Lin & Morency (2022), SeedBERT: Recovering Annotator Rating Distributions from
an Aggregated Label, arXiv 2211.13196.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.evaluation import Fold, Key, nested, repeated
from dissensus.training import Training
from dissensus_papers.framework import declared

TABLE: dict[str, tuple[float, float]] = {  # Table 4, by our names; 500 clips, six emotions:
    "single": (0.204, 0.102),  # accuracy and F1 as shares, averaged over five times five folds
    "soft-label": (0.284, 0.0821),
    "label-and-uncertainty": (0.180, 0.0954),
    "bayesian": (0.150, 0.132),
    "seeds": (0.308, 0.183),
}
# ---- models ----

N_MEMBERS, MANY = 5, 20
AT_ONCE = 30  # networks side by side on a GPU, at most


@dataclass(frozen=True)
class Model(declared.Model):
    """A row of the tables.

    Args:
        oracle: whether it sees more than one label of an item.
        tuned_as: the model whose chosen settings it has; itself if left out.
    """

    oracle: bool = False
    tuned_as: str = ""

    @property
    def n_networks(self) -> int:
        """Of one fit."""
        return int(self.settings.get("n_members", 1))

    @property
    def size(self) -> int:
        """How many networks it counts for where several are trained at once: 30 draws of the
        weights take as much memory as another one."""
        return 2 if self.method == "bayesian" else self.n_networks


def _ensemble(title: str, vary: str, n_members: int = N_MEMBERS) -> Model:
    settings = {"n_members": n_members, "vary": vary}
    return Model(title, "seed-ensemble", settings, tuned_as=SEEDS)


SINGLE, SEEDS, DEEP, ALIKE = "single", "seeds", "everything", "single-alike"
MODELS: dict[str, Model] = {
    SINGLE: Model("BERT (single)", "single"),
    ALIKE: Model("BERT (single), settings of SeedBERT", "single", tuned_as=SEEDS),
    "bayesian": Model("BNN (bayesian)", "bayesian"),
    "soft-label": Model("LDL (soft-label, oracle)", "soft-label", oracle=True),
    "label-and-uncertainty": Model("Multi-Task (label-and-uncertainty, oracle)",
                                   "label-and-uncertainty", oracle=True),
    SEEDS: _ensemble("SeedBERT (seed-ensemble)", "last-layer"),
    "order": _ensemble("other order of items", "order"),
    "dropout": _ensemble("other dropout", "dropout"), "bag": _ensemble("bagging", "bag"),
    DEEP: _ensemble("deep ensemble (everything)", "everything"),
    f"{SEEDS}-{MANY}": _ensemble("SeedBERT, 20 members", "last-layer", MANY),
    f"{DEEP}-{MANY}": _ensemble("deep ensemble, 20 members", "everything", MANY),
}  # fmt: skip
TABLE_4 = tuple(TABLE)
VARIANTS = (SEEDS, "order", "dropout", "bag", DEEP)

CHOSEN = Training(batch_size=32, learning_rate=1e-3).over(Training())  # and what is chosen
PAPER = Training(
    epochs=3, batch_size=16, optimiser="adam", learning_rate=5e-6, encoder_learning_rate=5e-6,
    schedule="constant", weight_decay=0.0, warm_up=0.0, clip=math.inf,
)  # fmt: skip
AS_PAPER: dict[str, Any] = {f"training.{name}": value for name, value in asdict(PAPER).items()}
AS_PAPER |= {"dropout": 0.1, "base_rates": False, "complexity_weight": 1.0}
RATES, EPOCHS = (3e-5, 1e-4, 3e-4), (2, 4)
HEAD_RATES, HEAD_EPOCHS = (1e-3, 3e-3, 1e-2), (10, 30)  # where the encoder is frozen
COSTS = (1e-4, 1e-2)  # of a Bayesian network's weights; in the paper 1


def trials(model: str, frozen: bool = False) -> list[dict[str, Any]]:
    """What is tried, as many settings of every method: rates and epochs, of the Bayesian network
    rates and the weight of its cost, which decides whether it learns at all.

    Args:
        frozen: whether only the last layer is trained; else the rate is that of the encoder.
    """
    rate = "training.learning_rate" if frozen else "training.encoder_learning_rate"
    rates, epochs = (HEAD_RATES, HEAD_EPOCHS) if frozen else (RATES, EPOCHS)
    plain = [{rate: value, "training.epochs": n} for n in epochs for value in rates]
    if MODELS[model].method != "bayesian":
        return plain
    longest = [each for each in plain if each["training.epochs"] == epochs[-1]]
    return [each | {"complexity_weight": cost} for cost in COSTS for each in longest]


def built(
    model: str,
    encoder: str | dict[str, str],
    settings: Mapping[str, Any],
    typed: Sequence[tuple[str, str]] = (),
    tune: str | int = "all",
) -> Any:
    """A method without seeds, to be trained with these settings.

    Args:
        settings: those of a trial, or `AS_PAPER`.
        typed: more of them as typed, for trying things out.
    """
    from dissensus.methods import changed, method

    cls: Any = method(MODELS[model].method)
    plain = cls(encoder=encoder, tune=tune, temperature=True, training=CHOSEN)
    own = dict(MODELS[model].settings) | declared.known(plain, settings)
    return declared.with_typed(changed(plain, own), typed)


# ---- corpora ----

N_SAMPLED = 2000  # items of the larger corpora, a fixed sample
TURNS = "prev_agent+prev_user+agent+user"
TEXT = "minilm:max_length=64"


@dataclass(frozen=True, kw_only=True)
class Source(declared.Source):
    """A corpus, the question that is learned, and its encoder.

    Args:
        tune: which blocks of the encoder are trained.
        sampled: whether a fixed sample of 2,000 items stands for it.
        seed: of its folds and fits.
        again: the corpus that is put to the test again here: by items that are not in its sample,
            or where there are none by other folds.
    """

    question: str
    encoder: str | dict[str, str] = TEXT
    tune: str | int = "all"
    sampled: bool = False
    seed: int = 1000
    again: str = ""


FIRST = "HS-Brexit"  # where the best variant is chosen
_ONCE = {
    FIRST: Source("lewidi2023", FIRST, question="hate", seed=0),
    "ConvAbuse": Source("lewidi2023", "ConvAbuse", question="abusive", encoder={TURNS: TEXT}),
    "MD-Agreement": Source("lewidi2023", "MD-Agreement", question="offensive", sampled=True),
    "cifar10h": Source("cifar10h", question="class", encoder="efficientnet-lite0", tune=1,
                       sampled=True),
    "snow2008-affect": Source("snow2008", "affect", question="emotion"),
}  # fmt: skip
SOURCES: dict[str, Source] = _ONCE | {
    f"{name}-again": replace(_ONCE[name], seed=3000, again=name)
    for name in ("ConvAbuse", "MD-Agreement", "cifar10h")
}


def ready(corpus: Corpus) -> Corpus:
    """A corpus as it is learned from: one question, and of the larger ones a sample; as it is if it
    is so already, as in a kit."""
    source = SOURCES[corpus.name]
    if list(corpus.questions) == [source.question] and not corpus.gold:
        return corpus
    if source.question not in corpus.questions:
        corpus = with_emotion(corpus)
    if source.sampled:
        corpus = sampled(corpus, N_SAMPLED, first=N_SAMPLED if source.again else 0)
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


# ---- the emotion most present, of ratings of six emotions ----

EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
SHARED = 60  # votes of an annotator, so that two to six emotions share them evenly


def with_emotion(corpus: Corpus) -> Corpus:
    """The emotion that is most present, or none; several that are equally so share the vote."""
    ratings, joint = rated(corpus)
    highest = ratings.max(axis=1, keepdims=True)
    chosen = (ratings == highest) & (highest > 0)
    votes = np.column_stack([chosen, highest[:, 0] <= 0]).astype(float)  # (n_responses, 7)
    share = votes / votes.sum(axis=1, keepdims=True) * SHARED
    item_of, value = np.nonzero(share)
    scale, count = Nominal((*EMOTIONS, "none")), np.rint(share[item_of, value]).astype(np.int64)
    emotions = Annotations.from_arrays(
        joint.item[item_of], None, value.astype(np.int32), scale, items=corpus.items, count=count,
        repeats="keep",
    )  # fmt: skip
    return replace(corpus, questions={"emotion": emotions})


def rated(corpus: Corpus) -> tuple[np.ndarray, Any]:
    """Of each response the six ratings, (n_responses, 6); and its item and annotator."""
    joint = corpus.joint(*EMOTIONS)
    return np.stack([np.asarray(joint.answers[name], float) for name in EMOTIONS], axis=1), joint


# ---- conditions ----

N_FOLDS, N_REPEATS = 5, 5


@dataclass(frozen=True)
class SeedBertCondition:
    """Models on a corpus.

    Args:
        kind: settings are chosen ("choose"); models have those that were ("chosen"), or the
            paper's rate and epochs ("paper"); "many": ensembles of 20 members with chosen ones;
            "again": what was found after the fact, with chosen ones on other items.
        repeats: how often the folds are dealt out; of "choose", folds of the first time.
        frozen: whether only the last layer is trained.
    """

    name: str
    corpus: str
    kind: Literal["choose", "chosen", "paper", "many", "again"]
    models: tuple[str, ...]
    repeats: int = N_REPEATS
    frozen: bool = False

    @property
    def source(self) -> Source:
        return SOURCES[self.corpus]

    @property
    def choosing(self) -> str:
        """The condition in which its settings are chosen; empty if they are not."""
        frozen = FROZEN * self.frozen
        waits = self.kind in ("chosen", "many", "again")
        return f"{self.source.again or self.corpus}{frozen}-choose" * waits

    def keys(self, runs: int) -> list[Key]:
        """Everything that is trained; of "choose" a key is a trial."""
        n = min(self.repeats, runs)
        numbers = {m: range(len(trials(m)) if self.kind == "choose" else n) for m in self.models}
        return [Key(m, number, self.name) for m in self.models for number in numbers[m]]


FROZEN = "-frozen"


def _of(name: str) -> Iterator[SeedBertCondition]:
    """All conditions of a corpus."""
    if SOURCES[name].again:
        yield SeedBertCondition(name, name, "again", (SINGLE, SEEDS, DEEP))
        return
    models = (SINGLE, SEEDS, DEEP, *(model for model in TABLE_4 if model not in (SINGLE, SEEDS)))
    if name == FIRST:
        models = (SINGLE, *VARIANTS, *TABLE_4[1:-1])
    folds = 2 if name in ("ConvAbuse", "MD-Agreement") else N_FOLDS
    many = {FIRST: (f"{SEEDS}-{MANY}", f"{DEEP}-{MANY}"), "ConvAbuse": (f"{SEEDS}-{MANY}",)}
    yield SeedBertCondition(f"{name}-choose", name, "choose", TABLE_4, folds)
    yield SeedBertCondition(name, name, "chosen", models)
    yield SeedBertCondition(f"{name}-paper", name, "paper", TABLE_4)
    if name in many:
        yield SeedBertCondition(f"{name}-many", name, "many", many[name], repeats=2)
    frozen, heads = f"{name}{FROZEN}", tuple(model for model in TABLE_4 if model != "bayesian")
    yield SeedBertCondition(f"{frozen}-choose", name, "choose", heads, folds, frozen=True)
    yield SeedBertCondition(frozen, name, "chosen", heads, frozen=True)
    yield SeedBertCondition(f"{frozen}-paper", name, "paper", heads, frozen=True)
    if name in ("ConvAbuse", "MD-Agreement"):  # where both chose another rate
        yield SeedBertCondition(f"{frozen}-alike", name, "chosen", (ALIKE, SEEDS), frozen=True)


CONDITIONS: dict[str, SeedBertCondition] = {
    condition.name: condition for name in SOURCES for condition in _of(name)
}


def folds(corpus: Corpus, source: Source) -> list[list[Fold]]:
    """Five folds, dealt out five times: by repetition, balanced by the labels."""
    dealt = repeated(corpus, N_FOLDS, N_REPEATS, source.seed, stratify=source.question)
    return [[fold for fold in dealt if fold.run == run] for run in range(N_REPEATS)]


def to_choose(corpus: Corpus, condition: SeedBertCondition) -> list[Fold]:
    """Of each of the first folds' training parts a fifth to judge settings on, the rest to learn
    from."""
    source = condition.source
    first = folds(corpus, source)[0][: condition.repeats]
    return [nested(corpus, f, N_FOLDS, source.seed, stratify=source.question)[0] for f in first]


def seed_of(source: Source, repeat: int, fold: int) -> int:
    """Of a fit: different ones for all folds of all repetitions."""
    return source.seed + N_FOLDS * repeat + fold
