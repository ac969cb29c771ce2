"""Do members of a seed ensemble look at different parts where annotators do? The saved report on
it as tables, and a verdict on the hypothesis for each corpus.

The paper supposes that annotators differ because they attend to different parts, and that networks
with other initial weights do the same. Both are compared with annotators that marked what led them
to their answer. `benchmarks/gpu/seedbert_hypothesis.py` trains the ensembles and judges them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from dissensus.errors import DataError
from dissensus.evaluation import number, p_text
from dissensus.tables import Table
from dissensus_papers.framework.claims import LEVEL
from dissensus_papers.framework.reports import Report, kept_report
from dissensus_papers.framework.text import table, whole, written

KIND = "seedbert-hypothesis"
ANNOTATORS = "people"  # the key of their figures in saved reports
TITLE = "Do members of a seed ensemble look at different parts where annotators do?"
WHAT = {
    "toxic_spans": "toxic_spans: is this post toxic? 7 annotators marked what made it toxic",
    "text": "text: a simulated crowd; each annotator looks at the clauses that they prefer",
}
NOTES = (
    "F1 compares sets of positions: those that an annotator marked, and as many positions with a "
    "member's largest weights. chance: spans of the same length anywhere in the item. shuffled: "
    "what annotators marked in another item, at the same relative positions. AUROC: how often a "
    "position that an annotator marked has a larger weight than one that they did not mark. "
    "Intervals (95 %) are over seeds and items."
)
APART_NOTES = (
    "Spearman's correlation over items, corrected for item length; p is corrected (Holm) over all "
    "correlations of the first two columns. looks: 1 less the rank correlation of members' "
    "weights; answers: variance of members' probabilities; one: uncertainty of the first member "
    "alone; all: uncertainty of the members' mean."
)


@dataclass(frozen=True)
class EnsembleCondition:
    """What differs between members, and how it is seen where they look."""

    name: str
    title: str
    vary: str
    tune: Literal["all", "nothing"] = "all"
    pool: Literal["mean", "attention"] = "mean"  # "mean": gradient times input tells
    rates: tuple[float, float] = (1e-3, 1e-4)  # of what is new, and of the encoder
    epochs: int = 3
    by_size: bool = False  # whether weights count whatever they speak for

    @property
    def seen_by(self) -> str:
        if self.pool == "mean":
            return "size of gradient x input" if self.by_size else "gradient x input"
        return "attention" if self.tune == "all" else "attention, frozen"


_FROZEN: dict[str, Any] = {"tune": "nothing", "pool": "attention", "epochs": 20}
_POOL: dict[str, Any] = {"pool": "attention"}
_SLOW: dict[str, Any] = {"rates": (5e-6, 5e-6)}
CONDITIONS: dict[str, EnsembleCondition] = {
    name: EnsembleCondition(name, title, vary, **settings)
    for name, title, vary, settings in (
        ("seeds", "last layer (SeedBERT)", "last-layer", {}),
        ("order", "order and dropout", "order+dropout", {}),
        ("deep", "everything (deep ensemble)", "everything", {}),
        ("pool-seeds", "last layer and query", "last-layer", _POOL),
        ("pool-order", "order and dropout", "order+dropout", _POOL),
        ("pool-deep", "everything", "everything", _POOL),
        ("paper-rate", "last layer, rates of 5e-6", "last-layer", _SLOW),
        ("frozen-seeds", "last layer and query", "last-layer", _FROZEN),
        ("frozen-order", "order and dropout", "order+dropout", _FROZEN),
        ("frozen-deep", "everything", "everything", _FROZEN),
    )
}
SEEN: dict[str, EnsembleCondition] = CONDITIONS | {  # trained once, and seen in one more way
    f"size-{name}": replace(condition, name=f"size-{name}", by_size=True)
    for name, condition in CONDITIONS.items()
    if condition.pool == "mean"
}


def kept(path: str | Path) -> Report:
    """The report of a file that `benchmarks/gpu/seedbert_hypothesis.py keep` wrote."""
    if not Path(path).is_file():
        raise DataError(
            f"{path}: no such file; benchmarks/gpu/seedbert_hypothesis.py keep writes it"
        )
    return kept_report(Path(path), KIND, "corpora")


def shown(report: Report, width: int | None = None) -> str:
    """All tables of a report, and a verdict for each corpus; `width` of a terminal breaks lines."""
    about = [TITLE, f"{report['date']}, {report['machine']}, commit {report['commit']}"]
    parts: list[Table | str] = ["\n".join([*about, whole(report["command"])])]
    for name, corpus_report in sorted(report["corpora"].items(), reverse=True):
        parts += [_annotators(name, corpus_report), *_tables(corpus_report)]
        parts.append("\n".join([f"Verdicts: {name}", *verdicts(corpus_report)]))
    return written([*parts, NOTES, APART_NOTES], width)


def _annotators(name: str, corpus_report: Report) -> str:
    annotators = corpus_report[ANNOTATORS]
    agreed = annotators["agreement"]
    lines = [
        WHAT[name],
        f"{corpus_report['n_items']} items tested; the most frequent label has "
        f"{100 * annotators['largest']:.1f} %; two annotators answer differently in "
        f"{100 * annotators['answers_apart']:.1f} %",
        f"Two annotators: F1 {agreed['mean']:.3f}, chance {agreed['chance']:.3f} "
        f"({interval(agreed['over'])}), shuffled {interval(annotators['shuffled'])}; "
        f"AUROC {annotators['auroc']:.3f}",
    ]
    if not math.isnan(number(annotators["by_answer"]["effect"])):
        by_answer = interval(annotators["by_answer"])
        lines.append(f"F1 of two with the same answer less two with different ones: {by_answer}")
    if "preference" in annotators:
        preference = _preference(annotators["preference"])
        lines.append(f"Difference in the aspects they prefer, and by chance: {preference}")
    return "\n".join(lines)


# ---- tables: a row for each condition, with these columns ----

_Columns = dict[str, Callable[[Report], str]]


def _given_length(target: str, name: str) -> Callable[[Report], str]:
    return lambda r: interval(r["apart"][target][name]["given length"])


def _tested(target: str) -> Callable[[Report], str]:
    def cell(report: Report) -> str:
        test = report["apart"][target][target]["given length"]
        return f"{interval(test)}, p {p_text(number(test['adjusted']))}"

    return cell


LOOKING: _Columns = {
    "accuracy": lambda r: f"{r['accuracy']:.3f}",
    "differ": lambda r: f"{100 * r['answers_differ']:.0f} %",
    "rank corr.": lambda r: f"{number(r['alike']['effect']):.3f}",
    "F1 within": lambda r: f"{r['members']['mean']:.3f}",
    "chance": lambda r: f"{r['members']['chance']:.3f}",
    "with annotators": lambda r: f"{r['between']['mean']:.3f}",
    "its chance": lambda r: f"{r['between']['chance']:.3f}",
    "over chance": lambda r: interval(r["between"]["over"]),
    "over shuffled": lambda r: interval(r["shuffled"]),
    "AUROC one": lambda r: f"{0.5 + number(r['auroc']['one']['effect']):.3f}",
    "together less one": lambda r: interval(r["auroc"]["gain"]),
}
APART: _Columns = {
    "looks: annotators look apart": _tested("looks"),
    "answers: annotators answer apart": _tested("answers"),
    "one: answers": _given_length("answers", "one"),
    "all: answers": _given_length("answers", "all"),
    "all less one": lambda r: interval(r["apart"]["answers"]["all over one"]),
}
TRULY_APART: _Columns = {
    "looks: look apart": _given_length("true looks", "looks"),
    "answers: answer apart": _given_length("true answers", "answers"),
    "one: answer apart": _given_length("true answers", "one"),
    "members prefer aspects, chance": lambda r: _preference(r["preference"]),
}
AGAINST: _Columns = {
    words: lambda r, name=name: interval(r[name]) if name in r else ""  # type: ignore[misc]
    for words, name in (
        ("rank corr. of members", "alike"),
        ("AUROC together", "auroc"),
        *((name, name) for name in ("looks for looks", "answers for answers", "all for answers")),
    )
}


def _tables(corpus_report: Report) -> list[Table | str]:
    conditions, against = corpus_report["conditions"], corpus_report["against"]
    blocks = [
        _table("Where members look", "members differ in", LOOKING, conditions),
        _table("Are members apart where annotators are?", "members differ in", APART, conditions),
    ]
    if "true looks" in next(iter(conditions.values()))["apart"]:
        blocks.append(_table("", "by the true probabilities", TRULY_APART, conditions))
    if any(name in against for name in SEEN):  # plain seeds less other ensembles
        heading = "Is the seed of the last layer enough?"
        blocks.append(_table(heading, "last layer alone, less", AGAINST, against))
    return blocks


def _table(heading: str, first: str, columns: _Columns, by_condition: Report) -> Table | str:
    rows = [[first, *columns]]
    for name in (name for name in SEEN if name in by_condition):
        cells = [cell(by_condition[name]) for cell in columns.values()]
        rows.append([_title(name), *cells])
    return table(heading, rows[0], rows[1:])


# ---- verdicts ----


def verdicts(corpus_report: Report) -> list[str]:
    """The hypothesis in its parts, for each condition; then on the whole."""
    lines = []
    for name in (name for name in SEEN if name in corpus_report["conditions"]):
        report = corpus_report["conditions"][name]
        looks, answers = (report["apart"][n][n]["given length"] for n in ("looks", "answers"))
        parts = {
            "look where annotators do": _both(report["between"]["over"], report["shuffled"]),
            "look apart where annotators do": holds(looks),
            "answer apart where annotators do": holds(answers),
            "members with different answers look at different parts": _plainly(report["by_answer"]),
            "members are more similar than annotators": _plainly(report["closer"]),
        }
        lines.append(f"- {_title(name)}: {'; '.join(f'{k}: {v}' for k, v in parts.items())}")
    return [*lines, f"- {_whole(corpus_report)}"]


def _whole(corpus_report: Report) -> str:
    """Does SeedBERT's own ensemble look and answer apart where annotators do?"""
    seeds = corpus_report["conditions"].get("seeds")
    if seeds is None:
        return "The ensemble of the paper was not trained."
    tests = {f"{n}": seeds["apart"][f"{n}s"][f"{n}s"]["given length"] for n in ("look", "answer")}
    shown = [how for how, test in tests.items() if holds(test).startswith("yes")]
    if len(shown) == 2:
        return "The hypothesis holds here for networks that differ in their last layer alone."
    if shown:
        return f"The hypothesis holds in part: members {shown[0]} apart where annotators do."
    at_most = max(number(test["high"]) for test in tests.values())
    return (
        "The hypothesis is not shown here: members with different last layers are not apart where "
        f"annotators are (a correlation of {at_most:.2f} at most)."
    )


