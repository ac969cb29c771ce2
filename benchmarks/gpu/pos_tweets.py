"""Part-of-speech tags of tweets with a pretrained encoder: does disagreement help, in which form?

    make gpu-kit RUN=pos_tweets
    python benchmarks/gpu/pos_tweets.py run OUT            settings on dev, then ten seeds on test
    python benchmarks/gpu/pos_tweets.py keep OUT           into benchmarks/results
    make gpu-kit RUN=pos_tweets                            again, with what was chosen
    python benchmarks/gpu/pos_tweets.py adapt OUT --seconds 400 --processes 8
    python benchmarks/gpu/pos_tweets.py teach OUT --seconds 300 --processes 6
    python benchmarks/gpu/pos_tweets.py paper OUT --seconds 200 --processes 14
    python benchmarks/gpu/pos_tweets.py keep OUT           what is there beside what is kept
    python benchmarks/gpu/pos_tweets.py show               the table, from the kept results

MiniLM and how words are spelled, both tuned, learn from gold labels or from the crowd alone. Every
method has the same four settings to choose from, by three seeds on the development part: by its
gold labels where gold is learned, by the crowd's majority there where only the crowd is. Then ten
other seeds are trained and tested once. Seeds of one method train side by side. From the best of
them `adapt` and `teach` go on (pos_teachers.py); `paper` trains the paper's network (pos_paper.py).
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pieces import Piece, carry_out
from pos_methods import (
    AGGREGATED,
    CHOICES,
    GRID,
    GROUPS,
    LABELS,
    QUESTION,
    SEEDS,
    TRIED,
    answers,
    corpus_parts,
    fitted,
    label,
    letters,
    made,
    row_path,
    share,
)
from sharing import shared_gpu

RESULTS = Path(__file__).parents[1] / "results" / "pos_tweets.json"
UNLABELLED = 5000  # tweets
OFTEN = 3  # times that a word stands in the training part, to have tags of its own there
WAYS_ON = ("adapt", "teach", "paper")  # from what `run` chose


def pack(folder: Path, data: Path) -> None:
    """The tweets, those that nobody tagged beside them, MiniLM and word vectors for the words of
    both, texts to adapt MiniLM to, and the settings that were chosen."""
    import pos_adapted
    from kit import pack_minilm
    from tweet_tokens import beside, unlabelled

    from dissensus import datasets

    corpus = datasets.read(data / "pos_tweets")
    corpus.save(folder / "pos_tweets")
    more = beside(corpus, unlabelled(data / "lewidi2023", UNLABELLED))
    more.save(folder / "tweets")
    texts = more.contents["text"].values.to_pylist()
    adapting = pos_adapted.texts(data, corpus)
    pos_adapted.write(folder / pos_adapted.TEXTS.name, adapting)
    pack_minilm(folder / "minilm", [*texts, *adapting])
    pack_vectors(folder / "glove.txt.gz", texts)
    shutil.copy("glove/pos_tweets.txt", folder / "glove-of-corpus.txt")
    (folder / LABELS.name).write_text(json.dumps(aggregated(corpus)))
    if RESULTS.exists():
        rows = json.loads(RESULTS.read_text())["rows"]
        chosen = [
            {k: row[k] for k in ("group", "method", "tried", "chosen")}
            for row in rows
            if "tried" in row
        ]
        (folder / CHOICES.name).write_text(json.dumps(chosen))


def aggregated(corpus: Any) -> dict[str, list[int]]:
    """The label that each aggregator gives to each item of the training part.

    Automatic tokens have the label that they have; as 177 answers each they would make everybody
    look good at nouns.
    """
    from dissensus.methods.framework.labels import item_labels
    from dissensus_papers.soft_labels.protocol import with_automatic

    train = corpus.part("train")
    made = {}
    for name in AGGREGATED.values():
        found = label(with_automatic(train), "majority")
        answered = item_labels(train, QUESTION, name, "first", 0)
        found[answered.item] = answered.answer
        made[name] = found.tolist()
    return made


def pack_vectors(path: Path, texts: list[str]) -> None:
    """GloVe's vectors of the words of texts, two digits behind the point."""
    import gzip
    import importlib
    import sys

    sys.path.insert(0, str(Path(__file__).parents[1]))
    glove: Any = importlib.import_module("glove")

    with tempfile.TemporaryDirectory() as folder:
        vectors, width = glove.vectors_in(glove.packed(Path(folder)))
    words = [word for word in glove.words_of(texts) if word in vectors]
    lines = (f"{w} {' '.join(f'{x:.2f}' for x in vectors[w][:width])}\n" for w in words)
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def tag(group: str, name: str, path: Path) -> None:
    """Choose a method's settings on dev, then train and test it."""
    import torch

    torch.set_num_threads(1)
    begin = time.perf_counter()
    parts = corpus_parts(name)
    trials = [(settings, seed) for settings in GRID for seed in TRIED]
    methods = fitted(parts["train"], [made(group, name, s, seed) for s, seed in trials])
    wanted = {of: label(parts["dev"], of) for of in ("gold", "majority")}
    tried: list[dict[str, Any]] = [{"settings": s, "gold": [], "majority": []} for s in GRID]
    for (settings, _), method in zip(trials, methods, strict=True):
        said, _ = answers(method, parts["dev"])
        for of, found in wanted.items():
            tried[GRID.index(settings)][of].append(share(said, found))
    bys = ("gold",) if group == "gold" else ("gold", "majority")
    chosen = {of: max(tried, key=lambda t: float(np.mean(t[of])))["settings"] for of in bys}
    tested = {}
    for settings in {json.dumps(s): s for s in chosen.values()}.values():
        fits = fitted(parts["train"], [made(group, name, settings, seed) for seed in SEEDS])
        found_all = [answers(method, parts["test"]) for method in fits]
        together = np.mean([mass for _, mass in found_all], axis=0).argmax(axis=1)
        tested[json.dumps(settings)] = {
            "seeds": [letters(said) for said, _ in found_all],
            "together": letters(together),
        }
    result = {
        "group": group,
        "method": name,
        "tried": tried,
        "chosen": chosen,
        "tested": tested,
        "seconds": round(time.perf_counter() - begin, 1),
    }
    path.write_text(json.dumps(result))


