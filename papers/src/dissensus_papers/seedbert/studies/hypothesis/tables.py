"""Report -> tables as text, and a verdict on the hypothesis for each corpus."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dissensus.errors import DataError
from dissensus.evaluation import number, p_text
from dissensus_papers.framework.reports import kept_report
from dissensus_papers.framework.tables import Block, whole, written
from dissensus_papers.seedbert.studies.hypothesis.analysis import ANNOTATORS, KIND
from dissensus_papers.seedbert.studies.hypothesis.ensembles import SEEN

Report = dict[str, Any]
LEVEL = 0.05
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


def kept(path: str | Path) -> Report:
    """The report of a file that `benchmarks/gpu/seedbert_hypothesis.py keep` wrote."""
    if not Path(path).is_file():
        raise DataError(
            f"{path}: no such file; benchmarks/gpu/seedbert_hypothesis.py keep writes it"
        )
    return kept_report(Path(path), KIND, "corpora")


def shown(report: Report, width: int | None = None) -> str:
    """All tables of a report, and a verdict for each corpus.

    Args:
        width: of a terminal; nothing is broken if left out.
    """
    about = [TITLE, f"{report['date']}, {report['machine']}, commit {report['commit']}"]
    parts: list[str | Block] = ["\n".join([*about, whole(report["command"])])]
    for name, corpus_report in sorted(report["corpora"].items(), reverse=True):
        parts += [
            _annotators(name, corpus_report),
            _looking(corpus_report),
            *_apart(corpus_report),
            _compared(corpus_report),
        ]
        parts.append("\n".join([f"Verdicts: {name}", *verdicts(corpus_report)]))
    parts += [NOTES, APART_NOTES]
    return written(parts, width)


# ---- tables ----


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
    if number(annotators["by_answer"]["effect"]) == number(annotators["by_answer"]["effect"]):
        lines.append(
            "F1 of two with the same answer less two with different ones: "
            f"{interval(annotators['by_answer'])}"
        )
    if "preference" in annotators:
        lines.append(
            "Difference in the aspects they prefer, and by chance: "
            f"{_preference(annotators['preference'])}"
        )
    return "\n".join(lines)


def _looking(corpus_report: Report) -> Block:
    rows = [
        ["members differ in", "accuracy", "differ", "rank corr.", "F1 within", "chance",
         "with annotators", "its chance", "over chance", "over shuffled", "AUROC one",
         "together less one"]
    ]  # fmt: skip
    for name, of_condition in _in_order(corpus_report):
        within, between, auroc = (
            of_condition["members"],
            of_condition["between"],
            of_condition["auroc"],
        )
        rows.append(
            [
                _title(name),
                f"{of_condition['accuracy']:.3f}",
                f"{100 * of_condition['answers_differ']:.0f} %",
                f"{number(of_condition['alike']['effect']):.3f}",
                f"{within['mean']:.3f}",
                f"{within['chance']:.3f}",
                f"{between['mean']:.3f}",
                f"{between['chance']:.3f}",
                interval(between["over"]),
                interval(of_condition["shuffled"]),
                f"{0.5 + number(auroc['one']['effect']):.3f}",
                interval(auroc["gain"]),
            ]
        )
    return Block("Where members look", rows)


def _apart(corpus_report: Report) -> list[Block]:
    names = ["members differ in", "looks: annotators look apart"]
    names += ["answers: annotators answer apart", "one: answers", "all: answers", "all less one"]
    rows = [names]
    for name, of_condition in _in_order(corpus_report):
        apart = of_condition["apart"]
        of_answers = apart["answers"]
        rows.append(
            [
                _title(name),
                _tested(apart["looks"]["looks"]["given length"]),
                _tested(of_answers["answers"]["given length"]),
                interval(of_answers["one"]["given length"]),
                interval(of_answers["all"]["given length"]),
                interval(of_answers["all over one"]),
            ]
        )
    tables = [Block("Are members apart where annotators are?", rows)]
    if "true looks" not in next(iter(corpus_report["conditions"].values()))["apart"]:
        return tables
    rows = [["by the true probabilities", "looks: look apart", "answers: answer apart",
             "one: answer apart", "members prefer aspects, chance"]]  # fmt: skip
    for name, of_condition in _in_order(corpus_report):
        looks, answers = of_condition["apart"]["true looks"], of_condition["apart"]["true answers"]
        rows.append(
            [
                _title(name),
                interval(looks["looks"]["given length"]),
                interval(answers["answers"]["given length"]),
                interval(answers["one"]["given length"]),
                _preference(of_condition["preference"]),
            ]
        )
    return [*tables, Block("", rows)]


def _compared(corpus_report: Report) -> str | Block:
    """Plain seeds less other ensembles."""
    rows = [["last layer alone, less", "rank corr. of members", "AUROC together",
             "looks for looks", "answers for answers", "all for answers"]]  # fmt: skip
    for name, against in ((name, corpus_report["against"].get(name)) for name in SEEN):
        if against is None:
            continue
        figures = ("alike", "auroc", "looks for looks", "answers for answers", "all for answers")
        rows.append(
            [_title(name), *(interval(against[f]) if f in against else "" for f in figures)]
        )
    return Block("Is the seed of the last layer enough?", rows) if len(rows) > 1 else ""


# ---- verdicts ----


def verdicts(corpus_report: Report) -> list[str]:
    """The hypothesis in its parts, for each condition; then on the whole."""
    lines = []
    for name, of_condition in _in_order(corpus_report):
        parts = [
            "look where annotators do: "
            f"{_both(of_condition['between']['over'], of_condition['shuffled'])}",
            "look apart where annotators do: "
            f"{holds(of_condition['apart']['looks']['looks']['given length'])}",
            "answer apart where annotators do: "
            f"{holds(of_condition['apart']['answers']['answers']['given length'])}",
            "members with different answers look at different parts: "
            f"{_plainly(of_condition['by_answer'])}",
            f"members are more similar than annotators: {_plainly(of_condition['closer'])}",
        ]
        lines.append(f"- {_title(name)}: {'; '.join(parts)}")
    return [*lines, f"- {_whole(corpus_report)}"]


def _whole(corpus_report: Report) -> str:
    """Does SeedBERT's own ensemble look and answer apart where annotators do?"""
    seeds = corpus_report["conditions"].get("seeds")
    if seeds is None:
        return "The ensemble of the paper was not trained."
    tests = {
        "look": seeds["apart"]["looks"]["looks"]["given length"],
        "answer": seeds["apart"]["answers"]["answers"]["given length"],
    }
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
    effect, p = number(test["effect"]), number(test["adjusted"])
    if effect != effect:
        return "undefined"
    if p <= LEVEL:
        return f"{'yes' if effect > 0 else 'the reverse'} ({interval(test)})"
    return f"not shown ({interval(test)})"


