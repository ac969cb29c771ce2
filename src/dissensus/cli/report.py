"""dissensus report: an HTML report on FILE, on a comparison, or on both."""

from __future__ import annotations

from pathlib import Path

from dissensus.cli import console
from dissensus.cli.options import typed_command
from dissensus.cli.outputs import reserve
from dissensus.cli.source import Source, is_comparison, reads_corpus
from dissensus.errors import DataError


@reads_corpus
def report(
    source: Source,
    output: Path,
    results: Path | None = None,
) -> None:
    """Write a report on FILE as one HTML file; nothing is trained.

    FILE may also be the folder of a comparison. Everything that the report shows is written next
    to it as JSON.

    Args:
        output (-o): HTML file to write.
        results: Folder of a comparison (`dissensus compare`) to report on too.

    Examples:
        dissensus report labels.csv -o report.html
        dissensus report labels.csv --results comparison/ -o report.html
    """
    from dissensus.evaluation import Results
    from dissensus.report import make_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise DataError(f"{output}: a report is HTML; name a file that ends in .html")
    reserve(output)
    of_comparison = is_comparison(source.file)
    if of_comparison and results is not None:
        raise DataError(f"{source.file}: is a comparison itself; leave --results out")
    folder = source.file if of_comparison else results
    corpus = None if of_comparison else source.read()
    loaded = None if folder is None else Results.load(folder, unfinished=True)
    written = make_report(corpus, loaded, facts={"command": typed_command()})
    paths = written.save(output)
    for sentence in written.summary:
        print(console.visible(sentence))
    console.say(f"{paths[0]}: the report; {paths[1].name} has the same as JSON")
