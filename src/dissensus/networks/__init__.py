"""Parts of networks, in torch, that several methods and encoders share."""

from __future__ import annotations

from dissensus.networks.attention import AttentionBlock, Norm
from dissensus.networks.likelihoods import Likelihood, NormalLikelihood, likelihood
from dissensus.networks.noise import Dropout
from dissensus.networks.qformer import QFormer, interpolated

__all__ = [
    "AttentionBlock",
    "Dropout",
    "Likelihood",
    "Norm",
    "NormalLikelihood",
    "QFormer",
    "interpolated",
    "likelihood",
]
