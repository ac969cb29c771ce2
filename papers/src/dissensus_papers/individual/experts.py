"""Each expert of speechocean762: how near do models come, and how near are the other experts?

For every expert, the concordance of their ratings with those that a model predicts for them, and
with the mean of the other experts, on the same test items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.metrics.annotators import ccc_by_annotator
from dissensus.metrics.continuous import concordance
from dissensus_papers.framework.layout import Block
from dissensus_papers.framework.measurements import Measured, MeasuredCondition
from dissensus_papers.framework.models import Typed
from dissensus_papers.individual.figures import against_others
from dissensus_papers.individual.folds import SEEDS, speaker_folds
from dissensus_papers.individual.models import CONSENSUS, HEADS, MODELS, MT
from dissensus_papers.individual.newcomers import mean_and_spread

ASPECTS = ("accuracy", "fluency", "prosodic")
MODELS_OF_EXPERTS = (CONSENSUS, f"{MT}-answers", HEADS)
OTHERS = "the mean of the other experts"


def measured(corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """The concordance with each expert, the mean over five folds by speaker: by question, row and
    expert."""
    from dissensus.methods import Job, fit_many
    from dissensus.methods.framework.settings import seeded

    questions = tuple(question for question in ASPECTS if question in corpus.questions)
    corpus = corpus.select(questions=questions)
    folds = [fold.parts(corpus) for fold in speaker_folds(corpus)]
    rows: dict[str, dict[str, list[np.ndarray]]] = {question: {} for question in questions}
    for name in MODELS_OF_EXPERTS:
        jobs = [
            Job(seeded(MODELS[name].built({}, typed), seed), train, questions, validation)
            for train, _, validation in folds
        ]
        for method, (_, test, _) in zip(fit_many(jobs), folds, strict=True):
            predictions = method.predict(test)
            for question in questions:
                each = ccc_by_annotator(predictions[question], test[question])
                rows[question].setdefault(name, []).append(each)
    for _, test, _ in folds:
        for question in questions:
            each = np.array([concordance(own, o) for _, own, o in against_others(test[question])])
            rows[question].setdefault(OTHERS, []).append(each)
    experts = list(corpus.annotators)
    return {
        "concordance": {
            question: {
                name: dict(zip(experts, np.mean(of_folds, axis=0).tolist(), strict=True))
                for name, of_folds in by_row.items()
            }
            for question, by_row in rows.items()
        }
    }


def tables(by_seed: Sequence[Measured]) -> list[Block]:
    """A table for each question, with a column for each expert."""
    blocks = []
    first: dict[str, Any] = by_seed[0]["concordance"]
    for question, by_row in first.items():
        experts = list(by_row[OTHERS])
        rows = [["", *(f"expert {name}" for name in experts), "mean"]]
        for name in by_row:
            concordances = [entry["concordance"][question][name] for entry in by_seed]
            means = [float(np.mean([each[expert] for expert in experts])) for each in concordances]
            cells = [mean_and_spread([each[expert] for each in concordances]) for expert in experts]
            title = MODELS[name].title if name in MODELS else name
            rows.append([title, *cells, mean_and_spread(means)])
        blocks.append(Block(f"Each expert (experts): {question}, {len(by_seed)} seeds", rows, NOTE))
    return blocks


NOTE = (
    "Concordance with the ratings of an expert, the mean over five folds by speaker; means +- "
    "standard deviations over seeds. The mean of the other experts does not depend on the seed."
)
EXPERTS = MeasuredCondition("experts", "Each expert", "speechocean762", SEEDS, measured, tables)
