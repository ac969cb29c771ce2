"""The report on a paper that compares methods: scores, differences and claims of each condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.evaluation import Difference, Results, compared, keys_in, tables
from dissensus.evaluation.fit import Fit, plain
from dissensus.evaluation.report.tables import ComparisonTable, Row, higher_is_better
from dissensus.json_files import parse_json
from dissensus.plain_files import plain_bytes
from dissensus.progress import progress
from dissensus_papers.framework.conditions import ComparisonCondition
from dissensus_papers.framework.differences import correct, short
from dissensus_papers.framework.measurements import measurements
from dissensus_papers.framework.outcomes import write_whole
from dissensus_papers.framework.reports import begun_with, head, to_json
from dissensus_papers.framework.verdicts import BetterThan, Claim

FIRST, SECOND = "first", "second"  # the sides of a claim


def folder_of(folder: Path, condition: str) -> Path:
    """Where the comparison of a condition is saved."""
    return folder / "conditions" / condition


def keep_figures(folder: Path, condition: ComparisonCondition, corpus: Corpus) -> None:
    """Save the figures of a condition that follow from its corpus alone."""
    if condition.figures is not None:
        text = to_json(plain(condition.figures(corpus)))
        path = _figures_file(folder, condition.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda new: new.write_text(text, encoding="utf-8"))


def _figures_file(folder: Path, condition: str) -> Path:
    return folder / "figures" / f"{condition}.json"


def _kept_figures(folder: Path, condition: str) -> dict[str, Any]:
    """By question, name and metric; nothing if none were saved."""
    path = _figures_file(folder, condition)
    return dict(parse_json(plain_bytes(path), path)) if path.exists() else {}


def judged(
    folder: Path,
    paper: str,
    conditions: Sequence[ComparisonCondition],
    claims: Iterable[BetterThan | Claim],
    measured: Iterable[str] = (),
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
    by_seed = {name: measurements(folder, name) for name in measured}
    machines = [str(comparison.when["machine"]) for comparison in results.values()]
    machines += [str(entry["machine"]) for seeds in by_seed.values() for entry in seeds.values()]
    about = head(folder, front, machines)
    reported = {}
    with progress("testing", len(results)) as advance:
        for condition in conditions:
            if condition.name in results:
                reported[condition.name] = _condition(
                    condition, results[condition.name], _kept_figures(folder, condition.name)
                )
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
        "measurements": {
            name: [{"seed": seed, **entry["measured"]} for seed, entry in seeds.items()]
            for name, seeds in by_seed.items()
            if seeds
        },
        "claims": _claims(claims, results, counted),
    }


def _condition(
    condition: ComparisonCondition, results: Results, figures: dict[str, Any]
) -> dict[str, Any]:
    about = results.about
    question_tables = tables(results, reference=condition.reference)
    of_question = {table.question: table for table in question_tables}
    return {
        "corpus": about.corpus,
        "reference": condition.reference,
        "seeds": list(about.seeds),
        "n_folds": len(results.folds),
        "n_items": sum(fold["test"] for fold in results.folds if fold["run"] == 0),
        "n_fits": {model: len(results.of(model)) for model in about.methods},
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
            | {
                name: {metric: {"mean": mean, "spread": None} for metric, mean in by_metric.items()}
                for name, by_metric in figures.get(question, {}).items()
            }
            for question, table in of_question.items()
        },
        "notes": _notes(question_tables),
    }


def _notes(question_tables: Sequence[ComparisonTable]) -> list[str]:
    """Notes on all tables of a condition; those on some tables name the question."""
    notes: dict[str, list[str]] = {}
    for table in question_tables:
        for note in table.notes:
            notes.setdefault(note, []).append(table.question)
    return [
        note if len(questions) == len(question_tables) else f"{', '.join(questions)}: {note}"
        for note, questions in notes.items()
    ]


def _figures(row: Row) -> dict[str, Any]:
    return {
        metric: {"mean": cell.mean, "spread": cell.spread} for metric, cell in row.cells.items()
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
            if comparison is not None and {claim.first, claim.second} <= {
                *comparison.about.methods
            }:
                tests[name] = _tested(comparison, claim)
        sign = 1 if higher_is_better(claim.metric) else -1
        reported.append({"claim": claim.claim, "sign": sign, "tests": tests})
    correct(entry["tests"] for entry in reported)
    return reported


def _tested(results: Results, claim: BetterThan) -> Difference:
    """The difference that a claim is about, between two models or two readings of densities."""
    question = _table_of(results, claim.question)
    if claim.second_question is None:
        return compared(results, question, claim.metric, claim.first, claim.second)
    second = _table_of(results, claim.second_question)
    fits = (
        _as_method(fit, FIRST if at == 0 else SECOND, name, question)
        for at, (model, name) in enumerate([(claim.first, question), (claim.second, second)])
        for fit in results.of(model)
    )
    both = replace(results, fits=tuple(fits))
    return compared(both, question, claim.metric, FIRST, SECOND)


def _table_of(results: Results, question: str | None) -> str:
    """The question or density reading that a claim means, in these results."""
    names = results.about.questions
    if question is None:
        return names[0]
    if question.startswith("("):
        return next(name for name in names if name.endswith(f" {question}"))
    return question


def _as_method(fit: Fit, method: str, source: str, question: str) -> Fit:
    """A fit under another name, with the scores of one question under the name of another."""
    rows = fit.items.filter(pc.equal(fit.items["question"], source))
    renamed = rows.set_column(0, "question", pa.repeat(question, rows.num_rows))
    scores = {question: fit.scores.get(source, {})}
    return replace(fit, method=method, scores=scores, items=renamed.combine_chunks())
