"""Change forms that lose nobody's edit."""

import re
from html import unescape

import pytest
from django.urls import reverse

from evalhub.admin_site.later_tabs import LaterInline
from issues.models import Issue, Tag
from runs.models import Suite
from tests.factories import make_issue, make_jury, make_model, make_template, make_test, make_user
from tests.runs.review.rows import make_queue

FIELD = re.compile(r'name="_seen" value="([^"]*)"')


@pytest.fixture
def people(db):
    return [make_user("maintainer", username=name) for name in ("anna", "bela")]


def opened(client, row):
    """The address of a row's form, and its fields as a browser would send them back."""
    url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    response = client.get(url)
    inlines = response.context["inline_admin_formsets"]
    formsets = [each.formset for each in inlines if not isinstance(each.opts, LaterInline)]
    forms = [response.context["adminform"].form]
    for formset in formsets:
        forms += [formset.management_form, *formset.initial_forms]
    fields = {}
    for bound in (bound for form in forms for bound in form):
        value = bound.value()
        if value is not None and value is not False:
            fields[bound.html_name] = "on" if value is True else value
    fields["_seen"] = unescape(FIELD.search(response.content.decode())[1])
    return url, fields


def test_two_people_on_one_issue_lose_nothing(client, people):
    issue = make_issue(title="Wrong VAT", description="Old.", severity="low")
    anna, bela = people
    client.force_login(bela)
    url, of_bela = opened(client, issue)
    client.force_login(anna)
    _, of_anna = opened(client, issue)
    client.post(url, {**of_anna, "description": "Anna's text."})
    client.force_login(bela)

    page = client.post(url, {**of_bela, "severity": "high", "description": "Bela's text."})

    text = unescape(page.content.decode())
    assert "anna changed this at" in text
    conflict = page.context["conflicts"]
    assert [(c.name, c.theirs.text, c.mine.text) for c in conflict] == [
        ("description", "Anna's text.", "Bela's text.")
    ]
    assert page.context["adminform"].form["description"].value() == "Bela's text."
    assert Issue.objects.get(pk=issue.pk).description == "Anna's text."
    seen = unescape(FIELD.search(page.content.decode())[1])
    client.post(url, {**of_bela, "severity": "high", "description": "Both.", "_seen": seen})
    issue.refresh_from_db()
    assert (issue.description, issue.severity) == ("Both.", "high")


def test_a_field_left_alone_takes_the_other_persons_text(client, people):
    issue = make_issue(description="Old.", severity="low")
    issue.tags.add(Tag.objects.create(name="tax"))
    client.force_login(people[1])
    url, fields = opened(client, issue)
    Issue.objects.filter(pk=issue.pk).update(description="New.")
    issue.tags.set([Tag.objects.create(name="vat")])

    page = client.post(url, {**fields, "severity": "high"})

    form = page.context["adminform"].form
    assert form["description"].value() == "New."
    assert [str(pk) for pk in form["tags"].value()] == [str(issue.tags.get().pk)]
    assert [c.is_touched for c in page.context["conflicts"]] == [False, False]


def test_what_nobody_else_changed_is_saved_at_once(client, people):
    issue = make_issue(description="Old.\r\nTwo lines. ", severity="low")
    client.force_login(people[0])
    url, fields = opened(client, issue)

    response = client.post(url, {**fields, "severity": "high"})

    assert response.status_code == 302
    issue.refresh_from_db()
    assert issue.severity == "high"


def test_a_criterion_changed_by_both_is_shown_twice(client, people):
    test = make_test(reference="Four.")
    criterion = test.criteria.create(text="Names four.")
    client.force_login(people[0])
    url, fields = opened(client, test)
    test.criteria.update(text="Says four.")
    name = next(name for name in fields if name.endswith("0-text"))

    page = client.post(url, {**fields, name: "Means four."})

    assert [(c.theirs.text, c.mine.text) for c in page.context["conflicts"]] == [
        ("Says four.", "Means four.")
    ]
    criterion.refresh_from_db()
    assert criterion.text == "Says four."


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_test(reference="Four.\r\nYes."),
        lambda: make_model(),
        lambda: make_jury(make_model()),
        lambda: Tag.objects.create(name="tax"),
        lambda: make_template(state="draft"),
        lambda: make_queue(),
        lambda: Suite.objects.create(name="nightly"),
        lambda: make_user("annotator", username="carla"),
    ],
)
def test_sending_a_form_as_it_was_opened_is_no_conflict(client, db, make):
    row = make()
    client.force_login(make_user("superuser"))
    url, fields = opened(client, row)

    response = client.post(url, fields)

    conflicts = response.context["conflicts"] if response.status_code == 200 else []
    assert conflicts == []
