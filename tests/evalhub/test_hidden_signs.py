import pytest

from evalhub.display.hidden_signs import misleading_signs, with_hidden_signs


@pytest.mark.parametrize(
    ("sign", "code", "name"),
    [
        ("\u202e", "U+202E", "right-to-left override"),
        ("\u2066", "U+2066", "left-to-right isolate"),
        ("\u200b", "U+200B", "zero width space"),
        ("\ufeff", "U+FEFF", "zero width no-break space"),
        ("\xad", "U+00AD", "soft hyphen"),
        ("\xa0", "U+00A0", "no-break space"),
        ("\u3164", "U+3164", "hangul filler"),
        ("\U000e0041", "U+E0041", "tag latin capital letter a"),
        ("\U000e0101", "U+E0101", "variation selector-18"),
        ("\x1b", "U+001B", "control character"),
    ],
)
def test_hidden_sign_is_labelled_and_isolated(sign, code, name):
    assert with_hidden_signs(f"a{sign}b") == (
        f'a<bdi class="eh-sign" data-sign="{code}" title="{name}">{sign}</bdi>b'
    )


@pytest.mark.parametrize("text", ["plain\n\ttext", "שלום", "Äpfel ≠ 苹果", "👍", "e\u0301"])
def test_other_text_stays(text):
    assert with_hidden_signs(text) == text


def test_html_is_shown_as_text():
    assert with_hidden_signs("<b title='x'>&") == "&lt;b title=&#x27;x&#x27;&gt;&amp;"


@pytest.mark.parametrize(
    ("text", "count"),
    [("pay\u202e to\u202c", 2), ("a\u200bb", 1), ("a\xa0b 👍️ \u0645\u06cc\u200c\u062e", 0)],
)
def test_only_misleading_signs_are_warned_of(text, count):
    assert misleading_signs(text) == count
