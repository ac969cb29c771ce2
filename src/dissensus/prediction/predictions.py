"""Predictions: the predicted answers to all questions of a method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError, did_you_mean, listed
from dissensus.files.folders import read_json, reading, write_json, writing
from dissensus.prediction.folder import PredictionsFields, read_prediction, write_prediction
from dissensus.prediction.joint_density import JointDensity, read_density, write_density
from dissensus.prediction.prediction import Prediction
from dissensus.tables import html_rows


class Predictions(Mapping[str, Prediction]):
    """The prediction of a method for each question; saved as a folder of Parquet.

    `densities` holds those that the method predicts, by the tuple of their questions.
    """

    def __init__(
        self,
        by_question: Mapping[str, Prediction],
        method: str,
        corpus: str,
        densities: Iterable[JointDensity] = (),
    ) -> None:
        self._by_question = dict(by_question)
        self.densities = {density.questions: density for density in densities}
        self.method = method  # the name of the method
        self.corpus = corpus  # the name of the predicted corpus

    def __getitem__(self, question: str) -> Prediction:
        if question not in self._by_question:
            guess = did_you_mean(question, self)
            raise DataError(f"no prediction for {question!r}{guess}; choose from {listed(self)}")
        return self._by_question[question]

    def __contains__(self, question: object) -> bool:
        return question in self._by_question

    def get(self, question: str, default: Any = None) -> Any:
        return self._by_question.get(question, default)

    def __repr__(self) -> str:
        questions = ", ".join(f"{name!r}: {prediction!r}" for name, prediction in self.items())
        return f"<Predictions by {self.method} for {self.corpus!r}: {questions}>"

    def _repr_html_(self) -> str:
        title = f"Predictions by {self.method} for {self.corpus!r}"
        parts = (html_rows(p.to_table(), f"{title}, question {q!r}") for q, p in self.items())
        return "".join(parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_question)

    def __len__(self) -> int:
        return len(self._by_question)

    def joint(self, *questions: str) -> dict[str, np.ndarray]:
        """The answers of annotators to several questions, row by row.

        Returns:
            `item`, `annotator` and one array of values per question, (n_pairs,).
        """
        predicted = [self[question].by_annotator for question in questions]
        rows = [pairs for pairs in predicted if pairs is not None]
        if len(rows) < len(predicted) or not rows:
            raise DataError(
                "a joint prediction needs predicted answers of annotators to every question"
            )
        keys = [p.item.astype(np.int64) * max(len(p.annotators), 1) + p.annotator for p in rows]
        shared = keys[0]
        for key in keys[1:]:
            shared = np.intersect1d(shared, key)
        positions = [np.argsort(key)[np.searchsorted(np.sort(key), shared)] for key in keys]
        joined = {"item": rows[0].item[positions[0]], "annotator": rows[0].annotator[positions[0]]}
        return joined | {q: p.value[f] for q, p, f in zip(questions, rows, positions, strict=True)}

    def on(self, index: Any | None) -> Predictions:
        """The same predictions, whose DataFrames have this index; None leaves them as they are."""
        if index is None:
            return self
        return self.with_questions({q: replace(p, index=index) for q, p in self.items()})

    def with_questions(self, by_question: Mapping[str, Prediction]) -> Predictions:
        """Other predictions of the same method, with the same densities."""
        return Predictions(by_question, self.method, self.corpus, self.densities.values())

    def without(self, annotators: Iterable[str]) -> Predictions:
        """The same predictions without the answers of these annotators; itself if it has none.

        Distributions of items stay, also where they are means of annotators.
        """
        fewer = {question: one.without(list(annotators)) for question, one in self.items()}
        changed = any(one is not self[question] for question, one in fewer.items())
        return self.with_questions(fewer) if changed else self

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write a folder, whole or not at all.

        Args:
            overwrite: whether predictions that are there are replaced; any other folder never is.
        """
        with writing(path, "predictions", overwrite) as folder:
            fronts, written = [], list[Prediction]()
            for number, (question, prediction) in enumerate(self.items()):
                maps = [id(each) for each in prediction.attention]
                alike = (n for n, p in enumerate(written) if maps == [*map(id, p.attention)])
                same = next(alike, None) if maps else None  # the first with its maps, written once
                written.append(prediction)
                kept = prediction if same is None else replace(prediction, attention=())
                entry = write_prediction(folder, number, question, kept)
                fronts.append(entry if same is None else entry | {"attention of": same})
            front = {"method": self.method, "corpus": self.corpus, "questions": fronts}
            densities = enumerate(self.densities.values())
            front["densities"] = [write_density(folder, *pair) for pair in densities]
            write_json(folder, "predictions", front)

    @classmethod
    def load(cls, path: str | Path) -> Predictions:
        """Read a folder that `save` wrote."""
        folder = Path(path)
        front = read_json(folder, "predictions", PredictionsFields)
        with reading(folder):
            by_question: dict[str, Prediction] = {}
            for number, entry in enumerate(front["questions"]):
                prediction = read_prediction(folder, number, entry)
                if "attention of" in entry:
                    other = front["questions"][entry["attention of"]]["name"]
                    prediction = replace(prediction, attention=by_question[other].attention)
                by_question[entry["name"]] = prediction
            entries = enumerate(front["densities"])
            densities = [read_density(folder, *pair) for pair in entries]
            return cls(by_question, front["method"], front["corpus"], densities)
