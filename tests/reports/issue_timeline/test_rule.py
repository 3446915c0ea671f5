"""Where an issue broke, where it passed again, and what follows."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from reports.issue_timeline.rule import (
    FalseFails,
    IssueOutcome,
    IssueResult,
    by_line,
    evidence_of,
    failing_again,
    passed_in_a_row,
    release_points,
    turning_points,
)

START = datetime(2026, 3, 1, tzinfo=UTC)
WAYS = {"+": "pp", "-": "pf", "?": "pe", "0": ""}
"""The answers to an issue's tests, one each: passed, failed or in error."""


def seen(n, way, *, line="a", release="", together=None):
    """Run number n, on day n: + passed, - failed, ? half in error, 0 no test."""
    return run(n, WAYS[way], line=line, release=release, together=together)


def run(n, answers, *, line="a", release="", together=None, rate=None):
    """Run number n, on day n; a letter for each test, or several for its repeats.

    Capitals are outcomes by verdicts that were taken from another run.
    """
    at = START + timedelta(days=n)
    tests = np.array(
        [
            (test, 1, *map(given.lower().count, "pfe"), *map(given.count, "pf"))
            for test, given in enumerate(answers)
        ],
        dtype=np.int64,
    ).reshape(-1, 7)
    together = n if together is None else together
    return IssueResult(n, line, release, together, at, tests, rate or FalseFails())


def course(outcomes, **fields):
    return [seen(n, way, **fields) for n, way in enumerate(outcomes, 1)]


def releases(outcomes, line="a"):
    return [seen(n, way, line=line, release=f"1.{n}") for n, way in enumerate(outcomes, 1)]


@pytest.mark.parametrize(
    ("way", "issue_outcome"), list(zip("+-?0", [*IssueOutcome, IssueOutcome.UNKNOWN], strict=True))
)
def test_an_issue_passes_where_most_of_its_tests_do_and_none_fails(way, issue_outcome):
    assert seen(1, way).issue_outcome == issue_outcome


@pytest.mark.parametrize(
    ("outcomes", "turns", "now"),
    [
        ("++--+-", (2, 3, 5), 6),
        ("+?-?+?", (1, 3, 5), 5),  # a run of which nothing is known bounds nothing
        ("--+", (None, 1, 3), 3),
        ("+++", (None, None, None), 3),
    ],
)
def test_what_broke_lies_between_the_last_pass_and_the_first_failure(outcomes, turns, now):
    found = turning_points(course(outcomes))
    points = (found.passed_before, found.first_failed, found.passed_again)
    assert tuple(point and point.run for point in points) == turns
    assert found.now.run == now


def test_a_streak_counts_what_passed_last():
    assert turning_points(course("+++")).streak == 3


def test_the_order_of_time_counts_and_not_that_of_the_list():
    runs = course("+-+")

    assert turning_points(reversed(runs)) == turning_points(runs)


def test_without_runs_nothing_is_known():
    assert turning_points([]).now is None


def test_each_model_has_a_line_of_its_own():
    found = by_line(course("+-") + course("-", line="b"))

    assert {line: len(runs) for line, runs in found.items()} == {"a": 2, "b": 1}


@pytest.mark.parametrize(("outcomes", "names"), [("+-++", ["1.4", "1.3"]), ("+?+", ["1.3", "1.1"])])
def test_releases_in_a_row_end_at_the_last_one_that_failed(outcomes, names):
    assert [point.name for point in passed_in_a_row(releases(outcomes))] == names


def test_a_release_fails_where_one_of_its_models_does():
    assert passed_in_a_row(releases("++") + releases("+-", line="b")) == []


def test_runs_of_a_release_count_together_and_what_differs_is_flaky():
    runs = [run(1, "pppf", release="1.0"), run(2, "pppp", release="1.0")]
    (point,) = release_points(runs)

    assert (point.issue_outcome, point.evidence.flaky) == (IssueOutcome.PASSED, (3,))


def test_runs_launched_together_without_a_release_count_once():
    runs = [seen(n, "+", line=line, together=1) for n, line in ((1, "a"), (2, "b"))]

    assert len(passed_in_a_row(runs)) == 1


