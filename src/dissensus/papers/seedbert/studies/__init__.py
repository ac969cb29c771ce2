"""Questions of ours that stand beside SeedBERT's tables."""