def _plainly(test: Report) -> str:
    """The same without a correction, by the interval alone."""
    low, high = number(test["low"]), number(test["high"])
    if low != low:
        return "undefined"
    return f"{'yes' if low > 0 else 'the reverse' if high < 0 else 'not shown'} ({interval(test)})"


def _both(*tests: Report) -> str:
    """Whether all effects are above 0."""
    words = [_plainly(test).partition(" (")[0] for test in tests]
    ends = " and ".join(interval(test) for test in tests)
    return f"{words[0] if len(set(words)) == 1 else 'not shown'} ({ends})"


# ---- cells ----


def _in_order(corpus_report: Report) -> Iterable[tuple[str, Report]]:
    conditions = corpus_report["conditions"]
    return [(name, conditions[name]) for name in SEEN if name in conditions]


def _title(name: str) -> str:
    return f"{SEEN[name].title} [{SEEN[name].seen_by}]"


def interval(test: Report) -> str:
    """An effect with its interval."""
    effect, low = number(test["effect"]), number(test["low"])
    if effect != effect:
        return "undefined"
    if low != low:
        return f"{effect:+.3f}"
    return f"{effect:+.3f} [{low:+.3f}, {number(test['high']):+.3f}]"


def _tested(test: Report) -> str:
    return f"{interval(test)}, p {p_text(number(test['adjusted']))}"


def _preference(preference: Report) -> str:
    return f"{preference['spread']:.3f}, {preference['chance']:.3f}"
