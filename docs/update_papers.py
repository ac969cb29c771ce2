"""Write the figures in papers.md anew from the kept report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dissensus.papers.soft_labels import CONDITIONS, report
from dissensus.papers.soft_labels.claims import claims
from dissensus.papers.soft_labels.printed import MODELS, NEAR, TABLES
from dissensus.papers.soft_labels.showing import interval
from dissensus.papers.tables import holds, spread

PAGE = Path(__file__).parent / "papers.md"
KEPT = Path(__file__).parent.parent / "benchmarks" / "results" / "soft_labels.json"
BLOCK = re.compile(r"(<!-- soft-labels -->\n).*?(<!-- end -->)", re.DOTALL)


def soft_labels(found: dict[str, Any]) -> str:
    """Accuracies beside the paper's, words with and without a vector, and its claims."""
    made = f"`{found['command']}`, {found['date'][:10]}, {', '.join(found['machines'])}."
    said = claims(found).partition("\n")[2]
    return "\n".join([*_accuracies(found), "", made, "", *_words(found), "", said, ""])


def _accuracies(found: dict[str, Any]) -> list[str]:
    lines = [
        "| condition | model | paper | ours | within 1.5 | MTL less STL, points | |",
        "|---|---|--:|--:|---|---|---|",
    ]
    for name, printed in TABLES.items():
        held = found["conditions"][name]
        n, before = len(held["seeds"]), name
        for model, words in MODELS.items():
            of_model = held["models"][model]
            ours = of_model["pooled"]["gold"]["accuracy"]
            runs = [100 * fit["scores"]["gold"]["accuracy"] for fit in of_model["fits"]]
            near = "yes" if printed[model].accuracy / 100 - ours <= NEAR + 1e-9 else "no"
            over = ["", ""]
            if model in held["against"]:
                test = held["against"][model]["tests"]["gold"]["ours"]["accuracy"]
                over = [interval(test), holds(test)]
            cells = [before, words, f"{printed[model].accuracy:.2f}"]
            cells += [f"{100 * ours:.2f}{spread(runs)}".replace("+-", "±"), near, *over]
            lines.append(f"| {' | '.join(cells)} |")
            before = f"({n} runs)" if n < len(found["seeds"]) and before == name else ""
    return lines


def _words(found: dict[str, Any]) -> list[str]:
    lines = [
        "| condition | words with a vector | accuracy there | without | all | paper |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, held in found["conditions"].items():
        if CONDITIONS[name].corpus == "pos_tweets" and name in TABLES:
            models = held["models"].values()
            sides = [[100 * m["words"][side] for m in models] for side in ("with", "without")]
            every = [100 * m["pooled"]["gold"]["accuracy"] for m in models]
            paper = [printed.accuracy for printed in TABLES[name].values()]
            ranges = [f"{min(side):.1f} to {max(side):.1f}" for side in (*sides, every, paper)]
            share = f"{100 * held['with_vector']:.1f} %"
            lines.append(f"| {' | '.join([name, share, *ranges])} |")
    return lines


def updated(text: str) -> str:
    """The page with what is kept now."""
    found = report(KEPT)
    return BLOCK.sub(lambda block: f"{block[1]}{soft_labels(found)}{block[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
