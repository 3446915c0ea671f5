"""Rows on which models differ: by a test, with enough tests, corrected for all rows."""

from itertools import product

import pytest

from reports.heatmap.spread_rule import METHOD, METHOD_BY_ISSUE, RunTest, spreads


def row(name, shares, *, tests=20, issue=1):
    """Every test of the row is passed by these models with these shares."""
    return [
        RunTest(name, run, hash((name, test)), issue, share)
        for test, (run, share) in product(range(tests), enumerate(shares))
    ]


def test_models_that_always_differ_are_told_apart_by_six_tests():
    found = spreads(row("sums", (1.0, 0.0)))["sums"]

    assert (found.tests, found.method) == (20, METHOD)
    assert found.holm < 0.001
    for tests in range(1, 7):
        enough = spreads(row("sums", (1.0, 0.0), tests=tests))
        assert [one.tests for one in enough.values()] == [6] * (tests == 6)


def test_models_that_do_not_differ_are_not_told_apart():
    assert spreads(row("sums", (1.0, 1.0)))["sums"].holm == 1
    assert spreads(row("sums", (1.0,))) == {}


def test_p_is_corrected_for_all_rows():
    # 7 of 7 one way: 2 / 2^7 = 0.016, but not over ten rows.
    alone = spreads(row("sums", (1.0, 0.0), tests=7))["sums"].holm
    others = [one for n in range(9) for one in row(f"easy {n}", (1.0, 1.0))]

    assert alone == pytest.approx(0.016, abs=0.01)
    assert spreads([*row("sums", (1.0, 0.0), tests=7), *others])["sums"].holm > 0.05


def test_a_tag_of_many_issues_is_tested_by_issue():
    tests = [
        one._replace(row="maths")
        for issue in range(6)
        for one in row(issue, (1.0, 0.0), tests=3, issue=issue)
    ]

    assert spreads(tests)["maths"].method == METHOD_BY_ISSUE


def test_only_tests_that_all_models_have_scored_count():
    lonely = [RunTest("sums", 0, 1000 + n, 1, 1.0) for n in range(10)]

    assert spreads([*row("sums", (1.0, 0.0), tests=8), *lonely])["sums"].tests == 8
