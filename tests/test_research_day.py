"""A day of a researcher: own data, network, loss, metric, format, log and search, to a table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
import torch
from sklearn.model_selection import GridSearchCV, KFold
from torch import Tensor, nn

import dissensus as ds
from dissensus.evaluation import compare, table, to_latex
from dissensus.methods import AnnotatorHeads
from dissensus.metrics import METRICS, Metric, of_labels, register
from dissensus.readers import READERS, Format
from dissensus.readers import register as register_format
from dissensus.readers.formats.memory import read_table
from dissensus.sklearn import AnnotatorClassifier
from dissensus.training import Batch, Loss, Outputs, Sizes, Training, callbacks

LEVELS = ("mild", "bad", "worse")


class Letters(nn.Module):
    """A network of one's own: a vector for each letter."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.last = nn.Embedding(128, 8), nn.Linear(8, 12)

    def forward(self, tokens: Tensor, attention_mask: Tensor) -> Tensor:
        return torch.tanh(self.last(self.table(tokens)))


def letters(texts: list[str]) -> list[list[int]]:
    return [[min(ord(letter), 127) for letter in text] for text in texts]


@dataclass(eq=False)
class CautiousHeads(AnnotatorHeads):
    """A loss of one's own: sure predictions cost something."""

    cost: float = 0.05
    name: ClassVar[str] = "cautious-heads"

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        (loss,) = super().losses(sizes)

        def function(outputs: Outputs, batch: Batch) -> Tensor:
            return loss.function(outputs, batch) + self.cost * outputs.rows["harm"].square().mean()

        return (replace(loss, function=function),)


def records() -> list[dict[str, Any]]:
    """What three people said of texts whose harm lies in their letters; the third sees less."""
    generator = np.random.default_rng(0)
    rows = []
    for item in range(120):
        harm = item % 3
        text = "".join(generator.choice(list(("abc", "def", "xyz")[harm]), 12))
        for who in range(3):
            seen = max(harm - (who == 2), 0) if generator.random() > 0.1 else generator.integers(3)
            rows.append({"id": f"t{item}", "text": text, "annotator": f"p{who}",
                         "harm": LEVELS[seen]})  # fmt: skip
    return rows


@pytest.fixture
def own_parts() -> Iterator[None]:
    """A metric and a format of one's own, until the end of the test."""
    known = dict(READERS)
    within_one = of_labels(lambda observed, predicted: (abs(observed - predicted) <= 1) * 1.0)
    register(Metric("within one level", within_one, ("ordinal",), "consensus", True, "one off"))

    def read(path: Path, layout: ds.Layout) -> ds.Corpus:
        rows = [line.split(" < ") for line in path.read_text("utf-8").splitlines()]
        columns = ("id", "annotator", "harm", "text")
        return read_table(
            pa.table(dict(zip(columns, zip(*rows, strict=True), strict=True))), layout
        )

    register_format(Format("arrows", lambda head: " < " in head.text, read=read))
    yield
    del METRICS["within one level"]
    READERS.clear()
    READERS.update(known)


@pytest.mark.slow
@pytest.mark.usefixtures("own_parts")
def test_from_own_parts_to_the_table_of_a_paper(tmp_path: Path) -> None:
    rows, scale = records(), {"harm": "ordinal:mild,bad,worse"}
    path = tmp_path / "labels.txt"
    lines = [" < ".join(row[name] for name in ("id", "annotator", "harm", "text")) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    corpus = ds.read(path, scale=scale)
    of_rows = ds.read(rows, scale=scale)
    assert corpus["harm"].to_table().equals(of_rows["harm"].to_table())
    assert corpus.n_items == 120 and corpus["harm"].scale.kind == "ordinal"

    # a network of one's own, fine-tuned with a loss of one's own, and logged
    rates = {"learning_rate": 1e-2, "encoder_learning_rate": 1e-2}
    training: Any = {"epochs": 30, "batch_size": 16} | rates
    network: Any = (Letters(), letters)
    own = CautiousHeads(encoder=network, tune="all", training=training)
    train, test = corpus.split(0.25, seed=0)
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        with callbacks(on_epoch=lambda event: writer.writerow((event.epoch, event.loss))):
            fitted = own.fit(train)
    log = np.loadtxt(tmp_path / "log.csv", delimiter=",")
    assert log[:, 0].tolist() == list(range(1, 31)) and log[-1, 1] < 0.7 * log[0, 1]
    bold = replace(own, cost=0.0).fit(train)
    sure = [each.predict(test)["harm"].distribution.max(axis=1).mean() for each in (fitted, bold)]
    assert sure[0] < sure[1]  # the loss does what it is for

    # beside baselines, by a metric of one's own, as LaTeX
    methods = {"own": own, "logistic": ds.methods.AnnotatorLogistic(encoder="characters")}
    results = compare(
        corpus, methods, out=tmp_path / "results", folds=2, seeds=2, processes=1,
        metrics=["within one level", "accuracy", "annotator accuracy"],
    )  # fmt: skip
    scores = {fit.method: fit.scores["harm"] for fit in results.fits if fit.scores}
    assert scores["own"]["within one level"] > 0.9
    assert scores["own"]["annotator accuracy"] > 0.7
    latex = to_latex(table(results))
    assert r"\begin{tabular}" in latex and "within one level" in latex and "logistic" in latex

    # the same data as a matrix, settings searched by scikit-learn
    texts = list(dict.fromkeys((row["id"], row["text"]) for row in rows))
    answers = np.array([row["harm"] for row in rows], dtype=object).reshape(120, 3)
    search = GridSearchCV(
        AnnotatorClassifier(AnnotatorHeads(encoder="characters", training=Training(epochs=30))),
        {"method__spread": [0.01, 1.0]},
        cv=KFold(3),
    ).fit([text for _, text in texts], answers)
    assert search.best_score_ > 0.7
