"""Learned: what a fitted method remembers about its training corpus; Answers: what it predicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.methods.framework.model_folder import item_hashes
from dissensus.names import Names
from dissensus.scales import Interval, Ordinal, Scale, scale_from_dict


@dataclass(frozen=True, eq=False)
class Answers:
    """Predicted answers: a distribution and one value for each item or pair."""

    distribution: np.ndarray  # (n, n_columns)
    value: np.ndarray  # (n,) as the scale stores answers

    @staticmethod
    def concatenated(parts: Sequence[Answers]) -> Answers:
        """The answers of all parts, concatenated."""
        return Answers(
            np.concatenate([part.distribution for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def take(self, rows: np.ndarray) -> Answers:
        return Answers(self.distribution[rows], self.value[rows])

    def positions(self, scale: Scale) -> np.ndarray:
        """Ratings on [-1, 1], the expected level of ordinal ones, (n,); of other scales, values."""
        if isinstance(scale, Interval):
            return scale.to_unit(self.value)
        if isinstance(scale, Ordinal):
            return np.asarray(self.distribution @ np.linspace(-1, 1, scale.n_columns))
        return self.value

    def extra_fields(self) -> dict[str, Any]:
        """Additional fields of the `Prediction` of these items, by name."""
        return {n: getattr(self, n) for n in ("members", "disagreement") if hasattr(self, n)}


@dataclass(frozen=True, eq=False)
class Learned:
    """What a fitted method remembers about its training corpus, besides its weights."""

    corpus: str  # annotators are matched by name within the corpus of this name
    questions: dict[str, Scale]
    annotators: Names  # all of the training corpus, with or without answers
    roles: dict[str, str]  # role -> kind of content
    part: dict[str, Any]  # the part of the corpus that was learned, as given to `fit`
    n_answers: dict[str, np.ndarray]  # question -> answers of each annotator, (n_annotators,)
    enrolled: dict[str, list[str]] = field(default_factory=dict)  # after the training -> hashes of
    # the items that they answered
    n_forgotten: int = 0  # annotators of the training who were removed

    @staticmethod
    def of_corpus(corpus: Corpus, questions: Sequence[str], part: Mapping[str, Any]) -> Learned:
        n_answers = {}
        for question in questions:
            codes = corpus[question].annotator
            if codes is None:  # anonymous
                codes = np.arange(corpus.n_annotators)
            n_answers[question] = np.bincount(codes, minlength=corpus.n_annotators)
        scales = {question: corpus[question].scale for question in questions}
        roles: dict[str, str] = {role: of.kind for role, of in corpus.contents.items()}
        return Learned(corpus.name, scales, corpus.annotators, roles, dict(part), n_answers)

    @property
    def answered(self) -> dict[str, np.ndarray]:
        """Which annotators answered each question, (n_annotators,)."""
        return {question: n > 0 for question, n in self.n_answers.items()}

    @property
    def any_answered(self) -> np.ndarray:
        """Which annotators answered any of the questions, (n_annotators,)."""
        return np.any(list(self.answered.values()), axis=0)

    def with_annotators(self, kept: np.ndarray, newcomers: Corpus | None = None) -> Learned:
        """The same of these annotators (codes), then of those of a corpus."""
        names = [self.annotators[code] for code in kept]
        n_answers = {question: n[kept] for question, n in self.n_answers.items()}
        enrolled = {name: items for name, items in self.enrolled.items() if name in names}
        if newcomers is not None:
            further = Learned.of_corpus(newcomers, list(self.questions), {}).n_answers
            n_answers = {q: np.r_[n, further[q]] for q, n in n_answers.items()}
            hashes = item_hashes(newcomers)
            for code, name in enumerate(newcomers.annotators):
                each = (a.item[a.annotator == code] for a in newcomers.questions.values())
                enrolled[name] = np.unique(hashes[np.concatenate(list(each))]).tolist()
            names += newcomers.annotators
        n_trained = len(self.annotators) - len(self.enrolled)
        return replace(
            self,
            annotators=Names(names) if names else Names.range(0),
            n_answers=n_answers,
            enrolled=enrolled,
            n_forgotten=self.n_forgotten + n_trained - (len(names) - len(enrolled)),
        )

    def to_config(self) -> dict[str, Any]:
        """As entries of the config of a model folder."""
        since = {"enrolled": self.enrolled, "forgotten": self.n_forgotten}
        return {
            "corpus": self.corpus,
            "questions": {question: scale.to_dict() for question, scale in self.questions.items()},
            "annotators": list(self.annotators),
            "roles": self.roles,
            "part": self.part,
            "n_answers": {question: n.tolist() for question, n in self.n_answers.items()},
            **{name: value for name, value in since.items() if value},
        }

    @staticmethod
    def from_config(config: Mapping[str, Any]) -> Learned:
        if not config["questions"]:
            raise DataError("'questions' is empty")
        annotators = Names(config["annotators"]) if config["annotators"] else Names.range(0)
        n_answers = {q: np.array(config["n_answers"][q], np.int64) for q in config["questions"]}
        if any(len(n) != len(annotators) for n in n_answers.values()):
            raise DataError("'n_answers' must have a number for each annotator")
        scales = {q: scale_from_dict(scale) for q, scale in config["questions"].items()}
        roles, part = config["roles"], config["part"]
        since = config.get("enrolled", {}), config.get("forgotten", 0)
        return Learned(config["corpus"], scales, annotators, roles, part, n_answers, *since)


def training_notes(learned: Learned) -> list[str]:
    """Which annotators gave no answer to learn from, a line per question."""
    notes = []
    for question, known in learned.answered.items():
        if names := [learned.annotators[code] for code in np.flatnonzero(~known)]:
            of = f" to {question!r}" if len(learned.questions) > 1 else ""
            notes.append(
                f"{len(names)} of {len(known)} annotators gave no answer{of} to learn from "
                f"({listed(names, 5)}): they are left out of the consensus of all"
            )
    return notes


def items_of(tables: Iterable[Annotations]) -> np.ndarray:
    """The items (codes) that have a row in one of these tables."""
    return np.unique(np.concatenate([rows.item for rows in tables])).astype(np.int64)


def has_answers(corpus: Corpus, questions: Iterable[str]) -> bool:
    """Whether an annotator answered one of the questions; a part may have gold labels only."""
    return any(corpus[question].n_rows for question in questions)
