"""Write the tables of options in commands.md anew from the commands themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from dissensus.cli import app

PAGE = Path(__file__).parent / "commands.md"
BLOCK = re.compile(r"(<!-- options: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def options_table(name: str) -> str:
    """The arguments and options of a command as a Markdown table."""
    command: Any = typer.main.get_command(app)
    rows = [_row(parameter) for parameter in command.commands[name].params]
    return "\n".join(["| option | meaning | default |", "|---|---|---|", *rows]) + "\n"


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
    return BLOCK.sub(lambda block: f"{block[1]}{options_table(block[2])}{block[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
