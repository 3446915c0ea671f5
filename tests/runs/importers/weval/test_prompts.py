"""Prompts of a blueprint and their other fields."""

import pytest

from runs.importers.weval.blueprint.prompts import normal_tag
from tests.runs.importers.weval.blueprints_in_text import (
    notes_of,
    problems_of,
    prompts_of,
    warnings_of,
)


def messages_of(prompt: str) -> list[tuple[str, str | None]]:
    (found,) = prompts_of(f"- {prompt}\n")
    return [(message["role"], message["content"]) for message in found.messages]


@pytest.mark.parametrize(
    ("prompt", "messages"),
    [
        ("prompt: Hi", [("user", "Hi")]),
        ("promptText: Hi", [("user", "Hi")]),
        ('prompt: "What is {{ name }}?"', [("user", "What is {{ name }}?")]),
        ("messages: [{role: user, content: Hi}]", [("user", "Hi")]),
        ("messages: [{system: Be brief.}, {user: Hi}]", [("system", "Be brief."), ("user", "Hi")]),
        (
            "messages: [{user: Hi}, {ai: Ho}, {user: He}]",
            [("user", "Hi"), ("assistant", "Ho"), ("user", "He")],
        ),
        (
            "messages: [{user: Hi}, {assistant: null}, {user: He}]",
            [("user", "Hi"), ("assistant", None), ("user", "He")],
        ),
        ("messages: [{user: Hi}, {assistant: null}]", [("user", "Hi"), ("assistant", None)]),
    ],
)
def test_what_is_asked_is_read_in_each_of_its_forms(prompt, messages):
    assert messages_of(prompt) == messages


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ("ideal: Four.", "reference", "Four."),
        ("idealResponse: Four.", "reference", "Four."),
        ("description: On units.", "description", "On units."),
        ("weight: 2", "weight", 2),
        ("importance: 0.1", "weight", 0.1),
        ("multiplier: 10", "weight", 10),
        ("citation: A book", "extras", {"citation": [{"title": "A book"}]}),
        ("reference: A book", "extras", {"citation": [{"title": "A book"}]}),
        ("render_as: markdown", "extras", {}),
        ("render_as: html", "extras", {"render_as": "html"}),
        ("noCache: true", "extras", {"noCache": True}),
        ("temperature: 0.5", "extras", {"temperature": 0.5}),
        ("requiredTools: [search]", "extras", {"requiredTools": ["search"]}),
        ("colour: red", "extras", {"colour": "red"}),
    ],
)
def test_a_field_of_a_prompt_is_read_in_each_of_its_forms(written, field, value):
    (prompt,) = prompts_of(f"- prompt: Hi\n  {written}\n")
    assert getattr(prompt, field) == value


def test_a_prompt_that_says_otherwise_does_not_inherit_from_the_header():
    inherits, says = prompts_of(
        "noCache: true\nrender_as: html\n---\n"
        "- prompt: a\n- {prompt: b, noCache: false, render_as: markdown}\n"
    )
    assert (inherits.extras, says.extras) == ({"noCache": True, "render_as": "html"}, {})


@pytest.mark.parametrize("alias", ["should", "points", "expect", "expects", "expectations"])
def test_a_rubric_is_found_under_each_of_its_names(alias):
    (prompt,) = prompts_of(f"- prompt: Hi\n  {alias}: [greets]\n")
    assert [point.text for point in prompt.points] == ["greets"]


def test_a_prompt_without_an_id_is_named_by_what_it_asks():
    (before,) = prompts_of("- prompt: Hi\n")
    (after,) = prompts_of("- prompt: Hi\n  should: [greets]\n")
    assert before.id.startswith("hash-")
    assert before.id == after.id


def test_prompts_that_ask_the_same_without_an_id_stay_apart():
    first, second = prompts_of("- prompt: Hi\n- prompt: Hi\n")
    assert second.id == f"{first.id}-2"


def test_a_repeated_id_is_made_unique_and_named():
    text = "".join(f"- {{id: {name}, prompt: Hi}}\n" for name in ("a", "a", "a-2", "a"))
    assert [prompt.id for prompt in prompts_of(text)] == ["a", "a-3", "a-2", "a-4"]
    assert warnings_of(text) == [
        'sample.yml:2: a: the id "a" is already taken at line 1: imported as "a-3".',
        'sample.yml:4: a: the id "a" is already taken at line 1: imported as "a-4".',
    ]


