"""Results as tables in several formats, and as a plot."""
