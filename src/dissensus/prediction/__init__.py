"""Prediction and Predictions: what every method returns, and what metrics use."""

from __future__ import annotations

from dissensus.prediction.attention import Attention
from dissensus.prediction.joint_density import JointDensity
from dissensus.prediction.prediction import ByAnnotator, Prediction
from dissensus.prediction.predictions import Predictions

__all__ = ["Attention", "ByAnnotator", "JointDensity", "Prediction", "Predictions"]
