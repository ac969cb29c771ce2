"""Encoders that the reproduction of one paper or study needs."""
