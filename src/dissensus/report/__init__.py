"""The report: a corpus, and what was learned from it, as one HTML file for people to read.

`dissensus run` and `dissensus report` write it; `Report` is the same in a notebook.
"""

from __future__ import annotations

from dissensus.report.blocks import Bars, Figure, Section, Table, Text
from dissensus.report.report import Report, make_report

__all__ = ["Bars", "Figure", "Report", "Section", "Table", "Text", "make_report"]
