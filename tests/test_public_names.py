"""Every public name exists."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import dissensus

PACKAGES = sorted(
    path.parent.name for path in Path(dissensus.__file__).parent.glob("*/__init__.py")
)


@pytest.mark.parametrize("name", dissensus.__all__)
def test_a_public_name_resolves(name: str) -> None:
    result = getattr(dissensus, name)
    assert getattr(result, "__name__", "").rpartition(".")[2] == name
    assert name in dir(dissensus)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_folder_offers_exists(package: str) -> None:
    module = importlib.import_module(f"dissensus.{package}")
    assert module.__doc__, f"{package}/__init__.py does not open with its sentence"
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name), f"dissensus.{package}.{name}"


def test_every_folder_that_users_need_is_public() -> None:
    inner = {"annotations", "cli", "corpus", "files", "networks", "prediction", "writers"}
    assert set(PACKAGES) - set(dissensus.__all__) == inner


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = dissensus.corpora  # type: ignore[attr-defined]
    assert str(caught.value) == "No dissensus attribute corpora"
