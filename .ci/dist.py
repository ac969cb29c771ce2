"""Build both packages into dist/ and use them in empty environments, as `make dist` does.

An environment has the wheels with all extras: the commands of a user are run there, on the sample
tables, away from this checkout. Another has the package built from its sdist, without extras. Each
extra is resolved alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PINS = ("-c", str(ROOT / "constraints.txt"))
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
SAMPLE = "samples/messages.csv"
WITH_ALL = (
    "dissensus --version",
    f"dissensus describe {SAMPLE}",
    f"dissensus run {SAMPLE} -o run --budget 3m",
    "dissensus predict run/model samples/messages.csv -o answers.csv",
    "dissensus papers individual --help",
)
WITHOUT_EXTRAS = (
    f"dissensus describe {SAMPLE}",
    f"dissensus aggregate {SAMPLE} -o consensus.csv",
    f"dissensus report {SAMPLE} -o report.html",
)


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    for folder in (ROOT, ROOT / "papers"):
        run(sys.executable, "-m", "hatchling", "build", "-d", str(DIST), cwd=folder)
    wheel, papers = (single(f"{name}-*.whl") for name in ("dissensus", "dissensus_papers"))
    with tempfile.TemporaryDirectory() as scratch:
        own = environment(Path(scratch, "all"), f"{wheel}[all]", str(papers))
        use(own, Path(scratch, "with-all"), WITH_ALL)
        bare = environment(Path(scratch, "bare"), str(single("dissensus-*.tar.gz")))
        use(bare, Path(scratch, "without-extras"), WITHOUT_EXTRAS)
        for extra in extras():
            run(str(bare / "python"), *PIP, "install", *PINS, "--dry-run", f"{wheel}[{extra}]")
            print(f"{extra}: can be installed alone")


def extras() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["optional-dependencies"])


def single(pattern: str) -> Path:
    (path,) = DIST.glob(pattern)
    return path


def environment(folder: Path, *packages: str) -> Path:
    """The folder of programs of a new environment with these packages."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    print(f"installing {' '.join(Path(name).name for name in packages)}", flush=True)
    build = ("--build-constraint", PINS[1])
    run(str(programs / "python"), *PIP, "install", f"pip=={version('pip')}")
    run(str(programs / "python"), *PIP, "install", *PINS, *build, *packages)
    return programs


def use(programs: Path, folder: Path, commands: tuple[str, ...]) -> None:
    """Run commands in a folder of their own, where nothing of the checkout is found."""
    shutil.copytree(ROOT / "docs" / "samples", folder / "samples")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in commands:
        words = command.split()
        print(f"$ {command}", flush=True)
        done = subprocess.run(
            [str(programs / words[0]), *words[1:]],
            cwd=folder,
            env=clean,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{done.stdout}\n{command}: exit code {done.returncode}")
        print(f"  {done.stdout.strip().splitlines()[-1]}", flush=True)


def run(*words: str, cwd: Path = ROOT) -> None:
    subprocess.run(words, cwd=cwd, check=True)


if __name__ == "__main__":
    main()
