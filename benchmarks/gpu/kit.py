"""Pack what a run on a GPU machine without a network needs into ./gpu-kit, at most 50 MiB.

    make gpu-kit RUN=lewidi2023        needs DISSENSUS_DATA
    python benchmarks/gpu/kit.py individual seedbert:snow2008-affect,HS-Brexit     of some corpora

A run is a module of this folder; its `pack(folder, data)` says what it needs: corpora in our
own form, and MiniLM in half precision with its vocabulary cut to their words. With
PYTHONPATH=src:papers/src:gpu-kit/libs, `python -m dissensus papers` runs there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

KIT = Path("gpu-kit")
LIMIT = 50 << 20  # bytes


def pack_minilm(folder: Path, texts: Iterable[str], source: Path | None = None) -> None:
    """MiniLM as a folder that transformers loads, with only the tokens of these texts.

    WordPiece takes the longest token that fits; all that were taken are kept, so that texts are
    cut into the same pieces as before.

    Args:
        source: a folder of MiniLM, which may be one of ours; left out, that of its package.
    """
    from transformers import AutoTokenizer

    if source is None:
        from dissensus.encoders.framework.pretrained import minilm_folder

        source = minilm_folder()
    tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    used = set(tokenizer.all_special_ids)
    for ids in tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]:
        used.update(ids)
    kept = np.array(sorted(used))
    folder.mkdir(parents=True)
    _write_vocabulary(source, folder, kept)
    weights = load_file(source / "model.safetensors")
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    weights[name] = weights[name][kept]
    half = {k: v.astype(np.float16) if v.dtype == np.float32 else v for k, v in weights.items()}
    save_file(half, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text())
    config["vocab_size"] = len(kept)
    (folder / "config.json").write_text(json.dumps(config))


def _write_vocabulary(source: Path, folder: Path, kept: np.ndarray) -> None:
    number = {int(old): new for new, old in enumerate(kept)}
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {w: number[i] for w, i in vocabulary.items() if i in number}
    for token in tokenizer["added_tokens"]:
        token["id"] = number[token["id"]]
    for token in tokenizer["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [number[i] for i in token["ids"]]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if (source / name).is_file():
            shutil.copy(source / name, folder / name)


def pack_command(folder: Path) -> None:
    """What lets `python -m dissensus papers` find the package of papers by PYTHONPATH alone:
    the entry points of papers/pyproject.toml, as if it were installed."""
    project = tomllib.loads(Path("papers/pyproject.toml").read_text())["project"]
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {where}" for name, where in entries.items())]
    folder = folder / "dissensus_papers-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: dissensus-papers\nVersion: 0\n")


def pooled(corpus: Any) -> Any:
    """The corpus with the mean vector of each content instead of the content, from the cache of
    features where it is there."""
    import pyarrow as pa

    from dissensus.contents import Contents
    from dissensus.encoders import encodings, mean_vectors

    contents = {}
    for role, encoding in encodings(corpus, "auto").items():
        vectors = mean_vectors(encoding.encoder, encoding.contents).vectors
        rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
        contents[role] = Contents("features", rows.cast(pa.list_(pa.float32())))
    return replace(corpus, contents=contents)


def run_module(name: str) -> ModuleType:
    """The run of this name."""
    path = Path(__file__).with_name(f"{name}.py")
    scripts = path.parent.glob("*.py")
    runs = sorted(p.stem for p in scripts if "\ndef pack(" in p.read_text(encoding="utf-8"))
    if name not in runs:
        sys.exit(f"no run {name!r}; there are {', '.join(runs)}")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", help="NAME, or NAME:CORPUS,CORPUS for some of a paper's")
    given = parser.parse_args()
    if not os.environ.get("DISSENSUS_DATA"):
        sys.exit("DISSENSUS_DATA is not set: the folder that contains the corpora")
    shutil.rmtree(KIT, ignore_errors=True)
    for text in given.runs:
        name, _, corpora = text.partition(":")
        some = [corpora.split(",")] if corpora else []
        run_module(name).pack(KIT / name, Path(os.environ["DISSENSUS_DATA"]), *some)
    pack_command(KIT / "libs")
    size = sum(path.stat().st_size for path in KIT.rglob("*") if path.is_file())
    print(f"{KIT}: {size / (1 << 20):.1f} MiB")
    if size > LIMIT:
        sys.exit(f"more than {LIMIT >> 20} MiB; pack less")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
