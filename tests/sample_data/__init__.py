"""An invented ledger, as large as is asked for: to see reports, and to measure them, at size."""
