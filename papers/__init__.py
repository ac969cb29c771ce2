"""So that the tests of this folder have names of their own."""
