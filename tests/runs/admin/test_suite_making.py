"""Suites of selected tests, of an issue, a tag and a run; and tests added to a suite."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME

from issues.models import Tag, TestState
from runs.models import Suite
from tests.factories import make_issue, make_run, make_test, make_user
from tests.issues.pages import flashed_text, url

pytestmark = pytest.mark.django_db
MAKE = "/admin/runs/suite/make/"


@pytest.fixture
def maintainer(client):
    client.force_login(make_user("maintainer"))
    return client


def members(name):
    return set(Suite.objects.get(name=name).tests.all())


def test_a_selection_of_the_list_becomes_a_suite(maintainer):
    tests = [make_test(), make_test()]
    make_test()
    sent = {"action": "suite_of_selected", ACTION_CHECKBOX_NAME: [test.pk for test in tests]}
    page = maintainer.post(url("test_changelist"), sent)
    assert page.url.startswith(MAKE)
    assert "Make a suite of 2 tests" in maintainer.get(page.url).content.decode()
    maintainer.post(page.url, {"name": "Nightly"})
    assert members("Nightly") == set(tests)


def test_issues_tags_and_runs_name_tests(maintainer):
    issue = make_issue(tags=("Money",))
    of_issue, loose = make_test(issue=issue), make_test()
    make_test(issue=issue, state=TestState.DEPRECATED)
    run = make_run(loose)
    named = {
        "of issue": (f"issues={issue.pk}", {of_issue}),
        "of tag": (f"tags={Tag.objects.get().pk}", {of_issue}),
        "of run": (f"runs={run.pk}", {loose}),
        "both": (f"issues={issue.pk}&runs={run.pk}", {of_issue, loose}),
    }
    for name, (query, found) in named.items():
        maintainer.post(f"{MAKE}?{query}", {"name": name})
        assert members(name) == found


def test_a_suite_takes_further_tests(maintainer):
    suite, known, new = Suite.objects.create(name="Nightly"), make_test(), make_test()
    suite.tests.add(known)
    page = maintainer.post(f"{MAKE}?tests={known.pk},{new.pk}", {"suite": suite.pk})
    assert flashed_text(page) == ["1 test added to Nightly."]
    assert members("Nightly") == {known, new}


def test_a_name_that_is_taken_is_refused(maintainer):
    Suite.objects.create(name="Nightly")
    page = maintainer.post(f"{MAKE}?tests={make_test().pk}", {"name": "Nightly"})
    assert "There is a suite “Nightly”" in page.content.decode()


def test_an_empty_selection_says_so_and_names_what_cannot_be_read(maintainer):
    page = maintainer.get(f"{MAKE}?tests=99&runs=x7")
    wrong, empty = flashed_text(page)
    assert "runs" in wrong
    assert "'x7'" in wrong
    assert empty == "There is no test in this selection that you can see."
