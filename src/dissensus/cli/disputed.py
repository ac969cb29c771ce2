"""dissensus disputed: the items about which annotators disagree, as a list for a meeting."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli.console import check_tables, emit_answers, say
from dissensus.cli.options import Input, reads_corpus


@reads_corpus
def disputed(
    source: Input,
    question: list[str] | None = None,
    most: int = 0,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """List the items of FILE with different answers, the most disputed first.

    A row has the item with its text, the answers, and who gave which. If annotators are at chance,
    constant, contrary or copying, the order is that of the other annotators' answers, which have
    columns of their own.

    Args:
        most (--top, min=0): Number of items; 0 for all that are disputed.
        output (-o): Table to write (.csv, .tsv, .parquet, .json, .jsonl, .xlsx), one for each
            question if there are several, or a folder for them (default: CSV on stdout).

    Examples:
        dissensus disputed labels.csv -o items.xlsx
        dissensus disputed labels.csv --top 40 --without a7
    """
    from dissensus.description import disputed_table

    check_tables(output, overwrite)
    corpus = source.read()
    names = question or list(corpus.questions)
    corpus.check_questions(names)
    tables = {name: disputed_table(corpus, name, most) for name in names}
    for name, table in tables.items():
        several = int((corpus[name].voters() >= 2).sum())
        shown = f"the {len(table):,} most disputed" if most else f"{len(table):,} disputed"
        say(f"{name}: {shown} of {several:,} items with two answers or more")
    emit_answers(tables, output, json, overwrite)
