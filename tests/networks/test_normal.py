from __future__ import annotations

import numpy as np
import torch
from scipy.special import log_ndtr
from torch.func import grad, vmap

from dissensus.networks.normal import log_normal_mass

POINTS = np.concatenate([np.linspace(-40, 8, 97), [-1e4, 1e4]])


def test_masses_are_those_of_scipy_and_slopes_those_of_torch() -> None:
    points = torch.tensor(POINTS, requires_grad=True)
    mass = log_normal_mass(points)
    np.testing.assert_allclose(mass.detach().numpy(), log_ndtr(POINTS), rtol=1e-12)
    (slope,) = torch.autograd.grad(mass.sum(), points)
    (reference,) = torch.autograd.grad(torch.special.log_ndtr(points).sum(), points)
    torch.testing.assert_close(slope, reference)
    few = torch.linspace(-6, 3, 10, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(log_normal_mass, few)


def test_a_stack_is_computed_at_once_without_a_warning() -> None:
    """Warnings are errors: torch's own function warns here that it is slow."""
    points = torch.tensor(POINTS[:96]).view(4, 24)
    mass = vmap(log_normal_mass, in_dims=1)(points)
    torch.testing.assert_close(mass, torch.special.log_ndtr(points).T)
    slopes = vmap(grad(lambda row: log_normal_mass(row).sum()))(points)
    alone = [grad(lambda row: log_normal_mass(row).sum())(row) for row in points]
    torch.testing.assert_close(slopes, torch.stack(alone))
