"""How many parameters a ResNet-34 classifier has, without building it."""

from __future__ import annotations

BLOCKS = (3, 4, 6, 3)  # of each stage
WIDTHS = (64, 128, 256, 512)


def resnet34_parameters(hidden: int, n_values: int) -> int:
    """Parameters of a ResNet-34 on colour pictures with two linear layers behind it.

    Ten of them, with 256 hidden units and six values, have as many parameters as the paper of
    QuMATL counts for D-LEMA:

    Example:
        >>> 10 * resnet34_parameters(256, 6)
        214175420

    Reference: He et al. (2016), doi 10.1109/CVPR.2016.90.
    """
    total = _convolution(3, 64, 7)
    before = 64
    for n_blocks, width in zip(BLOCKS, WIDTHS, strict=True):
        total += _convolution(before, width, 3) + (2 * n_blocks - 1) * _convolution(width, width, 3)
        total += _convolution(before, width, 1) if before != width else 0  # the shortcut
        before = width
    return total + before * hidden + hidden + hidden * n_values + n_values


def _convolution(before: int, width: int, size: int) -> int:
    """A convolution without a bias, then the scale and shift of batch normalisation."""
    return before * width * size**2 + 2 * width
