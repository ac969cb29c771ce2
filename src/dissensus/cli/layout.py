"""dissensus layout: how FILE is read, in words and as TOML to change."""

from __future__ import annotations

import secrets
from pathlib import Path

from dissensus.cli.console import say
from dissensus.cli.options import Input, reads_corpus


@reads_corpus
def layout(source: Input, browser: bool = False, port: int = 0) -> None:
    """Print how FILE is read: what is in it, its first answers, and the layout as TOML.

    Change the TOML and keep it as FILE.dissensus.toml: every command reads FILE so from then on.
    --remember keeps what is typed. --browser shows the first rows of a table and a menu for what
    each column is.

    Args:
        browser: Change it on a page that only this computer can open; Ctrl-C ends it.
        port (min=0, max=65535): Port of that page; 0 takes a free one.

    Examples:
        dissensus layout scores.csv --browser
        dissensus layout s.csv --annotator 'Id{k}' --answer 'Score{k}' --remember
    """
    from dissensus.cli.layout_page import in_words
    from dissensus.readers import recognise
    from dissensus.readers.layout import Layout, file_beside, layouts_taken

    if browser:
        serve_layout(source.file, port)
        return
    with layouts_taken() as taken:
        corpus = source.read()
    layout_taken = taken[-1] if taken else Layout(format=recognise(source.file))
    print("\n".join(in_words(corpus)))
    print(f"\n# {file_beside(source.file).name}\n{layout_taken.to_toml()}")


def serve_layout(path: Path, port: int) -> None:
    """Show the page until Ctrl-C."""
    from dissensus.cli.layout_page import LayoutPage
    from dissensus.web import listen, web_app

    page, token = LayoutPage(path), secrets.token_urlsafe(24)
    app = web_app(page.html(), {"read": page.read, "keep": page.keep}, token)
    say("Open this address in a browser on this computer; Ctrl-C ends it.")
    listen(app, token, port)
