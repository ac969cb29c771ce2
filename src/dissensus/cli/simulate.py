"""dissensus simulate: a corpus of simulated annotators whose tendencies are known."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli.console import check_folder


def simulate(
    out: Path,
    preset: str = "text",
    items: int = 1000,
    annotators: int = 10,
    labels: int = 5,
    values: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Simulate annotators with known tendencies and write the corpus to OUT.

    The true distributions are saved with it.

    Args:
        out (OUT): Folder to write the corpus to.
        preset: Kind of corpus: text, image, sequence or ratings.
        items: Number of items.
        annotators: Number of annotators.
        labels: Number of answers per item, each by another annotator.
        values (min=2, max=8): Number of values to choose from (default: 6).
        seed: Random seed; the same seed gives the same corpus.

    Examples:
        dissensus simulate demo/crowd
        dissensus simulate demo/crowd --items 500 --annotators 10
    """
    from dissensus.errors import DataError, listed
    from dissensus.files.folders import check_free
    from dissensus.simulate import PRESETS, truth

    check_folder(out, "simulate")
    check_free(out, "corpus", overwrite)
    if preset not in PRESETS:
        raise DataError(f"no preset {preset!r}; choose from {listed(PRESETS)}")
    sizes = {"n_items": items, "n_annotators": annotators, "labels_per_item": labels, "seed": seed}
    if values is not None and preset == "ratings":
        raise DataError("ratings are numbers, not one of several values; leave --values out")
    if values is not None:
        sizes["n_values"] = values
    corpus = PRESETS[preset](**sizes)
    corpus.save(out, overwrite)
    clauses = [f"{sum(answers.n_rows for answers in corpus.questions.values())} answers"]
    for question, answers in corpus.questions.items():
        known = truth(corpus, question)
        best, blind = known.best(answers.item, answers.annotator_codes("simulating"))
        about = f"{question}: " if len(corpus.questions) > 1 else ""
        clauses.append(
            f"{about}best possible {known.measure} {best:.4f}, without knowing the annotator "
            f"{blind:.4f}"
        )
    print(f"{out}: {items} items, {annotators} annotators, {'; '.join(clauses)}")
