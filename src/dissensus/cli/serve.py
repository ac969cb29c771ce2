"""dissensus serve: a report as a page on this computer, where texts can be typed."""

from __future__ import annotations

import secrets
import socket
from typing import Annotated

import typer

from dissensus.cli import console
from dissensus.cli.model_options import say_encoders
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError, InstallError


@reads_corpus
def serve(
    source: Source,
    model: Annotated[
        str | None,
        typer.Option(
            help="Folder of a model (default: of `dissensus run`, the one that predicts each "
            "annotator, else the best)."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this computer; 0 takes a free one.")
    ] = 0,
) -> None:
    """Show a report in the browser; type a text and see what each annotator would say.

    FILE is the folder that `dissensus run` wrote, or any file to report on. Only this computer can
    open the page, and only with the token in its address. Ctrl-C ends it.
    """
    from pathlib import Path

    from dissensus.corpus import Corpus
    from dissensus.evaluation import Results
    from dissensus.methods import load
    from dissensus.report import make_report
    from dissensus.report.server import reads_one_text, web_app

    try:
        import uvicorn
    except ImportError:
        raise InstallError(
            "dissensus serve needs starlette and uvicorn: pip install 'dissensus[serve]'"
        ) from None
    folder = source.file
    of_run = (folder / "report.html").exists() and (folder / "corpus").is_dir()
    corpus = Corpus.load(folder / "corpus") if of_run else source.read()
    comparison = folder / "comparison"
    results = Results.load(comparison, unfinished=True) if of_run and comparison.exists() else None
    kept = [folder / name for name in ("annotator-model", "model") if of_run]
    path = Path(model) if model else next((path for path in kept if path.exists()), None)
    fitted = None if path is None else load(path)
    if path is not None:
        say_encoders(path, fitted)
    if fitted is not None and not reads_one_text(fitted):
        if model:
            raise DataError(f"{model}: only a model that reads one text can be tried by typing")
        fitted = None
    token = secrets.token_urlsafe(24)
    app = web_app(make_report(corpus, results), fitted, token)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise DataError(f"port {port}: {error.strerror}; choose another --port") from None
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/?token={token}", flush=True)
        console.say("Open this address in a browser on this computer; Ctrl-C ends it.")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        server.run(sockets=[listener])
