"""Whether an issue passes or fails, where it broke, where it passed again, and what follows."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from evalhub.statistics.rates.behaviour_outcome import FalseFails, Word
from reports.issue_timeline.rule import (
    IssueResult,
    by_line,
    evidence_of,
    failing_again,
    passing_now,
    release_points,
    turning_points,
)

START = datetime(2026, 3, 1, tzinfo=UTC)
ANSWERS = {"+": "p" * 5, "-": "fffpp", "?": "pppp?", "0": "ppp"}
"""The answers to an issue's tests of low severity, one each: passed, failed or without a score."""


def run(n, answers, *, line="a", release="", together=None, severity="low", confirmed=0, rate=None):
    """Run number n, on day n; a letter for each test, or several for its repeats."""
    tests = []
    for test, given in enumerate(answers):
        passed, failed, lacking = map(given.count, "pf?")
        sure = confirmed if test == 0 else 0
        tests.append((test, passed, failed, lacking, failed, failed + lacking, sure))
    at = START + timedelta(days=n)
    together = n if together is None else together
    counts = np.array(tests, dtype=np.int64)
    return IssueResult(
        n, line, release, together, at, severity, counts, rate or FalseFails.measured(2, 100)
    )


def seen(n, way, **fields):
    """Run number n: + passes, - fails, ? and 0 cannot tell."""
    return run(n, ANSWERS[way], **fields)


def course(ways, **fields):
    return [seen(n, way, **fields) for n, way in enumerate(ways, 1)]


def releases(ways, line="a"):
    return [seen(n, way, line=line, release=f"1.{n}") for n, way in enumerate(ways, 1)]


# One model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ways", "turns", "now"),
    [
        ("++--+-", (2, 3, 5), Word.FAILS),
        ("+0-?+?", (2, 3, 5), Word.CANNOT_TELL),
        ("--+", (None, 1, 3), Word.PASSES),
        ("+++", (None, None, None), Word.PASSES),
    ],
)
def test_what_broke_lies_between_the_first_failure_and_the_run_before(ways, turns, now):
    found = turning_points(reversed(course(ways)))
    points = (found.before, found.first_failed, found.passed_again)

    assert tuple(point and point.run for point in points) == turns
    assert found.now.word == now


def test_a_streak_counts_the_newest_runs_of_each_model():
    assert turning_points(course("-+++")).streak == 3
    assert turning_points([]).now is None
    found = by_line(course("+-") + course("-", line="b"))
    assert {line: len(runs) for line, runs in found.items()} == {"a": 2, "b": 1}


# Releases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "name"),
    [
        (releases("-+"), "1.2"),
        (releases("+-"), None),
        (releases("+0"), None),  # what passed before is no evidence of the newest
        (releases("++") + releases("+-", line="b"), None),
        ([*releases("+"), seen(9, "0")], "1.1"),  # beside releases a launch counts if it fails
        ([*releases("+"), seen(9, "-")], None),
        ([seen(1, "+", together=1), seen(2, "+", line="b", together=1)], ""),
        ([], None),
    ],
)
def test_an_issue_passes_now_if_it_does_in_the_newest_release_with_every_model(runs, name):
    found = passing_now(runs)

    assert (found and found.name) == name


def resolved_after(n):
    return START + timedelta(days=n, hours=1)


def again(runs, n):
    """The runs of the release in which the issue fails again after day n."""
    point = failing_again(runs, resolved_after(n))
    return [one.run for one in point.runs] if point else []


@pytest.mark.parametrize(
    ("ways", "resolved", "runs"),
    [
        pytest.param("-++-", 3, [4], id="fails after it was resolved"),
        pytest.param("-++", 3, [], id="failed before"),
        pytest.param("---", 2, [], id="was known to fail"),
        pytest.param("--0-", 2, [4], id="fails anew after a run in which it did not"),
        # The newest release that can tell decides.
        *(("+--", 1, [3]), ("+-+", 1, []), ("+-?", 1, [2])),
        pytest.param("+-0", 1, [], id="no answer fails in the newest, though it has few tests"),
    ],
)
def test_an_issue_fails_again_by_a_new_failure_after_it_was_resolved(ways, resolved, runs):
    assert again(course(ways), resolved) == runs


def test_a_model_that_was_never_run_before_shows_the_fault_by_failing():
    assert again([*course("+"), seen(5, "-", line="new")], 3) == [5]


# Evidence ----------------------------------------------------------------------------------------


def test_flaky_tests_count_and_are_said():
    found = evidence_of([run(1, ["ffffp"] * 4 + ["ppppp"] * 6, severity="critical")])

    assert found.word == Word.FAILS
    assert found.words.startswith("16 of 50 answers fail, in 4 of 10 tests (judges fail at most")
    assumed = evidence_of([run(1, ["f"] * 5, rate=FalseFails())])
    assert "assumed: judges fail at most 10%" in assumed.words


@pytest.mark.parametrize(
    ("answers", "severity", "words"),
    [
        (["ppp"] * 3, "critical", "Its 3 questions pass; 26 more would show it."),
        (["f"] + ["p"] * 11, "medium", "1 of 12 questions fails; people must look."),
        (["p"], "low", "Its question passes; 4 more would show it."),
        (["pf", "pp"], "low", "1 of 4 answers fails, in 1 of 2 tests; people must look."),
        ("pppp?", "low", "Its 5 questions pass; 3 more would show it; 1 answer lacks a score"),
    ],
)
def test_what_cannot_be_told_says_what_would_tell(answers, severity, words):
    found = evidence_of([run(1, answers, severity=severity)])

    assert found.word == Word.CANNOT_TELL
    assert found.words.startswith(words)


def test_people_decide_a_single_failure():
    tests = ["f"] + ["p"] * 28

    assert evidence_of([run(1, tests, severity="critical")]).word == Word.CANNOT_TELL
    confirmed = evidence_of([run(1, tests, severity="critical", confirmed=1)])
    assert (confirmed.word, confirmed.words) == (
        Word.FAILS,
        "1 of 29 answers fails, in 1 of 29 tests (people confirmed a failure).",
    )


def test_runs_of_a_release_are_repeats_of_its_tests_and_models_are_not():
    attempts = [run(1, "fppp", release="1.0"), run(2, "pppp", release="1.0")]
    (point,) = release_points(attempts)
    assert [(line.tests, line.answers) for line in point.evidence.lines] == [(4, 8)]

    models = evidence_of([run(1, "fffff"), run(2, "ppppp", line="b")])
    assert models.word == Word.FAILS
    assert models.words.startswith("With 1 of 2 models, 5 of 5 answers fail")
    both = evidence_of([run(1, "ppppp"), run(2, "ppppp", line="b")])
    assert both.word == Word.PASSES
    assert both.words.startswith("With each of 2 models, 0 of 5 answers fail")
