"""Papers that compare methods on corpora: a condition is one `evaluation.compare`."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus import Corpus
from dissensus.errors import DataError, Unfinished, counted
from dissensus.evaluation import (
    Difference,
    Fit,
    FitFolder,
    Results,
    Row,
    compare,
    compared,
    higher_is_better,
    keys_in,
    number,
    plain,
    tables,
)
from dissensus.progress import progress
from dissensus.tables import Table
from dissensus_papers.framework.claims import Claim, Evidence
from dissensus_papers.framework.declared import (
    BetterThan,
    ComparisonCondition,
    Model,
    Source,
    Typed,
)
from dissensus_papers.framework.paper import Paper, Plan, Request
from dissensus_papers.framework.reports import (
    Report,
    begun_with,
    head,
    read_json,
    short,
    write_json,
)
from dissensus_papers.framework.text import front_page, interval, table

FIRST, SECOND = "first", "second"  # the sides of a claim
PERFECT = ("oracle: the true ratings", "best possible")  # rows of perfect predictions
FEWEST = 20  # groups of items, such as speakers, of a claim that is tested
READ = (
    'Scores are means +- standard deviations over fits. "less" is the difference from that model, '
    "with a 95 % interval over seeds and items; without one where the score is known for each "
    "seed, but not for single items."
)


@dataclass(frozen=True, eq=False)
class ComparisonPaper(Paper):
    """A paper of methods x corpora x metrics.

    Args:
        title: authors, year and name.
        blocks: all conditions, in the order of tables.
        claims: comparisons of two models, and claims that are judged in another way.
        notes: what a reader has to know, such as where it departs from the paper.
        digits: of figures.
    """

    name: str
    title: str
    sources: Mapping[str, Source]
    models: Mapping[str, Model]
    blocks: Sequence[ComparisonCondition]
    claims: Sequence[BetterThan | Claim] = ()
    notes: str = ""
    digits: int = 3

    @property
    def conditions(self) -> dict[str, ComparisonCondition]:
        return {condition.name: condition for condition in self.blocks}

    @property
    def counted(self) -> tuple[str, ...]:
        return tuple(condition.name for condition in self.blocks if not condition.not_counted)

    @property
    def n_runs(self) -> int:
        return max(len(condition.seeds) for condition in self.blocks)

    # ---- fits ----

    def plan(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[ComparisonCondition],
        out: Path,
        runs: int,
        settings: Typed,
        **options: Any,
    ) -> Plan:
        methods = {each.name: self._methods(each, settings) for each in conditions}

        def run(place: FitFolder, request: Request) -> None:
            for at, condition in enumerate(conditions):
                corpus = self.sources[condition.corpus].prepared(corpora[condition.corpus])
                own = _folder(place.folder, condition.name)
                if condition.figures is not None:
                    figures = plain(condition.figures(corpus))
                    write_json(_figures_file(place.folder, condition.name), figures)
                models = {name: self.models[name] for name in condition.models}
                choices = {name: m.choices for name, m in models.items() if m.choices is not None}
                left = request.until - time.monotonic()
                same = ("questions", "metrics", "densities", "trials", "scoring", "by")
                try:
                    compare(
                        corpus, methods[condition.name], out=own, choices=choices,
                        folds=condition.folds and condition.folds(corpus),
                        seeds=seeds_in(own, condition.seeds[:runs]), processes=request.processes,
                        budget=None if left == math.inf else left, command=request.command,
                        **{name: getattr(condition, name) for name in same},
                    )  # fmt: skip
                except Unfinished as unfinished:
                    later = ", ".join(other.name for other in conditions[at + 1 :])
                    not_begun = f" Not begun: {later}." if later else ""
                    raise Unfinished(f"{condition.name}: {unfinished}{not_begun}") from None

        return Plan(run)

    def _methods(self, condition: ComparisonCondition, typed: Typed) -> dict[str, Any]:
        """The methods of a condition; a typed setting that none of them has is refused."""
        from dissensus.methods import settings_of

        methods = {}
        for name in condition.models:
            model, own = self.models[name], condition.of_model.get(name, {})
            model = replace(model, settings={**model.settings, **own})
            methods[name] = model.built(condition.settings, typed)
        names = {name for method in methods.values() for name in settings_of(method)}
        unknown = [name for name, _ in typed if name not in names]
        if unknown:
            raise DataError(f"{condition.name}: no model has a setting {unknown[0]!r}")
        return methods

    # ---- report ----

    def judged(self, *folders: Path) -> Report:
        """A condition is in the report when all of its fits are done."""
        folder = folders[0]
        front = begun_with(folder, self.name)
        results, unfinished = {}, {}
        for name in self.conditions:
            places = [own for own in (_folder(each, name) for each in folders) if own.exists()]
            done = [Results.load(own) for own in places if (own / "results.json").exists()]
            if done:
                results[name] = together(done, self.models)
            if len(done) < len(places):
                unfinished[name] = sum(len(keys_in(own / "fits")) for own in places)
        about = head(folder, front, (str(each.when["machine"]) for each in results.values()))
        reported = {}
        with progress("testing", len(results)) as advance:
            for name, comparison in results.items():
                paths = [_figures_file(each, name) for each in folders]
                figures: Report = next((read_json(path) for path in paths if path.exists()), {})
                reported[name] = _condition(self.conditions[name], comparison, figures)
                advance(1)
        declared = [claim for claim in self.claims if isinstance(claim, BetterThan)]
        tests = [self._tests(claim, results) for claim in declared]
        return about | {"unfinished": unfinished, "conditions": reported, "claims": tests}

    def _tests(self, claim: BetterThan, results: Mapping[str, Results]) -> Report:
        """The differences that a claim is about, by condition."""
        tests = {}
        for name in claim.conditions or self.counted:
            done, models = results.get(name), {claim.first, claim.second}
            score = claim.metric or self.conditions[name].decided_by
            if done and models <= {*done.about.methods}:
                tests[name] = {"score": score, **short(_if_enough(_claimed(done, claim, score)))}
            elif done and (absent := sorted(models & done.about.left_out.keys())):
                why = f"{', '.join(absent)} could not be fitted"
                tests[name] = {"score": score, "effect": None, "p": None, "reason": why}
        return {"claim": claim.claim, "tests": tests}

    # ---- tables ----

    def front(self, report: Report) -> str:
        return front_page(report, self.title, self.notes)

    def tables(self, report: Report) -> Iterable[Table | str]:
        for name, reported in report["conditions"].items():
            for question in reported["questions"]:
                yield self._table(name, reported, question)
            yield "\n".join(reported["notes"])
        yield READ
        lines = [f"- {name}: {n} fits done" for name, n in report["unfinished"].items()]
        yield "\n".join(["Not finished, and not in the tables", *lines] if lines else [])

    def _table(self, name: str, reported: Report, question: str) -> Table | str:
        """The models of a condition, and below them figures that no model has to be fitted for."""
        condition, digits = self.conditions[name], self.digits
        metrics = reported["metrics"][question]
        reference = self.models[reported["reference"]].title
        in_paper = {**condition.printed, **condition.printed_in.get(question, {})}
        printed = [m for m in metrics if any(m in figures for figures in in_paper.values())]
        names = [""]
        for metric in metrics:
            names += [f"{metric}: paper"] * (metric in printed) + [metric, f"less {reference}"]
        rows = [names]
        for model, of_model in reported["models"].items():
            cells = [self.models[model].title]
            for metric in metrics:
                paper = in_paper.get(model, {}).get(metric)
                cells += ["-" if paper is None else f"{paper:.{digits}f}"] * (metric in printed)
                cells.append(_figure(of_model.get(question, {}).get(metric), digits))
                test = reported["against"].get(model, {}).get(question, {}).get(metric)
                if test and math.isnan(number(test["low"])):
                    cells.append(f"{number(test['effect']):+.{digits}f}")
                else:
                    cells.append(interval(test, digits=digits) if test else "")
            rows.append(cells)
        for floor, figures in reported["floors"].get(question, {}).items():
            cells = [floor]
            for metric in metrics:
                cells += [""] * (metric in printed) + [_figure(figures.get(metric), digits), ""]
            rows.append(cells)
        seeds = ", ".join(map(str, reported["seeds"]))
        trials = f", settings by {reported['trials']} trials" if reported["trials"] else ""
        apart = f"; not counted: {condition.not_counted}" if condition.not_counted else ""
        heading = (
            f"{condition.title} ({condition.name}): {question}, {reported['n_items']:,} items, "
            f"{counted(reported['n_folds'], 'fold')}, seeds {seeds}{trials}{apart}"
        )
        return table(heading, rows[0], rows[1:])

    def tested(self, claim: BetterThan | Claim) -> Claim:
        if isinstance(claim, Claim):
            return claim
        models = tuple(dict.fromkeys((claim.first, claim.second)))

        def judge(report: Report) -> list[Evidence]:
            every = {entry["claim"]: entry["tests"] for entry in report["claims"]}
            tests: Report = every.get(claim.claim, {})  # an older report may not have the claim
            return [
                Evidence(
                    f"{name}, {report['conditions'][name]['n_items']:,} items",
                    score := tests[name]["score"], tests[name], claim.matters,
                    1 if higher_is_better(score) else -1,
                    _perfect(report["conditions"][name], claim, score),
                )
                for name in self.conditions
                if name in tests
            ]  # fmt: skip

        where = claim.conditions or self.counted
        public = [name for name in where if not self.conditions[name].licensed]
        less = " less ".join(self.models[model].title for model in models)
        return Claim(claim.claim, judge, public or claim.conditions, models, less)


def _perfect(reported: Report, claim: BetterThan, score: str) -> float | None:
    """What perfect predictions come to less what the second model does, where both are known."""
    if claim.second_question is not None:
        return None
    question = _table_of(reported["questions"], claim.question)
    rows = reported["floors"].get(question, {})
    known = [row[score] for name, row in rows.items() if name in PERFECT and score in row]
    second = reported["models"].get(claim.second, {}).get(question, {}).get(score)
    return number(known[0]["mean"]) - number(second["mean"]) if known and second else None


def _figure(cell: Any, digits: int) -> str:
    if cell is None:
        return "-"
    spread = number(cell["spread"])
    more = "" if math.isnan(spread) else f" +- {spread:.{digits}f}"
    return f"{number(cell['mean']):.{digits}f}{more}"


# ---- fits in folders ----


def together(parts: Sequence[Results], models: Iterable[str]) -> Results:
    """One comparison of models that were compared in several folders, with the same seeds."""
    first = parts[0]
    if len({(part.about.seeds, part.about.questions) for part in parts}) > 1:
        raise DataError("parts of a condition have different seeds or questions")
    methods = {name for part in parts for name in part.about.methods}
    about = replace(
        first.about,
        methods=tuple(name for name in models if name in methods),
        left_out={name: why for part in parts for name, why in part.about.left_out.items()},
        notes=tuple(dict.fromkeys(note for part in parts for note in part.about.notes)),
    )
    fits = {fit.key: fit for part in parts for fit in part.fits}
    return replace(first, about=about, fits=tuple(fits.values()))


def _folder(folder: Path, condition: str) -> Path:
    return folder / "conditions" / condition


def _figures_file(folder: Path, condition: str) -> Path:
    """Of the figures of a condition that follow from its corpus alone."""
    return folder / "figures" / f"{condition}.json"


def seeds_in(folder: Path, seeds: tuple[int, ...]) -> tuple[int, ...]:
    """The seeds to compare with in a folder, which may have been begun with more or fewer.

    `compare` refuses other seeds than a folder was begun with. The first seeds of a list are no
    other comparison than the whole list, so the folder is changed to expect these seeds, unless
    it is finished with more.
    """
    place = FitFolder(folder)
    if not place.is_begun:
        return seeds
    content = place.begun()
    there = tuple(content["facts"]["seeds"])
    n = min(len(there), len(seeds))
    if there[:n] != seeds[:n]:
        return seeds  # which `compare` refuses
    if len(there) > n and (folder / "results.json").exists():
        return there
    content["facts"]["seeds"] = list(seeds)
    place.write(content)
    return seeds


# ---- outcomes -> report ----


def _condition(
    condition: ComparisonCondition, results: Results, figures: Mapping[str, Any]
) -> dict[str, Any]:
    about, reference = results.about, condition.reference
    reference = reference if reference in about.methods else about.methods[0]
    of_question = {table.question: table for table in tables(results, reference=reference)}
    floors: Report = {}
    against: Report = {model: {} for model in about.methods if model != reference}
    notes: dict[str, list[str]] = {}
    for question, own in of_question.items():
        others = {row.name: _figures(row) for row in own.rows if row.name not in about.methods}
        for name, by_metric in figures.get(question, {}).items():
            others[name] = {m: {"mean": mean, "spread": None} for m, mean in by_metric.items()}
        floors[question] = others
        for model, by_question in against.items():
            cells = own[model].cells.items()
            by_question[question] = {m: short(cell.against) for m, cell in cells if cell.against}
        for note in own.notes:
            notes.setdefault(note, []).append(question)
    return {
        "corpus": about.corpus,
        "reference": reference,
        "seeds": list(about.seeds),
        "n_folds": len(results.folds),
        "n_items": sum(fold["test"] for fold in results.folds if fold["run"] == 0),
        "trials": condition.trials,
        "seconds": sum(filter(math.isfinite, (fit.seconds for fit in results.fits))),
        "questions": list(of_question),
        "metrics": {question: list(table.metrics) for question, table in of_question.items()},
        "models": {
            model: {question: _figures(table[model]) for question, table in of_question.items()}
            for model in about.methods
        },
        "against": against,
        "floors": floors,
        "notes": [  # those on some tables name the question
            note if len(questions) == len(of_question) else f"{', '.join(questions)}: {note}"
            for note, questions in notes.items()
        ],
    }


def _figures(row: Row) -> dict[str, Any]:
    return {m: {"mean": cell.mean, "spread": cell.spread} for m, cell in row.cells.items()}


def _if_enough(difference: Difference) -> Difference:
    """The difference, without an interval if too few items, or groups of them, were compared, or if
    all scores are the same."""
    same = difference.low == difference.high
    if math.isnan(difference.p) or (difference.n_groups >= FEWEST and not same):
        return difference
    reason = f"too few items, in {counted(difference.n_groups, 'group')}"
    if difference.n_groups >= FEWEST:
        reason = "all scores are the same"
    nan = math.nan
    return replace(difference, low=nan, high=nan, p=nan, adjusted=nan, reason=reason)


def _claimed(results: Results, claim: BetterThan, metric: str) -> Difference:
    """The difference that a claim is about, between two models or two readings of densities."""
    question = _table_of(results.about.questions, claim.question)
    if claim.second_question is None:
        return compared(results, question, metric, claim.first, claim.second)
    second = _table_of(results.about.questions, claim.second_question)
    sides = ((FIRST, claim.first, question), (SECOND, claim.second, second))
    fits = (
        _as_method(fit, side, name, question) for side, m, name in sides for fit in results.of(m)
    )
    return compared(replace(results, fits=tuple(fits)), question, metric, FIRST, SECOND)


def _table_of(names: Sequence[str], question: str | int | None) -> str:
    """Which of these questions and density readings a claim means."""
    if question is None or isinstance(question, int):
        return names[question or 0]
    if question.startswith("("):
        return next(name for name in names if name.endswith(f" {question}"))
    return question


def _as_method(fit: Fit, method: str, source: str, question: str) -> Fit:
    """A fit under another name, with the scores of one question under the name of another."""
    rows = fit.items.filter(pc.equal(fit.items["question"], source))
    renamed = rows.set_column(0, "question", pa.repeat(question, rows.num_rows))
    scores = {question: fit.scores.get(source, {})}
    return replace(fit, method=method, scores=scores, items=renamed.combine_chunks())
