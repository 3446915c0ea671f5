"""Sample data: loaded complete and approved; a second load changes nothing."""

import pytest
from django.core.management import call_command

from issues.lifecycle.readiness import problems_of_issue, problems_of_test
from issues.models import Feedback, Issue, Test
from issues.sample_data import SampleCounts, load_sample
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded(db):
    return load_sample()


def test_everything_arrives(loaded):
    assert loaded == SampleCounts(20, 60, Feedback.objects.count())
    assert (Issue.objects.count(), Test.objects.count()) == (20, 60)


def test_all_tests_may_run(loaded):
    assert Test.objects.runnable().count() == 60


def test_nothing_lacks_anything(loaded):
    assert [problems_of_issue(issue) for issue in Issue.objects.all()] == [[]] * 20
    tests = Test.objects.select_related("template")
    assert [problems_of_test(test) for test in tests] == [[]] * 60


def test_tags_have_their_kind_and_parent(loaded):
    issue = Issue.objects.get(source_id="sample:math-geometry")

    tags = issue.tags.values_list("name", "kind", "parent__name")
    assert set(tags) == {("Math", "domain", None), ("Geometry", "task_type", "Math")}


def test_feedback_without_an_issue_waits_for_triage(loaded):
    waiting = Feedback.objects.filter(issue=None)

    assert waiting.count() >= 3
    assert set(waiting.values_list("state", flat=True)) == {"new"}


@pytest.mark.both_engines
def test_a_second_loading_changes_nothing(loaded):
    test = Test.objects.first()
    test.guidelines = "Mine now."
    test.save()

    assert load_sample() == SampleCounts(0, 0, 0)
    test.refresh_from_db()
    assert test.guidelines == "Mine now."


def test_what_was_deleted_comes_back_alone(loaded):
    Test.objects.filter(source_id="sample:geometry-circle-area").delete()

    assert load_sample() == SampleCounts(0, 1, 0)


def test_the_history_says_who_loaded_it_and_no_author_is_made_up(db):
    user = make_user()
    load_sample(by=user)

    issue = Issue.objects.first()
    assert issue.author is None
    assert set(issue.history.values_list("history_user", flat=True)) == {user.pk}


def test_the_command_says_what_it_added(capsys, db):
    call_command("load_sample")

    assert "Added 20 issues, 60 tests" in capsys.readouterr().out