def run(out: Path, processes: int, seconds: float, only: str | None) -> None:
    """What is neither kept nor in OUT."""
    kept = json.loads(CHOICES.read_text()) if CHOICES.exists() else []
    there = {(row["group"], row["method"]) for row in kept}
    every = [(group, name) for group, names in GROUPS.items() for name in names]
    wanted = [which for which in every if which[0] == (only or which[0]) and which not in there]
    wanted.sort(key=lambda which: list(GROUPS[which[0]]).index(which[1]))  # of both, in turn
    pieces = [Piece(row_path(out, *which), tag, which) for which in wanted]
    left = carry_out(pieces, processes, seconds)
    print(f"{len(pieces) - left} of {len(pieces)} rows are done")


def keep(out: Path) -> None:
    """Add the rows of OUT to those that are kept; a row replaces an older one of its name.

    STL and MTL with the paper's network come from OUT/soft_labels.tar.gz, if it is there.
    """
    import os

    import pos_answers
    from pos_paper import from_archive

    from dissensus import datasets
    from dissensus.evaluation import code_commit

    corpus = datasets.read(Path(os.environ["DISSENSUS_DATA"]) / "pos_tweets")
    test = corpus.part("test")
    before = pos_answers.read(RESULTS)["rows"] if RESULTS.exists() else []
    new = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))]
    archive = out / "soft_labels.tar.gz"
    new += from_archive(archive) if archive.exists() else []
    rows = {row_key(row): row for row in [*before, *new]}
    about = {
        "command": "python benchmarks/gpu/pos_tweets.py run OUT",
        "commit": code_commit(),
        "date": datetime.date.today().isoformat(),
        "machine": "NVIDIA H200",
        "seeds": {"tried": list(TRIED), "tested": list(SEEDS)},
        "gold": letters(label(test, "gold")),
        "tweet": np.unique(test.units(), return_inverse=True)[1].reshape(-1).tolist(),
        "tagged_otherwise": {
            part: np.flatnonzero(tagged_otherwise(corpus, part)).tolist()
            for part in ("dev", "test")
        },
        "dev_tokens": corpus.part("dev").n_items,
        "rows": [rows[key] for key in sorted(rows)],
    }
    pos_answers.write(RESULTS, about)


def tagged_otherwise(corpus: Any, part: str) -> np.ndarray:
    """Which tokens of a part have a gold tag that their word never has in the training part, where
    it stands OFTEN times or more; letters' case aside."""
    known: dict[str, Counter[int]] = {}
    for word, tag in tagged_words(corpus.part("train")):
        known.setdefault(word, Counter())[tag] += 1
    seen = [(known.get(word, Counter()), tag) for word, tag in tagged_words(corpus.part(part))]
    return np.array([tags.total() >= OFTEN and not tags[tag] for tags, tag in seen])


def tagged_words(part: Any) -> Iterator[tuple[str, int]]:
    texts, focus = part.contents["text"].values.to_pylist(), part.focus
    spans = zip(part.content["text"], focus.start[:, 0], focus.stop[:, 0], strict=True)
    words = (texts[text][int(start) : int(stop)].lower() for text, start, stop in spans)
    return zip(words, label(part, "gold").tolist(), strict=True)


def row_key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row.get("network", ""), row["group"], row["method"]


def train(given: argparse.Namespace) -> None:
    """Carry out a stage, as far as there is time."""
    if given.stage == "run":
        run(given.out, given.processes, given.seconds, given.only)
    elif given.stage in ("adapt", "teach"):
        import pos_teachers

        adapted = given.stage == "adapt"
        pos_teachers.run(given.out, given.processes, given.seconds, adapted, given.small)
    else:
        import pos_paper

        pos_paper.run(given.out, given.processes, given.seconds, given.seeds, given.small)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", *WAYS_ON, "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("pos_tweets"))
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300, help="begin nothing more after")
    parser.add_argument("--seeds", type=int, default=5, help="of the paper's network")
    parser.add_argument(
        "--small", type=int, default=0, help="tweets of each part, for a trial; 5 at least"
    )
    parser.add_argument("--only", choices=tuple(GROUPS))
    given = parser.parse_args()
    if given.stage in ("run", *WAYS_ON):
        with shared_gpu():
            train(given)
    elif given.stage == "keep":
        keep(given.out)
    else:
        import pos_answers
        import pos_table

        print(pos_table.shown(pos_answers.read(RESULTS)))


if __name__ == "__main__":
    main()
