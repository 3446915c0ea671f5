"""The points of a rubric: texts, functions, alternatives and definitions."""

import json
from dataclasses import replace

import pytest

from runs.importers.weval.blueprint.records import Point
from tests.runs.importers.weval.blueprints_in_text import (
    points_of,
    rubric_notes,
    rubric_problems,
    rubric_warnings,
)


@pytest.mark.parametrize(
    ("item", "point"),
    [
        ("greets", Point("greets")),
        (
            "{point: greets, weight: 3, citation: Act 5}",
            Point("greets", weight=3, citation="Act 5"),
        ),
        ("{text: greets, multiplier: 0.5}", Point("greets", weight=0.5)),
        ('"names the duty": Act 5', Point("names the duty", citation="Act 5")),
        ("{point: greets, citation: {title: Act, url: u}}", Point("greets", citation="Act u")),
        ("{point: $5 is named}", Point("$5 is named")),
        ("$is_json", Point(check="is_json")),
        ("$is_json: null", Point(check="is_json")),
        ("{$contains: x, weight: 2}", Point(check="contains", arguments={"text": "x"}, weight=2)),
        ("{fn: ends_with, arg: .}", Point(check="ends_with", arguments={"text": "."})),
        ("{fn: contain, fnArgs: y}", Point(check="contains", arguments={"text": "y"})),
        ("{fn: contains, arg: ''}", Point(check="contains", arguments={"text": ""})),
    ],
)
def test_a_point_is_read_in_each_of_its_forms(item, point):
    assert points_of(f"should:\n- {item}") == [point]


def test_should_and_should_not_are_told_apart():
    points = points_of("should: [greets]\nshould_not: [shouts]")
    assert [(point.text, point.polarity) for point in points] == [
        ("greets", "should"),
        ("shouts", "should_not"),
    ]


def test_a_list_within_a_block_is_one_path_among_the_others():
    points = points_of("""
        should:
        - required
        - - first way
          - $contains: x
        - - second way
        should_not:
        - - other block
        """)
    assert [point.alternative for point in points] == [None, 1, 1, 2, 1]


def test_an_empty_path_is_left_out_and_noted():
    assert rubric_notes("should:\n- greets\n- []\n") == [
        "sample.yml:7: p: an empty alternative is ignored."
    ]


def test_a_list_within_a_path_is_refused_with_its_line():
    assert rubric_problems("should:\n- - fine\n  - - too deep\n") == [
        'sample.yml:7: p: an alternative cannot contain a list: ["too deep"].'
    ]


# Quoted functions --------------------------------------------------------------------------------

NO = Point(check="contains", arguments={"text": "No", "ignore_case": True})


@pytest.mark.parametrize(("place", "alternative"), [("- {}", None), ("- - {}", 1)])
def test_a_quoted_function_is_read_as_a_function_and_named(place, alternative):
    rubric = "should:\n" + place.format("\"$icontains: 'No'\"")
    assert points_of(rubric) == [replace(NO, alternative=alternative)]
    assert rubric_warnings(rubric) == [
        "sample.yml:6: p: a quoted function is read as a function: $icontains: 'No'"
    ]


@pytest.mark.parametrize(
    ("quoted", "point"),
    [
        ("$contains: x: y", None),
        ("$contains: 'x: y'", Point(check="contains", arguments={"text": "x: y"})),
        ('$matches: "a\\nb$"', Point(check="matches", arguments={"pattern": "a\nb$"})),
        (r'$matches: "^\[[AB]\]$"', Point(check="matches", arguments={"pattern": r"^\[[AB]\]$"})),
        ("$contains_all_of: [a, b]", Point(check="contains_all", arguments={"texts": ["a", "b"]})),
        ("$is_json:", Point(check="is_json")),
        ("$ref: no", NO),
        ("$contains: False", None),
        ("$contains:", None),
        ("$contains: [a", None),
        ("$contains: !!python/name:os.system x", None),
        ("$ref: nowhere", None),
        ("$100: is named", None),
        ("$matches: '('", None),
    ],
)
def test_a_quoted_function_that_cannot_be_read_is_kept_unscored(quoted, point):
    header = "title: T\npoint_defs: {no: {$icontains: 'No'}}"
    rubric = f"should: [{json.dumps(quoted)}]"
    kept = Point(check="js", arguments={"source": quoted})
    assert points_of(rubric, header) == [point or kept]
    (warning,) = rubric_warnings(rubric, header)
    assert ("cannot be read and is not scored" in warning) is (point is None)


