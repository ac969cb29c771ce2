"""A report: a summary, sections with tables and figures, as HTML and as JSON."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.description import AnnotatorClusters, Description, actions, cluster_annotators
from dissensus.description.describe import describe
from dissensus.drawing.svg import LONGEST, brief
from dissensus.errors import DataError
from dissensus.evaluation import Results
from dissensus.files.folders import staged
from dissensus.files.plain import plain_bytes
from dissensus.planning.next_answers import what_to_ask
from dissensus.prediction import Predictions
from dissensus.report.blocks import Section, Table
from dissensus.report.page import to_html
from dissensus.report.sections.agreement import agreement
from dissensus.report.sections.annotators import annotators
from dissensus.report.sections.disputed import disputed, looks, to_discuss
from dissensus.report.sections.overview import comparison, overview, provenance
from dissensus.report.sections.predictions import densities, predicted
from dissensus.report.summary import summary_of

MOST_DISPUTED = 20
GENERATOR = b'<meta name="generator" content="dissensus">'  # in each report
JSON = {"format": 1, "kind": "report"}
JSON_START = json.dumps(JSON, indent=1).removesuffix("\n}").encode()


@dataclass(frozen=True)
class Report:
    """A title, what was found, what to do now, items to discuss, and sections.

    `save` writes the HTML file, and everything that it shows as JSON next to it.
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section]
    date: str
    actions: Sequence[str] = ()
    first: Table | None = None  # items to discuss

    def to_html(self, live: bool = False) -> str:
        """The report as one HTML file that loads nothing else.

        Args:
            live: whether `dissensus serve` shows it, so that a text can be typed.
        """
        written = f"Written by dissensus on {self.date}. This file loads nothing from the network."
        front = (self.summary, self.actions, self.first)
        return to_html(self.title, *front, self.sections, written, live)

    def to_dict(self) -> dict[str, Any]:
        """Everything that the report shows, as JSON."""
        return {
            **JSON,
            "title": brief(self.title, LONGEST),
            "date": self.date,
            "summary": [brief(sentence, LONGEST) for sentence in self.summary],
            "actions": [brief(action, LONGEST) for action in self.actions],
            "sections": [section.to_dict() for section in self.sections],
        }

    def save(self, path: str | Path) -> list[Path]:
        """Write PATH (.html), and PATH with the ending .json; returns both paths.

        Files that are there are replaced if they are an earlier report.
        """
        paths = check_report(Path(path))
        content = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        for target, text in zip(paths, (self.to_html(), content + "\n"), strict=True):
            with staged(target) as new:
                new.write_text(text, encoding="utf-8", errors="replace")
        return paths

    def _repr_html_(self) -> str:
        """The report within a notebook, apart from its styles."""
        page = self.to_html().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'


def check_report(path: Path) -> list[Path]:
    """The two files of a report; refuses a path that is no HTML file, or where other files are."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise DataError(f"{path}: a report is HTML; name a file that ends in .html")
    paths = [path, path.with_suffix(".json")]
    for target in paths:
        if target.is_file():
            start = plain_bytes(target)[:1000]
            own = GENERATOR in start if target == path else start.startswith(JSON_START)
            if start and not own:
                raise DataError(
                    f"{target}: already exists and is not a report of dissensus; move it, or "
                    "choose another path"
                )
    return paths


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
    about_items: Section | None = None
    if corpus is not None:
        description = describe(corpus, most=MOST_DISPUTED)
        clusters = {
            about.name: cluster_annotators(corpus[about.name], left_out=about.marked)
            for about in description.questions
        }
        about_items = disputed(corpus, description, predictions)
        marked = {one.name: list(one.marked) for one in description.questions}
        sections += [
            overview(corpus, description),
            agreement(corpus, clusters, marked),
            about_items,
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
        [*actions(description), *what_to_ask(corpus)] if corpus and description else (),
        to_discuss(about_items),
    )
