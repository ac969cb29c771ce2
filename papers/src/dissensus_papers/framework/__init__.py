"""What reproductions of papers share: conditions, fits, reports, verdicts and tables."""
