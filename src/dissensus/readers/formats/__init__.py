"""Formats: a file each. A path -> Corpus, by `recognise` and `read`."""
