"""The command palette finds pages and rows for who asks: few, and none that are not theirs."""

import re
from html import unescape

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.admin_site.command_palette import has_words
from evalhub.limits import PALETTE_ROWS
from issues.models import Feedback, Issue
from runs.models import Suite
from tests.factories import make_issue, make_model, make_run, make_test, make_user

pytestmark = pytest.mark.django_db


def search(client, words=""):
    response = client.get(reverse("admin:search"), {"s": words})
    assert response.status_code == 200
    return response


def found(client, words=""):
    """Titles by kind."""
    groups = search(client, words).context["groups"]
    return {group.title: [hit.title for hit in group.hits] for group in groups}


def log_in(client, role):
    person = make_user(role)
    client.force_login(person)
    return person


def test_each_kind_is_found_by_its_words(client):
    log_in(client, "maintainer")
    issue = make_issue(title="Invents zebras")
    test = make_test("Count the zebras", issue=issue)
    make_run(test, label="zebra run")
    make_model(name="Zebra 7B")
    Suite.objects.create(name="zebras")
    Feedback.objects.create(comment="No zebra!")

    assert found(client, "zebra") == {
        "Issues": ["Invents zebras"],
        "Tests": ["Count the zebras"],
        "Feedback": ["No zebra!"],
        "Runs": ["zebra run"],
        "Suites": ["zebras"],
        "Language models": ["Zebra 7B"],
    }


def test_a_hit_leads_to_its_page_and_says_what_it_is(client):
    log_in(client, "viewer")
    test = make_test("Count the zebras", issue=make_issue(title="Counting"))

    (group,) = search(client, "zebras").context["groups"]

    assert group.hits == [
        ("Count the zebras", f"test {test.pk} of “Counting”", test.get_absolute_url())
    ]


@pytest.mark.parametrize("words", ["zebras invents", "INVENTS", "#{pk}", "{pk}", "  zebras  "])
def test_an_issue_is_found_by_words_in_any_order_and_by_its_number(client, words):
    log_in(client, "viewer")
    make_issue(title="Nothing else")
    issue = make_issue(title="Invents zebras")

    assert found(client, words.format(pk=issue.pk))["Issues"] == ["Invents zebras"]


def test_a_result_is_found_by_its_number_alone(client):
    log_in(client, "viewer")
    result = make_run(make_test("Count the zebras"), label="A").results.get()

    for words in (f"#{result.pk}", f"result {result.pk}"):
        assert found(client, words)["Results"] == ["Count the zebras"]
    assert "Results" not in found(client, "zebras")


def test_prompts_are_found_by_letters_beyond_ascii(client):
    log_in(client, "viewer")
    make_test("Wie groß ist die Straße?")

    assert found(client, "straße") == {"Tests": ["Wie groß ist die Straße?"]}


def test_without_words_the_pages_are_offered(client):
    log_in(client, "viewer")

    pages = found(client)

    assert list(pages) == ["Pages"]
    assert {"Home", "Issues", "Board", "Runs", "Reports", "Trend", "Settings"} <= set(
        pages["Pages"]
    )
    assert "Users" not in pages["Pages"]


@pytest.mark.parametrize(
    ("words", "titles"), [("launch run", ["Launches", "Launch a run"]), ("board iss", ["Board"])]
)
def test_pages_are_found_by_words_of_their_title_and_purpose(client, words, titles):
    log_in(client, "maintainer")

    assert found(client, words)["Pages"] == titles


def test_no_results_do_not_repeat_the_search(client):
    log_in(client, "viewer")

    html = search(client, "<b>xyzzy").content.decode()

    assert "No results." in html
    assert "xyzzy" not in html


def test_who_may_not_see_a_table_finds_none_of_it(client):
    log_in(client, "")
    make_issue(title="zebra")

    assert found(client, "zebra") == {}


@pytest.mark.parametrize(("role", "seen"), [("viewer", False), ("annotator", True)])
def test_sealed_words_are_found_by_who_may_read_them(client, role, seen):
    log_in(client, role)
    issue = make_issue()
    make_test("Count the zebras", issue=issue, sealed=True)
    Feedback.objects.create(comment="zebras", issue=issue)

    assert bool(found(client, "zebras")) is seen


def test_few_are_shown_and_the_others_are_led_to(client):
    log_in(client, "viewer")
    for _ in range(PALETTE_ROWS + 1):
        make_issue(title="zebra")

    (group,) = search(client, "zebra").context["groups"]
    assert len(group.hits) == PALETTE_ROWS
    links = re.findall(r'href="([^"]+)"', unescape(search(client, "zebra").content.decode()))
    assert links[-1] == reverse("admin:issues_issue_changelist") + "?q=zebra"


def test_it_reads_as_often_whatever_there_is(client):
    log_in(client, "maintainer")

    def queries():
        with CaptureQueriesContext(connection) as captured:
            search(client, "zebra")
        return len(captured)

    search(client, "zebra")
    none = queries()
    for _ in range(3):
        make_run(make_test("zebra", issue=make_issue(title="zebra", tags=("zebra",))))
    assert found(client, "zebra")["Tests"] == ["zebra"] * 3
    assert queries() <= none + 4  # rows named after others: tests after issues, runs


def test_hostile_titles_are_no_markup(client):
    log_in(client, "viewer")
    make_issue(title="<img src=x onerror=alert(1)>zebra")

    assert "<img" not in search(client, "zebra").content.decode()


def test_every_searched_table_has_an_admin_that_can_be_searched():
    from django.apps import apps
    from django.conf import settings

    models = [apps.get_model(label) for label in settings.SEARCHED]
    admins = [admin.site._registry[model] for model in models if model in admin.site._registry]

    assert all(a.search_fields for a in admins)
    assert Issue in models


@pytest.mark.parametrize(
    ("text", "words", "has"),
    [("Launch a run", "run launch", True), ("Launch a run", "runs", False), ("Runs", "", True)],
)
def test_words_match_in_any_order(text, words, has):
    assert has_words(text, words) is has
