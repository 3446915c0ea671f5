import pytest

from evalhub_client.errors import EvalHubError
from evalhub_client.test_files import rows_in


@pytest.mark.parametrize("text", ['{"a": 1}\n\n{"a": 2}\n', '[{"a": 1}, {"a": 2}]'])
def test_files_are_json_lines_or_a_list(text):
    assert rows_in(text) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "words"), [('{"a": 1}\nx', "Line 2 is no JSON"), ("3", "Line 1 is no JSON object")]
)
def test_a_wrong_line_is_named(text, words):
    with pytest.raises(EvalHubError, match=words):
        rows_in(text)
