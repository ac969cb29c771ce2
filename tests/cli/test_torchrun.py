"""Several processes of torchrun at one training."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.cli.conftest import Run
from tests.crowds import feature_crowd, thinned

ROOT = Path(__file__).parent.parent.parent


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


def torchrun(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "torch.distributed.run", "--standalone"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    return subprocess.run(
        [*command, "--nproc-per-node", "2", "-m", "dissensus", *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )


@pytest.mark.slow
def test_two_processes_write_one_model(run: Run, crowd: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run(*typed(crowd, one))
    ended = torchrun(typed(crowd, two))
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("annotator-heads for q") == 1
    assert_same_model(one, two)
    assert not (tmp_path / "two.unfinished").exists()


@pytest.mark.slow
def test_the_script_for_slurm_with_two_nodes_that_are_this_machine(
    crowd: Path, tmp_path: Path, run: Run
) -> None:
    """Two programs stand in for Slurm: one names the first node, one runs a command on each."""
    page = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    script = page.split("```bash\n")[1].split("```")[0]
    few = "--set training.epochs=2 --set training.device=cpu"
    script = script.replace("corpus/", "crowd").replace("--fine-tune", few)
    programs = {"scontrol": "echo localhost", "srun": '"$@" & "$@" & wait -n && wait -n'}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "job").write_text(script, encoding="utf-8")
    slurm = {"SLURM_JOB_NODELIST": "here", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_ID": "7"}
    path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | slurm | {"PATH": path, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        ["bash", "job"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    alone = tmp_path / "alone"
    run("train", str(crowd), "-o", str(alone), "--method", "annotator-heads", *few.split())
    assert_same_model(alone, tmp_path / "model")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--question", "mood"), "Error: made-up: no question 'mood'; it has 'q'"),
        (
            ("--set", "training.learning_rate=1e30"),
            "Error: training diverged in epoch 1: the loss is nan; lower the learning rate (1e+30)",
        ),
    ],
)
def test_an_error_is_said_once(
    crowd: Path, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    ended = torchrun(typed(crowd, tmp_path / "model", *more))
    assert ended.returncode == 1
    assert ended.stderr.splitlines().count(message) == 1
