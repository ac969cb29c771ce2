"""Write the table of metrics in metrics.md anew from `METRICS`."""

from __future__ import annotations

import re
from pathlib import Path

from dissensus.metrics import METRICS, Metric
from dissensus.scales import SCALES

PAGE = Path(__file__).parent / "metrics.md"
BLOCK = re.compile(r"(<!-- metrics -->\n).*?(<!-- end -->)", re.DOTALL)


def metrics_table() -> str:
    """A row for each metric, as Markdown."""
    head = ["| metric | definition | for |", "|---|---|---|"]
    return "\n".join([*head, *(_row(metric) for metric in METRICS.values())]) + "\n"


def _row(metric: Metric) -> str:
    scales = "all" if len(metric.scales) == len(SCALES) else ", ".join(metric.scales)
    definition = metric.definition.replace("|", "\\|")
    return f"| `{metric.name}` | {definition} | {scales} |"


def updated(text: str) -> str:
    """The page with the table as the metrics are now."""
    return BLOCK.sub(lambda block: f"{block[1]}{metrics_table()}{block[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