def test_beside_releases_a_run_without_one_counts_only_when_it_fails():
    released = releases("+++")

    assert len(passed_in_a_row([*released, seen(9, "+")])) == 3
    assert passed_in_a_row([*released, seen(9, "-")]) == []


def resolved_after(n):
    return START + timedelta(days=n, hours=1)


def again(runs, n):
    """The runs of the release in which the issue fails again after day n."""
    point = failing_again(runs, resolved_after(n))
    return [one.run for one in point.runs] if point else []


@pytest.mark.parametrize(
    ("outcomes", "resolved", "runs"),
    [
        pytest.param("-++-", 3, [4], id="fails after it was resolved"),
        pytest.param("-++", 3, [], id="failed before"),
        pytest.param("---", 2, [], id="was known to fail"),
        pytest.param("--+-", 2, [4], id="fails anew once it has passed"),
        # The newest release with a known outcome decides.
        *(("+--", 1, [3]), ("+-+", 1, []), ("+-?", 1, [2])),
    ],
)
def test_an_issue_fails_again_by_a_new_failure_after_it_was_resolved(outcomes, resolved, runs):
    assert again(course(outcomes), resolved) == runs


def test_a_model_that_was_never_run_before_shows_the_fault_by_failing():
    assert again([*course("+"), seen(5, "-", line="new")], 3) == [5]


# Evidence ----------------------------------------------------------------------------------------

THREE = FalseFails(0.03, 200)
"""Judges that fail 3 of 100 answers that humans pass."""


def test_a_failure_that_false_fails_explain_is_none():
    # 1 of 10 at 3 %: p = 1 - 0.97 ** 10 = 0.263; 2 of 10: 0.035.
    one, two = (evidence_of([run(1, "f" * k + "p" * (10 - k), rate=THREE)]) for k in (1, 2))

    assert one.p == pytest.approx(1 - 0.97**10)
    assert (one.issue_outcome, two.issue_outcome) == (IssueOutcome.PASSED, IssueOutcome.FAILED)
    assert (
        "1 of 10 tests × models fail (judges fail 3% of 200 answers that humans pass; p = 0.26"
        in (one.words)
    )


def test_a_share_that_was_not_measured_counts_as_zero_and_is_named():
    found = evidence_of([run(1, "fppppppppp")])

    assert found.issue_outcome == IssueOutcome.FAILED
    assert "was not measured and counts as 0" in found.words


def test_one_unmeasured_run_leaves_the_share_unmeasured():
    runs = [run(1, "pppp", rate=THREE), run(2, "pppp", line="b")]

    assert evidence_of(runs).false_fails.n == 0


def test_repeats_of_a_test_count_once():
    found = evidence_of([run(1, ["fff", "ppp", "ppp", "ppp", "ppp"], rate=THREE)])

    assert (found.failed, found.passed, found.total) == (1, 4, 5)
    assert found.p == pytest.approx(1 - 0.97**5)


def test_flaky_tests_are_set_aside_and_named():
    found = evidence_of([run(1, ["pfp", "ppp", "ppp"])])

    assert (found.failed, found.passed, found.flaky) == (0, 2, (0,))
    assert found.issue_outcome == IssueOutcome.PASSED
    assert "Flaky and set aside: test 0." in found.words


def test_no_test_is_flaky_by_verdicts_that_were_taken_from_another_run():
    answers = ["pF", "PF", "pfF", "pP"]
    for runs in ([run(1, answers)], [run(1, answers), run(2, ["p", "F", "p", "p"])]):
        found = evidence_of(runs)
        assert (found.total, found.failed, found.passed, found.flaky) == (4, 0, 1, (2,))


def test_one_model_that_fails_what_another_passes_is_not_flaky():
    assert evidence_of([run(1, "ff"), run(2, "pp", line="b")]).flaky == ()


def test_an_issue_of_which_most_tests_are_flaky_or_in_error_is_unknown():
    for answers in (["pf", "pf", "pp"], ["e", "e", "p"]):
        assert evidence_of([run(1, answers)]).issue_outcome == IssueOutcome.UNKNOWN
