"""The corpora, their folds, and figures that no model has to be fitted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from dissensus import Annotations, Corpus, Interval, Names, simulate
from dissensus.contents import Contents
from dissensus.datasets import usable_clips
from dissensus.densities import RatingKde, rating_densities
from dissensus.evaluation import Fold, k_fold, nested
from dissensus.metrics import DENSITY_METRICS, concordance
from dissensus.prediction import JointDensity
from dissensus_papers.framework.declared import Figures, Source

TWO, EMOTIONS = ("accuracy", "fluency"), ("activation", "valence")
IMPRESSIONS = {"pleasant": "angenehm", "active": "aktiv"}  # as the questionnaire translates them
SIGNED, FEWEST_RATERS = ("valence", "arousal"), 5
PART = "corpus"  # the item attribute of corpora that are joined
SELECTION, OTHER_SELECTIONS = "selection", ("spanish", "latam", "africa")


def impressions(corpus: Corpus) -> Corpus:
    """NSC voices with two of its 34 questions, which are the nearest to valence and activation."""
    if set(corpus.questions) == set(IMPRESSIONS):
        return corpus
    questions = {name: corpus[german] for name, german in IMPRESSIONS.items()}
    return replace(corpus.select(questions=tuple(IMPRESSIONS.values())), questions=questions)


def signs(corpus: Corpus) -> Corpus:
    """TROMPA-MER with its two signs as ratings, -1 and 1, and the items that have some raters."""
    corpus = corpus.select(questions=SIGNED)
    if not isinstance(corpus[SIGNED[0]].scale, Interval):
        questions = {question: _rated(answers) for question, answers in corpus.questions.items()}
        corpus = replace(corpus, questions=questions)
    return corpus.select(items=corpus[SIGNED[0]].per_item() >= FEWEST_RATERS)


def _rated(answers: Annotations) -> Annotations:
    """The same answers as ratings on [-1, 1]."""
    if isinstance(answers.scale, Interval):
        numbers = answers.scale.to_unit(answers.answer)
    else:
        numbers = np.array(answers.scale.decode(answers.answer), float)
    return Annotations.from_arrays(
        answers.item, answers.annotator, numbers, Interval(-1, 1), items=answers.items,
        annotators=answers.annotators, response=answers.response,
    )  # fmt: skip


def joined(corpora: Mapping[str, Corpus]) -> Corpus:
    """Corpora with the same questions as one, in which annotators of each are others.

    Ratings are on [-1, 1]. The attribute `corpus` of an item is the name of its corpus; contents
    are those of roles that all of them have.
    """
    parts = [identified(corpus) for corpus in corpora.values()]
    names, sizes = [*corpora], [part.n_items for part in parts]
    named = [*zip(names, parts, strict=True)]
    items = Names([f"{name}, {item}" for name, part in named for item in part.items])
    annotators = Names([f"{name}, {one}" for name, part in named for one in part.annotators])
    starts = np.cumsum([[0, 0], *([part.n_items, part.n_annotators] for part in parts)], axis=0)
    questions = {}
    for question in parts[0].questions:
        rated = [_rated(part[question]) for part in parts]
        both = zip(rated, starts, strict=False)
        rows = [(r.item + n, r.annotator_codes("a joined corpus") + m) for r, (n, m) in both]
        item, annotator = map(np.concatenate, zip(*rows, strict=True))
        questions[question] = Annotations.from_arrays(
            item, annotator, np.concatenate([part.answer for part in rated]), Interval(-1, 1),
            items=items, annotators=annotators,
        )  # fmt: skip
    contents = {}
    for role in parts[0].contents:
        if all(role in part.contents for part in parts):
            each = [part.contents[role] for part in parts]
            first = np.cumsum([0, *map(len, each)])
            of_parts = zip((part.content[role] for part in parts), first, strict=False)
            codes = [np.where(code < 0, -1, code + start) for code, start in of_parts]
            chunks = [c for one in each for c in getattr(one.values, "chunks", [one.values])]
            values = pa.chunked_array(chunks).combine_chunks()
            contents[role] = Contents(each[0].kind, values), np.concatenate(codes)
    speakers = [
        None if speaker is None else f"{name}, {speaker}"
        for name, part in named
        for speaker in part.item_attributes["speaker"].to_pylist()
    ]
    of_item: list[str | None] = []
    for name, part in named:
        known = name in PARTS
        of_item += part.splits[PARTS[name]].to_pylist() if known else [None] * part.n_items
    left_out = tuple(row for part in parts for row in part.left_out)
    notes = tuple(note for part in parts for note in part.notes)
    return Corpus.build(
        " to ".join(names), items, questions, annotators=annotators, contents=contents,
        item_attributes={PART: np.repeat(names, sizes).tolist(), "speaker": speakers},
        splits={PART: of_item}, group="speaker", left_out=left_out, notes=notes,
    )  # fmt: skip


def identified(corpus: Corpus) -> Corpus:
    """A corpus whose annotators are known; of one where they are not, the first response to each
    item counts as one annotator, and so on."""
    if all(answers.annotator is not None for answers in corpus.questions.values()):
        return corpus
    most = max(int(answers.per_item().max()) for answers in corpus.questions.values())
    annotators = Names([f"response {n + 1}" for n in range(most)])
    questions = {}
    for question, answers in corpus.questions.items():
        responses = np.arange(answers.n_rows) if answers.response is None else answers.response
        order = np.lexsort((responses, answers.item))
        item = answers.item[order]
        nth = np.arange(len(item)) - np.searchsorted(item, item)
        questions[question] = Annotations.from_arrays(
            item, nth, answers.answer[order], answers.scale, items=corpus.items,
            annotators=annotators,
        )  # fmt: skip
    return replace(corpus, questions=questions, annotators=annotators)


PARTS = {"msp_improv": "paper", "msp_podcast": "official"}  # the splits of joined corpora
TRANSFERS = {  # trained on the first one, tested on the second
    "voices-telephone": ("nsc_voices", "nsc_telephone"),
    "improv-podcast": ("msp_improv", "msp_podcast"),
    "improv-iemocap": ("msp_improv", "iemocap"),
    "improv-muse": ("msp_improv", "muse"),
}
SOURCES: dict[str, Source] = {
    "speechocean762": Source("speechocean762", "sentences"),
    "nsc_voices": Source("nsc_voices", "nsc_voices", prepared=impressions),
    "nsc_telephone": Source("nsc_voices", "telephone", prepared=impressions),
    "ca_patterns216": Source("ca_patterns216"),
    "trompa_mer": Source("trompa_mer", prepared=signs),
    **{  # the clips that the paper uses, with its two questions
        name: Source(name, prepared=partial(usable_clips, questions=EMOTIONS))
        for name in ("msp_improv", "msp_podcast", "iemocap", "muse")
    },
    "simulated": Source("", simulated=partial(simulate.ratings, seed=1)),
    **{name: Source("", parts=parts, joined=joined) for name, parts in TRANSFERS.items()},
}


# ---- folds ----

SEEDS, N_FOLDS = (0, 1, 2, 3, 4), 5
OF_AGE, FROM = 18, "first to second"

Folds = Callable[[Corpus], list[Fold]]


def folds_by(by: str | None, corpus: Corpus) -> list[Fold]:
    """Five folds, by speaker or by item, balanced by the first question; a fifth of the training
    part chooses the epoch.

    Items with the same content, or of the same group, are in one part.
    """
    folds = k_fold(corpus, N_FOLDS, by=by, stratify=next(iter(corpus.questions)))
    return [_with_validation(corpus, fold, by) for fold in folds]


def adults_to_children(corpus: Corpus) -> list[Fold]:
    """Training on speakers from 18 years, test on younger ones."""
    age = corpus.item_attributes["age"].to_numpy(zero_copy_only=False)
    return [_transfer(corpus, "adults to children", age >= OF_AGE, age < OF_AGE)]


def choir_to_others(corpus: Corpus) -> list[Fold]:
    """Training on music of choirs, test on music of other selections."""
    selection = np.array(corpus.item_attributes[SELECTION].to_pylist())
    others = np.isin(selection, OTHER_SELECTIONS)
    return [_transfer(corpus, "choir to others", selection == "choir", others, None)]


def first_to_second(corpus: Corpus) -> list[Fold]:
    """Of two corpora that are joined: training on the first, without speakers of the second, test
    on the second. Where they have official parts, training, validation and test are such parts."""
    name = np.array(corpus.item_attributes[PART].to_pylist())
    part = np.array(corpus.splits[PART].to_pylist(), dtype=object)
    train, test = name == name[0], name != name[0]
    if (part[train] == "train").any():
        if (part[test] == "test1").any():
            test &= part == "test1"
        validation = np.flatnonzero(train & (part == "validation"))
        train &= part == "train"
        if len(validation):
            return [Fold(FROM, np.flatnonzero(train), np.flatnonzero(test), validation)]
    speakers = corpus.item_attributes["speaker"].to_pylist()
    speaker = np.array([str(name).partition(", ")[2] for name in speakers])
    train &= ~np.isin(speaker, speaker[test])
    return [_transfer(corpus, FROM, train, test)]


def parts_of(split: str, train: str, validation: str, test: str, corpus: Corpus) -> list[Fold]:
    """One fold: the parts of a split that the corpus is distributed with. In a copy without the
    test part, the validation part is tested, and speakers of the training part choose the epoch."""
    of_item = np.array(corpus.splits[split].to_pylist(), dtype=object)
    learned, tested, chosen = (np.flatnonzero(of_item == p) for p in (train, test, validation))
    if not len(tested):
        return [_with_validation(corpus, Fold(validation, learned, chosen), "speaker")]
    return [Fold(test, learned, tested, chosen)]


def _transfer(
    corpus: Corpus, name: str, train: np.ndarray, test: np.ndarray, by: str | None = "speaker"
) -> Fold:
    return _with_validation(corpus, Fold(name, np.flatnonzero(train), np.flatnonzero(test)), by)


def _with_validation(corpus: Corpus, fold: Fold, by: str | None) -> Fold:
    inner = nested(corpus, fold, N_FOLDS, by=by)[0]
    return replace(fold, train=inner.train, validation=inner.test)


# ---- figures ----

CCC = ("CCC", "annotator CCC", "annotator CCC, mean")
OTHERS = "annotators, by the mean of the others"
HALVES = "half of the annotators, by the other half"
ORACLES = {  # how far ratings are from the mean of their item
    "oracle: the true ratings": 1.0,
    "oracle: nearer to their mean by half": 0.5,
    "oracle: the mean rating, for all": 0.0,
}
FEWEST = 10  # ratings of an annotator with a concordance


def reading(questions: Sequence[str], text: str) -> str:
    """The name of the table of a density reading."""
    return f"{' x '.join(questions)} ({text})"


def figures_of(
    questions: Sequence[str], densities: Sequence[str], folds: Folds, corpus: Corpus
) -> Figures:
    """Of the test items: the mean concordance of annotators with the others; how far the density
    of a random half of them is from that of the other half; and what each reading makes of perfect
    predictions, which no prediction can do better in that reading.

    Halves have more noise than all annotators together: a model of all may be nearer.
    """
    corpus = corpus.select(items=np.concatenate([fold.test for fold in folds(corpus)]))
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for question in questions:
        mean = _mean_concordance(corpus[question])
        rows[question] = {OTHERS: {CCC[0]: mean, CCC[2]: mean}}
    of_halves, given = halves(corpus, questions), rating_densities(corpus, questions)
    for text in densities:
        of_oracles = oracles(corpus, questions, text, given)
        rows[reading(questions, text)] = {HALVES: of_halves} | of_oracles
    return rows


def oracles(
    corpus: Corpus, questions: Sequence[str], text: str, given: JointDensity
) -> dict[str, dict[str, float]]:
    """The distances of the density that a reading makes of the true ratings, and of ratings that
    are nearer to the mean of their item; "method" is the temperature that follows from the spread
    within these items.

    Args:
        given: the densities of the ratings.
    """
    from dissensus.methods import PredictedRatings
    from dissensus_papers.individual.methods import Ratings, temperature_of

    ratings = Ratings.of(corpus, questions)
    kind = text.partition("@")[0]
    kde = RatingKde.from_text("soft" if kind == "method" else kind)
    if kind == "method":
        kde = replace(kde, temperature=temperature_of(ratings.spread))
    rows = {}
    for name, share in ORACLES.items():
        values = ratings.means + share * (ratings.values - ratings.means)
        mass = PredictedRatings(values, ratings.present).density(kde)
        predicted = replace(given, mass=mass)
        rows[name] = {name: metric(predicted, given) for name, metric in DENSITY_METRICS.items()}
    return rows


def halves(corpus: Corpus, questions: Sequence[str], bins: int = 4) -> dict[str, float]:
    """The distances between the densities of two random halves of the ratings of each item."""
    joint = corpus.joint(*questions)
    order = np.random.default_rng(0).permutation(len(joint.item))
    order = order[np.argsort(joint.item[order], kind="stable")]
    ordered = joint.item[order]
    nth = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    first, second = (
        rating_densities(_with_rows(corpus, questions, order[nth % 2 == side]), questions, bins)
        for side in (0, 1)
    )
    return {name: metric(first, second) for name, metric in DENSITY_METRICS.items()}


def _with_rows(corpus: Corpus, questions: Sequence[str], rows: np.ndarray) -> Corpus:
    """A corpus with some of the joint answers to some questions."""
    joint = corpus.joint(*questions)
    answers = {
        question: Annotations.from_arrays(
            joint.item[rows], None, joint.answers[question][rows], corpus[question].scale,
            items=corpus.items, response=np.arange(len(rows)),
        )
        for question in questions
    }  # fmt: skip
    return replace(corpus.select(questions=tuple(questions)), questions=answers)


def _mean_concordance(answers: Annotations) -> float:
    """Of the annotators with some ratings, with the means of the others on the same items."""
    ratings = np.full((answers.n_items, answers.n_annotators), np.nan)
    ratings[answers.item, answers.annotator_codes("agreement")] = answers.answer
    n, total = np.sum(~np.isnan(ratings), axis=1), np.nansum(ratings, axis=1)
    each = []
    for column in ratings.T:
        there = ~np.isnan(column) & (n > 1)
        own = column[there]
        if len(own) >= FEWEST and own.std() > 0:
            each.append(concordance(own, (total[there] - own) / (n[there] - 1)))
    return float(np.mean(each)) if each else float("nan")
