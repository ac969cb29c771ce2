"""Two processes, or three, end where one does: in the same weights."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from dissensus import Annotations, Nominal
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads, Bayesian, LabelAndUncertainty, Single
from dissensus.networks.noise import drawing, dropped, positions_in_batch
from dissensus.training import Batch, Loss, Outputs, Training, sparse_tables
from dissensus.training.checkpoint import STATE, Checkpoint
from dissensus.training.examples import batch_indices
from dissensus.training.loop import Trainer
from dissensus.training.processes import Processes, current_processes, joined
from dissensus.training.validation import Validation, mean_loss
from tests.crowds import feature_crowd, thinned
from tests.tiny import WORDS, tiny_bert
from tests.training.test_stack import run_of

ROOT = Path(__file__).parents[2]
TRAINING = Training(epochs=4, batch_size=8, learning_rate=0.02, device="cpu")  # 20 steps


def _crowd(kind: str) -> Corpus:
    """33 items, so that the last batch has one; from no answer to four each."""
    whole = thinned(feature_crowd(kind, n_items=40, seed=2))
    answered = np.flatnonzero(whole["q"].per_item() > 0)
    assert len(answered) >= 33 and len(set(whole["q"].per_item().tolist())) > 3
    return whole.select(items=np.isin(np.arange(40), answered[:33]))


def _concordance(outputs: Outputs, batch: Batch) -> Tensor:
    """1 - CCC of all items of a batch."""
    items, target = outputs.items["q"][:, 0], batch.targets["q"]
    apart = (items.mean() - target.mean()) ** 2
    together = ((items - items.mean()) * (target - target.mean())).mean()
    spread = items.var(correction=0) + target.var(correction=0)
    return 1 - 2 * together / (spread + apart + 1e-6)


def _annotator_means(outputs: Outputs, batch: Batch) -> Tensor:
    """Every annotator's mean squared error, and the mean of that over annotators."""
    squared = (outputs.rows["q"][:, 0] - batch.rows.answer["q"]) ** 2
    empty = squared.new_zeros(len(batch.annotators))
    sums = empty.index_add(0, batch.rows.annotator, squared)
    return (sums / empty.index_add(0, batch.rows.annotator, torch.ones_like(squared))).mean()


def _heads(kind: str = "nominal", training: Training = TRAINING) -> Trainer:
    method = AnnotatorHeads("features", hidden=(6,), dropout=0.4, training=training)
    return run_of(method, _crowd(kind))


def _single(training: Training = TRAINING) -> Trainer:
    method = Single("features", hidden=(6,), dropout=0.4, training=training)
    return run_of(method, _crowd("interval"))


def _with_losses(run: Trainer, *losses: Loss) -> Trainer:
    return Trainer(run.network, losses, run.examples, run.training, run.validation, run.learned)


def _judged() -> Trainer:
    run = _heads("ordinal", replace(TRAINING, epochs=9, schedule="plateau", plateau=1, patience=2))
    judge = Validation(
        "loss", lambda: mean_loss(run.network, run.losses, run.examples, run.training), True
    )
    return Trainer(run.network, run.losses, run.examples, run.training, judge, run.learned)


def _interleaved() -> Trainer:
    """Each loss has a head of its own, which the other's step leaves alone."""
    training = replace(TRAINING, losses="interleaved", epochs=2)
    return run_of(LabelAndUncertainty("features", training=training), _crowd("nominal"))


def _by_rows() -> Trainer:
    """Only the batch's rows of the heads are stepped, and only their gradients summed."""
    before, sparse_tables.LARGE = sparse_tables.LARGE, 1
    try:
        run = _heads("interval", replace(TRAINING, weight_decay=0.1))
    finally:
        sparse_tables.LARGE = before
    assert run.sparse_tables is not None and len(run.sparse_tables.tables) == 2
    return run


def _bayesian() -> Trainer:
    """The cost of the weights is no item's own: each process has a part of it."""
    method = Bayesian("features", hidden=(6,), passes=3, training=TRAINING)
    return run_of(method, _crowd("nominal"))


CASES: dict[str, Callable[[], Trainer]] = {
    "rows": _heads,
    "multi-label": lambda: _heads("multi-label", replace(TRAINING, optimiser="sgd", epochs=2)),
    "concordance": lambda: _with_losses(_single(), Loss("q", "batch", _concordance)),
    "means": lambda: _with_losses(_heads("interval"), Loss("q", "batch", _annotator_means)),
    "both": lambda: _with_losses(run := _single(), *run.losses, Loss("c", "batch", _concordance)),
    "judged": _judged,
    "by rows": _by_rows,
    "interleaved": _interleaved,
    "bayesian": _bayesian,
}


