"""The demo: its model and runs, and a history of invented models with planted findings."""