def holds(test: Report) -> str:
    """Whether an effect is significantly above 0, with its interval."""
    effect = number(test["effect"])
    if math.isnan(effect):
        return "undefined"
    sure = "yes" if effect > 0 else "the reverse"
    return f"{sure if number(test['adjusted']) <= LEVEL else 'not shown'} ({interval(test)})"


def _plainly(test: Report) -> str:
    """The same without a correction, by the interval alone."""
    low, high = number(test["low"]), number(test["high"])
    if math.isnan(low):
        return "undefined"
    return f"{'yes' if low > 0 else 'the reverse' if high < 0 else 'not shown'} ({interval(test)})"


def _both(*tests: Report) -> str:
    """Whether all effects are above 0."""
    words = [_plainly(test).partition(" (")[0] for test in tests]
    ends = " and ".join(interval(test) for test in tests)
    return f"{words[0] if len(set(words)) == 1 else 'not shown'} ({ends})"


# ---- cells ----


def _title(name: str) -> str:
    return f"{SEEN[name].title} [{SEEN[name].seen_by}]"


def interval(test: Report) -> str:
    """An effect with its interval."""
    effect, low = number(test["effect"]), number(test["low"])
    if math.isnan(effect):
        return "undefined"
    ends = "" if math.isnan(low) else f" [{low:+.3f}, {number(test['high']):+.3f}]"
    return f"{effect:+.3f}{ends}"


def _preference(preference: Report) -> str:
    return f"{preference['spread']:.3f}, {preference['chance']:.3f}"
