"""Several scripts of this folder on one GPU at the same time.

    python benchmarks/gpu/side_by_side.py OUT "qumatl.py run OUT/a --device here --processes 2" \\
        "queries.py run OUT/b --seconds 240"

All share one service for the GPU (MPS), so each is started with `--device here`: with a service of
its own it would take turns with the others. What they print is in OUT/log.txt.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from sharing import shared_gpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("scripts", nargs="+", help="each with its options, in quotes")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with shared_gpu(), (given.out / "log.txt").open("a") as log:
        processes = {text: _started(text, log) for text in given.scripts}
        while running := [text for text, process in processes.items() if process.poll() is None]:
            time.sleep(1)
            for text in running:
                if (status := processes[text].poll()) is not None:
                    print(f"{time.monotonic() - began:.0f} s: {text}: exit {status}", flush=True)
    sys.exit(max(abs(process.returncode) for process in processes.values()))


def _started(text: str, log: IO[str]) -> subprocess.Popen[bytes]:
    script, *options = shlex.split(text)
    command = [sys.executable, str(Path(__file__).with_name(script)), *options]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=one_thread, stdout=log, stderr=log)


if __name__ == "__main__":
    main()
