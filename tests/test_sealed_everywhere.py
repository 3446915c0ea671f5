"""The words of a sealed test are at no address of the site for those who may not read them."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from issues.models import Criterion, TemplateExample
from issues.models.example import TEXTS as EXAMPLE_TEXTS
from reports.models import Exchange, ExecutiveSummary
from reports.summaries.ask import ask_summary
from runs.models import Assessment, Example, HumanEvaluation, Judgment, Result, Suite
from runs.review.models import Correction, Queue, Skip
from tests.api import client_of
from tests.factories import first_result, make_test, make_user
from tests.runs.review.rows import make_queue, put
from tests.runs.rubrics import rubric_run
from tests.test_access_matrix import addresses, url_of

pytestmark = pytest.mark.django_db

SECRET = "sealedwords"
TEXTS = ("reference", "guidelines", "flagged_answer", "note", "context")
SEARCHES = ("", "?q=says", "?s=says")
READ_AT = {
    *("reports:summary", "reports:summary_exchange", "reports:summary_download"),
    *("api-summary-detail", "api-summary-exchanges"),
    *("reports:run_csv", "reports:run_verdicts_csv", "reports:run_json", "reports:similarity"),
    *("reports:run_markdown", "reports:run_html", "reports:run_junit"),
    *("admin:issues_test_change", "admin:issues_test_history", "admin:issues_test_preview"),
    *("admin:issues_revision_change", "admin:runs_result_change", "admin:runs_result_judgment"),
    *("api-test-list", "api-test-detail", "api-revision-detail", "api-result-detail"),
    *("admin:review_correction_changelist", "admin:review_correction_change"),
    *("admin:review_queue_work", "admin:review_queue_overview"),
    *("admin:review_correction_promote", "admin:review_dispute_changelist"),
    *("admin:runs_example_changelist", "admin:runs_example_change"),
    *("admin:issues_judgetemplate_change", "admin:issues_judgetemplate_preview"),
    *("api-judge-template-list", "api-judge-template-detail"),
    *("api-judgment-list", "api-judgment-detail", "api-evaluation-list"),
}
"""Some of the addresses at which there is something to hide."""


@pytest.fixture
def rows() -> dict[str, Any]:
    """Rows that all belong to one sealed test, each with the secret in every text it has."""
    issue = sealed_issue()
    test = make_test(
        SECRET,
        issue=issue,
        state="approved",
        sealed=True,
        extras={SECRET: SECRET},
        **dict.fromkeys(TEXTS, SECRET),
        criteria=[
            {"text": f"says {SECRET}", "citation": SECRET},
            {"check_name": "contains", "arguments": {"text": SECRET}, "citation": SECRET},
        ],
    )
    run = rubric_run([], {f"says {SECRET}": [1.0, 0.0]}, tests=(test,), answer=SECRET)
    changed = test.criteria.first()
    changed.text += " again"
    changed.save()
    Criterion.objects.create(test=test, text=SECRET).delete()
    Judgment.objects.update(justification=SECRET, failure_message=SECRET)
    Assessment.objects.update(error_message=SECRET)
    Result.objects.update(error_message=SECRET, similarity=0.5)
    result = first_result(run)
    evaluation = HumanEvaluation.objects.create(
        result=result,
        criterion=result.revision.criteria.get(key=changed.key),
        annotator=make_user("annotator"),
        value=1.0,
        justification=SECRET,
    )
    HumanEvaluation.objects.create(
        result=result,
        criterion=evaluation.criterion,
        annotator=make_user("annotator"),
        value=0.0,
        justification=SECRET,
    )
    Result.objects.filter(pk=result.pk).update(is_disputed=True)
    taught = dict.fromkeys(EXAMPLE_TEXTS, SECRET)
    example = TemplateExample(template=test.template, test=test, option="1", **taught)
    TemplateExample.objects.bulk_create([example])  # as a test that was sealed since
    summary = sealed_summary(run, test)
    suite = Suite.objects.create(name="suite")
    suite.tests.add(test)
    return {
        "issue": issue,
        "test": test,
        "judgetemplate": test.template,
        "revision": test.revisions.get(),
        "suite": suite,
        "run": run,
        "result": result,
        "judging": run.judgings.get(),
        "judgment": result.judgments.first(),
        "evaluation": evaluation,
        "example": Example.objects.create(evaluation=evaluation, note=SECRET),
        "correction": Correction.objects.create(
            result=result, annotator=make_user("annotator"), text=SECRET
        ),
        "queue": sealed_queue(result),
        "summary": summary,
        "languagemodel": run.language_model,
    }


def sealed_queue(result: Any) -> Queue:
    """A queue in which people said the secret: in a review that was sent back, and in a skip."""
    queue = make_queue(reviewers=2)
    (item,) = put(queue, result)
    draft = {"note": SECRET, "justification": SECRET, "correction": SECRET}
    queue.places.filter(number=1).update(
        state="sent_back",
        annotator=make_user("annotator"),
        draft=draft,
        note=SECRET,
        sent_back_note=SECRET,
        past=[{"what": "undone", "by": "x", "at": "", "note": SECRET, "draft": draft}],
    )
    Skip.objects.create(
        item=item, annotator=make_user("annotator"), reason=SECRET, created_at=timezone.now()
    )
    return queue


def sealed_summary(run: Any, test: Any) -> ExecutiveSummary:
    """What an analyst made of the run, with the secret in every text."""
    said = {"findings": [{"text": SECRET, "flagged": []}], "problems": [SECRET]}
    summary = ask_summary([run], analyst=run.language_model, by=None)
    ExecutiveSummary.objects.update(content=said)
    summary.grades.create(
        language_model=run.language_model, model_name="m", dimension="tone", reasoning=SECRET
    )
    exchange = summary.exchanges.get()
    exchange.tests.add(test)
    Exchange.objects.update(
        sent=[{"role": "user", "content": SECRET}],
        received=SECRET,
        error_message=SECRET,
        state="error",
        is_current=True,
    )
    return summary


def places_with_the_secret(role: str, rows: dict[str, Any]) -> set[str]:
    """Names of the addresses at which somebody with this role reads the secret."""
    person = make_user(role)
    browser, script = Client(raise_request_exception=False), client_of(person)
    script.raise_request_exception = False
    browser.force_login(person)
    places = set()
    for address in addresses():
        if address.name in ("", "admin:logout"):
            continue
        url = url_of(address, rows)
        client = script if url.startswith("/api/") else browser
        is_searched = address.name.endswith(("changelist", ":search"))
        if any(
            SECRET in text_at(client, url + more) for more in SEARCHES[: 3 if is_searched else 1]
        ):
            places.add(address.name)
    return places


def text_at(client: Client, url: str) -> str:
    response = client.get(url)
    parts = response if response.streaming else [response.content]
    return b"".join(parts).decode()


@pytest.mark.parametrize("role", ["viewer", "model developer"])
def test_no_address_shows_sealed_words_to_who_may_not_read_them(role, rows):
    assert places_with_the_secret(role, rows) == set()


def test_who_may_read_them_finds_them_in_many_places(rows):
    assert places_with_the_secret("maintainer", rows) >= READ_AT
