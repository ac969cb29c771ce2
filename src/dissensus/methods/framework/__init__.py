"""What methods share: their base classes, settings, labels, losses, calibration and the folder of a
model."""
