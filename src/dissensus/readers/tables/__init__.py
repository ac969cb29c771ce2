"""Tables: what the columns of a table mean. Rows -> Corpus."""
