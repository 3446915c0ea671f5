"""Suites that follow a filter of the tests list, and the versions that launches fix."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.urls import reverse

from issues.models import Tag, TestState
from issues.test_filter import FilterRefused, read_filter
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.models import Run, Suite
from runs.suites import suite_tests
from runs.suites.suite_tests import version_words
from tests.api import client_of
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.issues.pages import flashed_text, url
from tests.runs.admin.test_suite_gate import RULES

pytestmark = pytest.mark.django_db


def launched(suite, **fields):
    jury = make_jury(make_model())
    asked = {"label": "one", "models": [make_model().pk], "jury": jury.pk, "suite": suite.pk}
    record = launch(LaunchSpec.model_validate(asked | fields), by=None)
    return Run.objects.get(launch=record)


def ran(run):
    return {result.test for result in run.results.all()}


@pytest.fixture
def money():
    """A tag, an approved test with it, and a living suite of the tests with it."""
    test = make_test(issue=make_issue(tags=("Money",)))
    suite = Suite.objects.create(name="Nightly", filter=f"tag={Tag.objects.get().pk}")
    return test.issue, test, suite


# Filters -----------------------------------------------------------------------------------------


def test_a_filter_is_read_as_the_list_reads_it(client, money):
    issue, test, _ = money
    other, draft = make_test("Round it."), make_test(issue=issue, state=TestState.DRAFT)
    author = make_user("superuser")
    client.force_login(author)
    make_test(issue=issue, author=author)
    for query in (f"tag={Tag.objects.get().pk}", "state=draft", "q=round", "author=me"):
        shown = client.get(f"{url('test_changelist')}?{query}").context["cl"].queryset
        found = read_filter(query, by=author)
        assert set(found.tests) == set(shown) != {test, other, draft}
        assert read_filter(found.query).query == found.query


def test_an_address_is_a_filter_in_words(money):
    tag = Tag.objects.get().pk
    query = f"https://evals.example/admin/issues/test/?tag={tag}&p=3&o=1&q=cents"
    found = read_filter(query)
    assert (found.query, str(found)) == (f"tag={tag}&q=cents", "other tag: Money, text: “cents”")


@pytest.mark.parametrize("query", ["", "?o=1", "colour=red", "tag=99", "state=old"])
def test_a_filter_that_the_list_does_not_know_is_refused(query, money):
    with pytest.raises(FilterRefused):
        read_filter(query)


def test_what_reads_texts_finds_no_sealed_test(money):
    rubric = [{"text": "It answers.", "library_key": "answers-the-question"}]
    sealed = make_test("The secret prompt", issue=money[0], sealed=True, criteria=rubric)
    assert not read_filter("q=secret").tests.exists()
    assert not read_filter("library=answers-the-question").tests.exists()
    assert list(read_filter("sealed=1").tests) == [sealed]


# Launches ----------------------------------------------------------------------------------------


def test_each_launch_takes_what_matches_then(money):
    issue, test, suite = money
    first = launched(suite)
    again = launched(suite)
    new = make_test(issue=issue)
    make_test(issue=issue, state=TestState.DRAFT)
    test.state = TestState.DEPRECATED
    test.save()
    later = launched(suite)

    assert (ran(first), ran(later)) == ({test}, {new})
    assert first.suite_version == again.suite_version
    assert version_words(first.suite_version) == "version 1: 1 test"
    assert version_words(later.suite_version) == "version 2: 1 test, +1 −1 since version 1"
    assert first.suite_fingerprint == again.suite_fingerprint != later.suite_fingerprint


def test_a_suite_of_fixed_tests_has_versions_too():
    suite, extra = Suite.objects.create(name="Fixed"), make_test()
    suite.tests.add(make_test())
    first = launched(suite, tests=[extra.pk])
    suite.tests.add(make_test())

    assert len(ran(first)) == 2
    assert version_words(first.suite_version) == "version 1: 1 test"
    words = version_words(launched(suite).suite_version)
    assert words == "version 2: 2 tests, +1 −0 since version 1"


def test_a_filter_by_a_deleted_tag_is_refused_and_not_widened(money):
    _, _, suite = money
    Tag.objects.get().delete()
    assert not suite_tests.tests_in(suite).exists()
    with pytest.raises(LaunchRefused, match="filter of the suite “Nightly” no longer works"):
        launched(suite, tests=[make_test().pk])


def test_sealed_tests_of_a_living_suite_need_consent_like_others(money):
    issue, _, suite = money
    make_test(issue=issue, sealed=True)
    with pytest.raises(LaunchRefused, match="sealed"):
        launched(suite)


# Pages and API -----------------------------------------------------------------------------------


def test_a_filtered_list_becomes_a_living_suite(client, money):
    issue, test, _ = money
    client.force_login(make_user("maintainer"))
    make_test()
    sent = {"action": "suite_of_selected", ACTION_CHECKBOX_NAME: [test.pk]}
    page = client.post(f"{url('test_changelist')}?tag={Tag.objects.get().pk}", sent)
    assert "those that match “other tag: Money” (1 test now)" in client.get(page.url).text
    made = client.post(page.url, {"name": "Living", "takes": "matching"})
    assert flashed_text(made) == ["Living suite created: other tag: Money."]
    suite, new = Suite.objects.get(name="Living"), make_test(issue=issue)
    assert set(suite_tests.tests_in(suite)) == {test, new}

    client.post(page.url, {"name": "Fixed", "takes": "selected"})
    assert set(Suite.objects.get(name="Fixed").tests.all()) == {test}


def test_the_page_of_a_suite_says_its_filter_and_versions(client, money):
    issue, _, suite = money
    make_test(issue=issue, state=TestState.DRAFT)
    run = launched(suite)
    client.force_login(make_user("maintainer"))
    page = client.get(reverse("admin:runs_suite_change", args=[suite.pk])).text
    assert "other tag: Money</a>. 1 test of 2: only approved ones run" in page
    versions = client.get(reverse("admin:runs_suite_tab", args=[suite.pk, "versions"])).text
    assert f"suite_version__id__exact={run.suite_version_id}" in versions
    assert "version 1: 1 test" in client.get(f"{run.get_absolute_url()}?tab=setup").text


def test_a_suite_has_a_filter_or_tests(client, money):
    _, test, suite = money
    client.force_login(make_user("maintainer"))
    address = reverse("admin:runs_suite_change", args=[suite.pk])
    sent = {"name": "Nightly", "filter": suite.filter, "defaults": "{}", **RULES}
    page = client.post(address, {**sent, "tests": [test.pk]})
    assert "has a filter or tests of its own, not both" in page.text
    assert client.post(address, {**sent, "filter": "tag=99"}).status_code == 200
    assert client.post(address, {**sent, "filter": "?state=draft"}).status_code == 302
    suite.refresh_from_db()
    assert suite.filter == "state=draft"


def test_the_api_makes_living_suites_and_lists_versions(money):
    issue, test, _ = money
    client = client_of("maintainer")
    query = f"tag={Tag.objects.get().pk}"
    made = client.post("/api/v1/suites/", {"name": "x", "filter": query}).json()
    run = launched(Suite.objects.get(pk=made["id"]))
    make_test(issue=issue)

    assert (made["filter"], made["tests"]) == (query, [test.pk])
    assert len(client.get(f"/api/v1/suites/{made['id']}/").json()["tests"]) == 2
    versions = client.get(f"/api/v1/suites/{made['id']}/versions/").json()
    assert [(one["number"], one["tests"], one["runs"]) for one in versions] == [
        (1, [test.pk], [run.pk])
    ]
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["suite_version"] == 1

    for body in ({"tests": [test.pk]}, {"filter": "tag=99"}, {"filter": "colour=red"}):
        assert client.patch(f"/api/v1/suites/{made['id']}/", body).status_code == 400
