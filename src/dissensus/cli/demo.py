"""dissensus demo: what `dissensus run` does, on simulated annotators."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli import console
from dissensus.cli.console import check_folder
from dissensus.cli.run import run_and_print
from dissensus.errors import DataError, listed

SIZES = {"text": 500, "image": 150, "sequence": 300, "ratings": 300}  # items


def demo(
    out: Path = Path("demo"), modality: str = "text", items: int | None = None, seed: int = 0
) -> None:
    """Simulate annotators, compare methods, predict, and write a report.

    It takes about two minutes on two cores. Run it again to resume.

    Args:
        out (OUT): Folder for the report and all results.
        modality: What the simulated annotators see: text, image, sequence, ratings.
        items (min=30): Number of items.
        seed: Random seed.

    Examples:
        dissensus demo
        dissensus demo demo-image --modality image
    """
    from dissensus.simulate import PRESETS

    check_folder(out, "demo")
    if modality not in SIZES:
        raise DataError(f"no modality {modality!r}; choose from {listed(SIZES)}")
    n_items = items or SIZES[modality]
    corpus = PRESETS[modality](n_items=n_items, seed=seed)
    command = f"dissensus demo {out} --modality {modality} --items {n_items} --seed {seed}"
    run_and_print(corpus, out, seeds=2, command=command)
    console.say(
        f"\nOpen {out / 'report.html'} in a browser. With a file of your own:\n"
        "  dissensus describe labels.csv               counts, agreement, annotators to look at\n"
        "  dissensus run labels.csv -o report/         all of this, with a report\n"
        "  dissensus predict report/model new.csv -o answers.csv"
    )
