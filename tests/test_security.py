"""Attacks on the whole site at once; those on one subject stand beside it."""

import re
from collections.abc import Callable, Iterator
from html import unescape

import pytest
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evalhub.models import Call, CallRole, ItemState
from issues.models import Feedback, FrozenCriterion, Issue, Test
from issues.triage.actions import test_from as make_test_from
from runs.models import Answer, HumanEvaluation, Judgment, Result, ResultScore, Run, Suite
from tests.api import client_of
from tests.factories import (
    first_result,
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_user,
)
from tests.reports.judged_runs import answer, finish, judge

pytestmark = pytest.mark.django_db

SECRET = "quillwort"
MOST_PAGES = 400
LISTS = (
    *("language-models", "calls", "tags", "resolution-labels", "feedback", "issues", "tests"),
    *("judge-templates", "revisions", "suites", "juries", "launches", "runs", "results"),
    *("judge_runs", "judgments", "human-evaluations"),
)


def make_sealed_ledger() -> Run:
    """A sealed test made from feedback, with the secret in all that is derived from it, twice."""
    person = make_user("maintainer")
    test = make_sealed_test(make_issue(description="Invents plants."))
    run = make_run(test, jury=make_jury(make_model()), label="The run")
    answer(run, SECRET)
    judge(run, [[0.0]])
    finish(run)
    result = first_result(run)
    call = Call.objects.create(
        language_model=run.language_model,
        role=CallRole.CANDIDATE,
        batch=run.work_key,
        item_id=result.pk,
        reply=SECRET,
        error_kind="server_error",
        error_message=SECRET,
        started_at=timezone.now(),
    )
    said = {"text": SECRET, "turns": [{"content": SECRET, "call": call.pk}]}
    Answer.objects.update(**said, tool_calls=[{"name": SECRET}], reasoning=SECRET)
    Judgment.objects.update(justification=SECRET, failure_message=SECRET, call=call)
    Result.objects.update(error_message=SECRET, is_overridden=True)
    ResultScore.objects.update(error_message=SECRET)
    FrozenCriterion.objects.update(text=SECRET)
    HumanEvaluation.objects.create(
        result=result,
        criterion=result.revision.criteria.get(),
        annotator=person,
        value=1.0,
        justification=SECRET,
    )
    broken = make_run(test, label="The broken run")
    Result.objects.filter(run=broken).update(state=ItemState.ERROR, error_message=SECRET)
    return run


def make_sealed_test(issue: Issue) -> Test:
    feedback = Feedback.objects.create(
        prompt=SECRET, answer=SECRET, comment=SECRET, raw={"said": SECRET}, issue=issue
    )
    test = make_test_from(feedback, by=make_user("maintainer"))
    texts = dict.fromkeys(("reference", "guidelines", "context", "note"), SECRET)
    for name, text in texts.items():
        setattr(test, name, text)
    test.tools, test.sealed, test.state = [{"name": SECRET}], True, "approved"
    test.save()
    return test


def pages_for(client: Client) -> Iterator[tuple[str, str]]:
    """Every page that links lead to, with what it says; forms are not sent."""
    waiting = [reverse("admin:index"), reverse("admin:runs_run_changelist")]
    seen = set(waiting)
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        response = client.get(address)
        assert response.status_code < 500, address
        if response.status_code in (301, 302):
            found = [response.headers["Location"]]
        else:
            text = b"".join(response) if response.streaming else response.content
            yield address, text.decode(errors="replace")
            found = [unescape(link) for link in LINK.findall(text.decode(errors="replace"))]
        for link in map(absolute_from(address), found):
            if link.startswith("/") and not link.startswith("/static/") and link not in seen:
                seen.add(link)
                waiting.append(link)


LINK = re.compile(r'(?:href|hx-get|data-url|data-rows-url)="([^"#]+)')


def absolute_from(address: str) -> Callable[[str], str]:
    path = address.partition("?")[0]
    return lambda link: path + link if link.startswith("?") else link


