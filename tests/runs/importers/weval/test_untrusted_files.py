"""Files that are broken, hostile or too large: refused in words, and never executed."""

import time

import pytest

from runs.importers.weval.blueprint.yaml_reader import MAX_DEPTH, YamlError, documents
from runs.limits import MAX_YAML_CHARACTERS
from tests.runs.importers.weval.blueprints_in_text import problems_of, prompts_of, read


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "title: A: B\n",
            "sample.yml:1: is not YAML: mapping values are not allowed in this context. "
            "Put text that holds a colon in quotes.",
        ),
        ("- prompt: 'open\n", "sample.yml:2: is not YAML: found unexpected end of stream."),
        ("- prompt: Hi\n  prompt: Ho\n", 'sample.yml:2: the key "prompt" occurs twice'),
        ("- prompt: !!python/name:os.system\n", 'sample.yml:1: "" cannot be read with the tag'),
        ("- !thing {prompt: Hi}\n", "sample.yml:1: the tag !thing is not supported."),
        ('- prompt: "a\\0b"\n', "has a character that cannot be stored"),
        ("- {[a]: b}\n", "sample.yml:1: has a list or an object as a key."),
        ("- prompt: a\x07b\n", "sample.yml:1: is not YAML: "),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text, problem):
    assert problem in problems_of(text)[0]


def test_a_broken_json_file_is_refused_with_its_line():
    reading = read('{"prompts": [\n{"prompt": }]}', "sample.json")
    assert str(reading.problems[0]) == "sample.json:2: is not JSON: Expecting value."


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e999}', "[" * 5000])
def test_json_that_others_read_otherwise_is_refused(text):
    with pytest.raises(YamlError):
        documents(text, is_json=True)


def test_aliases_that_grow_without_end_are_refused_in_time():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    started = time.monotonic()
    (problem,) = read("\n".join(lines)).problems
    assert problem.message == "grows too large when its aliases are written out."
    assert time.monotonic() - started < 20


def test_a_long_text_repeated_by_aliases_is_refused():
    text = f"a: &a {'x' * 1_000_000}\nb: [{', '.join(['*a'] * 50)}]\n"
    assert "grows too large" in read(text).problems[0].message


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "a: &a [*a]\n"])
def test_a_file_that_is_nested_too_deeply_is_refused(text):
    problem = read(text).problems[0]
    assert problem.message == f"is nested more than {MAX_DEPTH} levels deep."


def test_a_file_that_is_too_large_is_refused():
    assert "the limit is" in read("x" * (MAX_YAML_CHARACTERS + 1)).problems[0].message


@pytest.mark.parametrize(
    "text", ["yes", "12:30", "2025-01-01", "1_000", "0o", "1e999", ".inf", "="]
)
def test_words_that_only_look_like_values_are_text(text):
    assert documents(f"a: {text}") == ([{"a": text}], [])


@pytest.mark.parametrize(
    ("text", "value"),
    [("012", 12), ("0x1f", 31), ("0o17", 15), ("1e3", 1000.0), ("-.5", -0.5), ("~", None)],
)
def test_values_are_read_as_yaml_1_2_has_them(text, value):
    assert documents(f"a: {text}") == ([{"a": value}], [])


def test_merged_mappings_give_what_is_not_given_otherwise():
    text = "base: &base {a: 1, b: 2}\nmade: {<<: *base, b: 3}\n"
    assert documents(text)[0][0]["made"] == {"a": 1, "b": 3}


def test_an_alias_stands_for_what_it_names():
    first, second = prompts_of("""
        - {prompt: a, should: &rubric [greets, {$contains: x}]}
        - {prompt: b, should: *rubric}
        """)
    assert first.points == second.points
