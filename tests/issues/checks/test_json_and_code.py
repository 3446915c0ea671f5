import pytest

from issues.checks import problems_of
from tests.issues.checks.outcomes import error_of, in_time, problem, score

FENCED = 'Here you are:\n```json\n{"name": "Ada"}\n```\nThat is all.'
DEEP = "[" * 100_000 + "]" * 100_000
ORDER = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "items": {"type": "array"}},
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"key": "value"}', 1),
        (" [1, 2]\n", 1),
        ("{}", 1),
        ("just a string", 0),
        ('"a string literal"', 0),
        ("42", 0),
        ("null", 0),
        ("", 0),
        ('{"a": NaN}', 0),
        ("[Infinity]", 0),
        ("[1,]", 0),
        ("{'a': 1}", 0),
        (FENCED, 0),
        ("[" + "9" * 5_000 + "]", 1),
        ('{"a": 1} {"b": 2}', 0),
    ],
)
def test_json_is_an_object_or_a_list_and_nothing_else(text, value):
    assert score("is_json", text) == value
    assert score("is_json", text, negate=True) == 1 - value


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("is_json", {}),
        ("json_schema", {"schema": ORDER}),
        ("json_path_equals", {"path": "$.a", "value": 1}),
    ],
)
def test_json_nested_too_deeply_is_an_error(name, arguments):
    assert "nested too deeply" in error_of(name, DEEP, **arguments)


# JSON Schema -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"name": "Ada", "items": []}', 1),
        ('{"name": "ada"}', 0),
        ('{"items": []}', 0),
        ("[]", 0),
        (FENCED, 1),
        (FENCED + FENCED, 0),
        ("no JSON", 0),
    ],
)
def test_the_answer_or_its_only_code_block_fits_the_schema(text, value):
    assert score("json_schema", text, schema=ORDER) == value


@pytest.mark.parametrize(
    ("schema", "fits", "misfits"),
    [
        ({"additionalProperties": False, "properties": {"a": {}}}, '{"a": 1}', '{"b": 1}'),
        (
            {"additionalProperties": False, "patternProperties": {r"^x\d$": {"type": "string"}}},
            '{"x1": "a"}',
            '{"x12": "a"}',
        ),
        ({"patternProperties": {"^x": {"type": "string"}}}, '{"y": 1}', '{"x": 1}'),
        (
            {"additionalProperties": {"type": "integer"}, "properties": {"a": {}}},
            '{"a": "", "b": 1}',
            '{"b": ""}',
        ),
        (
            {"uniqueItems": True},
            '[1, true, "1", [1], {"a": 1}]',
            '[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]',
        ),
        ({"pattern": r"\d$"}, '"x1"', '"x1\\n"'),
        ({"$ref": "#/$defs/name", "$defs": {"name": {"const": "Ada"}}}, '"Ada"', '"Bob"'),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "minimum": 2}, "2", "1"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 2}, "2", "1"),
        (
            {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            '{"type": "array"}',
            '{"type": 1}',
        ),
        (
            {
                "$id": "https://x.test/a",
                "$ref": "https://x.test/a#/$defs/n",
                "$defs": {"n": {"type": "null"}},
            },
            "null",
            "1",
        ),
        ({"enum": [{"$ref": "https://x.test/data"}]}, '{"$ref": "https://x.test/data"}', "1"),
    ],
)
def test_keywords_mean_what_the_standard_says(schema, fits, misfits):
    assert score("json_schema", fits, schema=schema) == 1
    assert score("json_schema", misfits, schema=schema) == 0


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "text"}, "“type”"),
        ({"properties": {"a": {"pattern": "("}}}, "missing )"),
        ({"patternProperties": {"[": {}}}, "is invalid"),
        ({"$schema": 5}, "“$schema” is 5"),
        ({"properties": {"a": {"$ref": "https://x.test/a.json"}}}, "never fetched"),
        ({"$ref": "other.json#/a"}, "never fetched"),
        ({"$ref": "file:///etc/passwd"}, "never fetched"),
        ({"$ref": "#/$defs/nothing"}, "does not exist"),
        (
            {"unevaluatedProperties": False, "patternProperties": {"a": {}}},
            "cannot be combined with",
        ),
        ([], "dictionary"),
        (None, "dictionary"),
    ],
)
def test_an_unusable_schema_is_a_problem(schema, says):
    assert says in problem("json_schema", schema=schema)


def test_a_reference_that_leads_nowhere_is_an_error():
    assert "unresolved reference" in error_of("json_schema", "1", schema={"$ref": "#nothing"})


def test_a_schema_that_refers_to_itself_is_an_error():
    assert "nested too deeply" in error_of("json_schema", "1", schema={"$ref": "#"})


def doubling(depth):
    """A schema that is read 2 ** depth times."""
    steps = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/a0", "$defs": {**steps, f"a{depth}": {}}}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (doubling(40), "1"),
        ({"pattern": "(a+)+$"}, '"' + "a" * 5_000 + 'b"'),
        ({"patternProperties": {"(a+)+$": {}}}, '{"' + "a" * 5_000 + 'b": 1}'),
        (
            {"additionalProperties": False, "patternProperties": {"(a+)+$": {}}},
            '{"' + "a" * 5_000 + 'b": 1}',
        ),
    ],
)
def test_a_hostile_schema_ends_in_time_without_a_value(hurried, schema, text):
    with in_time():
        assert "took longer" in error_of("json_schema", text, schema=schema)