def _tuned() -> Trainer:
    """A tiny BERT that learns too; most texts occur several times, in several batches' parts."""
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(WORDS[5:], size=n)) for n in (1, 2, 3, 4, 5, 6, 7)]
    shown = generator.integers(7, size=21)
    rows = np.repeat(np.arange(21), 2)
    answers = generator.integers(2, size=42)
    labels = Annotations.from_arrays(rows, np.tile([0, 1], 21), answers, Nominal(("no", "yes")))
    contents = {"text": Contents.distinct("text", [texts[code] for code in shown])}
    corpus = Corpus.build("texts", labels.items, {"q": labels}, contents=contents)
    training = Training(epochs=2, batch_size=5, encoder_learning_rate=0.01, device="cpu")
    method = AnnotatorHeads(os.environ["TINY"], tune="all", training=training)
    return run_of(method, corpus)


def run_weights(run: Trainer) -> dict[str, np.ndarray]:
    return {name: value.numpy().copy() for name, value in run.network.state_dict().items()}


def _figures(run: Trainer) -> dict[str, np.ndarray]:
    log = run.train()
    told = {"train": log.train, "validation": log.validation, "rate": log.rate}
    return run_weights(run) | {f"log.{name}": np.array(value) for name, value in told.items()}


SCRIPT = """
import sys
import numpy as np, torch
from dissensus.training.processes import joined
from tests.training import test_processes as tests
torch.set_num_threads(1)
with joined() as processes:
    for name in sys.argv[2:]:
        figures = tests._figures((tests.CASES | {"tuned": tests._tuned})[name]())
        np.savez(f"{sys.argv[1]}/{name}-{processes.rank}.npz", **figures)
"""


def in_processes(n: int, script: str, *arguments: object) -> list[subprocess.CompletedProcess[str]]:
    """How n processes ended that torchrun could have started."""
    with socket.socket() as result:
        result.bind(("127.0.0.1", 0))
        port = result.getsockname()[1]
    started = []
    for rank in range(n):
        ours = {"RANK": rank, "WORLD_SIZE": n, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        ours |= {"PYTHONPATH": path, "TORCH_CPP_LOG_LEVEL": "ERROR"}
        environment = os.environ | {k: str(v) for k, v in ours.items()}
        command = [sys.executable, "-c", script, *map(str, arguments)]
        started.append(
            subprocess.Popen(command, env=environment, stdout=-1, stderr=-1, text=True, cwd=ROOT)
        )
    outputs = [process.communicate(timeout=500) for process in started]
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *of)
        for process, of in zip(started, outputs, strict=True)
    ]


def _assert_same(folder: Path, n: int, cases: list[str]) -> None:
    for ended in in_processes(n, SCRIPT, folder, *cases):
        assert (ended.returncode, ended.stderr) == (0, "")
    for name in cases:
        alone = _figures((CASES | {"tuned": _tuned})[name]())
        for rank in range(n):
            together = np.load(folder / f"{name}-{rank}.npz")
            assert set(together) == set(alone)
            for part, value in alone.items():
                says = f"{name}: {part} in process {rank}"
                np.testing.assert_allclose(together[part], value, rtol=0, atol=1e-8, err_msg=says)


@pytest.mark.slow
def test_two_processes_end_where_one_does(tmp_path: Path) -> None:
    """20 steps in float64: ragged rows, CCC, per-annotator means, dropout, a batch of one item."""
    _assert_same(tmp_path, 2, list(CASES))


@pytest.mark.slow
def test_three_processes_and_an_encoder_that_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masks of texts that several processes show are those of one; two parts may be empty."""
    monkeypatch.setenv("TINY", tiny_bert(tmp_path / "bert", dropout=0.3))
    _assert_same(tmp_path, 3, ["rows", "means", "tuned"])


STOPPED = """
import signal, sys
from pathlib import Path
import numpy as np
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.loop import Trainer
from dissensus.training.processes import joined
from tests.training.test_processes import _judged, run_weights
folder, stop_at, out = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
done, seen = Trainer.train_batch, iter(range(1, 10_000))
with joined() as processes:
    def interrupted(run, cut):
        if next(seen) == stop_at and not processes.is_first:
            signal.raise_signal(signal.SIGINT)  # heard by one, it stops both after the same batch
        done(run, cut)
    Trainer.train_batch = interrupted
    run = _judged()
    try:
        run.train(Checkpoint(folder, "this", 0))
        np.savez(f"{out}-{processes.rank}", **run_weights(run))
    except KeyboardInterrupt:
        print(run.epoch, run.batches_done)
