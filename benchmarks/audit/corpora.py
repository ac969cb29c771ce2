"""On corpora with gold labels: is who is accused bad, is what is said true, is confidence right?

    python benchmarks/audit/corpora.py run            all corpora; needs DISSENSUS_DATA
    python benchmarks/audit/corpora.py run --before   with an older version on PYTHONPATH
    python benchmarks/audit/corpora.py show           the kept tables

An annotator is bad by gold if the 95 % interval of kappa with the gold labels lies below half of
the median annotator's; such an annotator should be named. Whom the program names should not have an
interval above two thirds of the median. Confidence is that of `dissensus aggregate`; "gold" is with
100 gold labels, of which the items are left out of the figures.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]
from dissensus import Annotations, Corpus, datasets, describe  # noqa: E402
from dissensus.aggregation import DawidSkene, Majority  # noqa: E402
from dissensus.description import Description, actions, cluster_annotators  # noqa: E402
from dissensus.report.summary import summary_of  # noqa: E402
from keeping import keep, kept  # noqa: E402

NAME = "audit_corpora"
CORPORA = (
    ("bluebirds_ducks", "bluebirds"),
    ("bluebirds_ducks", "ducks"),
    ("snow2008", "rte"),
    ("snow2008", "temp"),
    ("labelme_crowds", None),
    ("pos_tweets", None),
)
FEWEST, N_GOLD, RESAMPLES, CERTAIN = 10, 100, 400, 0.95
BADLY = {"at chance", "contrary", "different", "constant"}


def loaded(folder: str, name: str | None) -> tuple[Corpus, str, np.ndarray]:
    """A corpus, its question, and the gold code of each item, -1 without one."""
    corpus = datasets.load(Path(os.environ["DISSENSUS_DATA"]) / folder, name)
    question = next(q for q in corpus.questions if q in corpus.gold)
    labels = corpus.gold[question].to(corpus[question].scale)
    gold = np.full(corpus.n_items, -1)
    gold[labels.item] = labels.answer
    return corpus, question, gold


# ---- annotators ----


def kappas(answers: Annotations, gold: np.ndarray) -> dict[str, tuple[float, float, float, int]]:
    """Cohen's kappa of each annotator with gold, its interval (bootstrap), and the items."""
    generator, codes = np.random.default_rng(0), answers.annotator_codes("gold")
    values = {}
    for code, name in enumerate(answers.annotators):
        rows = np.flatnonzero((codes == code) & (gold[answers.item] >= 0))
        if len(rows) >= FEWEST:
            own, true = answers.answer[rows], gold[answers.item[rows]]
            draws = generator.integers(0, len(rows), (RESAMPLES, len(rows)))
            low, high = np.quantile(kappa(own[draws], true[draws]), [0.025, 0.975])
            values[str(name)] = (float(kappa(own, true)), low, high, len(rows))
    return values