def test_many_different_items_are_compared_at_once():
    text = "[" + ",".join(f'{{"n": {n}}}' for n in range(20_000)) + "]"
    with in_time():
        assert score("json_schema", text, schema={"uniqueItems": True}) == 1


# JSONPath ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "wanted"),
    [
        ("$.a", 1, 1),
        ("$.a", 1.0, 1),
        ("$.a", True, 0),
        ("$.a", "1", 0),
        ("$.list[-1]", {"x": None, "y": [2]}, 1),
        ("$.list[*]", 3, 1),
        ("$.list[*]", 4, 0),
        ("$..y", [2], 1),
        ("$.list[?@.x == null].y[0]", 2, 1),
        ("$.list[?match(@, 'b+')]", "bb", 1),
        ("$.list[?match(@, 'b')]", "bb", 0),
        ("$.list[?search(@, 'b')]", "bb", 1),
        ("$.list[?search(@, '(')]", "bb", 0),
        ("$.none", None, 0),
        ("$.list[2].x", None, 1),
        ("$", 5, 0),
    ],
)
def test_a_path_leads_to_the_value(path, value, wanted):
    text = '{"a": 1, "list": ["bb", 3, {"y": [2], "x": null}]}'
    assert score("json_path_equals", text, path=path, value=value) == wanted
    assert score("json_path_equals", text, path=path, value=value, negate=True) == 1 - wanted


def test_a_path_is_followed_into_the_only_code_block():
    assert score("json_path_equals", FENCED, path="$.name", value="Ada") == 1
    assert score("json_path_equals", "no JSON", path="$.name", value="Ada") == 0
    assert score("json_path_equals", '"Ada"', path="$", value="Ada") == 0


@pytest.mark.parametrize(
    "path", ["", "name", "$.", "$[", "$.a =~ /x/", "$[?nothing(@)]", "$" + "[0]" * 500]
)
def test_an_unreadable_path_is_a_problem(path):
    assert "“path”" in problem("json_path_equals", path=path, value=1)


def test_a_path_with_a_number_without_end_is_a_problem():
    assert "“path”" in problem("json_path_equals", path="$[?@.a == 1e400]", value=1)


def test_a_long_filter_ends_in_time(hurried):
    path = "$[?" + "@.a && " * 100 + "@.a]"
    with in_time():
        assert error_of(
            "json_path_equals", '[{"a": 1}' + ', {"a": 1}' * 9_999 + "]", path=path, value=0
        )


def test_items_that_are_slow_to_tell_apart_end_in_time(hurried):
    items = ", ".join(str(n * (2**61 - 1)) for n in range(1, 20_000))
    with in_time():
        found = error_of("json_schema", f"[{items}]", schema={"uniqueItems": True})
    assert "took longer" in found


def test_a_schema_that_would_take_long_to_read_is_a_problem():
    properties = {f"name{n}": {"type": "string"} for n in range(2_000)}
    assert "maximum is 50,000" in problem("json_schema", schema={"properties": properties})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("$..*..*..*..*..*", "[" * 80 + "]" * 80),
        ("$[?count(@..*..*..*..*..*) == 1]", "[" * 80 + "]" * 80),
        ("$[?search(@, '(a+)+$')]", '["' + "a" * 5_000 + 'b"]'),
    ],
)
def test_a_hostile_path_ends_in_time_without_a_value(hurried, path, text):
    with in_time():
        assert "took longer" in error_of("json_path_equals", text, path=path, value=0)


# Code --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("```python\nprint(1)\n```", "", 1),
        ("```python\nprint(1)\n```", "Python", 1),
        ("```Python title=a\nprint(1)\n```", "python", 1),
        ("```js\n1\n```\n\n~~~sql\nselect 1\n~~~", "sql", 1),
        ("- a list\n  ```sh\n  ls\n  ```", "sh", 1),
        ("````md\n```python\n```\n````", "python", 0),
        ("```python\nnever closed", "python", 1),
        ("``` \n1\n```", "python", 0),
        ("Use `print(1)`.", "", 0),
        ("```print(1)```", "", 0),
        ("```\r\n1\r\n```\r\ntext", "", 1),
        ("", "", 0),
    ],
)
def test_code_blocks_are_fenced(text, language, value):
    assert score("contains_code_block", text, language=language) == value


@pytest.mark.parametrize(
    "line", ["```" + "a" * 200_000, "~" * 200_000, "```" + " " * 200_000, " \t" * 100_000 + "``"]
)
def test_a_long_line_that_is_no_fence_is_passed_over_in_time(line):
    with in_time():
        assert score("contains_code_block", line + "`x`") == 0


def test_any_language_unless_one_is_named():
    assert score("contains_code_block", "```\n1\n```") == 1
    assert problems_of("contains_code_block", {"language": 1})