"""


@pytest.mark.slow
def test_stopped_in_one_process_both_stop_and_any_number_goes_on(tmp_path: Path) -> None:
    whole, alone = _judged(), _judged()
    whole.train()
    for ended in in_processes(2, STOPPED, tmp_path / "c", 7, tmp_path / "two"):
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1 2\n", "")
    assert [path.name for path in (tmp_path / "c").iterdir()] == [STATE]
    alone.train(Checkpoint(tmp_path / "c", "this", 1e9))
    for ended in in_processes(2, STOPPED, tmp_path / "c", 10_000, tmp_path / "two"):
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    for name, value in run_weights(whole).items():
        np.testing.assert_allclose(run_weights(alone)[name], value, rtol=0, atol=1e-8)
        for rank in range(2):
            together = np.load(tmp_path / f"two-{rank}.npz")[name]
            np.testing.assert_allclose(together, value, rtol=0, atol=1e-8, err_msg=name)


APART = """
import sys
from pathlib import Path
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.processes import joined
from tests.training.test_processes import _judged
with joined() as processes:
    folder = Path(sys.argv[1]) if processes.is_first else Path(sys.argv[1], "of another machine")
    _judged().train(Checkpoint(folder, "this", 1e9))
"""


@pytest.mark.slow
def test_processes_that_do_not_see_the_same_state_are_refused(tmp_path: Path) -> None:
    run, checkpoint = _judged(), Checkpoint(tmp_path, "this", 0)
    run.train_batch(next(batch_indices(run.examples, run.learned, run.training, run.order)))
    run.batches_done = 1
    run.save(checkpoint)
    ended = in_processes(2, APART, tmp_path)
    assert sorted(one.returncode for one in ended) == [1, 3]
    (loud,) = [one.stderr for one in ended if one.returncode == 1]
    says = (
        ": not every process of this training reads the same checkpoint there; use a folder that "
        "all of them can read, or remove it and train again\n"
    )
    assert loud.endswith(says)


ONCE = """
import sys
import torch
from dissensus import Corpus
from dissensus.encoders.text import TextEncoder
from dissensus.errors import ModelError
from dissensus.methods import Single
from dissensus.training import Training
from dissensus.training.processes import joined
encode = TextEncoder.encode
def told(self, contents):
    print("encoded", len(contents))
    return encode(self, contents)
TextEncoder.encode = told
with joined() as processes:
    torch.manual_seed(processes.rank)
    pictures = torch.nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last)
    processes.share_weights(pictures)
    print(pictures.weight.sum().item())
    training = Training(epochs=1, precision="bf16", device="cpu")
    corpus = Corpus.load(sys.argv[1])
    fitted = Single(sys.argv[2], training=training).fit(corpus)
    if processes.is_first:  # it predicts without the others
        print(len(fitted.predict(corpus)["q"].distribution), "predicted")
    raise ModelError(f"said by one of {processes.n}")
"""


@pytest.mark.slow
def test_the_first_gives_its_weights_and_encodes_and_one_raises_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "cache"))
    rows = [("1", "ann", "a"), ("2", "ann", "b"), ("3", "bob", "a"), ("4", "bob", "b")]
    answers = Annotations.from_rows(rows)
    contents = {"text": Contents.distinct("text", ["so good", "bad", "so bad", "good !"])}
    Corpus.build("texts", answers.items, {"q": answers}, contents=contents).save(
        tmp_path / "corpus"
    )
    bert = tiny_bert(tmp_path / "bert")
    first, second = in_processes(2, ONCE, tmp_path / "corpus", bert)
    assert (
        first.stdout == f"{second.stdout}encoded 4\n4 predicted\n"
        and len(second.stdout.split()) == 1
    )
    assert sorted([first.returncode, second.returncode]) == [1, 3]
    (loud,) = [ended.stderr for ended in (first, second) if ended.returncode == 1]
    (silent,) = [ended.stderr for ended in (first, second) if ended.returncode == 3]
    assert loud.endswith("ModelError: said by one of 2\n") and silent == ""


def test_without_others_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("RANK", "0")
    with joined() as processes:
        assert processes == current_processes() == Processes()


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    Processes(2).check(torch.device("cpu"))
    Processes(1).check(torch.device("cuda"))
    message = (
        "^4 processes need 4 GPUs, torch sees 1; start fewer, or train on the CPU with "
        "--set training.device=cpu$"
    )
    with pytest.raises(ModelError, match=message):
        Processes(4).check(torch.device("cuda"))


def test_dropout_of_a_part_is_that_of_the_whole() -> None:
    ones = torch.ones(10, 3, 8)
    with drawing(7):
        whole = dropped(ones, 0.5, 1)
        with positions_in_batch(torch.tensor([2, 7, 9])):
            part = dropped(ones[:3], 0.5, 1)
            pairs = dropped(ones[:6], 0.5, 1)  # two things for each, as frames of clips
            with pytest.raises(
                RuntimeError, match="dropout of 4 entries in a part of a batch with 3; "
            ):
                dropped(ones[:4], 0.5, 1)
        every_second = dropped(torch.ones(20, 3, 8), 0.5, 1)
    assert torch.equal(part, whole[[2, 7, 9]])
    assert torch.equal(pairs, every_second[[4, 5, 14, 15, 18, 19]])
