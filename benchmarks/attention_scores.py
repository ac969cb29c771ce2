"""What is the attention of annotator-queries worth? Scores on simulated crowds and toxic_spans.

    python benchmarks/attention_scores.py            # simulated text, images, sequences, ratings
    python benchmarks/attention_scores.py --data DIR # and toxic_spans in DIR
    python benchmarks/attention_scores.py --show

Every corpus is fitted with several seeds, on training items; scores are those of test items, of all
annotators. Rows that are done are kept: the same call resumes.
"""

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dissensus as ds
from dissensus.evaluation import AttentionEvaluation, evaluate_attention
from dissensus.methods import AnnotatorQueries
from keeping import keep, kept

NAME = "attention"
SETTINGS: dict[str, Any] = {"width": 128, "dropout": 0.1, "vector_dropout": 0.0}  # as measured
PRESETS = ("text", "image", "sequence", "ratings")


def corpora(name: str, options: argparse.Namespace) -> tuple[Any, Any, Any]:
    """Training items, test items, and the corpus that predictions are compared with."""
    if name in PRESETS:
        simulate = ds.simulate.PRESETS[name]
        whole = simulate(n_items=options.items + options.test, seed=1)
        if name == "ratings":
            whole = whole.select(questions=[next(iter(whole.questions))])
        train = np.arange(whole.n_items) < options.items
        test = whole.select(items=~train)
        return whole.select(items=train), test, test
    whole = ds.read(Path(options.data) / name)
    order = np.random.default_rng(0).permutation(np.flatnonzero(whole.in_part("train")))
    parts = order[: options.items], order[options.items : options.items + options.test]
    train, test = (whole.select(items=np.sort(part)) for part in parts)
    return train, test, whole


def scores(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The scores on a corpus, with the seconds of a fit."""
    train, test, known = corpora(name, options)
    own = name not in PRESETS  # a crowd of thousands: only those who labelled an item
    predictions, begin = [], time.perf_counter()
    for seed in range(options.seeds):
        method = AnnotatorQueries(init_seed=seed, spread=math.inf, **SETTINGS)  # as measured
        training = replace(method.training, seed=seed, epochs=options.epochs)
        fitted = method.set_params(training=training).fit(train)
        annotators = "own" if own else "all"
        predictions.append(
            fitted.predict(test, annotators=annotators, unknown="drop", attention=True)
        )
        print(f"{name}, seed {seed}: {time.perf_counter() - begin:.0f} s", flush=True)
    evaluation: AttentionEvaluation = evaluate_attention(
        predictions[0], known, others=predictions[1:]
    )
    sizes = {"items": options.items, "test items": options.test, "epochs": options.epochs}
    sizes["seeds"] = options.seeds
    return [{"corpus": name, **sizes, **row} for row in evaluation.to_dict()["scores"]]


def show(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        found = [row[key] for key in ("value", "baseline", "p")]
        numbers = "  ".join("    -" if value is None else f"{value:5.3f}" for value in found)
        print(f"{row['corpus']:12} {row['score']:48} {numbers}  {row['n']} {row['unit']}")


COLUMNS = {  # of the table in docs/metrics.md: the score, and whether its baseline is shown
    "own part": ("own part has most attention", True),
    "marked positions, AUROC": ("AUROC of marked positions", False),
    "stability, cosine": ("stability over seeds, cosine", True),
    "attention and labels, correlation": ("attention and kappa of labels, correlation", False),
}


def table(rows: list[dict[str, Any]]) -> str:
    """The kept scores as the table of docs/metrics.md, baselines in brackets."""
    lines = ["| corpus | training items | " + " | ".join(COLUMNS) + " |"]
    lines.append("|---" * (len(COLUMNS) + 2) + "|")
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        own = {row["score"]: row for row in rows if row["corpus"] == corpus}
        cells = [corpus, f"{next(iter(own.values()))['items']:,}"]
        for score, compared in COLUMNS.values():
            of_ratings = score.replace("kappa", "correlation")
            row = own.get(score) or own.get(of_ratings, {"value": None})
            if row["value"] is None:
                cells.append("-")
            else:
                chance = f" ({row['baseline']:.2f})" if compared else ""
                cells.append(f"{row['value']:.2f}{chance}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--data", default="")
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--test", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default=",".join(PRESETS))
    options = parser.parse_args()
    rows = kept(NAME)["rows"]
    if options.show:
        show(rows)
        print(table(rows))
        return
    for name in [*options.only.split(","), *(["toxic_spans"] if options.data else [])]:
        if not name or any(row["corpus"] == name for row in rows):
            continue
        rows += scores(name, options)
        keep(NAME, "attention_scores.py", {"settings": SETTINGS, "rows": rows})
    show(rows)


if __name__ == "__main__":
    main()
