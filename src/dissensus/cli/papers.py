"""dissensus papers, if the package that reproduces papers is not installed."""

from __future__ import annotations

from dissensus.errors import InstallError


def papers(arguments: list[str] | None = None) -> None:
    """Reproduce the experiments of a paper and compare with its published tables.

    Args:
        arguments (PAPER ...): The paper, and its options.

    Examples:
        dissensus papers seedbert DATA -o runs/
        dissensus papers seedbert --show runs/
    """
    raise InstallError(
        "the reproduced papers are a package of their own, dissensus-papers; install it from a "
        "clone of the repository: pip install ./papers"
    )
