"""Small exports of every tool, and what is read from them: `cases/FORMAT.toml`.

A case has the files that are written, the path that is read, the options, and the corpus as text or
the message. After a change that is meant, `python -m tests.readers.test_cases` writes what is read
anew; look at the difference.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus
from dissensus.errors import DissensusError
from dissensus.readers import read

FOLDER = Path(__file__).parent / "cases"
CASES = {
    f"{file.stem}: {name}": case
    for file in sorted(FOLDER.glob("*.toml"))
    for name, case in tomllib.loads(file.read_text(encoding="utf-8")).items()
}


def outcome(case: dict[str, Any], folder: Path) -> str:
    """What is read from the files of a case, or the message."""
    for name, content in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8"))
    try:
        text = as_text(read(folder / case["path"], **case.get("options", {})))
    except DissensusError as error:
        text = str(error)
    return text.replace(f"{folder}/", "")


def as_text(corpus: Corpus) -> str:
    """Everything in a corpus, a line for each answer, content, attribute, span and note."""
    lines = [f"{corpus.name}: {corpus.n_items} items, {corpus.n_annotators} annotators"]
    for question, answers in corpus.questions.items():
        lines += [f"{question}: {answers.scale}", *map(str, _rows(answers))]
    for question, answers in corpus.gold.items():
        lines += [f"gold of {question}: {answers.scale}", *map(str, _rows(answers))]
    for role, contents in corpus.contents.items():
        codes = corpus.content[role]
        texts = [contents[code] if code >= 0 else None for code in codes]
        lines.append(f"{contents.kind} {role}: {texts}")
    columns = {"item": corpus.item_attributes, "annotator": corpus.annotator_attributes}
    for of, attributes in {**columns, "split": corpus.splits}.items():
        lines += [f"{of} {name}: {values.to_pylist()}" for name, values in attributes.items()]
    if (spans := corpus.rationales) is not None:
        for at in range(len(spans)):
            texts = [column[at].as_py() for column in (spans.question, spans.role, spans.kind)]
            places = [spans.start[at].tolist(), spans.stop[at].tolist()]
            lines.append(f"span {[int(spans.item[at]), int(spans.annotator[at]), *texts, *places]}")
    lines += [f"group: {corpus.group}"] if corpus.group else []
    lines += [f"left out: {question}, {why}: {n}" for question, why, n in corpus.left_out]
    return "\n".join([*lines, *corpus.notes])


def _rows(answers: Annotations) -> list[list[Any]]:
    """Item, annotator, answer, and what else is known of each answer."""
    people = [None] * answers.n_rows
    if answers.annotator is not None:
        people = [answers.annotators[code] for code in answers.annotator]
    more = [part for part in (answers.count, answers.seconds) if part is not None]
    extra = [np.array(column.to_pylist(), dtype=object) for column in answers.extra.values()]
    columns = [[answers.items[code] for code in answers.item], people, answers.answers()]
    columns += [part.tolist() for part in (*more, *extra)]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("name", CASES)
def test_what_is_read(name: str, tmp_path: Path) -> None:
    assert outcome(CASES[name], tmp_path) == CASES[name]["read"].rstrip("\n")


def toml(case: dict[str, Any]) -> str:
    """A case as TOML."""
    lines = [f"path = {json.dumps(case['path'])}"]
    lines += [f"options = {_value(case['options'])}"] if case.get("options") else []
    files = [f"files.{json.dumps(name)} = {_text(text)}" for name, text in case["files"].items()]
    return "\n".join([*lines, *files, f"read = {_text(case['read'])}"])


def _value(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{ {', '.join(f'{json.dumps(key)} = {_value(of)}' for key, of in value.items())} }}"


def _text(text: str) -> str:
    plain = all(letter in "\n\t" or letter.isprintable() for letter in text)
    if not plain or "'''" in text or text.endswith("'"):
        return json.dumps(text, ensure_ascii=False)
    return f"'''\n{text}'''" if "\n" in text or "'" in text else f"'{text}'"


def main() -> None:
    for file in sorted(FOLDER.glob("*.toml")):
        cases = tomllib.loads(file.read_text(encoding="utf-8"))
        for case in cases.values():
            with tempfile.TemporaryDirectory() as folder:
                case["read"] = outcome(case, Path(folder).resolve())
        texts = [f"[{json.dumps(name)}]\n{toml(case)}\n" for name, case in cases.items()]
        file.write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
