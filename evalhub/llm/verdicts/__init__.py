"""Verdicts read out of judges' replies. Pure."""