def test_an_id_made_unique_is_no_longer_than_an_id_may_be():
    name = "x" * 120
    _, second = prompts_of(f"- {{id: {name}, prompt: Hi}}\n- {{id: {name}, prompt: Ho}}\n")
    assert second.id == "x" * 118 + "-2"


@pytest.mark.parametrize(("citation", "titles"), [("A", "AC"), ("[A, B]", "ABC")])
def test_a_prompt_with_both_citations_keeps_both(citation, titles):
    text = f"- {{id: a, prompt: Hi, citation: {citation}, reference: C}}\n"
    (prompt,) = prompts_of(text)
    assert prompt.extras["citation"] == [{"title": title} for title in titles]
    assert warnings_of(text) == [
        "sample.yml:1: a: reference: means the same as citation, which is also given: both kept."
    ]


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        ("ideal: Four.", "is empty: add a prompt, or messages."),
        ("prompt: ' '", "is empty."),
        ("prompt: 5", "prompt: expected text, not 5."),
        ("{prompt: Hi, messages: [{user: Hi}]}", "messages: are given beside prompt"),
        ("{prompt: Hi, weight: 11}", "weight: expected a number from 0.1 to 10, not 11."),
        ("{prompt: Hi, weight: true}", "weight: expected a number from 0.1 to 10, not true."),
        ("{prompt: Hi, weight: '2'}", 'weight: expected a number from 0.1 to 10, not "2".'),
        ("{prompt: Hi, system: [a, b]}", "system: a prompt has one system prompt"),
        ("{prompt: Hi, should: greets}", "should: expected a list"),
        ("{prompt: Hi, should: [a], expect: [b]}", "expect: means the same as should"),
        ("messages: [{user: Hi}, {assistant: Ho}]", "has no turn to answer"),
        ("messages: [{user: Hi, ai: Ho}]", "expected a message with one of user"),
        ("messages: [{role: robot, content: Hi}]", '"robot" is not a role'),
        ("messages: [{user: null}]", "a user message needs text, not null."),
        ("messages: [{user: [Hi]}]", 'a user message needs text, not ["Hi"].'),
        ("messages: [{role: user, content: Hi, image: x}]", "unknown fields of a message: image."),
    ],
)
def test_a_wrong_prompt_is_refused_with_its_place_and_value(prompt, problem):
    problems = problems_of(f"- {prompt}\n")
    assert problem in problems[0]
    assert problems[0].startswith("sample.yml:1: prompt 1: ")


def test_all_problems_of_a_file_are_told_at_once():
    text = "- {id: a, prompt: 5}\n- {id: b, prompt: Hi, weight: 0}\n- {id: c}\n"
    assert [problem.split(": ")[1] for problem in problems_of(text)] == ["a", "b", "c"]


def test_what_cannot_be_applied_is_noted_once_with_its_count():
    text = "".join(f"- {{id: a{n}, prompt: Hi, temperature: 1, should: [x]}}\n" for n in range(4))
    assert notes_of(text) == [
        "sample.yml:1: a0: its temperature is not applied: launches set it. (and 3 more)"
    ]


@pytest.mark.parametrize(
    ("prompt", "note"),
    [
        ("{prompt: Hi}", "only annotators can evaluate it"),
        ("{prompt: Hi, ideal: Ho}", "it is judged as a whole against that answer"),
    ],
)
def test_a_prompt_without_points_is_noted(prompt, note):
    assert note in notes_of(f"- {prompt}\n")[0]


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("Civil Law", "civil-law"),
        ("two_word_tag", "two-word-tag"),
        ("odd!tag%here", "oddtaghere"),
        ("ML/NLP & Speech", "mlnlp--speech"),
        (" spaced ", "spaced"),
        ("", ""),
        ("_Internal Use", "_Internal Use"),
        ("Santé", "santé"),
    ],
)
def test_tags_are_normalised(written, normal):
    assert normal_tag(written) == normal
