"""Torch parts that several methods share."""
