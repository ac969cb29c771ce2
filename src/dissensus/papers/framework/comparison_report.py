"""The report on a paper that compares methods: scores, differences and claims of each condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dissensus.evaluation import Difference, Results, compared, keys_in, tables
from dissensus.evaluation.report.tables import Row, higher_is_better
from dissensus.papers.framework.conditions import ComparisonCondition
from dissensus.papers.framework.differences import correct, short
from dissensus.papers.framework.reports import begun_with, head
from dissensus.papers.framework.verdicts import BetterThan, Claim
from dissensus.progress import progress


def folder_of(folder: Path, condition: str) -> Path:
    """Where the comparison of a condition is saved."""
    return folder / "conditions" / condition


def judged(
    folder: Path,
    paper: str,
    conditions: Sequence[ComparisonCondition],
    claims: Iterable[BetterThan | Claim],
) -> dict[str, Any]:
    """The report on a folder. A condition is in it when all of its fits are done.

    p is corrected (Holm) over all differences from the references in conditions that count, in
    others over those of the condition, and apart from these over all differences of claims.
    """
    front = begun_with(folder, paper)
    results, unfinished = {}, {}
    for condition in conditions:
        own = folder_of(folder, condition.name)
        if (own / "results.json").exists():
            results[condition.name] = Results.load(own)
        elif own.exists():
            unfinished[condition.name] = len(keys_in(own / "fits"))
    about = head(
        folder,
        front,
        (str(reported_condition.when["machine"]) for reported_condition in results.values()),
    )
    reported = {}
    with progress("testing", len(results)) as advance:
        for condition in conditions:
            if condition.name in results:
                reported[condition.name] = _condition(condition, results[condition.name])
                advance(1)
    counted = [condition.name for condition in conditions if not condition.not_counted]
    for counts in (True, False):
        chosen = [
            reported_condition
            for name, reported_condition in reported.items()
            if (name in counted) == counts
        ]
        _correct(
            (
                of_model
                for reported_condition in chosen
                for of_model in reported_condition["against"].values()
            ),
            counts,
        )
    return about | {
        "unfinished": unfinished,
        "conditions": reported,
        "claims": _claims(claims, results, counted),
    }


def _condition(condition: ComparisonCondition, results: Results) -> dict[str, Any]:
    about = results.about
    made = tables(results, reference=condition.reference)
    of_question = {table.question: table for table in made}
    return {
        "corpus": about.corpus,
        "reference": condition.reference,
        "seeds": list(about.seeds),
        "n_folds": len(results.folds),
        "n_items": sum(fold["test"] for fold in results.folds if fold["run"] == 0),
        "questions": list(of_question),
        "metrics": {question: list(table.metrics) for question, table in of_question.items()},
        "models": {
            model: {question: _figures(table[model]) for question, table in of_question.items()}
            for model in about.methods
        },
        "against": {
            model: {question: _differences(table[model]) for question, table in of_question.items()}
            for model in about.methods
            if model != condition.reference
        },
        "floors": {
            question: {
                row.name: _figures(row) for row in table.rows if row.name not in about.methods
            }
            for question, table in of_question.items()
        },
        "notes": list(dict.fromkeys(note for table in made for note in table.notes)),
    }


def _figures(row: Row) -> dict[str, Any]:
    return {
        metric: {"mean": cell.mean, "spread": cell.spread, "n_fits": cell.n_fits}
        for metric, cell in row.cells.items()
    }


def _differences(row: Row) -> dict[str, Difference]:
    return {metric: cell.against for metric, cell in row.cells.items() if cell.against}


def _correct(against: Iterable[dict[str, Any]], counted: bool) -> None:
    """Replace differences by what tables show of them; correct those that count together."""
    tests = [test for of_model in against for test in of_model.values()]
    if counted:
        correct(tests)
        return
    for test in tests:
        test.update({metric: short(difference) for metric, difference in test.items()})


def _claims(
    claims: Iterable[BetterThan | Claim], results: dict[str, Results], counted: Sequence[str]
) -> list[dict[str, Any]]:
    """The differences that claims are about, by condition."""
    reported: list[dict[str, Any]] = []
    for claim in claims:
        if not isinstance(claim, BetterThan):
            continue
        tests: dict[str, Difference] = {}
        for name in claim.conditions or counted:
            comparison = results.get(name)
            if comparison is not None and {claim.first, claim.second} <= set(
                comparison.about.methods
            ):
                question = claim.question or comparison.about.questions[0]
                tests[name] = compared(
                    comparison, question, claim.metric, claim.first, claim.second
                )
        sign = 1 if higher_is_better(claim.metric) else -1
        reported.append({"claim": claim.claim, "sign": sign, "tests": tests})
    correct(entry["tests"] for entry in reported)
    return reported
