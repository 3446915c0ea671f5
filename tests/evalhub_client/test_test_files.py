import pytest

from evalhub_client.errors import EvalHubError
from evalhub_client.test_files import changes_of, rows_in

THERE = {
    "id": 7,
    "source_id": "a",
    "reference": "4",
    "weight": 1.0,
    "state": "approved",
    "criteria": [
        {"key": "k1", "text": "Names the price", "weight": 1.0},
        {"key": "k2", "text": "Is polite", "weight": 1.0},
    ],
}


def test_only_what_differs_is_a_change():
    same = {"source_id": "a", "weight": 1, "criteria": [{"text": "Names the price"}, {"key": "k2"}]}

    assert changes_of(THERE, same) == {}
    assert changes_of(THERE, {**same, "reference": "5"}) == {"reference": "5"}


def test_criteria_in_the_same_words_keep_their_keys():
    rubric = [{"text": "Is polite"}, {"text": "Is short"}]

    assert changes_of(THERE, {"criteria": rubric}) == {
        "criteria": [{"text": "Is polite", "key": "k2"}, {"text": "Is short"}]
    }


@pytest.mark.parametrize("text", ['{"a": 1}\n\n{"a": 2}\n', '[{"a": 1}, {"a": 2}]'])
def test_files_are_json_lines_or_a_list(text):
    assert rows_in(text) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "words"), [('{"a": 1}\nx', "Line 2 is no JSON"), ("3", "Line 1 is no JSON object")]
)
def test_a_wrong_line_is_named(text, words):
    with pytest.raises(EvalHubError, match=words):
        rows_in(text)
