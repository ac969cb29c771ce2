"""What was run, and how to run it again."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

from dissensus.evaluation import Results, code_commit
from dissensus.report.blocks import Section, Table

PACKAGES = ("dissensus", "numpy", "pyarrow", "scipy", "torch", "transformers")


def _versions() -> str:
    """Python and the packages that numbers depend on."""
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions.append(f"{package} {metadata.version(package)}")
    return ", ".join(versions)


def _settings(results: Results) -> str:
    """The settings that were chosen for each method, with the number of fits that have them."""
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
    rows: list[list[Any]] = [["dissensus", code_commit()], ["versions", _versions()]]
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
    return Section(
        "run", "What was run, and how to run it again", [Table("Run", ("what", "value"), rows)]
    )
