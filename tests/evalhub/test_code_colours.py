"""Code can be read in both themes."""

import re
from itertools import product
from pathlib import Path

import pytest

CSS = Path("evalhub/static/evalhub/evalhub.css").read_text()
# What code stands on: the theme's base-50, and base-900 with 4% of white.
GROUNDS = {"light": "#f9fafb", "dark": "#1a2231"}


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("name", "theme"), [*product(("keyword", "string", "number", "name"), GROUNDS)]
)
def test_colours_of_code_have_contrast(name, theme):
    found = re.search(rf"--eh-code-{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", CSS)
    colour = found[1] if theme == "light" else found[2]
    assert contrast(colour, GROUNDS[theme]) >= 4.5
