"""Tags of tests: with those of the issue in every filter, at launch and in the results."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME

from issues.lifecycle.regrouping import tag_tests
from issues.models import Tag, TestState
from issues.tags import merge, names_on
from runs.admin.launch.choices import tag_choices
from runs.launching.launch_options import LaunchSpec
from runs.launching.launch_selection import chosen
from tests.api import client_of
from tests.factories import make_issue, make_model, make_run, make_test, make_user
from tests.issues.pages import flashed_text, log_in, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def tests():
    """Three tests: of a tagged issue, with a tag of its own, and without any."""
    own = make_test(issue=make_issue(tags=("Other",)))
    tag_tests([own], add=[Tag.objects.create(name="Money")], by=make_user())
    return make_test(issue=make_issue(tags=("Money",))), own, make_test()


def money():
    return Tag.objects.get(name="Money")


def test_the_list_filters_by_tags_of_test_and_issue(client, tests):
    log_in(client, "annotator")
    shown = client.get(url("test_changelist"), {"tag": money().pk}).context["cl"].queryset
    assert set(shown) == set(tests[:2])


def test_the_api_reads_writes_and_filters_them(tests):
    api = client_of("annotator")
    found = api.get("/api/v1/tests/", {"tag": "Money"}).json()["results"]
    assert {row["id"] for row in found} == {test.pk for test in tests[:2]}
    address = f"/api/v1/tests/{tests[2].pk}/"
    assert api.patch(address, {"tags": ["Money"]}, format="json").json()["tags"] == ["Money"]
    tests[2].refresh_from_db()
    assert tests[2].state == TestState.APPROVED


def test_a_launch_by_tag_takes_both_once(tests):
    spec = LaunchSpec(
        label="x", models=[make_model().pk], tags=[money().pk, Tag.objects.first().pk]
    )
    assert set(chosen(spec).named) == set(tests[:2])
    counted = {choice.label: choice.tests for choice in tag_choices(()).shown}
    assert counted == {"Money": 2, "Other": 1}


def test_a_result_keeps_both_tags_as_they_were(tests):
    run = make_run(*tests)
    kept = {row.test_id: row.tag_set.names for row in run.results.select_related("tag_set")}
    assert [kept[test.pk] for test in tests] == [["Money"], ["Money", "Other"], []]
    tests[1].tags.clear()
    assert run.results.get(test=tests[1]).tag_set.names == ["Money", "Other"]


def test_the_same_tag_on_both_counts_once(tests):
    tests[0].tags.add(money())
    assert names_on(tests[0]) == ["Money"]


def test_a_bulk_edit_tags_and_is_recorded(client, tests):
    user = log_in(client, "annotator")
    sent = {
        "action": "tag_selected",
        ACTION_CHECKBOX_NAME: [tests[1].pk, tests[2].pk],
        "step": "sure",
        "add": [money().pk],
    }
    page = client.post(url("test_changelist"), sent)
    assert flashed_text(page) == ["1 test changed."]
    record = tests[2].history.first()
    assert (record.history_user, record.history_change_reason) == (user, "Tags changed in bulk")
    assert [str(link.tag) for link in record.tags.all()] == ["Money"]


def test_a_merged_tag_is_replaced_on_tests(tests):
    target = Tag.objects.create(name="Currency")
    merge([money()], target, by=make_user())
    assert names_on(tests[1]) == ["Currency", "Other"]


def test_my_drafts_are_two_filters(client):
    me = log_in(client, "annotator")
    mine = make_test(author=me, state=TestState.DRAFT)
    make_test(author=make_user(), state=TestState.DRAFT)
    make_test(author=me)
    query = {"author": "me", "state": TestState.DRAFT}
    assert list(client.get(url("test_changelist"), query).context["cl"].queryset) == [mine]
