"""`python3 dev.py bench`: figures, measured against a mock provider in one run. It only reports."""
