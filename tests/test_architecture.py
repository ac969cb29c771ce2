"""A module imports only what stands above it in the list of docs/design.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "dissensus"
MODULE_NAME = re.compile(r"dissensus(\.\w+)+")


def listed() -> list[str]:
    """The names of the list, top to bottom."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    block = re.search(r"^```\n(version .*?)^```", page, re.DOTALL | re.MULTILINE)
    assert block is not None, "docs/design.md has no list of modules"
    return [line.split()[0] for line in block[1].splitlines()]


def modules() -> dict[str, Path]:
    """Every module of the package, by its full name."""
    results = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        results[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return results


MODULES = modules()


def imported(path: Path, module: str) -> Iterator[str]:
    """The modules of ours that a file names, wherever in it, also as a text."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            for alias in node.names:
                submodule = f"{base}.{alias.name}"
                yield submodule if submodule in MODULES else base
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if MODULE_NAME.fullmatch(node.value) and node.value in MODULES:
                yield node.value


def part(module: str) -> str:
    """The entry of the list that a module belongs to."""
    return module.split(".")[1]


@cache
def imports() -> dict[str, list[str]]:
    """Module -> the modules of ours that it imports."""
    return {
        module: sorted({name for name in imported(path, module) if name in MODULES} - {module})
        for module, path in MODULES.items()
        if module != "dissensus"
    }


def test_every_module_is_in_the_list_and_everything_listed_exists() -> None:
    assert sorted({part(module) for module in imports()}) == sorted(listed())
    assert len(set(listed())) == len(listed())


def test_modules_import_only_what_stands_above_them() -> None:
    place = {name: number for number, name in enumerate(listed())}
    wrong = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if other != "dissensus" and place[part(other)] > place[part(module)]
    ]
    assert wrong == [], "what is imported stands below in docs/design.md"


def test_no_module_imports_the_package_itself() -> None:
    """`from dissensus import Corpus` inside the package would hide where a thing comes from."""
    assert [module for module, names in imports().items() if "dissensus" in names] == []


def test_computing_needs_no_reader() -> None:
    computing = ("agreement", "aggregation", "densities", "metrics", "description")
    wrong = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if part(module) in computing and part(other) in ("readers", "datasets")
    ]
    assert wrong == [], "take tables and paths with dissensus.conversion"


def test_no_modules_import_one_another_in_a_circle() -> None:
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")


def exported(room: str) -> set[str]:
    """The public names of an entry of the list, or of the package itself: those of its stub or its
    `__all__`, or those that a single file defines without an underscore."""
    stub = SOURCE / room / "__init__.pyi"
    if stub.exists():
        return set(re.findall(r" as (\w+)$", stub.read_text(encoding="utf-8"), re.MULTILINE))
    path = SOURCE / f"{room}.py" if room and (SOURCE / f"{room}.py").exists() else None
    tree = ast.parse((path or SOURCE / room / "__init__.py").read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        assigned = {target.id for target in targets if isinstance(target, ast.Name)}
        if "__all__" in assigned and isinstance(node, ast.Assign):
            return set(ast.literal_eval(node.value))
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assigned.add(node.name)
        names |= assigned
    return {name for name in names if not name.startswith("_")} if path else set()


def test_the_reproduced_papers_import_only_public_names() -> None:
    """`dissensus_papers` is a package like any other: what it needs is exported."""
    wrong = []
    for path in sorted((ROOT / "papers" / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named = [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                named = [(node.module or "", alias.name) for alias in node.names]
            else:
                continue
            for module, name in named:
                package, _, room = module.partition(".")
                if package == "dissensus" and ("." in room or name not in exported(room)):
                    wrong.append(f"{path.name}: from {module} import {name}")
    assert wrong == [], "export it from the part of dissensus where a user would look for it"


def test_the_reading_of_imports_sees_every_way_to_write_one(tmp_path: Path) -> None:
    source = """
import dissensus.names
from dissensus import corpus, Names
from dissensus.readers.layout import Layout
from . import prior
from .. import prediction
def later():
    from dissensus.cli import console
    importlib.import_module("dissensus.training.loop")
"""
    path = tmp_path / "made.py"
    path.write_text(source)
    assert sorted(set(imported(path, "dissensus.methods.made"))) == [
        "dissensus",
        "dissensus.cli.console",
        "dissensus.corpus",
        "dissensus.methods.prior",
        "dissensus.names",
        "dissensus.prediction",
        "dissensus.readers.layout",
        "dissensus.training.loop",
    ]
