"""The version of the package, which its build reads too."""

__version__ = "0.1.0"
