"""What was run, and how to run it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dissensus.evaluation import Results, code_commit
from dissensus.report.blocks import Section, Table


def provenance(facts: Mapping[str, Any], results: Results | None) -> Section:
    rows: list[list[Any]] = [["dissensus", code_commit()]]
    rows += [[name, str(value)] for name, value in facts.items()]
    if results is not None:
        about = results.about
        rows += [
            ["methods", ", ".join(about.methods)],
            ["seeds", ", ".join(map(str, about.seeds))],
            ["protocol", ", ".join(f"{k}: {v}" for k, v in about.protocol.items())],
            ["folds", str(len(results.folds))],
            ["metrics", ", ".join(about.metrics)],
        ]
        rows += [[f"{method} left out", why] for method, why in about.left_out.items()]
        if about.command:
            rows.append(["comparison", about.command])
    return Section(
        "run", "What was run, and how to run it again", [Table("Run", ("what", "value"), rows)]
    )
