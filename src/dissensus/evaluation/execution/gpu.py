"""A GPU that a process can no longer use: every further computation there would fail too."""

from __future__ import annotations

import sys

from dissensus.errors import ModelError, cut


class GpuLost(ModelError):
    """An error of the GPU, such as an invalid memory access, after which only a new process can use
    it."""


def check_gpu() -> None:
    """Raise `GpuLost` if this process used a GPU and cannot any more.

    Too little memory is no such error: the GPU can be used after it.
    """
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        raise GpuLost(
            f"the GPU cannot be used by this process any more ({cut(error)}); run the same command "
            "again to resume"
        ) from error
