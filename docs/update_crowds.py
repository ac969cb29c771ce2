"""Write the tables and claims of crowds.md anew from what was measured."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "crowds.md"
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
BLOCK = re.compile(r"(<!-- (tables|aggregators|claims|prior) -->\n).*?(<!-- end -->)", re.DOTALL)


def updated(text: str) -> str:
    """The page with what was measured last."""
    measured, of_prior = (_kept(name) for name in ("crowds", "annotator_prior"))
    script = runpy.run_path(str(BENCHMARKS / "gpu" / "crowds.py"))
    prior = runpy.run_path(str(BENCHMARKS / "annotator_prior.py"))
    lines = {
        "tables": script["table_lines"](measured["rows"]),
        "aggregators": script["aggregator_lines"](measured["aggregators"]),
        "claims": script["claim_lines"](measured["rows"]),
        "prior": prior["table_lines"](of_prior["rows"]),
    }
    blocks = {name: "\n".join(of_block).strip() for name, of_block in lines.items()}
    return BLOCK.sub(lambda block: f"{block[1]}{blocks[block[2]]}\n{block[3]}", text)


def _kept(name: str) -> dict[str, Any]:
    path = BENCHMARKS / "results" / f"{name}.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
