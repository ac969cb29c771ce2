"""How good is the attention of annotators: `(Predictions, Corpus) -> AttentionEvaluation`."""
