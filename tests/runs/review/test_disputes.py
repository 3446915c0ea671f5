"""The list of disputes, and resolving them one after another."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from runs.models import Suite
from runs.review.admin.disputes import disputes_of
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import first_result, make_issue, make_template, make_test, make_user
from tests.runs.judged_runs import judged_run
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

URL = "/admin/review/dispute/"
FIVE = [{"label": str(n), "value": n / 4, "description": ""} for n in range(5)]


@pytest.fixture
def adjudicator(client):
    annotator = make_user("adjudicator", username="carla")
    client.force_login(annotator)
    return annotator


@shared_data
def annotators():
    return make_user("annotator", username="anna"), make_user("annotator", username="bela")


def say(result, annotators, options="10"):
    for annotator, option in zip(annotators, options, strict=True):
        evaluate(result, HumanVerdict(option, f"{annotator} says {option}."), by=annotator)
    result.refresh_from_db()
    return result


def disputed(annotators, options="10", *, test=None, **fields):
    return say(first_result(judged_run(test or make_test(), **fields)), annotators, options)


def settle(result, by, option="1"):
    evaluate(result, HumanVerdict(option, "Read again.", kind="adjudication"), by=by)


def listed(client, **query):
    """Return the results in the list."""
    response = client.get(URL, query)
    assert response.status_code == 200
    return [result.pk for result in response.context_data["cl"].result_list]


def test_disputed_results_are_listed_with_their_verdicts_until_resolved(
    client, adjudicator, annotators
):
    result = disputed(annotators)
    disputed(annotators, "11")

    page = client.get(reverse("admin:review_dispute_changelist")).content.decode()
    assert listed(client) == [result.pk]
    for text in ("anna", "passes (1)", "anna says 1.", "bela", "fails (0)", "bela says 0."):
        assert text in page
    settle(result, adjudicator)
    assert listed(client) == []
    assert listed(client, state="settled") == [result.pk]
    page = client.get(URL, {"state": "settled"}).content.decode()
    for text in ("anna says 1.", "bela says 0.", "carla", "Read again."):
        assert text in page
    withdraw(result, by=adjudicator)
    assert listed(client) == [result.pk]
    assert listed(client, state="settled") == []

    type(result.test).objects.update(sealed=True)
    viewer = make_user("viewer")
    viewer.user_permissions.add(Permission.objects.get(codename="adjudicate"))
    client.force_login(viewer)
    assert listed(client) == []


def test_filters_by_suite_tag_and_side_go_along_to_the_result(client, adjudicator, annotators):
    suite = Suite.objects.create(name="Facts")
    tagged = disputed(annotators, test=make_test(issue=make_issue(tags=("law",))), suite=suite)
    scale = make_template(scale={"options": FIVE, "threshold": 0.5, "rule": "strict"})
    passing = disputed(annotators, "34", test=make_test(template=scale))

    assert passing.passed is True
    assert listed(client, tag="law") == [tagged.pk]
    assert listed(client, run__suite__id__exact=suite.pk) == [tagged.pk]
    assert listed(client, outcome="passed") == [passing.pk]
    assert listed(client, outcome="unscored") == [tagged.pk]
    first = client.get(URL, {"tag": "law"}).context_data["cl"].first_url
    kept = parse_qs(urlsplit(first).query)["_changelist_filters"][0]
    assert parse_qs(kept) == {"tag": ["law"], "is_disputed__exact": ["1"]}
    assert client.get(first).context_data["navigation"].ids == [tagged.pk]


def test_disputes_are_resolved_one_after_another(client, adjudicator, annotators):
    """The list's button opens the first; saving goes on to the next that waits."""
    results = [disputed(annotators) for _ in range(3)]
    disputed(annotators, "11")
    in_order = listed(client)
    assert set(in_order) == {result.pk for result in results}
    first = client.get(URL).context_data["cl"].first_url

    page = client.get(first)

    assert (page.context_data["position"], len(page.context_data["navigation"].ids)) == (1, 3)
    assert 'name="settles" value="" checked' in page.content.decode()
    query = urlsplit(first).query
    sent = {"act": "save", "option": "1", "justification": "Read again.", "settles": "on"}
    url = reverse("admin:runs_result_evaluate", args=[in_order[0]])
    response = client.post(f"{url}?{query}", sent)
    assert f"/{in_order[1]}/change/" in response.url
    assert client.get(response.url).context_data["position"] == 2
    assert listed(client) == in_order[1:]


def test_a_dispute_over_a_criterion_says_which(annotators):
    test = make_test(criteria=[{"text": "Is polite."}, {"text": "Is short."}])
    result = first_result(judged_run(test))
    polite, short = result.revision.criteria.exclude(key="").values_list("key", flat=True)
    for annotator, option in zip(annotators, ("UNMET", "FULLY_MET"), strict=True):
        evaluate(result, HumanVerdict(option, "So.", criterion=polite), by=annotator)
    evaluate(result, HumanVerdict("UNMET", "Long.", criterion=short), by=annotators[0])

    found = disputes_of([result])[result.pk]

    evaluations = [opinion.evaluation for opinion in found.opinions]
    assert [(str(row.annotator), str(row.criterion)) for row in evaluations] == [
        ("anna", "Is polite."),
        ("bela", "Is polite."),
    ]
    assert found.settlement is None


def test_the_list_takes_the_same_number_of_queries_however_long(
    client, adjudicator, annotators, django_assert_max_num_queries
):
    disputed(annotators)
    client.get(URL)
    with CaptureQueriesContext(connection) as few:
        listed(client)
    n = len(few)
    for result in judged_run(*[make_test() for _ in range(4)]).results.all():
        say(result, annotators)
    listed(client)  # records what is shown for the first time
    with django_assert_max_num_queries(n):
        assert len(listed(client)) == 5


def test_page_of_a_dispute_says_so_and_begins_with_the_verdicts(client, annotators):
    result = say(first_result(judged_run(make_test("How many?"))), annotators)
    address = reverse("admin:runs_result_change", args=[result.pk])

    client.force_login(make_user("adjudicator"))
    page = client.get(address).content.decode()
    trail = page[page.index('aria-label="Breadcrumb"') : page.index("</h1>")]
    places = [trail.index(word) for word in ("Review", "Disputes", "Decide the dispute")]
    assert places == sorted(places)
    evidence = page[page.index("rd-evidence") :]
    assert evidence.index("anna says 1.") < evidence.index("How many?")
    assert evidence.index("bela says 0.") < evidence.index("How many?")

    client.force_login(annotators[0])  # a party to the dispute cannot decide it
    page = client.get(address).content.decode()
    assert "Decide the dispute" not in page
    assert "Override the verdict" in page
