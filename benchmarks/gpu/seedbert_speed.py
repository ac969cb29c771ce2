"""The work of SeedBERT's Table 4 on a GPU: 225 networks of BERT-base's size, fine-tuned.

    python benchmarks/gpu/seedbert_speed.py run OUT            all, 45 at a time
    python benchmarks/gpu/seedbert_speed.py run OUT --small    the same in small, on any machine
    python benchmarks/gpu/seedbert_speed.py run OUT --profile  and where the time of one stack goes
    python benchmarks/gpu/seedbert_speed.py keep OUT           into benchmarks/results
    python benchmarks/gpu/seedbert_speed.py show               the table, from the kept results

500 items of 64 tokens in 25 folds, 400 of them learned from; dropout .1, batches of 16, 3 epochs,
Adam at 5e-6, all embeddings trained, weights and Adam's state in fp32, arithmetic in bf16: 25 folds
x (5 members + 4 baselines), all as `single`, since baselines differ in their last layer alone.
Weights and words are random: the arithmetic is the same. Steps are compiled before the clock runs.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

RESULTS = Path(__file__).parents[1] / "results" / "seedbert_speed.json"
FOLDER = Path("/tmp/seedbert-speed")
FOLDS = 25
SIZES: dict[str, int] = {"layers": 12, "width": 768, "words": 30522, "items": 500, "tokens": 64}
SMALL: dict[str, int] = {"layers": 2, "width": 64, "words": 300, "items": 60, "tokens": 12}
EACH = 9  # trainings of every fold: 5 members + 4 baselines
BANDWIDTH, ARITHMETIC = 4.8e12, 989e12  # bytes and bf16 operations a second, of an H200's sheet


def bert(sizes: dict[str, int]) -> str:
    """A folder with a random BERT of this size and a vocabulary of made-up words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = FOLDER / "-".join(str(n) for n in sizes.values())
    if (folder / "config.json").exists():
        return str(folder)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = marks + [f"w{n}" for n in range(sizes["words"] - len(marks))]
    plain = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]")
    )
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(
        tokenizer_object=plain,
        **{f"{mark[1:-1].lower()}_token": mark for mark in marks},
        model_max_length=512,
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=sizes["words"],
        hidden_size=sizes["width"],
        num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["width"] // 64 or 1,
        intermediate_size=4 * sizes["width"],
    )
    model: Any = BertModel
    model(config).save_pretrained(folder)
    return str(folder)


def texts(sizes: dict[str, int]) -> Any:
    """Random words with a label of six, as many as there are emotions."""
    from dissensus import Annotations, Corpus, Names, Nominal
    from dissensus.contents import Contents

    generator = np.random.default_rng(0)
    n = sizes["items"]
    drawn = generator.integers(0, sizes["words"] - 5, (n, sizes["tokens"] - 2))
    shown = Contents.distinct("text", [" ".join(f"w{k}" for k in row) for row in drawn])
    items = Names.range(n)
    label = generator.integers(0, 6, n)
    asked = Annotations.from_arrays(
        np.arange(n), np.zeros(n, np.int64), label, Nominal(tuple("abcdef")), items=items
    )
    return Corpus.build("made up", items, {"emotion": asked}, contents={"text": shown})


def single(encoder: str, compile: bool) -> Any:
    from dissensus.methods import Single
    from dissensus_papers.seedbert.protocol import PAPER

    training = replace(
        PAPER, precision="bf16" if torch.cuda.is_available() else "fp32", compile=compile
    )
    return Single(encoder=encoder, tune="all", dropout=0.1, training=training)


def folds_of(corpus: Any) -> list[Any]:
    """Five times five folds: what each learns from."""
    at = np.arange(corpus.n_items)
    found = []
    for time_ in range(5):
        part = np.random.default_rng(time_).permutation(corpus.n_items) % 5
        found += [corpus.select(items=at[part != fold]) for fold in range(5)]
    return found


def begun(
    method: Any, folds: list[Any], which: Sequence[int], laid_out: dict[Any, Any]
) -> list[Any]:
    """Trainings about to begin, by number: one member, or baseline, of every fold comes after
    another."""
    runs = []
    for number in which:
        member, fold = divmod(number, len(folds))
        made = replace(method, init_seed=member, training=replace(method.training, seed=fold))
        made.begin_fit(folds[fold], "emotion", None)
        runs.append(made.trainer(folds[fold], None, laid_out))
    return runs


