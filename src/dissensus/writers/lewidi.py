"""The JSON of the shared tasks Learning with Disagreements (LeWiDi) 2023 and 2025."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel
from dissensus.writers.table_files import annotators_of, losses, only_question

DEFAULT_SPLIT, DEFAULT_LANGUAGE = "train", "en"


def write_lewidi2023(corpus: Corpus, path: Path) -> list[str]:
    """Answers as a text with commas, next to the annotators."""

    def entry(given: dict[str, str]) -> dict[str, Any]:
        return {
            "number of annotations": len(given),
            "annotations": ",".join(given.values()),
            "annotators": ",".join(given),
        }

    return _write(corpus, path, "lewidi2023", entry)


def write_lewidi2025(corpus: Corpus, path: Path) -> list[str]:
    """Answers by annotator."""

    def entry(given: dict[str, str]) -> dict[str, Any]:
        return {"annotators": ",".join(given), "annotations": given}

    return _write(corpus, path, "lewidi2025", entry)


def _write(corpus: Corpus, path: Path, to: str, entry: Any) -> list[str]:
    question, answers = only_question(corpus, to)
    if isinstance(answers.scale, Interval | MultiLabel):
        raise DataError(f"{to} holds nominal and ordinal answers, and {question!r} has others")
    codes = annotators_of(answers, to)
    texts = [role for role, of in corpus.contents.items() if of.kind == "text"]
    if not texts:
        raise DataError(f"{corpus.name}: {to} needs a text for each item; use --to long")
    values = [str(value) for value in answers.answers()]
    names = list(corpus.annotators)
    wrong = next((one for one in (*names, *set(values)) if "," in one), None)
    if wrong is not None:
        raise DataError(f"{to} separates names and answers by commas, and {wrong!r} has one")
    answers_by_item: list[dict[str, str]] = [{} for _ in range(corpus.n_items)]
    for row, item in enumerate(answers.item.tolist()):
        answers_by_item[item][names[int(codes[row])]] = values[row]
    parts = corpus.splits["official"].to_pylist() if "official" in corpus.splits else None
    language = corpus.item_attributes.get("lang")
    languages = None if language is None else language.to_pylist()
    scale = list(answers.scale.values)  # type: ignore[attr-defined]
    content: dict[str, Any] = {}
    bare = 0
    for item, name in enumerate(corpus.items):
        if not answers_by_item[item]:
            bare += 1
            continue
        shares = {
            v: list(answers_by_item[item].values()).count(v) / len(answers_by_item[item])
            for v in scale
        }
        most = [value for value, share in shares.items() if share == max(shares.values())]
        shown = {
            role: corpus.contents[role][corpus.content[role][item]]
            for role in texts
            if corpus.content[role][item] >= 0
        }
        content[name] = {
            "annotation task": question,
            "text": next(iter(shown.values()), "") if len(texts) == 1 else shown,
            **entry(answers_by_item[item]),
            "hard_label": most[0] if len(most) == 1 else "",
            "soft_label": shares,
            "split": (parts[item] if parts else None) or DEFAULT_SPLIT,
            "lang": (languages[item] if languages else None) or DEFAULT_LANGUAGE,
        }
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=1)
    attributes = [f"item attribute {name}" for name in corpus.item_attributes if name != "lang"]
    attributes += [f"{bare} items without answers"] if bare else []
    notes = losses(corpus, stored_fields=("splits",), more=attributes)
    if parts is None:
        notes.append(f"every item is in the split {DEFAULT_SPLIT!r}, as the corpus has none")
    return notes
