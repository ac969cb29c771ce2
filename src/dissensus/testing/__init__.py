"""Checks for methods of your own: `check_method` runs the promises that every method keeps."""

from dissensus.testing.checks import CHECKS, check_method, quick
from dissensus.testing.corpora import SCALES, example_corpus

__all__ = ["CHECKS", "SCALES", "check_method", "example_corpus", "quick"]
