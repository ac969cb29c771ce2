"""Write the sample tables of the docs: a small labelling project whose truth is known.

Nine annotators say whether messages to a shop are friendly, neutral or rude. Those in sales and in
support differ about demands; felix answers at random. An LLM answers as one in support does.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"
SALES, SUPPORT = ["ann", "bea", "cleo", "dina"], ["ivo", "jan", "karl", "luis"]
TONES = ["friendly", "neutral", "rude"]
OPENINGS = {
    "friendly": ["Thank you for the quick delivery of the", "So happy with the", "What a lovely"],
    "neutral": [
        "When will you deliver the",
        "Please send me the invoice for the",
        "Which size is the",
    ],
    "rude": [
        "Only fools would sell this",
        "Do not ever send me again such a useless",
        "What a silly",
    ],
    "demand": [
        "I want my money back for the",
        "Send today without excuses the",
        "I will not wait for the",
    ],
}
THINGS = ["lamp", "chair", "blue bag", "kettle", "tent", "bicycle bell"]
LEVELS = {"friendly": 0, "neutral": 1, "rude": 2}


def tables(n_items: int = 80, seed: int = 0) -> dict[str, list[list[str]]]:
    """The rows of each table, with its header; six of the nine annotators have each item."""
    draw = random.Random(seed)
    messages = [["item", "annotator", "tone", "team", "text"]]
    llm = [["item", "tone"]]
    for number in range(n_items):
        kind, item = draw.choice(list(OPENINGS)), f"m{number + 1}"
        text = f"{draw.choice(OPENINGS[kind])} {draw.choice(THINGS)} ({draw.randint(100, 999)})"
        for name in sorted(draw.sample([*SALES, *SUPPORT, "felix"], 6)):
            team = "sales" if name in SALES else "support"
            own = LEVELS.get(kind, 2 if team == "sales" else 1)
            tone = draw.choice(TONES) if name == "felix" else _near(own, 0.85, draw)
            messages.append([item, name, tone, team, text])
        llm.append([item, _near(LEVELS.get(kind, 1), 0.9, draw)])
    return {"messages": messages, "llm": llm}


def _near(view: int, share: float, draw: random.Random) -> str:
    """This tone with a given probability, else any."""
    return TONES[view] if draw.random() < share else draw.choice(TONES)


def write(folder: Path) -> None:
    for name, rows in tables().items():
        _write(folder / f"{name}.csv", rows)


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write(SAMPLES)
