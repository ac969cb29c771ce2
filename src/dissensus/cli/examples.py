"""Two examples for each command, shown at the end of its help."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "run": (
        "dissensus run labels.csv -o report/",
        "dissensus run labels.csv -o report/ --budget 10m",
    ),
    "report": (
        "dissensus report labels.csv -o report.html",
        "dissensus report labels.csv --results comparison/ -o report.html",
    ),
    "serve": ("dissensus serve report/", "dissensus serve labels.csv --model model/"),
    "demo": ("dissensus demo", "dissensus demo demo-image --modality image"),
    "describe": (
        "dissensus describe labels.csv",
        "dissensus describe labels.csv --answer label --answer rating --most 10",
    ),
    "agreement": (
        "dissensus agreement labels.csv --interval",
        "dissensus agreement labels.csv --measure krippendorff-alpha --as latex",
    ),
    "aggregate": (
        "dissensus aggregate labels.csv -o consensus.csv",
        "dissensus aggregate labels.csv --method dawid-skene -o consensus.csv",
    ),
    "convert": (
        "dissensus convert labels.csv corpus/",
        "dissensus convert labels.csv corpus/ --item comment_id --scale interval:1:5",
    ),
    "datasets": (
        "dissensus datasets",
        "dissensus datasets --json",
    ),
    "simulate": (
        "dissensus simulate demo/crowd",
        "dissensus simulate demo/crowd --items 500 --annotators 10",
    ),
    "train": (
        "dissensus train labels.csv -o model/ --hold-out 0.2",
        "dissensus train labels.csv -o model/ --method soft-label --fine-tune --epochs 5",
    ),
    "predict": (
        "dissensus predict model/ new.csv -o predictions.csv",
        "dissensus predict model/ labels.csv -o predictions/",
    ),
    "evaluate": (
        "dissensus evaluate predictions/ labels.csv",
        "dissensus evaluate predictions/ labels.csv --against floor/ --intervals",
    ),
    "attention": (
        "dissensus attention predictions/ labels.csv",
        "dissensus attention predictions/ labels.csv -o attention.json",
    ),
    "draw": (
        "dissensus draw labels.csv -o items.svg",
        "dissensus draw labels.csv --predictions predictions/ -o items.svg",
    ),
    "compare": (
        "dissensus compare labels.csv -o comparison/ --methods soft-label,annotator-heads",
        "dissensus compare labels.csv -o comparison/ --with llm.csv --plot intervals.svg",
    ),
    "papers": (
        "dissensus papers seedbert DATA -o runs/",
        "dissensus papers seedbert --show runs/",
    ),
    "cache": ("dissensus cache", "dissensus cache --clear"),
}
