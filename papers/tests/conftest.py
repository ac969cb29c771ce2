"""The command line, as the tests of the package call it."""

from tests.cli.conftest import run as run
