"""Audit what is installed: the pinned versions, then known vulnerabilities with pip-audit."""

import importlib.util
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

PINS = Path(__file__).parents[1] / "constraints.txt"
UNREACHABLE = "ConnectionError|Max retries|ServiceError|timed out|Failed to resolve"


def main() -> None:
    """Print what differs from the pins; end with 1 if anything does, or has a vulnerability."""
    differing = differences()
    print(*differing or ["Every installed package has the version in constraints.txt."], sep="\n")
    sys.exit(vulnerabilities() or bool(differing))


def differences() -> list[str]:
    """A line for each installed package whose version is not the pinned one."""
    pins = dict(
        re.findall(r"^([\w.-]+)==([^\s;]+)", PINS.read_text(encoding="utf-8"), re.MULTILINE)
    )
    pins = {_plain(name): version for name, version in pins.items()}
    installed = {_plain(one.metadata["Name"]): one.version for one in distributions()}
    return [
        f"{name} {version}: constraints.txt has {pins[name]}"
        for name, version in sorted(installed.items())
        if name in pins and version.split("+")[0] != pins[name].split("+")[0]
    ]


def vulnerabilities() -> int:
    """Run pip-audit where it is installed and its database can be reached; its exit code."""
    if importlib.util.find_spec("pip_audit") is None:
        print("Vulnerabilities not checked: pip-audit is missing; .venv/bin/pip install pip-audit")
        return 0
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--local"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and re.search(UNREACHABLE, done.stderr):
        print("Vulnerabilities not checked: pip-audit cannot reach its database; try it online")
        return 0
    print((done.stdout + done.stderr).strip())
    return done.returncode


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
