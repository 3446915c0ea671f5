"""The list of results on which people differ, and settling them one after another."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from runs.evaluating import Ballot, evaluate, withdraw
from runs.models import Suite
from runs.review.disputes import disputes_of
from tests.factories import first_result, make_issue, make_template, make_test, make_user
from tests.runs.judged import judged_run

pytestmark = pytest.mark.django_db

URL = "/admin/review/dispute/"
FIVE = [{"label": str(n), "value": n / 4, "description": ""} for n in range(5)]


@pytest.fixture
def adjudicator(client):
    person = make_user("adjudicator", username="carla")
    client.force_login(person)
    return person


@pytest.fixture
def people():
    return make_user("annotator", username="anna"), make_user("annotator", username="bela")


def say(result, people, options="10"):
    for person, option in zip(people, options, strict=True):
        evaluate(result, Ballot(option, f"{person} says {option}."), by=person)
    result.refresh_from_db()
    return result


def disputed(people, options="10", *, test=None, **fields):
    return say(first_result(judged_run(test or make_test(), **fields)), people, options)


def settle(result, by, option="1"):
    evaluate(result, Ballot(option, "Read again.", kind="adjudication"), by=by)


def listed(client, **query):
    """Which results the list shows."""
    response = client.get(URL, query)
    assert response.status_code == 200
    return [result.pk for result in response.context_data["cl"].result_list]


def test_the_list_is_where_its_name_says():
    assert reverse("admin:review_dispute_changelist") == URL


def test_only_results_on_which_people_differ_are_listed_with_who_said_what(
    client, adjudicator, people
):
    result = disputed(people)
    disputed(people, "11")

    page = client.get(URL).content.decode()

    assert listed(client) == [result.pk]
    for text in ("anna", "passes (1)", "anna says 1.", "bela", "fails (0)", "bela says 0."):
        assert text in page


def test_who_may_not_settle_does_not_get_in(client):
    client.force_login(make_user("annotator"))
    assert client.get(URL).status_code == 403


def test_sealed_ones_are_not_listed_for_who_may_not_read_them(client, people):
    from django.contrib.auth.models import Permission

    disputed(people, test=make_test(sealed=True))
    person = make_user("viewer")
    person.user_permissions.add(Permission.objects.get(codename="adjudicate"))
    client.force_login(person)
    assert listed(client) == []


def test_filters_by_suite_tag_and_side(client, adjudicator, people):
    suite = Suite.objects.create(name="Facts")
    tagged = disputed(people, test=make_test(issue=make_issue(tags=("law",))), suite=suite)
    scale = make_template(scale={"options": FIVE, "threshold": 0.5, "rule": "strict"})
    passing = disputed(people, "34", test=make_test(template=scale))

    assert passing.passed is True
    assert listed(client, tag="law") == [tagged.pk]
    assert listed(client, run__suite__id__exact=suite.pk) == [tagged.pk]
    assert listed(client, outcome="passed") == [passing.pk]
    assert listed(client, outcome="unjudged") == [tagged.pk]


def test_a_settled_one_leaves_the_list_and_is_found_among_the_settled(client, adjudicator, people):
    result = disputed(people)
    settle(result, adjudicator)

    assert listed(client) == []
    assert listed(client, state="settled") == [result.pk]
    page = client.get(URL, {"state": "settled"}).content.decode()
    for text in ("anna says 1.", "bela says 0.", "carla", "Read again."):
        assert text in page


def test_undoing_an_adjudication_makes_it_disputed_again(client, adjudicator, people):
    result = disputed(people)
    settle(result, adjudicator)
    withdraw(result, by=adjudicator)
    assert listed(client) == [result.pk]
    assert listed(client, state="settled") == []


def test_one_is_settled_after_another(client, adjudicator, people):
    """The list's button opens the first; saving goes on to the next that waits."""
    results = [disputed(people) for _ in range(3)]
    disputed(people, "11")
    in_order = listed(client)
    assert set(in_order) == {result.pk for result in results}
    first = client.get(URL).context_data["cl"].first_url

    page = client.get(first)

    assert (page.context_data["position"], len(page.context_data["trail"].ids)) == (1, 3)
    assert 'name="settles" checked' in page.content.decode()
    query = urlsplit(first).query
    sent = {"act": "save", "option": "1", "justification": "Read again.", "settles": "on"}
    url = reverse("admin:runs_result_evaluate", args=[in_order[0]])
    response = client.post(f"{url}?{query}", sent)
    assert f"/{in_order[1]}/change/" in response.url
    assert client.get(response.url).context_data["position"] == 2
    assert listed(client) == in_order[1:]


def test_filters_go_along_to_the_result(client, adjudicator, people):
    tagged = disputed(people, test=make_test(issue=make_issue(tags=("law",))))
    disputed(people)
    first = client.get(URL, {"tag": "law"}).context_data["cl"].first_url
    kept = parse_qs(urlsplit(first).query)["_changelist_filters"][0]
    assert parse_qs(kept) == {"tag": ["law"], "is_disputed__exact": ["1"]}
    assert client.get(first).context_data["trail"].ids == [tagged.pk]


def test_a_dispute_over_a_criterion_says_which(people):
    test = make_test(criteria=[{"text": "Is polite."}, {"text": "Is short."}])
    result = first_result(judged_run(test))
    polite, short = result.revision.criteria.exclude(key="").values_list("key", flat=True)
    for person, option in zip(people, ("UNMET", "EXACTLY_MET"), strict=True):
        evaluate(result, Ballot(option, "So.", criterion=polite), by=person)
    evaluate(result, Ballot("UNMET", "Long.", criterion=short), by=people[0])

    found = disputes_of([result])[result.pk]

    assert [(said.who, said.about) for said in found.opinions] == [
        ("anna", "Is polite."),
        ("bela", "Is polite."),
    ]
    assert found.settlement is None


def test_the_list_takes_the_same_number_of_queries_however_long(
    client, adjudicator, people, django_assert_max_num_queries
):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    disputed(people)
    client.get(URL)
    with CaptureQueriesContext(connection) as few:
        listed(client)
    for _ in range(4):
        disputed(people)
    with django_assert_max_num_queries(len(few)):
        assert len(listed(client)) == 5
