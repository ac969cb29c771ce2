"""Several processes on one GPU at the same time.

python benchmarks/gpu/sharing.py "COMMAND" "COMMAND"      these commands, until all have ended
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

FOLDERS = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")


@contextmanager
def shared_gpu() -> Iterator[None]:
    """Within the block processes that are started use the GPU at the same time, if the service
    for it is there and works; without it they take turns."""
    control = shutil.which("nvidia-cuda-mps-control")
    if FOLDERS[0] in os.environ:  # a process that started this one shares it already
        yield
        return
    if control is None:
        print("no nvidia-cuda-mps-control: processes take turns", flush=True)
        yield
        return
    folder = tempfile.mkdtemp()
    os.environ |= dict.fromkeys(FOLDERS, folder)
    probe = [sys.executable, "-c", "import torch; torch.zeros(1, device='cuda').item()"]
    try:
        subprocess.run([control, "-d"], check=True, timeout=20, capture_output=True)
        subprocess.run(probe, check=True, timeout=60, capture_output=True)
        print("processes share the GPU (MPS)", flush=True)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"no MPS: {error}", flush=True)
        _stop(control)
    try:
        yield
    finally:
        _stop(control)


def _stop(control: str) -> None:
    if FOLDERS[0] in os.environ:
        try:
            subprocess.run([control], input=b"quit\n", timeout=20, check=False, capture_output=True)
        except subprocess.TimeoutExpired:
            print("MPS did not end within 20 s", flush=True)
    for name in FOLDERS:
        os.environ.pop(name, None)


if __name__ == "__main__":
    with shared_gpu():
        started = [subprocess.Popen(command, shell=True) for command in sys.argv[1:]]
        sys.exit(max(abs(process.wait()) for process in started))
