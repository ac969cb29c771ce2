"""Install the lowest versions that pyproject.toml allows into an empty environment, and run a part
of the tests there, as `make lowest` does.

torch has the version of constraints.txt, as older ones are not kept by every index.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("hypothesis", "pandas<3", "polars", "pytest")  # pandas 3 needs a newer pyarrow
TESTS = (  # each command, reader, scale and extra, in a few minutes
    *("tests/cli/test_transcripts.py", "tests/test_refusals.py", "tests/readers/test_cases.py"),
    *("tests/test_annotations.py", "tests/test_frames.py", "tests/test_prediction.py"),
    *("tests/agreement/test_measures.py", "tests/agreement/test_confidence.py"),
    *("tests/densities", "tests/metrics/test_consensus.py"),
    *("tests/evaluation/test_comparison_table.py", "tests/report/test_server.py"),
    *("tests/encoders/test_text.py", "tests/encoders/test_speech.py"),
    *("tests/encoders/test_image.py", "tests/training/test_loop.py", "tests/test_plot.py"),
)


def lowest_versions() -> list[str]:
    """Each dependency, of extras too, in its lowest version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    every = [*project["dependencies"], *(name for extra in extras for name in extra)]
    names = sorted({name.replace(">=", "==") for name in every if "[" not in name})
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    (torch,) = re.findall(r"^torch==\S+", pins, re.M)
    return [torch if name.startswith("torch==") else name for name in names]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "lowest.txt")
        constraints.write_text("\n".join(lowest_versions()) + "\n", encoding="utf-8")
        print(constraints.read_text(encoding="utf-8"), flush=True)
        venv.create(Path(folder, "venv"), with_pip=True)
        python = str(Path(folder, "venv", "bin", "python"))
        install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        packages = (f"{ROOT}[all]", ROOT / "papers", *TOOLS)
        subprocess.run([*install, "-c", constraints, *packages], check=True)
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
        command += ["--deselect", f"{TESTS[0]}::test_commands_print_what_they_did[prompt]"]
        # older pyarrow sorts the keys of prompts;
        # warnings of packages that are newer than those of their users are no errors here
        done = subprocess.run([*command, "-W", "default", *TESTS], cwd=ROOT, env=clean)
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
