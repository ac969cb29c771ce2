"""Writers: Corpus -> files in the conventions of others; a format is a file."""
