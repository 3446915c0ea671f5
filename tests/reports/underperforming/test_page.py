"""The page of what to work on next, over all models of the newest release."""

import pytest

from issues.models import Feedback
from reports.compare.pair_changes_query import lost_in_all
from reports.documents.reading import Reading
from reports.underperforming.page import UNDERPERFORMING
from tests.factories import make_issue, make_model, make_test, make_user
from tests.reports.issue_proposals.test_proposals import run_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


def document_of(release="", reading=None):
    return UNDERPERFORMING.build({"release": release}, reading or Reading(make_user("viewer")))


def rows(document):
    return document.table("listed").as_rows()


def names(document):
    return [row["issue"].text for row in rows(document)]


def test_what_fails_in_the_newest_release_is_ranked_over_all_models():
    issues = {title: make_issue(title=title, severity="low") for title in ("Fine", "Lost", "Old")}
    tests = [make_test(f"{t} {n}?", issue=issue) for t, issue in issues.items() for n in range(8)]
    models = [make_model(name=f"model {n}") for n in range(3)]
    for model in models:
        run_of(tests, [1] * 16 + [0] * 8, release="1.0", days_ago=2, model=model)
        run_of(tests, [1] * 8 + [0] * 7 + [1] + [0] * 8, release="1.1", days_ago=1, model=model)
    document = document_of()
    lost, old = rows(document)

    assert (lost["issue"].text, old["issue"].text) == ("Lost", "Old")
    assert (lost["models"], lost["outcome"], lost["lost"], old["lost"]) == (
        *("3 of 3", "fails", "7 of 8"),
        None,
    )
    assert document.sentences[0].startswith("Do this first: “Lost” (low). With each of 3 models")
    assert "Lost since the release before: 7 of 8 tests, over all models." in lost["why"]

    Feedback.objects.bulk_create(Feedback(issue=issues["Old"], comment=f"{n}") for n in range(2))
    assert names(document_of()) == ["Old", "Lost"]
    assert names(document_of("1.0")) == ["Old"]


def test_an_issue_lost_in_all_models_is_sure_where_no_single_model_shows_it():
    """Each of 6 models loses two other ones of twelve tests: half of them is lost on the whole."""
    issue, other = make_issue(), make_issue()
    tests = [make_test(f"{n}?", issue=issue) for n in range(12)]
    tests += [make_test(f"other {n}?", issue=other) for n in range(4)]
    pairs = []
    for n in range(6):
        model = make_model(name=f"model {n}")
        before = run_of(tests, [1] * 16, release="1.0", days_ago=2, model=model)
        votes = [int(k not in (2 * n, 2 * n + 1)) for k in range(12)] + [1] * 4
        pairs.append((before.pk, run_of(tests, votes, release="1.1", model=model).pk))

    assert [lost_in_all([pair]).is_sure for pair in pairs] == [False] * 6
    found = lost_in_all(pairs)
    assert [one.issue for one in found.found] == [issue.pk]


def test_a_first_request_leaves_the_ranking_to_a_second():
    test = make_test()
    run_of([test], [0], release="1.0", model=make_model())
    reading = Reading(make_user("viewer"), computes=False)
    document_of(reading=reading)

    assert reading.pending
    assert names(document_of()) == [test.issue.title]


def test_without_a_run_nothing_is_listed():
    document = document_of()

    assert (rows(document), document.sentences, document.facts) == ([], (), ())
