import re

import pytest

from issues.checks import Material, run
from tests.issues.checks.outcomes import error_of, in_time, problem, score

HALF_OF_A_PAIR = "\ud83d"


@pytest.mark.parametrize(
    ("pattern", "text", "value"),
    [
        (r"\d+", "The number is 123", 1),
        ("abc", "ABC", 0),
        ("^foo", "Sentence.", 0),
        ("a.c", "abc", 1),
        ("", "anything", 1),
        # The end is the end of the text, not that of a line.
        ("end$", "the end", 1),
        ("end$", "the end\n", 0),
        ("end$", "end\nof it", 0),
        ("(?m)end$", "end\nof it", 1),
        ("(?m)^of", "end\nof it", 1),
        # Digits, letters of words and their borders are ASCII.
        (r"^\d$", "٣", 0),
        (r"^\D$", "٣", 1),
        (r"^\w+$", "naïve", 0),
        (r"\bte\b", "été", 0),
        (r"\bt\b", "été", 1),
        (r"a\Bb", "ab", 1),
        (r"^[\w-]+$", "a-b_1", 1),
        (r"^[^\w]+$", "é!", 1),
        (r"^[\W]+$", "é!", 1),
        (r"^[\W]+$", "a", 0),
        (r"^[\D]$", "7", 0),
        (r"^[\d]$", "٣", 0),
        # White space is that of all alphabets.
        (r"a\sb", "a\u00a0b", 1),
        (r"a\sb", "a\u3000b", 1),
        (r"a[\s]b", "a\ufeffb", 1),
        (r"^\S+$", "a\u00a0b", 0),
        (r"^[\S]+$", "a\u00a0b", 0),
        # A point is no line break of any kind.
        ("a.b", "a\nb", 0),
        ("a.b", "a\u2028b", 0),
        ("(?s)a.b", "a\nb", 1),
        # What is left unfinished or empty is read as JavaScript reads it.
        ("{name}", "Dear {name}", 1),
        ("a{,2}", "a{,2}", 1),
        ("^a{2,3}$", "aaa", 1),
        ("^a{2,}$", "aaaaa", 1),
        ("x{e<=1}", "x", 0),
        ("a[^]b", "a\nb", 1),
        ("a[]b", "ab", 0),
        ("[[a]", "[", 1),
        (r"[\]]", "]", 1),
        (r"\/\-\_", "/-_", 1),
        (r"\u{1F600}", "😀", 1),
        (r"\u00e9\x41\cJ", "éA\n", 1),
        (r"^\p{Lu}\P{Lu}$", "Éa", 1),
        (r"(?<year>\d{4})-\k<year>", "1999-1999", 1),
        (r"(?<!un)happy(?= few)", "we happy few", 1),
        (r"(a)\1", "aa", 1),
        ("(?i)ABC", "abc", 1),
        ("(?i:A)b", "aB", 0),
        (HALF_OF_A_PAIR, HALF_OF_A_PAIR, 1),
    ],
)
def test_patterns_are_read_as_javascript_reads_them(pattern, text, value):
    assert score("matches", text, pattern=pattern) == value
    assert score("matches", text, pattern=pattern, negate=True) == 1 - value


@pytest.mark.parametrize(
    ("text", "pattern", "value"),
    [
        *(("My SSN", "ssn", 1), ("É", "é", 1)),
        *(("ſ", r"\w", 0), ("s", r"[\W]", 0)),  # no letters are added to the ASCII ones
    ],
)
def test_case_is_ignored_if_asked(text, pattern, value):
    assert score("matches", text, pattern=pattern, ignore_case=True) == value
    assert score("matches_all", text, patterns=[pattern], ignore_case=True) == value


@pytest.mark.parametrize(
    ("patterns", "value"), [([r"\d+", "red"], 1 / 2), ([r"\d+", "blue"], 1), (["red"], 0), ([], 1)]
)
def test_all_counts_the_share(patterns, value):
    assert score("matches_all", "123 and Blue", patterns=patterns, ignore_case=True) == value


@pytest.mark.parametrize(
    ("least", "patterns", "value"),
    [
        (3, ["apples", "oranges", "pears"], 2 / 3),
        (2, ["apples", "oranges", "pears"], 1),
        (2, [], 0),
        (0, [], 1),
    ],
)
def test_at_least_counts_in_proportion(least, patterns, value):
    text = "There are 3 apples and 4 oranges."
    assert score("matches_at_least", text, least=least, patterns=patterns) == value