def kappa(own: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Of the last axis; 0 where both are always the same."""
    values = np.union1d(own, true)
    chance = sum((own == value).mean(-1) * (true == value).mean(-1) for value in values)
    same = (own == true).mean(-1)
    return np.asarray(np.where(chance < 1, (same - chance) / np.maximum(1 - chance, 1e-9), 0.0))


def accused(question: Any, known: dict[str, tuple[float, float, float, int]]) -> dict[str, Any]:
    """Whom the program names, who is bad by gold, and where they differ."""
    median = float(np.median([value for value, *_ in known.values()]))
    named = {row.annotator: sorted(BADLY & set(row.suspicious)) for row in question.suspicious}
    named = {name: kinds for name, kinds in named.items() if kinds and name in known}
    bad = {name for name, (_, _, high, _) in known.items() if high < median / 2}
    wrong = {name for name in named if known[name][1] > 2 / 3 * median}
    texts = [f"{name} ({', '.join(kinds)}; kappa with gold {known[name][0]:.2f})"
             for name, kinds in named.items()]  # fmt: skip
    missed = [f"{name} ({known[name][0]:.2f}, {known[name][3]} items)"
              for name in sorted(bad - named.keys())]  # fmt: skip
    return {
        "annotators": len(known), "median kappa": median, "bad by gold": len(bad),
        "named": len(named), "named and bad by gold": len(bad & named.keys()),
        "wrongly named": len(wrong), "who": texts, "missed": missed,
        "copies": [pair.text for pair in question.duplicated],
    }  # fmt: skip


# ---- sentences ----


def table_of(answers: Annotations) -> np.ndarray:
    """(n_items, n_annotators), nan where nobody answered."""
    table = np.full((answers.n_items, answers.n_annotators), np.nan)
    table[answers.item, answers.annotator_codes("table")] = answers.answer
    return table


def judged(
    corpus: Corpus, question: str, description: Description, accusations: dict[str, Any]
) -> Iterator[tuple[str, bool | None]]:
    """The sentences of the summary, and whether each is true; None: gold cannot tell."""
    fewer = Corpus.build(corpus.name, corpus.items, {question: corpus[question]})
    answers = corpus[question]
    clusters = {question: cluster_annotators(answers)}
    table, names = table_of(answers), np.array([str(name) for name in answers.annotators])
    marks = list(description.questions[0].marked)
    rest = table[:, ~np.isin(names, marks)]
    for text in [*summary_of(fewer, description, None, clusters), *actions(description)]:
        yield text, truth(text, table, rest, accusations)


def alpha(table: np.ndarray) -> float:
    return float(krippendorff.alpha(table.T, level_of_measurement="nominal"))


def differing(table: np.ndarray) -> float:
    table = table[np.isfinite(table).sum(axis=1) >= 2]
    return 100 * float((np.nanmin(table, axis=1) < np.nanmax(table, axis=1)).mean())


def votes(table: np.ndarray) -> np.ndarray:
    values = np.unique(table[np.isfinite(table)])
    return np.stack([(table == value).sum(axis=1) for value in values], axis=1)


def truth(
    text: str, table: np.ndarray, rest: np.ndarray, accusations: dict[str, Any]
) -> bool | None:
    n = int(np.isfinite(table).sum())
    if found := re.search(r"has ([\d,]+) answers by ([\d,]+) annotators", text):
        n_annotators = int((np.isfinite(table).sum(axis=0) > 0).sum())
        return [int(part.replace(",", "")) for part in found.groups()] == [n, n_annotators]
    if found := re.search(r"alpha\) is (-?[\d.]+) .*?(?:, (-?[\d.]+) without)?[^,]*;", text):
        both = [(found[1], alpha(table))] + ([(found[2], alpha(rest))] if found[2] else [])
        return all(abs(float(said) - value) < 0.006 for said, value in both)
    if found := re.search(r"On (?:(\d+) % of|each of) the .*? items", text):
        true = abs(float(found[1] or 100) - differing(table)) <= 0.5
        if other := re.search(r"on (\d+) %, and the consensus of ([\d,]+) is", text):
            every, fewer = votes(table), votes(rest)
            there = fewer.sum(axis=1) > 0
            changed = (every.argmax(axis=1) != fewer.argmax(axis=1))[there].sum()
            true &= abs(float(other[1]) - differing(rest)) <= 0.5
            true &= int(other[2].replace(",", "")) == changed
        return true
    if "out and should be looked at" in text or text.startswith(("Talk to", "Look at the answers")):
        return not accusations["wrongly named"]
    if text.startswith("None of"):
        return not accusations["bad by gold"]
    if found := re.search(r"again: ([\d,]+) items? on which no value", text):
        counts = votes(rest)
        total = counts.sum(axis=1)
        expected = ((total >= 2) & (2 * counts.max(axis=1) <= total)).sum()
        return int(found[1].replace(",", "")) == expected
    if found := re.search(r"alpha (-?[\d.]+) is below", text):
        return abs(float(found[1]) - alpha(rest)) < 0.006
    return None


# ---- confidence ----


def reliability(distribution: np.ndarray, gold: np.ndarray) -> dict[str, float]:
    """Accuracy and mean confidence, of all and of the certain ones; expected calibration error."""
    confidence, right = distribution.max(axis=1), distribution.argmax(axis=1) == gold
    bins = np.array_split(np.argsort(confidence, kind="stable"), 10)
    apart = [len(rows) * abs(confidence[rows].mean() - right[rows].mean()) for rows in bins]
    certain = confidence >= CERTAIN
    return {
        "accuracy": float(right.mean()), "confidence": float(confidence.mean()),
        "calibration error": sum(apart) / len(gold), "certain": float(certain.mean()),
        "certain and right": float(right[certain].mean()) if certain.any() else float("nan"),
    }  # fmt: skip


def confidences(answers: Annotations, gold: np.ndarray) -> dict[str, dict[str, float]]:
    known = np.flatnonzero((gold >= 0) & (answers.per_item() > 0))
    few = np.random.default_rng(0).permutation(known)[:N_GOLD]
    labels = Annotations.from_arrays(
        few, None, gold[few].astype(answers.scale.dtype), answers.scale, items=answers.items
    )
    fitted = DawidSkene().fit(answers)
    tables = {
        "majority": Majority().fit(answers).distribution_,
        "published": fitted.distribution_,
        "dawid-skene": fitted.calibrated_,
    }
    rows = {name: reliability(table[known], gold[known]) for name, table in tables.items()}
    rest = np.setdiff1d(known, few)
    if len(rest) >= N_GOLD:
        taught = DawidSkene().fit(answers, gold=labels).calibrated_
        rows["dawid-skene, gold"] = reliability(taught[rest], gold[rest])
    return rows


# ---- all of it ----


def of_corpus(folder: str, name: str | None) -> dict[str, Any]:
    corpus, question, gold = loaded(folder, name)
    answers = corpus[question]
    row: dict[str, Any] = {"corpus": name or folder, "confidence": confidences(answers, gold)}
    if folder != "pos_tweets":  # a table of items and annotators would be large
        description = describe(corpus, [question])
        row["accusations"] = accused(description.questions[0], kappas(answers, gold))
        sentences = list(judged(corpus, question, description, row["accusations"]))
        row["sentences"] = [
            [text, None if true is None else bool(true)] for text, true in sentences
        ]
    return row


def lines(content: dict[str, Any]) -> Iterator[str]:
    yield "| corpus | annotators | bad by gold | named | of these bad | wrongly named | missed |"
    yield "|---|---|---|---|---|---|---|"
    for row in content["rows"]:
        if one := row.get("accusations"):
            names = ("annotators", "bad by gold", "named", "named and bad by gold", "wrongly named")
            missed = "; ".join(one["missed"])
            yield f"| {row['corpus']} | {' | '.join(str(one[n]) for n in names)} | {missed} |"
    yield ""
    yield f"| corpus | method | accuracy | confidence | calibration error | certain ({CERTAIN}) | "
    yield "|---|---|---|---|---|---|"
    for row in content["rows"]:
        tables = [("", row["confidence"]), (", before", row.get("confidence before", {}))]
        for when, table in tables:
            for method, cells in table.items():
                if when and not method.startswith("dawid-skene"):
                    continue
                certain = f"{cells['certain']:.0%}, {cells['certain and right']:.3f} right"
                numbers = (cells[n] for n in ("accuracy", "confidence", "calibration error"))
                texts = " | ".join(f"{number:.3f}" for number in numbers)
                yield f"| {row['corpus']} | {method}{when} | {texts} | {certain} |"
    yield ""
    for row in content["rows"]:
        every = row.get("sentences", [])
        counts = [sum(true is kind for _, true in every) for kind in (True, False, None)]
        text = "{} sentences true, {} untrue, {} not told by gold".format(*counts)
        yield f"{row['corpus']}: {text}"
        yield from (f"  untrue: {text}" for text, true in every if true is False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", choices=("run", "show"))
    parser.add_argument("--before", action="store_true", help="confidence of an older version")
    options = parser.parse_args()
    content = kept(NAME)
    if options.action == "run":
        old = {row["corpus"]: row for row in content["rows"]}
        rows = []
        for corpus in CORPORA:
            row = of_corpus(*corpus)
            before = old.get(row["corpus"], {}).get("confidence before", {})
            row["confidence before"] = row["confidence"] if options.before else before
            rows.append(row)
            print(*lines({"rows": [row]}), sep="\n", flush=True)
        content = {"rows": rows}
        keep(NAME, "audit/corpora.py run", content)
    print(*lines(content), sep="\n")


if __name__ == "__main__":
    main()
