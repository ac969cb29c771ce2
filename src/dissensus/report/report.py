"""A report: a summary, sections with tables and figures, as HTML and as JSON."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.agreement import mean_difference
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import (
    AnnotatorClusters,
    Description,
    cluster_annotators,
    describe,
)
from dissensus.description.describe import differing_items
from dissensus.description.suspicious_annotators import FEW
from dissensus.drawing.shapes import LONGEST, brief
from dissensus.errors import DataError, counted
from dissensus.evaluation import Results
from dissensus.evaluation.best_method import best_method, comparison_tables
from dissensus.evaluation.comparison_table import higher_is_better
from dissensus.evaluation.result_tables import comparable_methods
from dissensus.files.folders import staged
from dissensus.prediction import Predictions
from dissensus.report.blocks import Section
from dissensus.report.page import to_html
from dissensus.report.sections.agreement import agreement, alpha_of, named
from dissensus.report.sections.annotators import annotators
from dissensus.report.sections.disputed import disputed, looks
from dissensus.report.sections.overview import comparison, overview, provenance
from dissensus.report.sections.predictions import densities, predicted
from dissensus.scales import Interval

MOST_NAMED = 4
MOST_LETTERS = 40  # of a question
KINDS = {  # of suspicious annotators, in words
    "at chance": "agrees with others no more than chance",
    "constant": "always gives the same answer",
    "contrary": "contradicts the others",
    "different": "agrees less than the others do",
    "duplicated": "same answers as another annotator",
    "fast": "answers much faster than usual",
}


def summary_of(
    corpus: Corpus | None,
    description: Description | None,
    results: Results | None,
    clusters: Mapping[str, AnnotatorClusters | None],
    note: str = "",
) -> list[str]:
    """What the report shows, the most important first.

    Args:
        note: why no method was compared, or what of the comparison is missing.
    """
    sentences: list[str] = []
    if corpus is not None and description is not None:
        sentences += [_size(corpus), _agreement(corpus), _dispute(corpus)]
        sentences.append(f"{_people(description)} {_alike(clusters)}".strip())
    sentences.append(_methods(results, note))
    return [sentence for sentence in sentences if sentence]


def _size(corpus: Corpus) -> str:
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    known = any(answers.annotator is not None for answers in corpus.questions.values())
    n = corpus.n_annotators
    by = f" by {n:,} annotator{'s' * (n != 1)}" if known else " by unknown annotators"
    questions = [_short(question) for question in corpus.questions]
    about = f" to {counted(len(questions), 'question')} ({', '.join(questions[:5])}"
    about += ", ...)" if len(questions) > 5 else ")"
    items = "1 item" if corpus.n_items == 1 else f"{corpus.n_items:,} items"
    return f"{corpus.name} has {n_answers:,} answers{by}{about} on {items}."


def _short(question: str) -> str:
    """A question that is a whole sentence, shortened."""
    return question if len(question) <= MOST_LETTERS else f"{question[:MOST_LETTERS].rstrip()}..."


def _agreement(corpus: Corpus) -> str:
    parts = []
    for question, answers in list(corpus.questions.items())[:3]:
        value, low, high = alpha_of(answers)
        if math.isnan(value):
            continue
        ends = "" if math.isnan(low) else f" (95 % interval {low:.2f} to {high:.2f})"
        parts.append(f"{round(value, 2) + 0:.2f}{ends} for {_short(question)}")
    if not parts:
        several = any((answers.voters() >= 2).any() for answers in corpus.questions.values())
        why = "all answers are the same" if several else "no item has two annotators"
        return f"Agreement is undefined, because {why}."
    return (
        f"Agreement beyond chance (Krippendorff's alpha) is {'; '.join(parts)}; 1 would be full "
        "agreement, 0 what chance gives."
    )


def _dispute(corpus: Corpus) -> str:
    question, answers = next(iter(corpus.questions.items()), ("", None))
    if answers is None:
        return ""
    several = answers.voters() >= 2
    n = int(several.sum())
    if not n:
        return ""
    if isinstance(answers.scale, Interval):
        return _apart(question, answers, answers.scale, n)
    share = float(differing_items(answers)[several].mean())
    where = f" about {_short(question)}" if len(corpus.questions) > 1 else ""
    if not share:
        each = "the only item" if n == 1 else f"each of the {n:,} items"
        return f"On {each} with two answers or more, all annotators give the same answer{where}."
    part = "the only item" if n == 1 else f"{_percent(share)} of the {n:,} items"
    if share == 1 and n > 1:
        part = f"each of the {n:,} items"
    return f"On {part} with two answers or more, annotators do not all give the same answer{where}."


def _apart(question: str, answers: Annotations, scale: Interval, n: int) -> str:
    """How far apart ratings of the same item are."""
    ends = f"from {scale.low:g} to {scale.high:g}"
    return (
        f"Two ratings of {_short(question)} for the same item differ by "
        f"{mean_difference(answers):.2g} on average, on a scale {ends} "
        f"({counted(n, 'item')} with two ratings or more)."
    )


def _percent(share: float) -> str:
    """A share that is neither 0 nor 1 unless it is exactly."""
    if 0 < share < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def _people(description: Description) -> str:
    named: dict[str, list[str]] = {}
    for question in description.questions:
        for row in question.suspicious:
            kinds = named.setdefault(row.annotator, [])
            kinds += [kind for kind in row.suspicious if kind not in kinds]
    checked = max([question.checked for question in description.questions] + [0])
    doubt = next((q.crowd[0] for q in description.questions if q.crowd and not q.comparable), "")
    if doubt and not named:
        return doubt
    if named:
        shown = [
            f"{name} ({', '.join(KINDS[kind] for kind in kinds)})"
            for name, kinds in list(named.items())[:MOST_NAMED]
        ]
        more = len(named) - len(shown)
        rest = f" and {more} more" if more else ""
        verb = "annotator stands" if len(named) == 1 else "annotators stand"
        return f"{len(named):,} {verb} out and should be looked at: {', '.join(shown)}{rest}."
    if not checked:
        return ""
    n_few = description.annotators - checked
    few = f"; {n_few:,} gave too few answers to tell" if n_few > 0 else ""
    none = "Neither" if checked == 2 else "None"
    return (
        f"{none} of the {checked:,} annotators with {FEW} answers or more stands out as careless "
        f"or unlike the others{few}."
    )


def _alike(clusters: Mapping[str, AnnotatorClusters | None]) -> str:
    """Annotators who answer alike, on the first question that has such clusters."""
    for question, some in clusters.items():
        if some is not None and some.significant:
            parts = [named(cluster.annotators, MOST_NAMED) for cluster in some.clusters]
            where = f" about {_short(question)}" if len(clusters) > 1 else ""
            return (
                f"Some annotators answer alike{where}, more than a common view of the items "
                "explains: "
                f"{'; '.join(parts)}."
            )
    return ""


def _methods(results: Results | None, note: str) -> str:
    why = f"{note[:1].upper()}{note[1:]}."
    if results is None:
        return why if note else "No method was compared; the command dissensus run compares some."
    best = best_method(results)
    if best is None:
        return why if note else "No method could be fitted."
    table = next(t for t in comparison_tables(results) if t.question == best.question)
    metric, cell = best.metric, table[best.method].cells[best.metric]
    better = "higher" if higher_is_better(metric) else "lower"
    ends = "" if math.isnan(cell.low) else f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
    comparable = [n for n in comparable_methods(results) if metric in table[n].cells]
    subject = f"Of {len(comparable)} methods, {best.method} predicts"
    how = "best on average: "
    if len(comparable) == 1:
        subject, how = f"{best.method}, the only method to compare with floors, predicts", "with "
    sentence = (
        f"{subject} {_short(table.question)} {how}{metric} {cell.mean:.3f}{ends}, where "
        f"{better} is better"
    )
    floors = [r for r in table.rows if r.floor and metric in r.cells and r.cells[metric].n_fits]
    if floors:
        sign = 1 if higher_is_better(metric) else -1
        floor = max(floors, key=lambda r: sign * r.cells[metric].mean)
        score = floor.cells[metric].mean
        verb = "has" if sign * score < sign * cell.mean else "is no worse with"
        sentence += f"; {floor.name}, which ignores the content, {verb} {score:.3f}"
    return f"{sentence} ({note})." if note else f"{sentence}."


MOST_DISPUTED = 20


@dataclass(frozen=True)
class Report:
    """A title, a summary in a few sentences, and sections.

    `save` writes the HTML file, and everything that it shows as JSON next to it.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    date: str

    def to_html(self, live: bool = False) -> str:
        """The report as one HTML file that loads nothing else.

        Args:
            live: whether `dissensus serve` shows it, so that a text can be typed.
        """
        written = f"Written by dissensus on {self.date}. This file loads nothing from the network."
        return to_html(self.title, self.summary, self.sections, written, live)

    def to_dict(self) -> dict[str, Any]:
        """Everything that the report shows, as JSON."""
        return {
            "title": brief(self.title, LONGEST),
            "date": self.date,
            "summary": [brief(sentence, LONGEST) for sentence in self.summary],
            "sections": [section.to_dict() for section in self.sections],
        }

    def save(self, path: str | Path) -> list[Path]:
        """Write PATH (.html), and PATH with the ending .json; returns both paths."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise DataError(f"{path}: a report is HTML; name a file that ends in .html")
        content = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        paths = [path, path.with_suffix(".json")]
        for target, text in zip(paths, (self.to_html(), content + "\n"), strict=True):
            with staged(target) as new:
                new.write_text(text, encoding="utf-8", errors="replace")
        return paths

    def _repr_html_(self) -> str:
        """The report within a notebook, apart from its styles."""
        page = self.to_html().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'


def make_report(
    corpus: Corpus | None = None,
    results: Results | None = None,
    *,
    tested: Corpus | None = None,
    predictions: Predictions | None = None,
    method: str = "",
    facts: Mapping[str, Any] | None = None,
    note: str = "",
    date: str | None = None,
) -> Report:
    """A report on a corpus, on a comparison, or on both; a section without data is left out.

    Args:
        corpus: the answers of annotators.
        results: of `dissensus.compare`.
        tested: items of the corpus that `method` was not trained on.
        predictions: of `method`, for the items of `tested`.
        facts: what was run, by name, such as the command.
        note: why no method was compared, or what of the comparison is missing; in the summary.
        date: when the report was written; now if left out.

    Example:
        >>> from dissensus import simulate
        >>> report = make_report(simulate.text(n_items=20, n_annotators=4, labels_per_item=3))
        >>> [section.title for section in report.sections][:2]
        ['The corpus at a glance', 'Agreement']
    """
    if corpus is None and results is None:
        raise DataError("a report needs a corpus, the results of a comparison, or both")
    sections: list[Section | None] = []
    description: Description | None = None
    clusters: dict[str, AnnotatorClusters | None] = {}
    if corpus is not None:
        description = describe(corpus, most=MOST_DISPUTED)
        clusters = {
            about.name: cluster_annotators(corpus[about.name], left_out=about.marked)
            for about in description.questions
        }
        sections += [
            overview(corpus, description),
            agreement(corpus, clusters),
            disputed(corpus, description, predictions),
            looks(corpus, tested, predictions),
            densities(corpus),
            annotators(corpus, description),
        ]
    if results is not None:
        sections.append(comparison(results))
    if tested is not None and predictions is not None:
        sections.append(predicted(tested, predictions, method))
    sections.append(provenance(facts or {}, results))
    name = corpus.name if corpus is not None else results.about.corpus if results else ""
    return Report(
        f"{name}: what annotators agree and disagree about",
        summary_of(corpus, description, results, clusters, note),
        [section for section in sections if section is not None and section.blocks],
        date or datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
