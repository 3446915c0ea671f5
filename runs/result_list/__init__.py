"""Lists of a run's results: their filters and their order."""
