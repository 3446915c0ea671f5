"""What the lines of models are called and how they look."""

from itertools import combinations

import pytest

from reports.documents.model_lines import (
    COLOURS,
    Variant,
    line_style,
    line_style_of_name,
    line_styles,
    names_of,
)
from tests.evalhub.test_charts import (
    DARK_BACKGROUND,
    OUTCOME_COLOURS,
    TEXT_CONTRAST,
    THEMES,
    VISIONS,
    contrast,
    lab,
)

LIGHT, DARK = zip(*(THEMES[colour] for colour in COLOURS), strict=True)
"""The colours of the lines in each theme."""


def variant(key, model="aurora", model_id=1, system_prompt="", **params):
    return Variant(key, model_id, model, system_prompt, params)


def test_a_model_with_one_variant_has_its_own_name():
    assert names_of([variant("a"), variant("b", "kelp", 2)]) == {"a": "aurora", "b": "kelp"}


def test_variants_of_a_model_are_named_by_their_differences():
    names = names_of(
        [
            variant("a", temperature=0, top_p=1),
            variant("b", temperature=0.7, top_p=1),
            variant("c", system_prompt="Be brief.", top_p=1),
        ]
    )
    assert names == {
        "a": "aurora · no system prompt · temperature 0",
        "b": "aurora · no system prompt · temperature 0.7",
        "c": "aurora · system prompt “Be brief.” · no temperature",
    }


def test_a_long_system_prompt_is_cut():
    names = names_of([variant("a"), variant("b", system_prompt="word " * 50)])
    assert len(names["b"]) < 80


def test_variants_that_differ_in_nothing_named_are_numbered():
    assert names_of([variant("a"), variant("b")]) == {"a": "aurora", "b": "aurora (2)"}


def test_a_model_looks_alike_whatever_else_is_shown():
    alone = line_styles([variant("b", "kelp", 9)])
    together = line_styles([variant("a"), variant("b", "kelp", 9)])
    assert alone["b"] == together["b"]


def test_variants_of_a_model_share_its_colour_and_not_its_dash():
    looks = line_styles([variant("a", temperature=0), variant("b", temperature=1)])
    assert looks["a"].colour == looks["b"].colour
    assert looks["a"].dash != looks["b"].dash


def test_the_first_models_all_look_different():
    assert len({line_style(model) for model in range(35)}) == 35


def test_a_name_always_looks_alike():
    assert line_style_of_name("Llama") == line_style_of_name("Llama")


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_lines_differ_with_any_colour_vision(colours, vision):
    # A difference of 2 is just seen side by side; markers are the second cue.
    seen = [lab(colour, vision) for colour in colours]
    assert min(distance(*pair) for pair in combinations(seen, 2)) > 20


@pytest.mark.parametrize("colour", LIGHT)
def test_no_line_looks_like_an_outcome(colour):
    others = [lab(other, "normal") for other, _ in OUTCOME_COLOURS.values()]
    assert min(distance(lab(colour, "normal"), other) for other in others) > 15


@pytest.mark.parametrize(
    ("colours", "background"), [(LIGHT, "#FFFFFF"), (DARK, DARK_BACKGROUND)], ids=["light", "dark"]
)
def test_lines_stand_out_from_the_page(colours, background):
    assert min(contrast(colour, background) for colour in colours) >= TEXT_CONTRAST


def distance(first, second):
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5
