"""A training that was stopped goes on as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save

from dissensus.errors import CheckpointError, ModelError
from dissensus.methods import AnnotatorHeads
from dissensus.methods.framework.base import Method
from dissensus.training import Training
from dissensus.training.checkpoint import STATE, Checkpoint
from dissensus.training.loop import Trainer
from tests.crowds import feature_crowd


def _method(**settings: object) -> AnnotatorHeads:
    training = Training(epochs=4, batch_size=8, save_every=0, **settings)  # type: ignore[arg-type]
    return AnnotatorHeads(encoder="features", training=training)


def assert_equal(method: Method, other: Method) -> None:
    for name, weights in method.weights().items():
        np.testing.assert_array_equal(other.weights()[name], weights, err_msg=name)


@contextmanager
def stopped_after(n: int, of: str = "train_batch") -> Iterator[None]:
    """Ctrl-C in the middle of the n-th batch (or of the n-th time that an epoch is judged)."""
    done = getattr(Trainer, of)
    seen = iter(range(1, 10_000))

    def interrupted(run: Trainer, *given: object) -> None:
        if next(seen) == n:
            signal.raise_signal(signal.SIGINT)
        done(run, *given)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trainer, of, interrupted)
        yield


STOPS = (1, 2, 6, 9, 24)
STOPPED: tuple[dict[str, Any], ...] = (
    {"optimiser": "adamw"},
    {"optimiser": "adam"},
    {"optimiser": "radam"},
    {"optimiser": "sgd"},
    {"averaged": 0.8},
)


@pytest.mark.parametrize(
    ("n", "settings"),
    [
        pytest.param(n, settings, marks=() if quick else pytest.mark.slow)
        for n in STOPS
        for settings in STOPPED
        for quick in (n == 9 or settings == STOPPED[0],)
    ],
    ids=str,
)
def test_stopped_anywhere_the_end_is_the_same_to_the_bit(
    tmp_path: Path, n: int, settings: dict[str, Any]
) -> None:
    crowd = feature_crowd()
    train, validation = crowd.split(0.2, seed=0)
    whole = _method(**settings).fit(train, validation=validation)
    with stopped_after(n):
        _method(**settings).fit(train, validation=validation, checkpoint=tmp_path / "c")
    assert (tmp_path / "c" / STATE).is_file()
    resumed = _method(**settings)
    resumed.fit(train, validation=validation, checkpoint=tmp_path / "c")
    assert_equal(whole, resumed)
    assert resumed.log_.train == whole.log_.train
    assert resumed.log_.validation == whole.log_.validation
    resumed.forget_checkpoint()
    assert not (tmp_path / "c").exists()


def test_stopped_while_an_epoch_is_judged(tmp_path: Path) -> None:
    train, validation = feature_crowd().split(0.2, seed=0)
    whole = _method().fit(train, validation=validation)
    with stopped_after(2, "validate"):
        _method().fit(train, validation=validation, checkpoint=tmp_path / "c")
    resumed = _method().fit(train, validation=validation, checkpoint=tmp_path / "c")
    assert resumed.log_.validation == whole.log_.validation and len(whole.log_.validation) == 4
    resumed.save(tmp_path / "model")
    assert_equal(whole, resumed)


def test_a_second_ctrl_c_does_not_wait_and_spoils_no_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = feature_crowd()
    whole = _method().fit(crowd)
    done = Trainer.train_batch
    seen = iter(range(10_000))

    def impatient(run: Trainer, cut: Any) -> None:
        if next(seen) == 9:
            run.step += 1  # half made
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        done(run, cut)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_batch", impatient)
        with pytest.raises(KeyboardInterrupt):
            _method().fit(crowd, checkpoint=tmp_path / "c")
    resumed = _method().fit(crowd, checkpoint=tmp_path / "c")
    assert_equal(whole, resumed)


def test_a_state_of_another_training_is_refused(tmp_path: Path) -> None:
    crowd = feature_crowd()
    with stopped_after(3):
        _method().fit(crowd, checkpoint=tmp_path / "c")
    message = "c: the checkpoint of a training with other data or settings; use the same ones to "
    with pytest.raises(ModelError, match=message):
        _method(learning_rate=0.1).fit(crowd, checkpoint=tmp_path / "c")
    with pytest.raises(ModelError, match=message):
        _method().fit(feature_crowd(seed=5), checkpoint=tmp_path / "c")
    other = feature_crowd()
    other.content["x"][0] = 5  # the same answers to something else
    with pytest.raises(ModelError, match=message):
        _method().fit(other, checkpoint=tmp_path / "c")


def test_a_flipped_byte_of_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "c", "this")
    tensors = {"a": torch.arange(3), "b": torch.ones(2, 2).bfloat16(), "c": torch.tensor(1.5)}
    kept.save(tensors, {"epoch": 1})
    whole = kept.path.read_bytes()
    assert kept.read() is not None
    length = 8 + int.from_bytes(whole[:8], "little")
    padding = range(len(whole[:length].rstrip()), length)
    for at in set(range(len(whole))) - set(padding):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        kept.path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="remove .* train again"):
            kept.read()
    damaged = bytearray(whole)
    damaged[-1] ^= 1
    kept.path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match=r"tensors: damaged \(its checksum does not"):
        kept.read()


@pytest.mark.parametrize("change", ["state", "tensor"])
def test_a_checkpoint_with_other_content_is_refused_in_one_line(
    change: str, tmp_path: Path
) -> None:
    corpus = feature_crowd()
    _method().fit(corpus, checkpoint=tmp_path / "c")
    with safe_open(tmp_path / "c" / STATE, framework="pt") as file:
        facts = file.metadata()
    kept = Checkpoint(tmp_path / "c", facts["of"])
    saved = kept.read()
    assert saved is not None
    tensors, state = saved
    if change == "state":
        state = {"epoch": "two"}
    else:
        tensors["random.cpu"] = torch.zeros_like(tensors["random.cpu"])
    kept.save(tensors, state)
    with pytest.raises(CheckpointError, match=r"c: a damaged checkpoint \(.*\); remove it and"):
        _method().fit(corpus, checkpoint=tmp_path / "c")
    kept.path.write_bytes(save(tensors, metadata=facts | {"format": "1"}))
    with pytest.raises(CheckpointError, match="saved by another version of dissensus; remove"):
        kept.read()
    kept.path.write_bytes(kept.path.read_bytes()[:-5])
    with pytest.raises(ModelError, match=r"state.safetensors: cannot be read \(.*\); remove "):
        kept.read()


SCRIPT = """
import sys, torch
from dissensus.methods import AnnotatorHeads
from dissensus.training import Training
from tests.crowds import feature_crowd
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
training = Training(epochs=20, batch_size=4, save_every=0, device="cpu")
method = AnnotatorHeads(encoder="features", training=training)
method.fit(feature_crowd(n_items=80), checkpoint=sys.argv[1])
method.save(sys.argv[2])
"""


@pytest.mark.slow
def test_killed_in_the_middle_of_an_epoch_it_ends_with_the_same_weights(tmp_path: Path) -> None:
    """Real processes, SIGKILL, one thread, deterministic algorithms."""
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)}

    def start(checkpoint: str, model: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / checkpoint), str(tmp_path / model)]
        return subprocess.Popen(command, cwd=root, env=environment)

    assert start("a", "undisturbed").wait() == 0
    for _ in range(2):
        process = start("b", "killed")
        state = tmp_path / "b" / STATE
        seen = state.stat().st_mtime if state.exists() else 0.0
        while process.poll() is None and (not state.exists() or state.stat().st_mtime == seen):
            time.sleep(0.01)
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert start("b", "killed").wait() == 0
    undisturbed = load_file(tmp_path / "undisturbed" / "model.safetensors")
    killed = load_file(tmp_path / "killed" / "model.safetensors")
    assert undisturbed.keys() == killed.keys()
    for name, weights in undisturbed.items():
        assert torch.equal(weights, killed[name]), name
