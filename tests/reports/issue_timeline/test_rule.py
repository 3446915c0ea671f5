"""Where an issue broke, where it passed again, and what follows."""

from datetime import UTC, datetime, timedelta

import pytest

from reports.issue_timeline.rule import (
    IssueOutcome,
    IssueResult,
    by_line,
    failures_after_resolution,
    passed_in_a_row,
    release_points,
    turning_points,
)

START = datetime(2026, 3, 1, tzinfo=UTC)
WAYS = {"+": (2, 0, 0), "-": (1, 1, 0), "?": (1, 0, 1), "0": (0, 0, 0)}


def seen(n, way, *, line="a", release="", together=None):
    """Run number n, on day n: + passed, - failed, ? partly undecided, 0 nothing decided."""
    at = START + timedelta(days=n)
    return IssueResult(n, line, release, n if together is None else together, at, *WAYS[way])


def course(outcomes, **fields):
    return [seen(n, way, **fields) for n, way in enumerate(outcomes, 1)]


def releases(outcomes, line="a"):
    return [seen(n, way, line=line, release=f"1.{n}") for n, way in enumerate(outcomes, 1)]


@pytest.mark.parametrize(
    ("way", "issue_outcome"), list(zip("+-?0", [*IssueOutcome, IssueOutcome.UNKNOWN], strict=True))
)
def test_an_issue_passes_where_all_is_scored_and_passed(way, issue_outcome):
    assert seen(1, way).issue_outcome == issue_outcome


def test_what_broke_lies_between_the_last_pass_and_the_first_failure():
    turns = turning_points(course("++--+-"))

    assert (turns.passed_before.run, turns.first_failed.run, turns.passed_again.run) == (2, 3, 5)


def test_a_run_of_which_nothing_is_known_bounds_nothing():
    turns = turning_points(course("+?-?+?"))

    assert (turns.passed_before.run, turns.first_failed.run, turns.passed_again.run) == (1, 3, 5)
    assert turns.now.run == 5


def test_an_issue_that_failed_from_the_beginning_passed_nowhere_before():
    assert turning_points(course("--+")).passed_before is None


def test_an_issue_that_never_failed_has_no_turn():
    turns = turning_points(course("+++"))

    assert (turns.first_failed, turns.passed_before, turns.passed_again) == (None, None, None)
    assert turns.streak == 3


def test_the_order_of_time_counts_and_not_that_of_the_list():
    assert turning_points(reversed(course("+-+"))) == turning_points(course("+-+"))


def test_without_runs_nothing_is_known():
    assert turning_points([]).now is None


def test_each_model_has_a_line_of_its_own():
    found = by_line(course("+-") + course("-", line="b"))

    assert {line: len(runs) for line, runs in found.items()} == {"a": 2, "b": 1}


def test_releases_in_a_row_end_at_the_last_one_that_failed():
    assert [point.name for point in passed_in_a_row(releases("+-++"))] == ["1.4", "1.3"]


def test_a_release_fails_where_one_of_its_models_does():
    assert passed_in_a_row(releases("++") + releases("+-", line="b")) == []


def test_a_release_that_was_run_again_counts_as_it_went_last():
    runs = [seen(1, "-", release="1.0"), seen(2, "+", release="1.0")]

    assert [point.issue_outcome for point in release_points(runs)] == [IssueOutcome.PASSED]


def test_a_release_of_which_nothing_is_known_neither_counts_nor_ends_the_row():
    assert [point.name for point in passed_in_a_row(releases("+?+"))] == ["1.3", "1.1"]


def test_runs_launched_together_without_a_release_count_once():
    runs = [seen(n, "+", line=line, together=1) for n, line in ((1, "a"), (2, "b"))]

    assert len(passed_in_a_row(runs)) == 1


def test_beside_releases_a_run_without_one_counts_only_when_it_fails():
    released = releases("+++")

    assert len(passed_in_a_row([*released, seen(9, "+")])) == 3
    assert passed_in_a_row([*released, seen(9, "-")]) == []


def resolved_after(n):
    return START + timedelta(days=n, hours=1)


def test_a_failure_after_it_was_resolved_is_one_again():
    assert [one.run for one in failures_after_resolution(course("-++-"), resolved_after(3))] == [4]


def test_a_failure_before_it_was_resolved_is_not():
    assert failures_after_resolution(course("-++"), resolved_after(3)) == []


def test_a_model_that_was_known_to_fail_shows_nothing_new_by_failing():
    assert failures_after_resolution(course("---"), resolved_after(2)) == []


def test_once_it_has_passed_its_next_failure_is_new():
    assert [one.run for one in failures_after_resolution(course("--+-"), resolved_after(2))] == [4]


def test_a_model_that_was_never_run_before_shows_the_fault_by_failing():
    runs = [*course("+"), seen(5, "-", line="new")]

    assert [one.run for one in failures_after_resolution(runs, resolved_after(3))] == [5]


def test_it_fails_again_in_each_run_until_it_is_resolved_anew():
    assert [one.run for one in failures_after_resolution(course("+--"), resolved_after(1))] == [
        2,
        3,
    ]