def waited(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and how long it took until the GPU had done it."""
    begin = time.perf_counter()
    found = work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return found, time.perf_counter() - begin


def stacked(method: Any, folds: list[Any], n: int, at_once: int) -> dict[str, Any]:
    """So many trainings, some side by side, one stack after another; the one before the first
    compiles."""
    from dissensus.training.stacking.stack import Stack

    laid_out: dict[Any, Any] = {}
    seconds: dict[str, list[float]] = {"beginning": [], "training": []}
    losses: list[list[float]] = []
    for first in range(-at_once, n, at_once):
        which = range(max(first, 0), max(first, 0) + at_once)
        runs, begin = waited(partial(begun, method, folds, which, laid_out))
        stack, gather = waited(partial(Stack, runs))
        _, train = waited(stack.train)
        print(f"from {first}: {begin:.2f} + {gather:.2f} + {train:.2f} s", flush=True)
        if first >= 0:
            seconds["beginning"].append(begin)
            seconds["training"].append(gather + train)
            losses += [run.log.train for run in runs]
        del stack, runs
    return {"seconds": seconds, "losses": losses, "at once": at_once}


def one_by_one(method: Any, folds: list[Any], n: int) -> dict[str, Any]:
    """Some of the same trainings in the plain loop."""
    laid_out: dict[Any, Any] = {}
    begun(method, folds, [0], laid_out)[0].train()
    runs = begun(method, folds, range(n), laid_out)
    seconds = [waited(run.train)[1] for run in runs]
    return {"seconds": seconds, "losses": [run.log.train for run in runs]}


def profiled(method: Any, folds: list[Any], at_once: int, out: Path) -> None:
    """Write where the time of a stack that is compiled already goes, kernel by kernel."""
    from torch.profiler import profile

    from dissensus.training.stacking.stack import Stack

    stack = Stack(begun(method, folds, range(at_once), {}))
    stack.train_epoch()
    with profile() as found:
        waited(stack.train_epoch)
    by = "cuda_time_total" if torch.cuda.is_available() else "cpu_time_total"
    table = found.key_averages().table(sort_by=by, row_limit=60, max_name_column_width=90)
    (out / "profile.txt").write_text(table, encoding="utf-8")


def bare(encoder: str, sizes: dict[str, int], steps: int) -> float:
    """Seconds a step of Hugging Face's own model in a plain torch loop, fused Adam, autocast."""
    from transformers import BertForSequenceClassification

    of_bert: Any = BertForSequenceClassification
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = (
        of_bert.from_pretrained(encoder, num_labels=6, trust_remote_code=False).to(device).train()
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-6, fused=True)
    words = torch.randint(5, sizes["words"], (16, sizes["tokens"]), device=device)
    labels = torch.randint(0, 6, (16,), device=device)

    def step() -> Any:
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(input_ids=words, labels=labels).loss
        loss.backward()
        optimiser.step()
        return optimiser.zero_grad()

    waited(lambda: [step() for _ in range(5)])
    return waited(lambda: [step() for _ in range(steps)])[1] / steps


def floor(sizes: dict[str, int]) -> dict[str, float]:
    """Seconds that arithmetic and memory need, at the least, for all 225."""
    width, tokens = sizes["width"], sizes["tokens"]
    in_layers = sizes["layers"] * 12 * width * width
    weights = in_layers + (sizes["words"] + 512 + 2) * width
    steps = EACH * FOLDS * 3 * math.ceil(sizes["items"] * 4 / 5 / 16)
    attention = sizes["layers"] * 2 * 2 * tokens * width  # of a token, both products
    operations = 3 * 16 * tokens * (2 * in_layers + attention)
    # read weight, gradient (bf16) and two moments, write three and a copy in bf16
    moved = weights * (4 + 2 + 4 + 4 + 4 + 4 + 4 + 2) + weights * 2  # the gradient is written too
    return {
        "arithmetic": steps * operations / ARITHMETIC,
        "arithmetic at 70 %": steps * operations / ARITHMETIC / 0.7,
        "memory": steps * moved / BANDWIDTH,
        "memory at 90 %": steps * moved / BANDWIDTH / 0.9,
    }


def run(out: Path, small: bool, at_once: int, profile: bool) -> None:
    sizes = SMALL if small else SIZES
    encoder = bert(sizes)
    corpus = texts(sizes)
    folds = folds_of(corpus)[: 3 if small else FOLDS]
    about: dict[str, Any] = {
        "command": "python benchmarks/gpu/seedbert_speed.py run OUT",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "seeds": "of order and dropout 0 to 24, of last layers 0 to 8",
        "sizes": sizes,
        "floor": floor(sizes),
    }
    out.mkdir(parents=True, exist_ok=True)
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("stacked", lambda: stacked(single(encoder, True), folds, EACH * len(folds), at_once)),
        ("plain", lambda: one_by_one(single(encoder, False), folds, 2)),
        ("bare step", lambda: bare(encoder, sizes, 50)),
    ]
    for name, work in steps:
        about[name] = work()
        (out / "seedbert_speed.json").write_text(json.dumps(about, indent=1) + "\n")
    print(told(about))
    if profile:
        profiled(single(encoder, True), folds, at_once, out)


def machine() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine()


def told(about: dict[str, Any]) -> str:
    """What was measured, in lines."""
    found = about["stacked"]
    train, begin = (np.array(found["seconds"][name]) for name in ("training", "beginning"))
    n = len(found["losses"])
    steps = 3 * math.ceil(about["sizes"]["items"] * 4 / 5 / 16)
    plain = float(np.mean(about["plain"]["seconds"]))
    bare = about["bare step"] * steps * n
    alone, together = about["plain"]["losses"], found["losses"][: len(about["plain"]["losses"])]
    lines = [
        f"{n} trainings on {about['machine']}, {found['at once']} side by side, compiled before",
        f"  side by side                      {train.sum():8.1f} s",
        f"  making and loading the networks   {begin.sum():8.1f} s",
        f"  our loop, one by one              {plain * n:8.1f} s   from {len(alone)} of them",
        f"  bare torch loop, one by one       {bare:8.1f} s   from 50 steps",
        f"  last losses alone {np.round([row[-1] for row in alone], 4).tolist()}",
        f"  side by side      {np.round([row[-1] for row in together], 4).tolist()}",
        "  floor, of all 225: "
        + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in about["floor"].items()),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("seedbert_speed"))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--at-once", type=int, default=45)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    if given.stage == "run":
        run(given.out, given.small, 9 if given.small else given.at_once, given.profile)
    elif given.stage == "keep":
        RESULTS.write_text((given.out / "seedbert_speed.json").read_text())
    else:
        print(told(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
