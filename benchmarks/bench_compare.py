"""What a comparison takes beside its fits: five methods, five folds and five seeds of HS-Brexit.

    python benchmarks/bench_compare.py                     needs DISSENSUS_DATA; features cached
    python benchmarks/bench_compare.py --beside OTHER/src  also another version, in turn
    python benchmarks/bench_compare.py --keep              writes results/compare_seconds.json

One process with one thread, one epoch, so that little but the comparison itself is left.
Seconds of the processor: other work on the machine changes them less than those of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from keeping import keep

SOURCE = Path(__file__).parent.parent / "src"
METHODS = "single,soft-label,repeated-label,label-and-uncertainty,annotator-heads"
OPTIONS = ["--protocol", "k-fold", "--folds", "5", "--seeds", "5", "--set", "training.epochs=1"]
TIMES = 2
PARTS = ("imports", "fits", "all else", "clock")


def measured(options: list[str]) -> dict[str, float]:
    """Run `dissensus compare` here: seconds of imports (torch, methods), of fits, of all else."""
    begin = time.perf_counter() - time.process_time()
    from dissensus import cli
    from dissensus.methods.framework import stacked_fits as module

    many: Any = module
    imports, fits = time.process_time(), 0.0
    before = many.train_all

    def timed(*given: Any) -> Any:
        nonlocal fits
        fits -= time.process_time()
        found = before(*given)
        fits += time.process_time()
        return found

    many.train_all = timed
    sys.argv = ["dissensus", "compare", *options]
    try:
        cli.main()
    except SystemExit as end:
        if end.code:
            raise
    rest = time.process_time() - imports - fits
    taken = (imports, fits, rest, time.perf_counter() - begin)
    return {name: round(seconds, 2) for name, seconds in zip(PARTS, taken, strict=True)}


def once(source: Path, data: Path) -> dict[str, float]:
    """The same in a fresh process, by the code in `source`."""
    asked = [str(data / "lewidi2023"), "--corpus", "HS-Brexit", "--methods", METHODS, *OPTIONS]
    environment = os.environ | {"PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as scratch:
        line = [sys.executable, __file__, "--inside", *asked]
        line += ["--processes", "1", "-o", f"{scratch}/out"]
        done = subprocess.run(line, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(found: list[dict[str, float]]) -> dict[str, float]:
    """The lowest of each: what the machine does beside only adds to it."""
    return {part: min(one[part] for one in found) for part in PARTS}


def main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(measured(sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    data = os.environ.get("DISSENSUS_DATA")
    if not data:
        print("DISSENSUS_DATA does not say where the corpora are")
        return
    sources = {"before": given.beside} if given.beside else {}
    sources["now"] = SOURCE
    found: dict[str, list[dict[str, float]]] = {name: [] for name in sources}
    for _ in range(TIMES):
        for name, source in sources.items():
            found[name].append(once(source, Path(data)))
    lowest = {name: best(times) for name, times in found.items()}
    print(f"{'s, lowest of ' + str(TIMES):16}" + "".join(f"{part:>10}" for part in PARTS))
    for name, times in lowest.items():
        print(f"{name:16}" + "".join(f"{times[part]:10.2f}" for part in PARTS))
    if given.keep:
        content = {
            "load": f"{os.getloadavg()[1]:.1f} other processes, about",
            "options": f"--methods {METHODS} {' '.join(OPTIONS)} --processes 1",
            "seconds": lowest,
            "each": found,
        }
        keep("compare_seconds", "bench_compare.py --beside OTHER/src --keep", content)


if __name__ == "__main__":
    main()
