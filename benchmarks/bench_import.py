"""How long `import dissensus` and `dissensus --help` take, each in a fresh process."""

import statistics
import subprocess
import sys
import time

RUNS = 7
PROGRAMS = {
    "python, nothing else": "pass",
    "import dissensus": "import dissensus",
    "import numpy, pyarrow": "import numpy, pyarrow",
    "dissensus.Corpus": "from dissensus import Corpus",
    "dissensus --help": "import sys; sys.argv = ['dissensus', '--help']; "
    "from dissensus.cli import main; main()",
}


def seconds(program: str) -> float:
    """The time one fresh process takes to run this program."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    taken = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"{program!r} failed:\n{done.stderr}")
    return taken


def main() -> None:
    print(f"{'program':24}  median s  lowest   {RUNS} fresh processes each, one to warm up")
    for name, program in PROGRAMS.items():
        seconds(program)
        times = [seconds(program) for _ in range(RUNS)]
        print(f"{name:24}  {statistics.median(times):8.3f}  {min(times):6.3f}")


if __name__ == "__main__":
    main()
