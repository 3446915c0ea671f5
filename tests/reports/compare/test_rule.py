"""The change of each test from one run to another."""

import pytest

from reports.compare.matching_rule import Digests, match
from reports.compare.rule import Kind, Tally, compared, missing_share, tally_of
from tests.reports.compare.builders import a_run, comparison, one_test


def kinds(first, second):
    return [one.kind for one in comparison(a_run(*first), a_run(*second))]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("p", "f", Kind.WORSE),
        ("f", "p", Kind.BETTER),
        ("f", "f", Kind.SAME),
        ("ppp", "ppf", Kind.WORSE),
        ("pf", "ppff", Kind.SAME),
        ("p", "e", Kind.ERROR),
        ("u", "p", Kind.UNSCORED),
        ("p", "w", Kind.PENDING),
        ("u", "e", Kind.ERROR),
        ("pe", "f", Kind.WORSE),
    ],
)
def test_what_became_of_a_test(before, after, kind):
    assert kinds([before], [after]) == [kind]


def test_thirds_that_are_equal_do_not_differ():
    # 1 of 3 and 2 of 6 are not the same float when computed otherwise.
    assert kinds(["pff"], ["ppffff"]) == [Kind.SAME]


def test_flips_come_first_and_the_worst_of_them_foremost():
    first = a_run("p", "pp", "p", "f", "e")
    second = a_run("p", "pf", "f", "p", "p")

    found = comparison(first, second)

    assert [(one.kind, one.change) for one in found] == [
        (Kind.WORSE, -1),
        (Kind.WORSE, -0.5),
        (Kind.BETTER, 1),
        (Kind.SAME, 0),
        (Kind.ERROR, None),
    ]


def test_of_equal_flips_the_heavier_test_comes_first():
    first = [one_test(1), one_test(2, weight=3.0)]
    second = [one_test(1, "f"), one_test(2, "f", weight=3.0)]

    assert [one.latest.test_id for one in comparison(first, second)] == [2, 1]


@pytest.mark.parametrize(
    ("first", "second", "tally"),
    [
        # What is not compared is in no count.
        (("p", "p", "p", "u"), ("f", "p", "e", "p"), Tally(1, 0, 1, net=-0.5)),
        # Of four tests one is worse by 1, one better by a half, one the same; one has an error.
        (("p", "pf", "f", "p"), ("f", "pp", "f", "e"), Tally(1, 1, 1, net=pytest.approx(-0.5 / 3))),
        (("e",), ("p",), Tally(0, 0, 0, net=None)),
    ],
)
def test_the_net_change_is_the_mean_over_compared_tests(first, second, tally):
    assert tally_of(comparison(a_run(*first), a_run(*second))) == tally


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        # 1 of 4 repeats ended in an error; the other test lacks nothing.
        (a_run("pppe", "pppp"), a_run("pppp", "pppp"), 0.25 / 2),
        # The run that lacks more of a test counts.
        (a_run("pe"), a_run("pu"), 0.5),
        # One test is in both runs, one in each alone: 2 of 3 are missing.
        ([one_test(1), one_test(2)], [one_test(1), one_test(3)], 2 / 3),
        ([], [], None),
    ],
)
def test_a_test_is_missing_to_the_share_of_its_repeats(first, second, share):
    assert missing_share(comparison(first, second)) == (share and pytest.approx(share))


def test_a_changed_test_is_missing_and_not_the_same():
    digests = {1: Digests("a", "q"), 2: Digests("b", "q")}

    rows = compared(match([one_test(1)], [one_test(2, test_id=1)], digests))

    assert ([one.kind for one in rows], missing_share(rows)) == ([Kind.RUBRIC_CHANGED], 1)


def test_labels_of_the_later_run_count():
    rows = comparison([one_test(1, issue=1)], [one_test(1, issue=2)])

    assert rows[0].latest.issue_id == 2


def test_a_score_change_needs_a_score_in_both_runs():
    first = [one_test(1, score_sum=0.75), one_test(2, with_score=0, score_sum=0.0)]
    second = [one_test(1, score_sum=0.5), one_test(2)]

    changes = {one.latest.test_id: one.score_change for one in comparison(first, second)}

    assert changes == {1: -0.25, 2: None}
