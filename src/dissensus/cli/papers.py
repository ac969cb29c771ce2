"""dissensus papers, if the package that reproduces papers is not installed."""

from __future__ import annotations

from typing import Annotated

import typer

from dissensus.errors import InstallError


def papers(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="PAPER ...")] = None,
) -> None:
    """Reproduce the experiments of a paper and compare with its published tables."""
    raise InstallError(
        "the reproduced papers are a package of their own, dissensus-papers; install it from a "
        "clone of the repository: pip install ./papers"
    )
