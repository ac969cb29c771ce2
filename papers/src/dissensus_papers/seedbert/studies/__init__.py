"""Studies of our own that belong to SeedBERT, but not to its tables."""
