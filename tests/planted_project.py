"""A labelling project whose truth is known, as the four files in which a project lead has it.

Ten honest annotators, of whom women and men differ about the items on one topic; felix clicks at
random and fast, gerd always answers ok, hana copies ann. An LLM is as good as an annotator.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dissensus.files.tabular import write_workbook

WOMEN = ["ann", "bea", "cleo", "dina", "eva"]
MEN = ["ivo", "jan", "karl", "luis", "max"]
CARELESS = {"felix": "at chance", "gerd": "constant", "hana": "duplicated"}
ANNOTATORS = [*WOMEN, *MEN, *CARELESS]
AGES = dict(zip(ANNOTATORS, [24, 51, 38, 29, 45, 33, 27, 58, 41, 36, 30, 48, 26], strict=True))
VERDICTS = ["ok", "unsure", "toxic"]
DIVIDING = range(0, 150, 5)  # items about which women and men differ
TOPICS = {
    "sexist": ["women should stay in the kitchen", "a girl cannot understand football",
               "she got the job for her looks"],
    "insult": ["you are a complete idiot", "what a stupid loser", "go away you clown"],
    "plain": ["the weather is nice today", "I had soup for lunch", "the train was late again"],
}  # fmt: skip
ENDINGS = ["honestly", "my friend", "as always", "if you ask me", "what else", "and that is it"]


def rows_of_project(seed: int = 0) -> list[dict[str, Any]]:
    """A row for each answer."""
    draw = random.Random(seed)
    rows = []
    for number in range(150):
        topic = "sexist" if number in DIVIDING else draw.choice(["insult", "plain"])
        words = f"{draw.choice(TOPICS[topic])}, {draw.choice(ENDINGS)} ({number})"
        truth = {"insult": 2, "plain": 0}.get(topic)
        answers: dict[str, int] = {}
        for name in [*WOMEN, *MEN]:
            own = truth if truth is not None else 2 if name in WOMEN else 0
            answers[name] = own if draw.random() < 0.85 else draw.randrange(3)
        answers["felix"] = draw.randrange(3)
        answers["gerd"] = 0
        answers["hana"] = answers["ann"] if draw.random() < 0.98 else draw.randrange(3)
        for name, answer in answers.items():
            rows.append({
                "comment_id": f"c{number}", "text": words, "annotator": name,
                "verdict": VERDICTS[answer], "gender": "woman" if name in [*WOMEN, "hana"]
                else "man", "age": AGES[name],
                "seconds": round(draw.gauss(1.2 if name == "felix" else 11, 0.2), 1),
            })  # fmt: skip
    return rows


def llm_rows(rows: Sequence[dict[str, Any]], seed: int = 1) -> list[dict[str, Any]]:
    """An LLM that answers as an honest man does."""
    draw = random.Random(seed)
    honest = [row for row in rows if row["annotator"] == "ivo"]
    return [{"comment_id": row["comment_id"], "verdict": row["verdict"] if draw.random() < 0.93
             else draw.choice(VERDICTS)} for row in honest]  # fmt: skip


def write_project(folder: Path) -> list[dict[str, Any]]:
    """Write long.csv, wide.csv, messy.xlsx, label_studio.json and llm.csv."""
    rows = rows_of_project()
    _write(folder / "long.csv", list(rows[0]), [list(row.values()) for row in rows])
    llm = llm_rows(rows)
    _write(folder / "llm.csv", list(llm[0]), [list(row.values()) for row in llm])
    items: dict[str, dict[str, str]] = {}
    for row in rows:
        item = items.setdefault(row["comment_id"], {"text": row["text"]})
        item[row["annotator"]] = row["verdict"]
    header = ["comment_id", "text", *ANNOTATORS]
    wide = [[name, *(item[column] for column in header[1:])] for name, item in items.items()]
    _write(folder / "wide.csv", header, wide)
    _write_messy(folder / "messy.xlsx", wide)
    tasks = [_task(name, number, rows) for number, name in enumerate(items)]
    (folder / "label_studio.json").write_text(json.dumps(tasks), encoding="utf-8")
    return rows


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _write_messy(path: Path, wide: Sequence[Sequence[str]]) -> None:
    """A spreadsheet with a title, an empty row, spelling variants, remarks and a note below."""
    draw = random.Random(2)
    sheet: list[list[str | None]] = [["Comments, second round (do not share)"], []]
    sheet.append(["comment_id", "text", *ANNOTATORS, "", "notes"])
    for row in wide:
        cells = [draw.choice([a, a.title(), a + " "]) if draw.random() < 0.1 else a
                 for a in row[2:]]  # fmt: skip
        cells = [draw.choice(["", "N/A"]) if draw.random() < 0.03 else cell for cell in cells]
        remark = "check this one" if draw.random() < 0.05 else None
        sheet.append([*row[:2], *cells, None, remark])
    sheet.append([])
    sheet.append(["150 comments, checked by the team"])
    write_workbook(path, {"round 2": sheet})


def _task(name: str, number: int, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    own = [row for row in rows if row["comment_id"] == name]
    return {
        "id": number + 1,
        "data": {"comment_id": name, "text": own[0]["text"]},
        "annotations": [{
            "id": 1000 * number + at,
            "completed_by": {"id": at, "email": f"{row['annotator']}@x.org"},
            "lead_time": row["seconds"], "was_cancelled": False,
            "result": [{"from_name": "verdict", "to_name": "text", "type": "choices",
                        "value": {"choices": [row["verdict"]]}}],
        } for at, row in enumerate(own)],
    }  # fmt: skip
