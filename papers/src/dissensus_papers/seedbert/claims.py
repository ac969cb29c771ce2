"""The claims of the paper and our additional questions, judged from a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dissensus.evaluation import number
from dissensus_papers.framework.claims import Claim, Evidence
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import BEYOND
from dissensus_papers.seedbert.analysis import ANNOTATORS, ENSEMBLES
from dissensus_papers.seedbert.emotions import KAPPA
from dissensus_papers.seedbert.outcomes import BY, MEAN, TEMPERED
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    DEEP,
    MODELS,
    SEEDS,
    SINGLE,
    SOURCES,
    TABLE_4,
)

POINTS, NATS = 0.02, 0.01  # the smallest differences of F1 and of distances that matter
CORRELATION = 0.1  # the smallest one that matters
TUNED = ("chosen", "paper")  # kinds of conditions
UNIFORM = 0.9  # a mean entropy above this share of the highest


def _conditions(report: Report, *kinds: str) -> Iterator[tuple[str, str, Report]]:
    """The conditions of these kinds: name, what a table calls it, figures."""
    for name, block in report["conditions"].items():
        if CONDITIONS[name].kind in kinds:
            yield name, f"{name}, {block['n_items']:,} items", block


def _outperforms(report: Report, model: str) -> list[Evidence]:
    tests = []
    for _, where, block in _conditions(report, *TUNED):
        if not {model, SEEDS} <= set(block["models"]):
            continue
        ours, theirs = (float(np.mean(block["models"][name]["fits"]["f1"]))
                        for name in (SEEDS, model))  # fmt: skip
        lost = {"effect": ours - theirs, "p": None, "reason": "scores of single items are not kept"}
        test = block["against"].get(model, {}).get("f1", lost)
        if max(ours, theirs) < np.mean(block["floors"]["majority"]["f1"]) + POINTS:
            test = test | {"p": None, "reason": "both answer the most frequent label"}
        tests.append(Evidence(where, "macro-F1", test, POINTS))
    return tests


def _each(
    score: str, matters: float, sign: int, test: Callable[[Report], Any], *kinds: str
) -> Callable[[Report], list[Evidence]]:
    """The test of each condition of these kinds, of chosen and the paper's settings if none is
    named; `test` returns nothing where there is none."""
    return lambda report: [
        Evidence(where, score, difference, matters, sign)
        for _, where, block in _conditions(report, *kinds or TUNED)
        if (difference := test(block))
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


def _apart(report: Report) -> list[Evidence]:
    """Where members look apart, or answer apart, in items with marks of what annotators saw."""
    return [
        Evidence(f"{corpus}, {block['n_items']:,} items: {what} apart", "correlation",
                 block["conditions"][SEEDS][what], CORRELATION)
        for corpus, block in report.get("looks", {}).items()
        for what in ("look", "answer")
    ]  # fmt: skip


def _less_one(report: Report) -> list[Evidence]:
    return [
        Evidence(f"{MODELS[model].title}: {name}", BY, of_corpus[model][SINGLE][BY], NATS, -1)
        for model in ENSEMBLES
        for name, of_corpus in report["again"].items()
        if model in of_corpus
    ]


# ---- judged in words ----


def _near_uniform(report: Report) -> str:
    entropy, annotators = {}, []
    for name, _, block in _conditions(report, *TUNED):
        if SINGLE in block["models"]:
            entropy[name] = float(np.mean(block["models"][SINGLE]["reads"][MEAN]["entropy"]))
            annotators.append(number(block["floors"][ANNOTATORS]["entropy"]))
    if not entropy:
        return ""
    uniform = [name for name, height in entropy.items() if height > UNIFORM]
    where = f" ({', '.join(uniform)})" if uniform else ""
    return (
        f"true in {len(uniform)} of {len(entropy)}{where}, by an entropy above {UNIFORM} of the "
        f"maximum; it is {_ends(entropy.values(), 2)} of it, that of annotators "
        f"{_ends(annotators, 2)}"
    )


def _biased(report: Report) -> str:
    biases = [block["models"].get(SEEDS, {}).get("biases")
              for _, _, block in _conditions(report, *TUNED)]  # fmt: skip
    known = [each for each in biases if each]
    annotators = [each["sd"] for each in report[ANNOTATORS].values() if each]
    if not known:
        return ""
    theirs = f"{_ends([100 * sd for sd in annotators], 1)} points" if annotators else "not known"
    return (
        "standard deviation of how often an answer is given: members "
        f"{_ends([100 * each['sd'] for each in known], 1)} points, annotators {theirs}; members "
        f"differ by more than chance in {_ends([100 * each['differ'] for each in known], 0)} % of "
        f"the fits of {len(known)} conditions"
    )


def _ends(values: Iterable[float], digits: int) -> str:
    least, most = min(known := list(values)), max(known)
    return f"{least:.{digits}f} to {most:.{digits}f}"


def _agree_less(report: Report) -> str:
    kappas = report["kappas"]
    if not kappas:
        return ""
    lower = kappas["most"] < min(kappas["any"], kappas["all"])
    figures = ", ".join(f"{name} {kappas[name]:.2f}" for name in ("any", "most", "all"))
    printed = ", ".join(f"{KAPPA[name]:.2f}" for name in ("any", "most", "all"))
    return f"{'true' if lower else 'not so'} on snow2008 (kappa: {figures}; the paper: {printed})"


# ---- all of them ----

_TABLE_4 = tuple(n for n, each in CONDITIONS.items() if each.kind in TUNED)
_CHOSEN = tuple(name for name in _TABLE_4 if CONDITIONS[name].kind == "chosen")
_AGAIN = tuple(name for name, source in SOURCES.items() if source.again)
_WITH_IDS = tuple(name for name, source in SOURCES.items()
                  if source.folder == "lewidi2023" and name not in _AGAIN)  # fmt: skip
CLAIMS = (
    *(Claim(f"SeedBERT outperforms {MODELS[model].title} (Table 4)",
            partial(_outperforms, model=model), _TABLE_4)
      for model in TABLE_4 if model != SEEDS),
    Claim("Its votes are closer to the annotators than one network's distribution (Figure 3)",
          _each("JSD, nats", NATS, -1, lambda b: b["recovery"][SINGLE].get("JSD")),
          _TABLE_4),
    Claim("A single network predicts near-uniform distributions whatever the input",
          _near_uniform, _TABLE_4),
    Claim("Members are biased towards certain answers, as annotators are", _biased, _TABLE_4),
    Claim("Annotators agree less on what is most present (Table 1)", _agree_less,
          ("snow2008-affect",)),
    Claim("Where they name different emotions, these are neighbours on the circumplex more "
          "often than by chance (Table 2)", _neighbours, ("snow2008-affect",)),
    Claim("Annotators with different answers rest on different parts (Table 3): F1 of the "
          "marks of two with the same type of toxicity less that of two with different ones",
          _evidence),
    Claim("Members are apart where annotators are: Spearman's correlation over items",
          _apart),
    Claim("What is known of an annotator improves the prediction of their answers",
          _each(f"{BY} of an answer", NATS, -1, lambda b: b.get("specific", {}).get("test")),
          _WITH_IDS),
    Claim(f"{BEYOND}seeds of the last layer are as close as a deep ensemble of as many",
          _each(f"{BY}, with temperature", NATS, 0,
                lambda b: b["recovery"][DEEP].get(TEMPERED, {}).get(BY), "chosen"),
          _CHOSEN),
    Claim(f"{BEYOND}ensembles are closer than one network, all with temperature, on other "
          "items", _less_one, _AGAIN),
)  # fmt: skip
