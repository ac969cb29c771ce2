"""Prediction and Predictions: what every method answers, and all that metrics read."""

from __future__ import annotations

from dissensus.prediction.joint_density import JointDensity
from dissensus.prediction.prediction import Attention, ByAnnotator, MemberAttention, Prediction
from dissensus.prediction.predictions import Predictions

__all__ = [
    "Attention",
    "ByAnnotator",
    "JointDensity",
    "MemberAttention",
    "Prediction",
    "Predictions",
]
