"""Zhang et al. (2025) on public panels of annotators, five seeds of every condition, on a GPU.

    make gpu-kit RUN=qumatl                              texts and MiniLM, and vectors of speech
    python benchmarks/gpu/kit.py qumatl --corpora ArMIS,faces_3dsk,labelme_crowds      the others
    python benchmarks/gpu/qumatl.py run OUT --seconds 480
    cp OUT/qumatl.tar.gz gpu-kit/qumatl/                 to resume on another machine
    python benchmarks/gpu/qumatl.py keep OUT/qumatl.tar.gz       into benchmarks/results
    python benchmarks/gpu/qumatl.py show
    dissensus papers qumatl --show benchmarks/results/qumatl.json      the same

The same fits as `dissensus papers qumatl`. OUT/qumatl.tar.gz holds all outcomes and is written
twice a minute, so a run that is killed loses little. A run resumes from that archive, or from one
in the kit. `keep` adds the conditions of the archive to the report, or replaces those of the same
name (`--alone`: writes a report of this archive only).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from paper_runs import Script, typed_settings

SCRIPT = Script("qumatl", __doc__)
FRAMES = "frames.npz"
LEFT_OUT = ("faces_3dsk", "ArMIS", "labelme_crowds")  # printed only; in a kit of their own


def pack(folder: Path, data: Path, names: list[str] | None = None) -> None:
    """The corpora; MiniLM for the texts; speech as vectors, in half precision; pictures as grids of
    vectors."""
    from kit import pack_minilm

    from dissensus_papers.qumatl import PAPER, SPEECH

    texts: list[str] = []
    for name, corpus in PAPER.read(data).items():
        if name not in names if names else name in LEFT_OUT:
            continue
        if name == SPEECH:
            corpus = PAPER.sources[name].prepared(corpus)
            values = corpus.contents["speech"].values
            vectors = values.flatten().flatten().to_numpy().astype(np.float16)
            lengths = np.diff(values.offsets.to_numpy())
            folder.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(folder / FRAMES, vectors=vectors, lengths=lengths)
            corpus = replace(corpus, contents={}, content={})
        elif "image" in {contents.kind for contents in corpus.contents.values()}:
            corpus = with_grids(corpus)
        for contents in corpus.contents.values():
            if contents.kind == "text":
                texts += contents.values.to_pylist()
        corpus.save(folder / "corpora" / name)
    pack_minilm(folder / "minilm", texts)
    SCRIPT.pack_commit(folder)


def with_grids(corpus: Any) -> Any:
    """Pictures as the vectors of their cells."""
    from dissensus.contents import Contents
    from dissensus.encoders import encodings

    ((role, encoding),) = encodings(corpus, "auto").items()
    store = encoding.store()
    vectors = np.split(np.asarray(store.vectors, np.float32), store.offsets[1:-1])
    contents, codes = Contents.distinct("features", vectors)
    return replace(corpus, contents={role: contents}, content={role: codes[encoding.content]})


def corpora_of(given: argparse.Namespace) -> Any:
    """The corpora of the kit; speech has its vectors back."""
    import pyarrow as pa

    from dissensus.contents import Contents
    from dissensus_papers.qumatl import SPEECH

    corpora = SCRIPT.corpora(items=given.items)
    if SPEECH not in corpora:
        return corpora
    frames = np.load(SCRIPT.kit / FRAMES)
    width = len(frames["vectors"]) // int(frames["lengths"].sum())
    flat = frames["vectors"].astype(np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(flat, width).cast(pa.list_(pa.float32()))
    offsets = np.append(0, np.cumsum(frames["lengths"])).astype(np.int32)
    speech = Contents("features", pa.ListArray.from_arrays(offsets, vectors))
    spoken = corpora[SPEECH]
    of_item = {name: code for code, name in enumerate(SCRIPT.corpora([SPEECH])[SPEECH].items)}
    content = {"speech": np.array([of_item[name] for name in spoken.items], np.int32)}
    return corpora | {SPEECH: replace(spoken, contents={"speech": speech}, content=content)}


def run(given: argparse.Namespace) -> None:
    corpora = corpora_of(given)
    for condition in SCRIPT.paper.named(given.conditions, tuple(corpora)):
        settings = minilm_of_kit(condition, corpora[condition.corpus]) + typed_settings(given)
        SCRIPT.run(given, corpora=corpora, conditions=[condition], settings=settings)


def minilm_of_kit(condition: Any, corpus: Any) -> list[tuple[str, str]]:
    """The setting that lets a condition read its texts, in the roles that it names."""
    if {contents.kind for contents in corpus.contents.values()} != {"text"}:
        return []
    folder, roles = SCRIPT.kit / "minilm", condition.settings.get("encoder", {})
    return [("encoder", ",".join(f"{role}={folder}" for role in roles) or str(folder))]


def main() -> None:
    SCRIPT.main(SCRIPT.options(seconds=480, processes=4, runs=None), run)


if __name__ == "__main__":
    main()
