import pytest

from evalhub.llm.security.redaction import redact


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefghijkl.",
        "Authorization: Bearer abc.def-ghi",
        "key AIzaSyA1234567890abcdefghijklmnopq",
        "the key my-own-key-77 is wrong",
    ],
)
def test_keys_are_hidden(text):
    hidden = redact(text, "my-own-key-77")
    assert "[key hidden]" in hidden
    assert not any(part in hidden for part in ("sk-proj", "abc.def", "AIza", "my-own-key"))


def test_other_words_are_not_hidden():
    text = "The task-specific risk-averse model is overloaded."
    assert redact(text) == text


def test_a_key_too_short_to_be_one_leaves_words_whole():
    assert redact("none of the keys", "none") == "none of the keys"