def test_each_quoted_function_is_named_with_its_line():
    rubric = "should:\n" + "- \"$icontains: 'No'\"\n" * 3
    assert [warning.split(": ")[0] for warning in rubric_warnings(rubric)] == [
        f"sample.yml:{line}" for line in (6, 7, 8)
    ]


def test_a_point_with_both_citations_keeps_both():
    rubric = "should: [{point: greets, citation: Act 5, reference: {title: B, url: u}}]"
    assert points_of(rubric) == [Point("greets", citation="Act 5; B u")]
    assert rubric_warnings(rubric) == [
        "sample.yml:5: p: reference: means the same as citation, which is also given: both kept."
    ]


# Points that are refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("$contain_all: [x]", 'there is no function "contain_all".'),
        ("$nonsense", 'there is no function "nonsense".'),
        ("{fn: nonsense, arg: 1}", 'there is no function "nonsense".'),
        ("$contains", "$contains needs an argument."),
        ("$contains: null", "$contains needs an argument."),
        ("$contains: 5", "$contains: expected a text, not 5."),
        ("$contains_any_of: x", '$contains_any_of: expected a list of texts, not "x".'),
        ("$word_count_between: [1]", "$word_count_between: expected two numbers"),
        ("{$contains: x, $matches: y}", "a point has several functions: $contains, $matches"),
        ("{$contains: x, point: y}", "a point has either text or a function, not both."),
        ("{fn: contains, arg: x, text: y}", "a point has either text or a function, not both."),
        ("{point: x, weight: 0.05}", "weight: expected a number from 0.1 to 10, not 0.05."),
        ("{$contains: x, weight: heavy}", 'weight: expected a number from 0.1 to 10, not "heavy".'),
        ("{weight: 2}", "a point needs text, a function, or one text with its citation"),
        ("names: 5", "a point needs text, a function, or one text with its citation"),
        ("5", "expected a point, that is text or an object, not 5."),
        ("''", "a point is empty."),
    ],
)
def test_a_wrong_point_is_refused_with_its_line_and_value(item, problem):
    (found,) = rubric_problems(f"should:\n- {item}")
    assert problem in found
    assert found.startswith("sample.yml:6: p: ")


@pytest.mark.parametrize(
    "item", ["$js: r.length > 3", "$call: {url: u}", "$factcheck: claim", '"$factcheck: claim"']
)
def test_a_function_that_cannot_run_here_is_kept_and_noted(item):
    (note,) = rubric_notes(f"should:\n- {item}")
    assert "cannot run here and is not scored." in note


def test_an_unknown_field_of_a_point_is_noted():
    (note,) = rubric_notes("should:\n- {point: greets, colour: red}")
    assert 'the field "colour" of a point is unknown and ignored.' in note


# Definitions -------------------------------------------------------------------------------------

DEFINED = """
title: T
point_defs:
  long: r.length > 3
  polite: {point: is polite, weight: 2, citation: House rules}
  again: {$ref: polite}
  loop: {$ref: loop}
"""


@pytest.mark.parametrize(
    ("item", "point"),
    [
        ("{$ref: long}", Point(check="js", arguments={"source": "r.length > 3"})),
        ("{$ref: polite}", Point("is polite", weight=2, citation="House rules")),
        ("{$ref: polite, weight: 3}", Point("is polite", weight=3, citation="House rules")),
        ("{$ref: polite, citation: Act}", Point("is polite", weight=2, citation="Act")),
        ("{$ref: again, weight: 5}", Point("is polite", weight=5, citation="House rules")),
    ],
)
def test_a_defined_point_is_put_in_and_keeps_what_stands_beside_its_name(item, point):
    assert points_of(f"should:\n- {item}", DEFINED) == [point]


def test_the_old_name_of_definitions_is_read_too():
    assert points_of("should: [{$ref: a}]", "defs: {a: {point: greets}}") == [Point("greets")]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("absent", '"absent" is not defined; use long, polite, again, loop.'),
        ("loop", 'the definition "loop" refers to itself.'),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(name, problem):
    assert problem in rubric_problems(f"should: [{{$ref: {name}}}]", DEFINED)[0]
