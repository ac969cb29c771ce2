"""Commands that write, and what they read; `make chaos` disturbs them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pyarrow import csv

TINY = ("--encoder", "characters", "--epochs", "2")
FLOORS = ("--methods", "prior,annotator-majority", "--seeds", "1")
COMMANDS: dict[str, tuple[str, ...]] = {
    "convert": ("convert", "labels.csv", "out", "--overwrite"),
    "convert to a spreadsheet": ("convert", "crowd", "out.xlsx", "--overwrite"),
    "convert to JSON lines": ("convert", "crowd", "out.jsonl", "--overwrite"),
    "convert to datasets": ("convert", "crowd", "out", "--to", "datasets"),
    "simulate": ("simulate", "out", "--items", "40", "--overwrite"),
    "describe": ("describe", "labels.csv", "-o", "out.json", "--overwrite"),
    "describe and remember": ("describe", "labels.csv", "--item", "item", "--remember"),
    "agreement": ("agreement", "labels.csv", "-o", "out.csv", "--overwrite"),
    "aggregate": ("aggregate", "labels.csv", "-o", "out.csv", "--overwrite"),
    "aggregate and save": ("aggregate", "labels.csv", "--method", "dawid-skene", "-o", "out.csv",
                           "--annotator-table", "out.parquet", "--overwrite"),
    "aggregate a folder": ("aggregate", "crowd", "--method", "one-coin", "-o", "out.parquet",
                           "--overwrite"),
    "train": ("train", "crowd", "--method", "single", *TINY, "-o", "out", "--overwrite"),
    "train with a cache": ("train", "crowd", "--method", "annotator-heads", "--encoder", "bert",
                           "--epochs", "2", "-o", "out", "--overwrite"),
    "predict": ("predict", "model", "crowd", "-o", "out", "--overwrite"),
    "predict with attention": ("predict", "queries", "crowd", "--attention", "-o", "out",
                               "--overwrite"),
    "predict a table": ("predict", "model", "crowd", "-o", "out.csv", "--overwrite"),
    "prompt": ("prompt", "crowd", "-o", "out.jsonl", "--overwrite"),
    "enrol": ("enrol", "queries", "newcomer.csv", "-o", "out", "--overwrite"),
    "evaluate": ("evaluate", "predictions", "crowd", "-o", "out.json", "--overwrite"),
    "attention": ("attention", "predictions", "crowd", "-o", "out.csv", "--overwrite"),
    "disputed": ("disputed", "labels.csv", "-o", "out.csv", "--overwrite"),
    "plan": ("plan", "labels.csv", "-o", "out.csv", "--overwrite"),
    "plan what to ask": ("plan", "crowd", "--budget", "9", "-o", "out.xlsx", "--overwrite"),
    "review": ("review", "labels.csv", "-o", "out.csv", "--overwrite"),
    "judge": ("judge", "predictions", "crowd", "-o", "out.json", "--overwrite"),
    "draw": ("draw", "crowd", "--predictions", "predictions", "-o", "out.svg", "--overwrite"),
    "report": ("report", "labels.csv", "-o", "out.html"),
    "compare": ("compare", "crowd", "-o", "out", *FLOORS, "--folds", "3", "--processes", "1"),
    "run": ("run", "crowd", "-o", "out", *FLOORS),
    "demo": ("demo", "out", "--items", "30"),
}  # fmt: skip
SLOW = ("demo",)  # disturbed only if they are asked for
INCREMENTAL = ("compare", "run", "demo")  # their folders grow, so that they can be resumed
NEVER_REPLACED = ("convert to datasets",)  # what exists is refused
UNFINISHED = "out.unfinished"  # a training that can be resumed; `train` leaves it when interrupted
MODELS = {
    "model": ("train", "crowd", "--method", "single", *TINY, "-o", "model"),
    "queries": ("train", "crowd", "--method", "annotator-queries", *TINY, "-o", "queries"),
    "predictions": ("predict", "queries", "crowd", "--attention", "-o", "predictions"),
}


def write_corpora(work: Path) -> None:
    """Write the corpora that commands read, and a small model of transformers."""
    from dissensus import simulate
    from dissensus.writers import write

    corpus = simulate.text(n_items=40, n_annotators=4, labels_per_item=3)
    corpus.save(work / "crowd")
    write(corpus, work / "labels.csv")
    rows = corpus.to_table().take([0, 3, 6, 9]).select(["item", "text", *corpus.questions])
    rows = rows.append_column("annotator", [["new"] * 4])  # one answer to each of four items
    csv.write_csv(rows, work / "newcomer.csv")
    write_bert(work / "bert")


def write_bert(folder: Path) -> None:
    """Write a BERT of two layers with random weights, which frozen encoders can be made of."""
    import torch
    from transformers import AutoModel, BertConfig, BertTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    sizes: dict[str, Any] = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(words), num_hidden_layers=2, **sizes)
    torch.manual_seed(0)
    folder.mkdir()
    AutoModel.from_config(config).save_pretrained(folder)  # type: ignore[no-untyped-call]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    os.environ["HF_HUB_OFFLINE"] = "1"
