"""The corpus at a glance: how much there is, and which answers were given."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import Description, QuestionDescription, one_line
from dissensus.description.describe import shares_of
from dissensus.evaluation import ComparisonTable, Results, code_commit
from dissensus.evaluation.best_method import comparison_tables
from dissensus.evaluation.results import WITHOUT
from dissensus.report.blocks import Block, Figure, Section, Table, Text
from dissensus.report.figures import bars, columns
from dissensus.report.interval_plot import intervals
from dissensus.scales import Interval, MultiLabel, Ordinal

MOST_VALUES = 30  # bars of values
MOST_NOTES = 8  # about how the corpus was read


def overview(corpus: Corpus, description: Description) -> Section:
    rows: list[list[Any]] = []
    for one in description.questions:
        sizes = one.loaded, one.items, one.annotators
        mean = one.per_item.get("mean")
        per_item = int(mean) if mean is not None and mean == round(mean) else mean
        left_out = sum(one.left_out.values())
        rows.append([one.name, one_line(one.scale), *sizes, per_item, left_out])
    names = ("question", "scale", "answers", "items", "annotators", "answers per item", "left out")
    blocks: list[Block] = [Table("Questions", names, rows)]
    for question in description.questions:
        blocks += _question(corpus[question.name], question)
    blocks += [Text(note) for note in corpus.notes[:MOST_NOTES]]
    return Section("overview", "The corpus at a glance", blocks)


def _question(annotations: Annotations, question: QuestionDescription) -> list[Block]:
    if not annotations.n_rows:
        return [Text(f"{question.name}: nobody answered it.")]
    blocks: list[Block] = []
    if question.left_out:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in question.left_out.items())
        blocks.append(Text(f"{question.name}: answers left out: {reasons}."))
    blocks += answers_given(annotations, question.name)
    return blocks


def answers_given(annotations: Annotations, question: str) -> list[Figure]:
    """The share of each value, or a histogram of ratings."""
    if isinstance(annotations.scale, Interval):
        return [_ratings(annotations, question, annotations.scale)]
    shares = shares_of(annotations) or {}
    if not shares:
        return []
    alt = f"Share of each value among the answers to {question}."
    if isinstance(annotations.scale, MultiLabel):
        alt = f"Share of the answers to {question} that contain each value."
    if len(shares) > MOST_VALUES:
        alt += f" The {MOST_VALUES} most frequent of {len(shares):,} values."
        shares = dict(sorted(shares.items(), key=lambda entry: -entry[1])[:MOST_VALUES])
    ordered = isinstance(annotations.scale, Ordinal) and len(annotations.scale) <= MOST_VALUES
    svg = bars(list(shares), list(shares.values()), alt, ordered)
    columns = ("value", "share")
    return [Figure(f"Answers to {question}", alt, svg, columns, list(shares.items()))]


def _ratings(annotations: Annotations, name: str, scale: Interval) -> Figure:
    choices = (np.linspace(scale.low, scale.high, n + 1) for n in (10, 12, 8))
    edges = min(choices, key=lambda edges: sum(len(f"{edge:.4g}") for edge in edges) / len(edges))
    counts, _ = np.histogram(annotations.answer, edges, weights=annotations.weight)
    names = [f"{low:.3g}" for low in edges[:-1]]
    alt = f"How often ratings of {name} fall between {scale.low:g} and {scale.high:g}."
    svg = columns(names, counts.tolist(), alt, "rating (from)")
    rows = list(zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True))
    return Figure(f"Ratings of {name}", alt, svg, ("from", "to", "answers"), rows)


def comparison(results: Results) -> Section:
    blocks: list[Block] = [
        Text(
            "Each method was fitted on training items and scored on others. Lines are 95 % "
            "intervals; floors ignore the content; a dagger marks a difference from "
            "the reference that is significant after Holm's correction."
        )
    ]
    without = results.about.protocol.get(WITHOUT, [])
    if without:
        blocks.append(Text(
            "Methods learned from the answers of suspicious annotators, too. The tables without "
            "them have scores of predictions for the others, against their answers; "
            "`dissensus run FILE --without suspicious` also learns without them."
        ))  # fmt: skip
    fewer = comparison_tables(results, tuple(without)) if without else []
    for table in [*comparison_tables(results), *fewer]:
        blocks += [scores_figure(table), _table(table)]
        blocks += [Text(note) for note in table.notes[:12]]
    return Section("methods", "Methods compared", blocks)


def scores_figure(table: ComparisonTable) -> Figure:
    """The mean score of each method, with its interval; as data with the p-values, too."""
    title = f"Scores, {table.question}"
    alt = f"The mean score of each method on {table.question} with its 95 % interval."
    rows = [
        [row.name, metric, cell.mean, cell.low, cell.high,
         *((cell.against.effect, cell.against.adjusted) if cell.against else (None, None))]
        for row in table.rows
        for metric, cell in row.cells.items()
    ]  # fmt: skip
    from_reference = f"difference from {table.reference or 'the reference'}"
    columns = ("method", "metric", "mean", "95 % from", "to", from_reference, "p (Holm)")
    return Figure(title, alt, intervals(table, alt), columns, rows)


def _table(table: ComparisonTable) -> Table:
    """A row for each method, with the metrics in which it is best or differs significantly."""
    rows: list[list[Any]] = []
    for row in table.rows:
        best, differs = (
            ", ".join(metric for metric, cell in row.cells.items() if getattr(cell, what))
            for what in ("best", "differs")
        )
        fitted = any(cell.n_fits for cell in row.cells.values())
        kind = "" if not row.floor else "floor" if fitted else "bound"
        means = [
            row.cells[metric].mean if metric in row.cells else None for metric in table.metrics
        ]
        rows.append([row.name, *means, best, differs, kind])
    differs = f"differs from {table.reference or 'the reference'} (p < 0.05)"
    return Table(
        f"Mean scores, {table.question}", ("method", *table.metrics, "best", differs, ""), rows
    )


PACKAGES = ("dissensus", "numpy", "pyarrow", "scipy", "torch", "transformers")


def _settings(results: Results) -> str:
    texts = []
    for method in results.about.methods:
        chosen = Counter(
            ", ".join(f"{name} = {value}" for name, value in fit.settings.items())
            for fit in results.of(method)
            if fit.settings
        )
        texts += [f"{method}: {settings} ({n})" for settings, n in sorted(chosen.items())]
    return "; ".join([*texts, "the others have their defaults" if texts else "all have defaults"])


def provenance(facts: Mapping[str, Any], results: Results | None) -> Section:
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions.append(f"{package} {metadata.version(package)}")
    rows: list[list[Any]] = [["dissensus", code_commit()], ["versions", ", ".join(versions)]]
    rows += [[name, str(value)] for name, value in facts.items()]
    if results is not None:
        about = results.about
        rows += [
            ["methods", ", ".join(about.methods)],
            ["settings", _settings(results)],
            ["seeds", ", ".join(map(str, about.seeds))],
            ["protocol", ", ".join(f"{k}: {v}" for k, v in about.protocol.items())],
            ["folds", str(len(results.folds))],
            ["metrics", ", ".join(about.metrics)],
        ]
        rows += [[f"{method} left out", why] for method, why in about.left_out.items()]
        if about.command:
            rows.append(["comparison", about.command])
    table = Table("Run", ("what", "value"), rows)
    return Section("run", "What was run, and how to run it again", [table])
