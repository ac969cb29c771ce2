"""The claims of the paper and our additional questions, judged from a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dissensus.evaluation import number
from dissensus.tables import Table
from dissensus_papers.framework.claims import Claim, Evidence, claims_table
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import BEYOND
from dissensus_papers.seedbert.analysis import ANNOTATORS, ENSEMBLES
from dissensus_papers.seedbert.outcomes import BY, MEAN, TEMPERED
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    DEEP,
    MODELS,
    SEEDS,
    SINGLE,
    TABLE_4,
)

POINTS, NATS = 0.02, 0.01  # the smallest differences of F1 and of distances that matter
UNIFORM = 0.9  # a mean entropy above this share of the highest


def claims(report: Report) -> Table | str:
    """The claims of the paper and our additional questions, with the tests that decide them."""
    every: tuple[Claim, ...] = (
        *((f"SeedBERT outperforms {MODELS[model].title} (Table 4)", _outperforms(model))
          for model in TABLE_4 if model != SEEDS),
        ("Its votes are closer to the annotators than one network's distribution (Figure 3)",
         _recovers),
        ("A single network predicts near-uniform distributions whatever the input", _near_uniform),
        ("Members are biased towards certain answers, as annotators are", _biased),
        ("Annotators agree less on what is most present (Table 1)", _agree_less),
        ("Where they name different emotions, these are neighbours on the circumplex more often "
         "than by chance (Table 2)", _neighbours),
        ("Annotators with different answers rest on different parts (Table 3): F1 of the marks of "
         "two with the same type of toxicity less that of two with different ones", _evidence),
        ("What is known of an annotator improves the prediction of their answers", _specific),
        (f"{BEYOND}seeds of the last layer are as close as a deep ensemble of as many", _deep),
        (f"{BEYOND}ensembles are closer than one network, all with temperature, on other items",
         _less_one),
    )  # fmt: skip
    return claims_table((claim, judge(report) or "not run yet") for claim, judge in every)


def _conditions(report: Report, *kinds: str) -> Iterator[tuple[str, str, Report]]:
    """The conditions of these kinds: name, what a table calls it, figures."""
    for name, block in report["conditions"].items():
        if CONDITIONS[name].kind in kinds:
            yield name, f"{name}, {block['n_items']:,} items", block


def _outperforms(model: str) -> Any:
    def judge(report: Report) -> list[Evidence]:
        tests = []
        for _, where, block in _conditions(report, "chosen", "paper"):
            test = block["against"].get(model, {}).get("f1")
            floor = np.mean(block["floors"]["majority"]["f1"])
            both = [block["models"].get(name, {"fits": {"f1": [0]}}) for name in (model, SEEDS)]
            if test and max(np.mean(each["fits"]["f1"]) for each in both) < floor + POINTS:
                test = test | {"p": None, "reason": "both answer the most frequent label"}
            tests += [Evidence(where, "macro-F1", test, POINTS)] if test else []
        return tests

    return judge


def _recovers(report: Report) -> list[Evidence]:
    return [
        Evidence(where, "JSD, nats", block["recovery"][SINGLE]["JSD"], NATS, -1)
        for _, where, block in _conditions(report, "chosen", "paper")
        if block["recovery"][SINGLE]
    ]


def _deep(report: Report) -> list[Evidence]:
    return [
        Evidence(where, f"{BY}, with temperature", tests[TEMPERED][BY], NATS, 0)
        for _, where, block in _conditions(report, "chosen")
        if (tests := block["recovery"][DEEP])
    ]


def _neighbours(report: Report) -> list[Evidence]:
    return [
        Evidence(f"{name}, {test['n_items']:,} items", "share of pairs", test, POINTS)
        for name, test in report.get("neighbours", {}).items()
    ]


def _evidence(report: Report) -> list[Evidence]:
    test = report.get("evidence")
    where = f"toxic_spans, {test['n_items']:,} texts" if test else ""
    return [Evidence(where, "F1 of characters", test, POINTS)] if test else []


def _specific(report: Report) -> list[Evidence]:
    """SeedBERT's distribution times the annotator's own frequencies, less without these."""
    return [
        Evidence(where, f"{BY} of an answer", block["specific"]["test"], NATS, -1)
        for _, where, block in _conditions(report, "chosen", "paper")
        if block.get("specific")
    ]


def _less_one(report: Report) -> list[Evidence]:
    return [
        Evidence(f"{MODELS[model].title}: {name}", BY, of_corpus[model][SINGLE][BY], NATS, -1)
        for model in ENSEMBLES
        for name, of_corpus in report["again"].items()
        if model in of_corpus
    ]


# ---- judged in words ----


def _near_uniform(report: Report) -> str:
    parts = []
    for name, _, block in _conditions(report, "chosen", "paper"):
        if SINGLE in block["models"]:
            reads = block["models"][SINGLE]["reads"][MEAN]
            entropy, moves = (float(np.mean(reads[name])) for name in ("entropy", "moves"))
            annotators = number(block["floors"][ANNOTATORS]["entropy"])
            words = "near-uniform" if entropy > UNIFORM else "not"
            parts.append(
                f"{name} {words} ({entropy:.2f}, annotators {annotators:.2f}; {moves:.2f})"
            )
    about = (
        "entropy as a share of the maximum, and by how much predictions vary with the item (TVD)"
    )
    return f"{', '.join(parts)}: {about}" if parts else ""


def _biased(report: Report) -> str:
    parts = []
    for name, _, block in _conditions(report, "chosen", "paper"):
        biases = block["models"].get(SEEDS, {}).get("biases")
        annotators = report[ANNOTATORS].get(CONDITIONS[name].corpus)
        if biases:
            theirs = f"annotators {100 * annotators['sd']:.1f}" if annotators else "no ids"
            differ = f"{100 * biases['differ']:.0f} %"
            parts.append(f"{name} {100 * biases['sd']:.1f} ({theirs}; {differ} of fits)")
    about = (
        "standard deviation of how often an answer is given, in points, and the share of fits in "
        "which members differ more than by chance"
    )
    return f"{', '.join(parts)}: {about}" if parts else ""


def _agree_less(report: Report) -> str:
    kappas = report["kappas"]
    if not kappas:
        return ""
    lower = kappas["most"] < min(kappas["any"], kappas["all"])
    figures = ", ".join(f"{name} {kappas[name]:.2f}" for name in ("any", "most", "all"))
    return f"{'true' if lower else 'not true'} on snow2008 (kappa: {figures})"
