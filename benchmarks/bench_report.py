"""The report on 200,000 items and 2,000 annotators: how large it is, and how soon it is shown.

The times of opening are those of Debian's Chromium (`make test-browser` installs what drives it);
without it, only the size and the time of writing are measured.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.names import Names
from dissensus.report import make_report
from keeping import keep, kept

N_ITEMS, N_ANNOTATORS, PER_ITEM = 200_000, 2_000, 5
VALUES = ("anger", "fear", "joy", "trust")
CROWDS = {"any items": N_ANNOTATORS, "batches of 40": 40}  # annotators who share items
OPENED = 3  # times; the slowest counts
TIMES = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByType("paint");
  return [page.domContentLoadedEventEnd, paint.startTime];
}"""


def crowd(batch: int, seed: int = 0) -> Corpus:
    """Five answers to each item, by annotators of one batch."""
    generator = np.random.default_rng(seed)
    item = np.repeat(np.arange(N_ITEMS), PER_ITEM)
    steps = generator.integers(1, batch // PER_ITEM, (N_ITEMS, PER_ITEM)).cumsum(axis=1)
    first = generator.integers(batch, size=(N_ITEMS, 1))
    own_batch = generator.integers(N_ANNOTATORS // batch, size=(N_ITEMS, 1)) * batch
    annotator = (own_batch + (first + steps) % batch).ravel()
    reliable = generator.uniform(0.3, 0.95, N_ANNOTATORS)[annotator]
    truth = generator.integers(len(VALUES), size=N_ITEMS)[item]
    guess = generator.integers(len(VALUES), size=len(item))
    answers = Annotations.from_arrays(
        item,
        annotator,
        np.where(generator.random(len(item)) < reliable, truth, guess),
        Nominal(VALUES),
        items=Names([f"item-{number}" for number in range(N_ITEMS)]),
        annotators=Names([f"annotator-{number}" for number in range(N_ANNOTATORS)]),
    )
    texts = [f"text {number}, which says something to annotators" for number in range(N_ITEMS)]
    return Corpus.build("crowd", answers.items, {"emotion": answers}, contents={"text": texts})


def opened(path: Path) -> tuple[float, float] | None:
    """Seconds until the page is ready, and until it is painted; None without Chromium."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if program is None:
        return None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        times = []
        for _ in range(OPENED):
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto(path.as_uri())
            times.append(page.evaluate(TIMES))
            page.close()
        browser.close()
    ready, painted = np.max(times, axis=0) / 1000
    return round(float(ready), 2), round(float(painted), 2)


def measured(name: str) -> dict[str, Any]:
    corpus = crowd(CROWDS[name])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        begin = time.perf_counter()
        make_report(corpus).save(path)
        row: dict[str, Any] = {
            "crowd": name,
            "seconds": round(time.perf_counter() - begin, 1),
            "megabytes": round(path.stat().st_size / 1e6, 2),
        }
        times = opened(path)
    if times is not None:
        row |= {"ready": times[0], "painted": times[1]}
    return row


def show(rows: list[dict[str, Any]]) -> None:
    print(f"{N_ITEMS:,} items, {N_ANNOTATORS:,} annotators, {PER_ITEM} answers to each item")
    print(f"{'annotators share':<18}{'written':>9}{'size':>9}{'ready':>9}{'painted':>9}")
    for row in rows:
        times = "".join(f"{row[key]:>7.2f} s" for key in ("ready", "painted") if key in row)
        print(f"{row['crowd']:<18}{row['seconds']:>7.1f} s{row['megabytes']:>6.2f} MB{times}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what was kept last")
    parser.add_argument("--keep", action="store_true", help="keep what is measured")
    options, _ = parser.parse_known_args()
    rows = kept("report")["rows"] if options.show else [measured(name) for name in CROWDS]
    show(rows)
    if options.keep:
        keep("report", "bench_report.py --keep", {"rows": rows})


if __name__ == "__main__":
    main()
