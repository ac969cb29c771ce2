"""Write the tables of options in commands.md anew from the commands themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from dissensus.cli import app
from dissensus.cli.options import SOURCE_OPTIONS

PAGE = Path(__file__).parent / "commands.md"
BLOCK = re.compile(r"(<!-- (options|reading): (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def options_table(name: str, reading: bool = False) -> str:
    """The arguments and options of a command as a Markdown table.

    Args:
        reading: whether to list only the options that read FILE, or only the others.
    """
    command: Any = typer.main.get_command(app)
    parameters = command.commands[name].params
    rows = [_row(parameter) for parameter in parameters if _reads_file(parameter) == reading]
    return "\n".join(["| option | meaning | default |", "|---|---|---|", *rows]) + "\n"


def _reads_file(parameter: Any) -> bool:
    return getattr(parameter, "rich_help_panel", None) == SOURCE_OPTIONS


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        spelled = f"`{parameter.name.upper()}`"
    else:
        spelled = ", ".join(f"`{option}`" for option in parameter.opts)
    default = parameter.default
    shown = (
        f"`{default}`" if isinstance(default, str | int | float) and default is not False else ""
    )
    meaning = str(parameter.help).replace("|", "\\|")
    return f"| {spelled} | {meaning} | {'required' if parameter.required else shown} |"


def updated(text: str) -> str:
    """The page with every table of options as the commands have them now."""
    return BLOCK.sub(_updated_block, text)


def _updated_block(block: re.Match[str]) -> str:
    return f"{block[1]}{options_table(block[3], block[2] == 'reading')}{block[4]}"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
