"""What methods share: base classes, settings, labels, losses, calibration and the model folder."""
