"""What to work on next."""

import pytest

from evalhub.statistics.changes.lost_issues import LostIssue
from evalhub.statistics.rates.behaviour_outcome import TestedAnswers, behaviour_outcome
from issues.severity import MAX_FAILURE_RATE, WEIGHT
from reports.issue_timeline.rule import IssueEvidence
from reports.underperforming.rule import Standing, work_list


def standing(issue, *failed, severity="low", lost=None):
    """An issue of ten tests, of which each model fails so many."""
    lines = [
        behaviour_outcome(
            [TestedAnswers.whole(1, int(n < k)) for n in range(10)],
            limit=MAX_FAILURE_RATE[severity],
        )
        for k in failed
    ]
    return Standing(issue, severity, IssueEvidence(tuple(lines)), lost)


LOST = LostIssue(2, 5.0, 0.0, 10, 0.03, 0.01)


@pytest.mark.parametrize(
    ("more", "fewer", "reports"),
    [
        pytest.param(standing(2, 4, severity="critical"), standing(1, 8), {}, id="severity"),
        pytest.param(standing(2, 6, 6), standing(1, 8, 0), {}, id="models"),
        pytest.param(standing(2, 6), standing(1, 8), {2: 1}, id="users' reports"),
        pytest.param(standing(2, 6, lost=LOST), standing(1, 8), {}, id="regression"),
    ],
)
def test_issues_are_ranked_by_all_that_counts(more, fewer, reports):
    assert [one.standing.issue for one in work_list([fewer, more], reports)] == [2, 1]


def test_an_issue_that_passes_with_every_model_is_not_listed():
    assert work_list([standing(1, 0, 1), standing(2)], {}) == []


def test_the_reason_says_all_that_counts():
    (item,) = work_list([standing(2, 9, lost=LOST)], {2: 3})

    assert item.why.startswith("9 of 10 answers fail, in 9 of 10 tests")
    assert "5 of 10 tests, over all models. 3 reports by users." in item.why
    assert item.priority == pytest.approx(WEIGHT["low"] * 0.9 * 4 * 2)
