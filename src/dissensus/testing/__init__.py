"""Checks for methods of your own: `check_method` runs the promises that every method keeps."""

from dissensus.testing.checks import CHECKS, SCALES, check_method, example_corpus, quick

__all__ = ["CHECKS", "SCALES", "check_method", "example_corpus", "quick"]
