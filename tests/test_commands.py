"""Every command helps, and stands in the docs."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from dissensus import __version__
from dissensus.cli import COMMANDS, app

README = Path(__file__).parent.parent / "README.md"
DOCS = README.parent / "docs"
PAGE = (DOCS / "commands.md").read_text(encoding="utf-8")


@cache
def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    return dict(group.commands)  # also of other packages


@cache
def help_of(name: str) -> Result:
    return CliRunner().invoke(app, [name, "--help"])


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_helps(name: str) -> None:
    shown = help_of(name)
    assert shown.exit_code == 0
    first_line = str(commands()[name].help).splitlines()[0]
    assert first_line.endswith(".") and first_line.split()[0] in shown.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_and_option_has_help(name: str) -> None:
    without = [parameter.name for parameter in commands()[name].params if not parameter.help]
    assert without == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_two_examples_that_can_be_typed(name: str) -> None:
    shown = help_of(name).output
    examples = [line.strip() for line in shown.partition("Examples:")[2].strip().splitlines()]
    assert len(examples) == 2 and all(len(line) <= 80 for line in examples)
    for example in examples:
        program, own, *arguments = shlex.split(example)
        assert (program, own) == ("dissensus", name)
        commands()[name].make_context(name, arguments)  # refuses what it does not know


def test_the_command_line_lists_its_commands() -> None:
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert list(command_names(shown.output)) == list(COMMANDS)


def command_names(text: str) -> list[str]:
    return re.findall(r"^  (\w+)  +\S", text.partition("Commands:")[2], re.MULTILINE)


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"dissensus {__version__}\n"


def test_an_unknown_command_is_refused() -> None:
    shown = CliRunner().invoke(app, ["guess"])
    assert shown.exit_code == 2 and "No such command 'guess'" in shown.output


def test_the_console_script_is_one_line_and_exit_code_1_on_bad_input(tmp_path: Path) -> None:
    program = "from dissensus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "describe", str(tmp_path / "gone.csv")],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Error: {tmp_path / 'gone.csv'}: no such file or folder\n"


def test_the_shell_completes_commands_and_options() -> None:
    program = "import sys; sys.argv[0] = 'dissensus'; from dissensus.cli import main; main()"
    for typed, offered in (
        ("dissensus agr", "agreement"),
        ("dissensus agreement --meas", "--measure"),
    ):
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | words | {"_DISSENSUS_COMPLETE": "complete_bash"},
            capture_output=True,
            text=True,
        )
        assert done.stdout.split() == [offered]


LOADING = """
import signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
from dissensus.__main__ import main
main()
"""


def test_ctrl_c_while_the_command_is_loaded_is_one_line() -> None:
    command = [sys.executable, "-c", LOADING, "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


ENDING = """
import atexit, signal
atexit.register(signal.raise_signal, signal.SIGINT)
from dissensus.__main__ import main
main()
"""


def test_ctrl_c_after_the_command_is_no_traceback() -> None:
    command = [sys.executable, "-c", ENDING, "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"dissensus {__version__}\n", "")
    assert done.returncode == -signal.SIGINT


def test_a_command_that_is_not_to_hear_ctrl_c_does_not() -> None:
    """As in the background of a shell without job control."""
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{LOADING}"
    command = [sys.executable, "-c", program, "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"dissensus {__version__}\n")


# ---- docs/commands.md ----


def sections() -> dict[str, str]:
    """The sections of the page, by heading."""
    parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_has_a_section_for_each_command_in_order() -> None:
    assert list(sections()) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_has_an_example_and_the_options(name: str) -> None:
    section = sections()[name]
    assert f"dissensus {name} " in section and f"<!-- options: {name} -->" in section


def test_the_tables_of_options_are_up_to_date() -> None:
    update = runpy.run_path(str(DOCS / "update_commands.py"))
    assert update["updated"](PAGE) == PAGE, "run `make docs`"


def examples(*pages: Path) -> list[str]:
    """The command lines of pages, without the explanations after them."""
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return [line.split("   ")[0] for line in lines if line.startswith("dissensus ")]


@pytest.mark.parametrize("line", examples(README, *sorted(DOCS.rglob("*.md"))))
def test_commands_and_options_in_examples_exist(line: str) -> None:
    _, name, *words = shlex.split(line)
    known = {option for parameter in commands()[name].params for option in parameter.opts}
    used = [word for word in words if word.startswith("-")]
    assert [option for option in used if option not in known] == []


@pytest.mark.slow
def test_the_first_results_without_data(tmp_path: Path) -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    section = page.split("## First results")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("dissensus ")]
    assert len(lines) == 5
    for line in lines:
        words = [sys.executable, "-m", *shlex.split(line)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert re.search(r"annotator accuracy +0\.\d{3}", done.stdout)
