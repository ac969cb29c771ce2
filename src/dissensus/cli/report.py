"""dissensus report: an HTML report on FILE, on a comparison, or on both."""

from __future__ import annotations

import secrets
from pathlib import Path

from dissensus.cli import console
from dissensus.cli.console import reserve, say_encoders
from dissensus.cli.options import Input, is_comparison, reads_corpus, typed_command
from dissensus.errors import DataError


@reads_corpus
def report(source: Input, output: Path, results: Path | None = None) -> None:
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
    from dissensus.report.report import check_report

    check_report(output)
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


@reads_corpus
def serve(source: Input, model: str | None = None, port: int = 0) -> None:
    """Show a report in the browser; type a text and see what each annotator would say.

    FILE is the folder that `dissensus run` or `dissensus compare` wrote, or any file to report on;
    if it is unclear what the columns of a table are, the page asks that instead.
    Only this computer can open the page, and only with the token in its address. Ctrl-C ends it.

    Args:
        model: Folder of a model (default: of `dissensus run`, the one that predicts each annotator,
            else the best).
        port (min=0, max=65535): Port on this computer; 0 takes a free one.

    Examples:
        dissensus serve report/
        dissensus serve labels.csv --model model/
    """
    from pathlib import Path

    from dissensus.cli.layout import serve_layout
    from dissensus.contents import media_within
    from dissensus.corpus import Corpus
    from dissensus.evaluation import Results
    from dissensus.methods import load
    from dissensus.readers.layout import UnclearError
    from dissensus.report import make_report
    from dissensus.report.server import reads_one_text, web_app
    from dissensus.web import listen

    folder = source.file
    of_run = (folder / "report.html").exists() and (folder / "corpus").is_dir()
    if (folder / "model.safetensors").exists():
        raise DataError(
            f"{folder}: this is a model; name what it was trained on too: "
            f"dissensus serve FILE --model {folder}"
        )
    corpus = results = None
    if is_comparison(folder):
        results = Results.load(folder, unfinished=True)
    elif of_run:
        with media_within(*source.media_root or ()):
            corpus = Corpus.load(folder / "corpus")
        if (folder / "comparison").exists():
            results = Results.load(folder / "comparison", unfinished=True)
    else:
        try:
            corpus = source.read()
        except UnclearError as error:
            console.say(f"{error.about}; say on the page what each column is")
            serve_layout(folder, port)
            return
    kept = [folder / name for name in ("annotator-model", "model") if of_run]
    path = Path(model) if model else next((path for path in kept if path.exists()), None)
    console.say(f"{folder}: writing the report")
    fitted = None if path is None else load(path)
    if path is not None:
        say_encoders(path, fitted)
    if fitted is not None and not reads_one_text(fitted):
        if model:
            raise DataError(f"{model}: only a model that reads one text can be tried by typing")
        fitted = None
    token = secrets.token_urlsafe(24)
    app = web_app(make_report(corpus, results), fitted, token)
    console.say("Open this address in a browser on this computer; Ctrl-C ends it.")
    listen(app, token, port)
