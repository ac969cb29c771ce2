"""train -> predict -> evaluate from the command line, every method on eleven corpora.

    python benchmarks/learning_core.py           runs what is missing (needs DISSENSUS_DATA)
    python benchmarks/learning_core.py --show    prints the kept results

Default settings, frozen encoders, seed 0; the official split where there is one, else a fifth held
out, by the corpus's own grouping. What the commands print as JSON is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from keeping import keep, kept

METHODS = (
    "prior",
    "annotator-majority",
    "single",
    "soft-label",
    "repeated-label",
    "label-and-uncertainty",
    "annotator-heads",
)
NAMED = ("annotator-majority", "annotator-heads")  # that need to know who answered
SHOWN = {
    "nominal": ("cross-entropy", "macro-F1", "annotator accuracy", "accuracy (gold)"),
    "ordinal": ("cross-entropy", "Wasserstein", "annotator accuracy"),
    "interval": ("CCC", "Wasserstein", "annotator CCC"),
}


class Case(NamedTuple):
    """A corpus, and what is asked of it."""

    folder: str
    question: str
    corpus: str | None = None
    named: bool = True  # whether it is known who answered


CASES = (
    Case("lewidi2023", "hate", "HS-Brexit"),
    Case("lewidi2023", "abusive", "ConvAbuse"),
    Case("lewidi2023", "offensive", "MD-Agreement"),
    Case("emobank", "reader V", named=False),
    Case("nli_variation", "rating"),
    Case("faces_3dsk", "att"),
    Case("cifar10h", "class", named=False),
    Case("labelme_crowds", "scene"),
    Case("speechocean762", "fluency"),
    Case("eye_fixations_12coders", "fixation"),
    Case("pos_tweets", "tag"),
)


def command(*parts: object) -> str:
    """Run dissensus; what it printed."""
    line = [str(Path(sys.executable).with_name("dissensus")), *(str(part) for part in parts)]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(line)}\n{done.stderr[-2000:]}")
    return done.stdout


def run(case: Case, data: Path) -> dict[str, Any]:
    """Every method that can learn from the corpus, judged together."""
    source: list[object] = [data / case.folder]
    if case.corpus:
        source += ["--corpus", case.corpus]
    methods = [m for m in METHODS if case.named or m not in NAMED]
    seconds = {}
    with tempfile.TemporaryDirectory() as scratch:
        for method in methods:
            begin = time.perf_counter()
            model, said = Path(scratch) / method, Path(scratch) / f"{method}-says"
            official = case.folder in ("lewidi2023", "emobank", "labelme_crowds", "pos_tweets")
            share = [] if official else ["--hold-out", 0.2]
            asked = ["--question", case.question]
            command("train", *source, "--method", method, "-o", model, *share, *asked)
            drop = ["--unknown", "drop"] if method in NAMED else []
            command("predict", model, *source, "-o", said, *drop)
            seconds[method] = round(time.perf_counter() - begin, 1)
            print(f"{case.corpus or case.folder} {method} {seconds[method]:.0f} s", flush=True)
        first, *others = (Path(scratch) / f"{method}-says" for method in methods)
        against = [part for other in others for part in ("--against", other)]
        judged = json.loads(command("evaluate", first, *source, *against, "--json"))
    return {**case._asdict(), "seconds": seconds, "evaluate": judged}


def show(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        judged = row["evaluate"]
        print(f"\n{row['corpus'] or row['folder']}: {row['question']}")
        occurring = dict.fromkeys(n for result in judged["results"] for n in result["scores"])
        names = [n for n in occurring if any(n in shown for shown in SHOWN.values())]
        print(f"  {'':22}" + "".join(f"{name:>20}" for name in names))
        for result in judged["results"]:
            scores = result["scores"]
            figures = "".join(
                f"{'-' if scores.get(name) is None else format(scores[name], '.3f'):>20}"
                for name in names
            )
            print(f"  {result['method']:22}{figures}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--only")
    given = parser.parse_args()
    rows = kept("learning_core")["rows"]
    if not given.show:
        data = os.environ.get("DISSENSUS_DATA")
        if not data:
            sys.exit("DISSENSUS_DATA does not say where the corpora are")
        done = {(row["folder"], row["corpus"], row["question"]) for row in rows}
        for case in CASES:
            if (case.folder, case.corpus, case.question) in done:
                continue
            if given.only and given.only not in (case.folder, case.corpus):
                continue
            rows.append(run(case, Path(data)))
            keep("learning_core", "learning_core.py", {"seeds": [0], "rows": rows})
    show(rows)


if __name__ == "__main__":
    main()