def test_no_page_that_links_lead_to_shows_sealed_text():
    run = make_sealed_ledger()
    client = Client(raise_request_exception=False)
    client.force_login(make_user("viewer"))
    pages = dict(pages_for(client))

    assert reverse("reports:run", args=[run.pk]) in pages
    assert [page for page, text in pages.items() if SECRET in text] == []


def test_the_api_tells_no_sealed_text():
    make_sealed_ledger()
    client = client_of("viewer")
    told = {name: client.get(f"/api/v1/{name}/").content.decode() for name in LISTS}
    runs = Run.objects.values_list("pk", flat=True)
    told |= {
        f"{pk} {part}": client.get(f"/api/v1/runs/{pk}/{part}/").content.decode()
        for pk in runs
        for part in ("report", "progress")
    }

    assert [name for name, text in told.items() if SECRET in text] == []


def test_no_search_tells_whether_sealed_text_holds_a_word():
    """The answer is the same for a word that stands in it and for one that does not."""
    run = make_sealed_ledger()
    client = Client()
    client.force_login(make_user("viewer"))
    lists = ("issues_issue", "issues_test", "issues_feedback", "runs_result", "runs_run")
    addresses = [reverse(f"admin:{name}_changelist") + "?q=" for name in lists]
    addresses += [
        reverse("admin:search") + "?extended=1&s=",
        reverse("reports:run_rows", args=[run.pk]) + "?q=",
        reverse("reports:run_csv", args=[run.pk]) + "?q=",
    ]

    told = [address for address in addresses if told_by(client, address)]

    assert told == []


def told_by(client: Client, address: str) -> bool:
    found = [said_by(client, address, word) for word in (SECRET, "loosestrife")]
    return found[0] != found[1]


def said_by(client: Client, address: str, word: str) -> str:
    response = client.get(address + word)
    text = (b"".join(response) if response.streaming else response.content).decode()
    text = re.sub(r'nonce="[^"]*"|csrf[^>]*value="[^"]*"|csrf[^>]*', "", text)
    return re.sub(r"\d+\.\d+(e-\d+)? (s|seconds|ms)", "", text.replace(word, ""))


NO_NUMBERS = ("9" * 30, "²", "٣", "-1", "x")
ADDRESSES = (
    "admin:runs_run_changelist ?p={}",
    "admin:runs_run_rows ?ids={}",
    "admin:issues_issue_changelist ?domain={}",
    "admin:issues_issue_changelist ?assignee={}",
    "admin:issues_test_add ?issue={}",
    "admin:runs_launch_add ?again={}",
    "admin:runs_result_changelist ?outcome={}",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_number_that_no_row_has_is_no_fault_of_ours(address):
    client = Client(raise_request_exception=False)
    client.force_login(make_user("superuser"))
    make_template()
    name, query = address.split()

    told = {text: client.get(reverse(name) + query.format(text)).status_code for text in NO_NUMBERS}

    assert {text: status for text, status in told.items() if status >= 500} == {}


@pytest.mark.parametrize("kind", ["suite", "jury"])
def test_an_old_version_is_read_and_never_sent_back(kind):
    row = Suite.objects.create(name="kept") if kind == "suite" else make_jury(name="kept")
    client = Client()
    client.force_login(make_user("superuser"))
    version = row.history.first().pk
    address = reverse(f"admin:runs_{kind}_simple_history", args=[row.pk, version])

    read, sent = client.get(address), client.post(address, {"name": "rewritten"})

    row.refresh_from_db()
    assert (read.status_code, sent.status_code, row.name) == (200, 403, "kept")


def test_the_search_of_the_site_looks_through_no_table_without_bound():
    models = {name.casefold() for name in settings.SEARCHED}
    known = {model._meta.label_lower for model in admin.site._registry}

    assert models <= known
    assert models.isdisjoint({"evalhub.call", "issues.revision"})
    assert all(field.startswith("=") for field in admin.site.get_model_admin(Result).found_by)
