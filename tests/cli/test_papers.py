"""Without the package of reproduced papers, the command says how to get it."""

from __future__ import annotations

import pytest

from dissensus.cli.papers import papers
from dissensus.errors import InstallError


def test_the_command_without_its_package() -> None:
    with pytest.raises(InstallError) as caught:
        papers(["qumatl"])
    assert str(caught.value) == (
        "the reproduced papers are a package of their own, dissensus-papers; install it from a "
        "clone of the repository: pip install ./papers"
    )
