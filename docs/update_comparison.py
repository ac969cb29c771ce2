"""Write the table of levels and powers in comparison.md anew from what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "comparison.md"
MEASURED = Path(__file__).parent.parent / "benchmarks" / "results" / "significance.json"
BLOCK = re.compile(r"(<!-- significance -->\n).*?(<!-- end -->)", re.DOTALL)


def significance_table(measured: dict[str, Any]) -> str:
    """How often each test finds a difference, where there is none and where there is one."""
    lines = ["| design | test | level | at 1 % | power |", "|---|---|--:|--:|--:|"]
    before = ""
    for row in measured["rows"]:
        design = row["design"]["name"]
        shown = "" if design == before else design
        figures = [f"{row[key]:.3f}" for key in ("level", "level at 1 %", "power")]
        lines.append(f"| {' | '.join([shown, row['test'], *figures])} |")
        before = design
    family = measured["family"]
    closing = (
        f"Of {measured['comparisons']} comparisons each; a true level of 0.05 shows within about "
        f"0.02.\nOf {family['comparisons']} comparisons at once without a difference, one or more "
        f"was found in {family['plain']:.3f} of cases,\nafter Holm's correction in "
        f"{family['Holm']:.3f}. `{measured['command']}`, {measured['date'][:10]}."
    )
    return "\n".join([*lines, "", closing, ""])


def updated(text: str) -> str:
    """The page with the table as it was measured last."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    return BLOCK.sub(lambda block: f"{block[1]}{significance_table(measured)}{block[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
