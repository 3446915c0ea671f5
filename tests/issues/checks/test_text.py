import pytest

from tests.issues.checks.outcomes import error_of, in_time, problem, score

ANY_ALTERNATIVE = pytest.mark.parametrize("negate", [False, True])


@pytest.mark.parametrize(
    ("text", "wanted", "value"),
    [
        ("The lease ends in May.", "ends in", 1),
        ("The lease ends in May.", "may", 0),
        ("The lease ends in May.", "", 1),
        ("", "May", 0),
        ("", "", 1),
    ],
)
def test_contains_looks_for_the_text_as_it_stands(text, wanted, value):
    assert score("contains", text, text=wanted) == value
    assert score("contains", text, text=wanted, negate=True) == 1 - value


@pytest.mark.parametrize(
    ("name", "text", "wanted", "value"),
    [
        *(("starts_with", "Sorry, no.", "Sorry", 1), ("starts_with", " Sorry, no.", "Sorry", 0)),
        ("starts_with", "Sorry, no.", "no.", 0),
        *(("ends_with", "Sorry, no.", "no.", 1), ("ends_with", "Sorry, no.\n", "no.", 0)),
        # The whole answer, without the space around.
        *(("equals", " Paris\n", "Paris", 1), ("equals", "Paris.", "Paris", 0)),
        *(("equals", "paris", "Paris", 0), ("contains_word", "CAFÉ noir", "café", 0)),
    ],
)
def test_starts_ends_and_all_are_compared_to_the_letter(name, text, wanted, value):
    assert score(name, text, text=wanted) == value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *(("100\u202fkm", "100 km"), ("100\xa0km", "100\u2009km"), ("don’t", "don't")),
        *(("“yes”", '"yes"'), ("cafe\u0301", "café"), ("state‑of‑the‑art", "state-of-the-art")),
        *(
            ("10–20", "10-20"),
            ("2−5", "2-5"),
            ("ex\xadample", "example"),
            ("no\u200bwidth", "nowidth"),
        ),
        *(
            ("5 \xb5g", "5 \u03bcg"),
            ("a\u3000b", "a b"),
            ("a\u2067b\u2069c", "abc"),
            ("❤\ufe0f!", "❤!"),
            ("ﬁle", "file"),
            ("wait…now", "wait...now"),
            ("a\r\nb", "a\nb"),
            ("\u1112\u1161\u11ab글", "한글"),
        ),
    ],
)
@pytest.mark.parametrize(
    "name", ["contains", "contains_word", "equals", "contains_all", "captures"]
)
def test_texts_that_look_the_same_are_the_same_unless_asked_exactly(name, text, wanted):
    asked = {"texts": [wanted]} if name == "contains_all" else {"text": wanted}
    asked |= {"pattern": "[^]+"} if name == "captures" else {}
    assert score(name, text, **asked) == 1
    assert score(name, text, **asked, exact=True) == 0
    assert score(name, text, **asked, exact=True, negate=True) == 1


def test_signs_that_differ_stay_apart():
    for text, other in (("a – b", "—"), ("$8.540", "$9.540"), ("Paris", "paris"), ("a  b", "a b")):
        assert score("contains", text, text=other) == 0
    with in_time():
        assert score("contains", "a" + "\u0301\u0316" * 100_000, text="b") == 0


@pytest.mark.parametrize(
    ("name", "text", "wanted", "value"),
    [
        *(("contains", "It ends in MAY.", "may", 1), ("contains", "It ends in MAY.", "june", 0)),
        *(("contains", "Hello", "HELLO", 1), ("contains_word", "CAFÉ noir", "café", 1)),
        *(("starts_with", "SORRY no", "sorry", 1), ("ends_with", "Hello WORLD", "world", 1)),
        ("equals", "paris", "Paris ", 1),
    ],
)
def test_case_is_ignored_if_asked(name, text, wanted, value):
    assert score(name, text, text=wanted, ignore_case=True) == value
    assert score(name, text, text=wanted, ignore_case=True, negate=True) == 1 - value


def test_all_ignores_case_if_asked():
    texts = {"texts": ["lease", "ENDS", "x", "y"], "ignore_case": True}  # two are there
    assert score("contains_all", "The LEASE ends", **texts, negate=True) == 0.5


@pytest.mark.parametrize(
    ("texts", "value"), [(["rent", "tenant"], 0), (["rent", "lease"], 1), ([], 0)]
)
def test_one_of_many_is_enough(texts, value):
    assert score("contains_any", "The lease ends.", texts=texts) == value


@pytest.mark.parametrize(
    ("texts", "value"),
    [(["lease", "ends"], 1), (["lease", "rent"], 1 / 2), (["lease", "ends", "x"], 2 / 3), ([], 1)],
)
def test_all_counts_the_share(texts, value):
    assert score("contains_all", "The lease ends.", texts=texts) == value
    assert score("contains_all", "The lease ends.", texts=texts, negate=True) == 1 - value


@pytest.mark.parametrize(
    ("least", "texts", "value"),
    [
        (3, ["one", "two", "three"], 1),
        (2, ["one", "two", "three"], 1),
        (4, ["one", "two", "six"], 2 / 4),
        (2, [], 0),
        (0, ["six"], 1),
        (-1, [], 1),
    ],
)
def test_at_least_counts_in_proportion(least, texts, value):
    assert score("contains_at_least", "one two three four", least=least, texts=texts) == value


@pytest.mark.parametrize(
    ("text", "word", "value"),
    [
        ("Along the Paraná River", "Paraná", 1),
        ("Along the Paranáx River", "Paraná", 0),
        ("foo_bar", "foo", 0),
        ("foo-bar", "foo", 1),
        ("x2", "x", 0),
        ("x²", "x", 0),
        ("Hello world", "ell", 0),
        ("Москва слезам не верит", "Москва", 1),
        ("Москвал", "Москва", 0),
        ("costs $5 (net)", "$5 (net)", 1),
        ("anything", "", 1),
        ("", "word", 0),
    ],
)
def test_a_word_has_no_letter_digit_or_underscore_beside_it(text, word, value):
    assert score("contains_word", text, text=word) == value


@ANY_ALTERNATIVE
@pytest.mark.parametrize(
    "name", ["contains", "contains_word", "starts_with", "ends_with", "equals"]
)
def test_a_number_is_no_text(name, negate):
    assert "“text” is 5" in error_of(name, "5", text=5, negate=negate)


@pytest.mark.parametrize("texts", ["one", [1], None, {"a": 1}])
def test_many_texts_are_a_list_of_texts(texts):
    assert "texts" in problem("contains_any", texts=texts)


def test_explanations_name_what_is_missing():
    from issues.checks import Material, run

    outcome = run("contains_all", {"texts": ["lease", "rent"]}, Material("The lease"))
    assert outcome.explanation == "Contains 1 of 2; missing: “rent”."


def test_a_long_word_is_looked_for_in_time_and_found():
    with in_time():
        assert score("contains_word", ("a" * 2_999 + "b") * 20, text="a" * 3_000) == 0
    assert score("contains_word", f"so {'wo-rd' * 100}.", text="wo-rd" * 100) == 1


def test_there_are_not_more_texts_than_can_be_looked_for_in_time():
    assert problem("contains_all", texts=["a"] * 1_000) == ""
    assert "at most 1000" in problem("contains_all", texts=["a"] * 1_001)
