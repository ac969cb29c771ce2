"""How annotators differ about emotions, and about parts: Tables 1 to 3 of the paper, by corpora
alone."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv

from dissensus import Annotations, Corpus, Nominal
from dissensus.agreement import mean_kappa
from dissensus.evaluation import over_items
from dissensus_papers.framework.reports import Report, short
from dissensus_papers.seedbert.protocol import EMOTIONS, rated

EMOTIONS_FILE = "emotions.json"  # in a folder of outcomes
KAPPA = {"any": 0.744, "most": 0.410, "all": 0.710}  # Table 1
QUESTIONS = {
    "any": "is any emotion expressed",
    "most": "the emotion most present",
    "all": "all emotions present",
}
MANY = 100  # annotators of a text that was used to test them
THRESHOLD = 50  # of 100, above which an emotion counts as present
ANGLES = {  # degrees on the circumplex (Russell 1980), disgust as distressed and frustrated
    "joy": 8, "surprise": 70, "anger": 99, "fear": 116, "disgust": 140, "sadness": 208,
}  # fmt: skip
NEIGHBOURS = 90  # degrees; closer emotions are neighbours
SAME = {"happiness": "joy", "happy": "joy", "sad": "sadness"}  # words of other corpora
LEAST = 0.02  # the smallest share or F1 that matters


def emotions(corpora: Mapping[str, Corpus], spans: Path | None = None) -> Report:
    """What corpora of emotions say of Tables 1 and 2, and spans of Table 3; empty without any.

    Args:
        corpora: by name; those without emotions are left out.
        spans: folder of toxic_spans, whose annotators marked the words that led them to a type of
            toxicity.
    """
    report: Report = {"kappas": {}, "neighbours": {}, "evidence": {}}
    for name, corpus in corpora.items():
        if set(EMOTIONS) <= set(corpus.questions):
            report["kappas"] = kappas(corpus)
            item, most = rated(corpus)[1].item, most_present(corpus)
            counts = np.zeros((corpus.n_items, len(EMOTIONS) + 1))
            np.add.at(counts, (item, most), 1)
            report["neighbours"][name] = neighbours(counts, [*EMOTIONS, "none"])
            continue
        for question, answers in corpus.questions.items():
            values = [str(value).lower() for value in getattr(answers.scale, "values", ())]
            words = [SAME.get(value, value) for value in values]
            if len(set(words) & set(ANGLES)) > 3:
                where = name if len(corpus.questions) == 1 else f"{name}, {question}"
                report["neighbours"][where] = neighbours(answers.counts(), words)
    if spans is not None:
        report["evidence"] = evidence(spans)
    return report if any(report.values()) else {}


def most_present(corpus: Corpus) -> np.ndarray:
    """The emotion that each response rates highest, the first of several; 6 if it rates none."""
    ratings, _ = rated(corpus)
    return np.where(ratings.any(axis=1), ratings.argmax(axis=1), len(EMOTIONS))


def kappas(corpus: Corpus) -> dict[str, float]:
    """Cohen's kappa of the three questions of the paper's Table 1, mean over pairs of annotators.

    An emotion is present where it is rated above 50 of 100.
    """
    ratings, joint = rated(corpus)
    present = ratings > THRESHOLD

    def kappa(answer: np.ndarray, n_values: int = 2) -> float:
        scale = Nominal(tuple(str(value) for value in range(n_values)))
        names: dict[str, Any] = {"items": corpus.items, "annotators": corpus.annotators}
        codes = answer.astype(np.int64)
        return mean_kappa(
            Annotations.from_arrays(joint.item, joint.annotator, codes, scale, **names)
        )

    return {
        "any": kappa(np.any(present, axis=1)),
        "most": kappa(most_present(corpus), len(EMOTIONS) + 1),
        "all": float(np.nanmean([kappa(column) for column in present.T])),
    }


def neighbours(counts: np.ndarray, names: list[str]) -> Report:
    """Of two annotators who name different emotions, how often these are neighbours on the
    circumplex: the mean over items, less what the frequencies of emotions alone would give.

    Args:
        counts: (n_items, n_values) answers.
        names: of the values; those that are no emotion of the circumplex are left out.
    """
    known = [at for at, name in enumerate(names) if name in ANGLES]
    angle = np.array([ANGLES[names[at]] for at in known])
    apart = np.abs(angle[:, None] - angle)
    apart = np.minimum(apart, 360 - apart)
    near, differ = (apart > 0) & (apart < NEIGHBOURS), apart > 0
    votes = counts[:, known]
    frequency = votes.sum(axis=0) / votes.sum()
    chance = (frequency @ near @ frequency) / (frequency @ differ @ frequency)
    pairs = np.einsum("nk,kl,nl->n", votes, differ, votes)
    share = np.einsum("nk,kl,nl->n", votes, near, votes)[pairs > 0] / pairs[pairs > 0]
    test = over_items(share[None], np.full((1, len(share)), chance))
    figures = {"share": float(share.mean()), "chance": float(chance)}
    return {"n_items": len(share), **figures, **short(test)}


def evidence(folder: Path) -> Report:
    """Of two annotators of a text who marked what led them to a type of toxicity: F1 of their
    marks if they name the same type, less that if they name different ones, over texts with both.
    """
    types: dict[int, set[str]] = {}
    marks: dict[int, set[int]] = {}
    for row in pyarrow.csv.read_csv(folder / "spans.csv").to_pylist():
        types.setdefault(row["annotation"], set()).add(row["type"])
        marks.setdefault(row["annotation"], set()).update(range(row["start"], row["end"]))
    of_text: dict[int, list[int]] = {}
    for row in pyarrow.csv.read_csv(folder / "annotations.csv").to_pylist():
        if len(types.get(row["annotation"], ())) == 1 and marks[row["annotation"]]:
            of_text.setdefault(row["comment_id"], []).append(row["annotation"])
    sides = []
    for marked in (each for each in of_text.values() if len(each) < MANY):
        f1: dict[bool, list[float]] = {True: [], False: []}
        for first, second in combinations(marked, 2):
            both = len(marks[first] & marks[second])
            overlap = 2 * both / (len(marks[first]) + len(marks[second]))
            f1[types[first] == types[second]].append(overlap)
        if f1[True] and f1[False]:
            sides.append([float(np.mean(f1[same])) for same in (True, False)])
    same, different = np.array(sides).T
    test = over_items(same[None], different[None])
    figures = {"same": float(same.mean()), "different": float(different.mean())}
    return {"n_items": len(same), **figures, **short(test)}
