import json

import pytest

from issues.rubrics.scales import (
    BINARY,
    FIVE_CLASSES,
    Option,
    PassRule,
    Scale,
    ScaleError,
    as_json,
    binary_json,
    from_json,
    passes,
    problems_of,
)

SEVEN = Scale(tuple(Option(str(n), "", (n - 1) / 6) for n in range(1, 8)), 0.6)
WORDS = Scale((Option("Bad", "", 0), Option("Not quite", "", 0.3), Option("Good", "", 1)))


def option(**changes):
    return {"label": "good", "description": "It fits.", "value": 1, **changes}


def scale_json(*options, **rest):
    bad = {"label": "bad", "description": "", "value": 0}
    return {"options": [bad, *(options or (option(),))], **rest}


SHARED = Scale((Option("rude", "", 0), Option("wrong", "", 0), Option("good", "", 1)))


@pytest.mark.parametrize(
    ("scale", "reply", "value"),
    [
        *((BINARY, reply, 1) for reply in (1, 1.0, "1", " 1 ", "1.0", "+1")),
        (BINARY, -0.0, 0),
        *((BINARY, reply, None) for reply in (2, -1, 0.5, "", "  ", "yes", "1 of 1", "1_0", None)),
        *((BINARY, reply, None) for reply in (True, False, [1], float("nan"), "1e999")),
        # A label in any usual spelling, but no part of one.
        *((FIVE_CLASSES, reply, 1) for reply in ("FULLY_MET", "fully met", "Fully-Met")),
        *((FIVE_CLASSES, " fully_met\n", 1), (FIVE_CLASSES, "MET", None)),
        # A number names a value where labels are words, and where no two options share it.
        *((WORDS, 0.1 + 0.2, 0.3), (SHARED, 0, None)),
        # Of seven, one is the lowest and not the best, and a value is no reply.
        *((SEVEN, 1, 0), (SEVEN, 0, None)),
    ],
)
def test_a_reply_is_read_as_an_option_of_its_scale(scale, reply, value):
    found = scale.option_of(reply)
    assert (found and found.value) == value


@pytest.mark.parametrize(
    ("score", "rule", "expected"),
    [
        (0.5, "strict", False),
        (0.5, "inclusive", True),
        (0.5 + 1e-12, "strict", False),
        (0.5 - 1e-12, "inclusive", True),
        (0.500001, "strict", True),
        (0.499999, "inclusive", False),
        (None, "strict", None),
        (None, "inclusive", None),
    ],
)
def test_pass_rule_compares_rounded_numbers(score, rule, expected):
    assert passes(score, 0.5, rule) is expected


def test_tie_of_two_judges_fails():
    assert BINARY.passes(0.5) is False


def test_scale_survives_json():
    scale = Scale(FIVE_CLASSES.options, 0.75, PassRule.INCLUSIVE)
    assert from_json(json.loads(json.dumps(as_json(scale)))) == scale


def test_binary_default_is_a_new_copy_each_time():
    binary_json()["options"].clear()
    assert from_json(binary_json()) == BINARY


def test_text_lists_the_options_with_their_meaning():
    scale = Scale((Option("no", "It is wrong.", 0), Option("yes", "", 1)))
    assert scale.as_text() == "- no: It is wrong.\n- yes"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "A scale is an object"),
        ({"options": "0, 1"}, "A scale is an object"),
        ({"options": []}, "needs at least two options, not 0"),
        ({"options": [option()]}, "needs at least two options, not 1"),
        (scale_json(3), "Option 2 is not an object with label, description and value: 3."),
        (scale_json(option(label=" ")), "Option 2 needs a label."),
        (scale_json(option(label=1)), "Option 2: the label 1 is not a text."),
        (scale_json(option(description=None)), "Option 2: the description is not a text."),
        (scale_json(option(label="BAD")), "Two options are called 'BAD' and 'bad'."),
        (scale_json(option(value=1.5)), "'good' has the value 1.5, not one in 0 to 1."),
        (scale_json(option(value="1")), "Option 2: the value '1' is not a number."),
        (scale_json(option(value=True)), "Option 2: the value True is not a number."),
        (scale_json(option(value=float("nan"))), "Option 2: the value nan is not a number."),
        (scale_json(threshold=2), "The pass threshold 2.0 is not between 0 and 1."),
        (scale_json(threshold="half"), "The pass threshold 'half' is not a number."),
        (scale_json(rule="above"), "'above' is not one of strict, inclusive."),
        (scale_json(rule=["strict"]), "['strict'] is not one of strict, inclusive."),
        (scale_json(threshold=1), "With the threshold 1.0 (strict) every option fails"),
        (scale_json(threshold=0, rule="inclusive"), "every option passes"),
        (scale_json(pass_rule="strict"), "A scale has no 'pass_rule'"),
    ],
)
def test_unusable_scale_is_refused_in_words(data, problem):
    assert problem in " ".join(problems_of(data))


def test_all_problems_come_at_once():
    data = {"options": [option(value=2), option()], "threshold": 7}
    assert len(problems_of(data)) == 3


def test_usable_scale_has_no_problems():
    assert problems_of(scale_json()) == []


def test_scale_made_in_code_is_checked_alike():
    with pytest.raises(ScaleError, match="needs at least two options"):
        Scale((Option("only", "", 1),))
