"""Runs compared test by test: two of them, or several side by side."""

from reports.pages.compare.page import COMPARE as COMPARE
