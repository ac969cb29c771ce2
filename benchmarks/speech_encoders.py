"""What Whisper-base adds to Whisper-tiny: annotator heads on speechocean762, frozen vectors.

    python benchmarks/speech_encoders.py DATA OUT            DATA holds speechocean762
    python benchmarks/speech_encoders.py DATA OUT --speakers 100

Clips are encoded once and cached; texts are read by MiniLM in both rows. Five folds by speaker;
differences are tested over speakers and seeds. Writes results/speech_encoders.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus, datasets
from dissensus.evaluation import compare, k_fold, tables
from dissensus.methods import AnnotatorHeads

RESULTS = Path(__file__).parent / "results" / "speech_encoders.json"
QUESTIONS = ("accuracy", "fluency", "prosodic")
METRICS = ("CCC", "annotator CCC, mean")
SEEDS = 3


def some_speakers(corpus: Corpus, n: int) -> Corpus:
    """The sentences of a random sample of speakers, always the same."""
    speakers = np.array(corpus.item_attributes["speaker"].to_pylist())
    names = np.unique(speakers)
    drawn = names[np.random.default_rng(0).permutation(len(names))[:n]]
    return corpus.select(items=np.isin(speakers, drawn))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--speakers", type=int, help="only so many, drawn once")
    given = parser.parse_args()
    corpus = datasets.read(given.data / "speechocean762", corpus="sentences")
    if given.speakers:
        corpus = some_speakers(corpus, given.speakers)
    names = ("whisper-tiny", "openai/whisper-base")
    heads = {
        name: AnnotatorHeads(loss="ccc", encoder={"speech": name, "text": "minilm"})
        for name in names
    }
    results = compare(
        corpus,
        heads,
        out=given.out,
        folds=k_fold(corpus, 5, by="speaker", stratify=QUESTIONS[0]),
        seeds=SEEDS,
        questions=QUESTIONS,
        metrics=METRICS,
        by="speaker",
        processes=1,
    )
    scores: dict[str, Any] = {}
    for of_question in tables(results, reference=names[0]):
        cells = of_question[names[1]].cells
        scores[of_question.question] = {
            metric: {
                **{name: of_question[name].cells[metric].mean for name in names},
                "difference": _interval(cells[metric].against),
            }
            for metric in METRICS
        }
    report = {
        "command": f"python benchmarks/speech_encoders.py DATA OUT --speakers {given.speakers}",
        "date": datetime.date.today().isoformat(),
        "n_items": corpus.n_items,
        "n_speakers": len(set(corpus.item_attributes["speaker"].to_pylist())),
        "seeds": SEEDS,
        "folds": 5,
        "scores": scores,
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(scores, indent=1))


def _interval(difference: Any) -> dict[str, float]:
    return {name: float(getattr(difference, name)) for name in ("effect", "low", "high", "p")}


if __name__ == "__main__":
    main()
