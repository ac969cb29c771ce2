"""Several processes at one training, as a user starts and stops them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from dissensus.training.checkpoint import STATE
from tests.cli.conftest import Run
from tests.crowds import feature_crowd, thinned

COMMAND = [sys.executable, "-P", "-m", "dissensus"]
SECONDS = 20  # within which everything has ended, on a busy machine


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    thinned(feature_crowd()).save(tmp_path / "crowd")
    return tmp_path / "crowd"


def typed(crowd: Path, model: Path, *more: str) -> list[str]:
    few = ["--encoder", "features", "--set", "training.device=cpu"]
    return ["train", str(crowd), "-o", str(model), *few, *more]


def assert_same_model(one: Path, two: Path) -> None:
    alone, together = (load_file(folder / "model.safetensors") for folder in (one, two))
    assert alone.keys() == together.keys()
    for name, value in alone.items():
        np.testing.assert_allclose(together[name], value, rtol=0, atol=2e-6, err_msg=name)


@pytest.mark.slow
def test_two_devices_write_one_model_and_say_everything_once(
    run: Run, crowd: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    few = ("--epochs", "2")
    output = run(*typed(crowd, one, *few)).err.replace(str(one), str(two))
    ended = subprocess.run(
        [*COMMAND, *typed(crowd, two, *few, "--devices", "2")], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", output)
    assert_same_model(one, two)
    assert not (tmp_path / "two.unfinished").exists()


@pytest.mark.slow
def test_the_users_own_line_of_torchrun(run: Run, crowd: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run(*typed(crowd, one))
    torchrun = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone"]
    line = [*torchrun, "--nproc-per-node", "2", "-m", "dissensus", *typed(crowd, two)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    ended = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("annotator-heads for q") == 1
    assert_same_model(one, two)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--question", "mood"), "Error: made-up: no question 'mood'; it has 'q'"),
        (("--set", "epochs"), "Error: --set must be name=value, found 'epochs'"),
        (
            ("--set", "training.learning_rate=1e30"),
            "Error: training diverged in epoch 1: the loss is nan; lower the learning rate (1e+30)",
        ),
    ],
)
def test_an_error_is_said_once(
    crowd: Path, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    ended = subprocess.run(
        [*COMMAND, *typed(crowd, tmp_path / "model", "--devices", "2", *more)],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert [line for line in ended.stderr.splitlines() if "training on" not in line] == [message]


def test_devices_within_torchrun_are_refused(
    run: Run, crowd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    ended = run(*typed(crowd, tmp_path / "model", "--devices", "4"))
    assert (ended.code, ended.err) == (
        1,
        "Error: --devices 4 and torchrun with 2 processes; use only one of them\n",
    )


class Begun:
    """A long training in two processes, under way."""

    def __init__(self, crowd: Path, model: Path, *, wait: bool = True) -> None:
        long = ("--set", "training.epochs=100000", "--set", "training.save_every=0.2")
        self.parent = subprocess.Popen(
            [*COMMAND, *typed(crowd, model, "--devices", "2", *long)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.unfinished = model.with_name(f"{model.name}.unfinished")
        pid = self.parent.pid
        self.children: list[str] = []
        while len(self.children) < 2 or (wait and not (self.unfinished / STATE).exists()):
            assert self.parent.poll() is None
            self.children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            time.sleep(0.05)

    def ended(self) -> tuple[int, list[str]]:
        """Exit code and lines, once everything has ended in time."""
        out, err = self.parent.communicate(timeout=SECONDS)
        last = time.monotonic() + SECONDS
        while any(Path(f"/proc/{child}").exists() for child in self.children):
            assert time.monotonic() < last, "a process is left"
            time.sleep(0.05)
        assert out == ""
        return self.parent.returncode, [line for line in err.splitlines() if "items" not in line]


@pytest.fixture
def begun(crowd: Path, tmp_path: Path) -> Begun:
    return Begun(crowd, tmp_path / "model")


WAYS: dict[str, Callable[[int], None]] = {
    "group": lambda pid: os.killpg(pid, signal.SIGINT),
    "parent": lambda pid: os.kill(pid, signal.SIGINT),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_all_with_one_line(begun: Begun, way: str) -> None:
    WAYS[way](begun.parent.pid)
    kept = f"checkpoint saved in {begun.unfinished}; resume with --resume"
    assert begun.ended() == (130, [f"Stopped; {kept}."])
    assert [path.name for path in begun.unfinished.iterdir()] == [STATE]


@pytest.mark.slow
def test_a_killed_process_ends_the_others_with_one_line(begun: Begun) -> None:
    os.kill(int(begun.children[1]), signal.SIGKILL)
    line = (
        "Error: process 2 of 2 was killed by signal 9, and the others were stopped; perhaps "
        "there was too little memory"
    )
    assert begun.ended() == (1, [line])


@pytest.mark.slow
def test_a_killed_parent_leaves_no_process_behind(begun: Begun) -> None:
    begun.parent.kill()
    assert begun.ended() == (-signal.SIGKILL, [])


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_ctrl_c_while_the_processes_begin(crowd: Path, tmp_path: Path, seconds: float) -> None:
    begun = Begun(crowd, tmp_path / "model", wait=False)
    time.sleep(seconds)  # while they load Python, or torch
    begun.parent.send_signal(signal.SIGINT)
    assert begun.ended() == (130, ["Stopped."])