def test_a_group_of_the_first_match_is_compared():
    assert score("captures", "Answer: B. Answer: C.", pattern=r"Answer: (\w)", text="B") == 1
    assert score("captures", "Answer: B. Answer: C.", pattern=r"Answer: (\w)", text="C") == 0
    assert score("captures", "No idea.", pattern=r"Answer: (\w)", text="B") == 0
    assert score("captures", "x=12", pattern=r"(?<name>\w)=(\d+)", text="12", group=2) == 1
    assert score("captures", "x=12", pattern=r"(?<name>\w)=(\d+)", text="x", group="name") == 1
    assert score("captures", "x=12", pattern=r"\w=\d+", text="x=12") == 1
    assert score("captures", "ANSWER: b", pattern=r"answer: (\w)", text="B", ignore_case=True) == 1


def test_a_group_that_took_no_part_holds_nothing():
    assert score("captures", "a", pattern="a(b)?", text="") == 1


@pytest.mark.parametrize("group", [2, -1, "year"])
def test_a_group_must_be_in_the_pattern(group):
    assert "group" in problem("captures", pattern="(a)", text="a", group=group)


@pytest.mark.parametrize(
    "pattern",
    ["(", "[a", "a**", "*a", "(?<a>x)(?<a", r"\y", "(?R)", "(?1)", "(*FAIL)", "(?&x)", "(?P>x)"],
)
def test_a_pattern_that_cannot_be_read_is_a_problem(pattern):
    assert problem("matches", pattern=pattern)
    assert "“pattern”" in error_of("matches", "text", pattern=pattern)
    assert "“patterns.0”" in error_of("matches_all", "text", patterns=[pattern])


@pytest.mark.parametrize("pattern", ["(" * 5000 + ")" * 5000, "a" * 10_001, "(?:" * 3_000])
def test_a_monstrous_pattern_is_a_problem_at_once(pattern):
    with in_time():
        assert problem("matches", pattern=pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 5_000 + "b"),
        ("(x+x+)+y", "x" * 3_000),
        ("^(a|aa)+$", "a" * 5_000 + "b"),
        (r"\s+$", " " * 100_000 + "b"),
        ("a.*b.*c.*d.*e", "a" * 3_000 + "b" * 3_000 + "c" * 3_000),
    ],
)
def test_a_catastrophic_pattern_ends_in_time_without_a_value(hurried, pattern, text):
    for negate in (False, True):
        with in_time():
            assert "took longer" in error_of("matches", text, pattern=pattern, negate=negate)


def test_many_slow_patterns_share_one_time_limit():
    slow = [f"(a+)+{letter}$" for letter in "cdefghij"]
    with in_time():
        assert "longer than 1 s" in error_of("matches_all", "a" * 5_000 + "b", patterns=slow)


def test_the_explanation_shows_what_was_found():
    outcome = run("matches", {"pattern": r"\d+"}, Material("It is 42."))
    assert outcome.explanation == "Found “42”."


@pytest.mark.parametrize("pattern", ["a" * 3_000, r"\a" * 3_000, "[a]" * 3_000, "(?:a)" * 2_000])
def test_a_long_run_of_letters_is_looked_for_in_time(pattern):
    with in_time():
        assert score("matches", ("a" * 1_999 + "b") * 10, pattern=pattern) == 0


@pytest.mark.parametrize("joint", ["+", "", "|", "{2}", "?"])
def test_a_long_pattern_is_found_as_a_short_one_is(joint):
    pattern = "^" + "ab" * 300 + joint + "c$"
    for text in ("ab" * 300 + "c", "ab" * 300 + "bc", "ab" * 299 + "ac", "c"):
        assert score("matches", text, pattern=pattern) == float(bool(re.search(pattern, text)))


@pytest.mark.parametrize(
    "pattern",
    ["a{1000000000}", "(?:ab){1000000000}", "((?:(?:a|b){300}){300}){300}", "(a{9999}){99}"],
)
def test_a_repeat_that_would_fill_the_memory_is_a_problem(pattern):
    with in_time():
        assert "repeats too often" in problem("matches", pattern=pattern)


def test_there_are_not_more_patterns_than_can_be_read_in_time():
    assert problem("matches_all", patterns=["a"] * 100) == ""
    assert "at most 100" in problem("matches_all", patterns=["a"] * 101)
