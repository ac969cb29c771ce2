"""How annotators differ about emotions: Tables 1 and 2 of the paper, by corpora alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.agreement import mean_kappa
from dissensus.evaluation import over_items
from dissensus_papers.framework.reports import Report, short
from dissensus_papers.seedbert.protocol import EMOTIONS, rated

EMOTIONS_FILE = "emotions.json"  # in a folder of outcomes
KAPPA = {"any": 0.744, "most": 0.410, "all": 0.710}  # Table 1
QUESTIONS = {
    "any": "is any emotion expressed", "most": "the emotion most present",
    "all": "all emotions present",
}  # fmt: skip
THRESHOLD = 50  # of 100, above which an emotion counts as present
ANGLES = {  # degrees on the circumplex (Russell 1980), disgust as distressed and frustrated
    "joy": 8, "surprise": 70, "anger": 99, "fear": 116, "disgust": 140, "sadness": 208,
}  # fmt: skip
NEIGHBOURS = 90  # degrees; closer emotions are neighbours
SAME = {"happiness": "joy", "happy": "joy", "sad": "sadness"}  # words of other corpora


def emotions(corpora: Mapping[str, Corpus]) -> Report:
    """What corpora of emotions say of Tables 1 and 2, and nothing of Table 3; empty without any.

    Args:
        corpora: by name; those without emotions are left out.
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
        columns = (joint.item, joint.annotator, answer.astype(np.int64), scale)
        return mean_kappa(Annotations.from_arrays(*columns, **names))

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
