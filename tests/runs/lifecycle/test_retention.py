"""Old texts of answers and replies go; what was concluded from them stays."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from evalhub.models import Call
from evalhub.refusals import NotPossible, Refused
from runs.issue_filing import new_issues as filing
from runs.laboratory.pairwise.pairs import comparable_pairs
from runs.lifecycle.control import rejudge, retry_errors
from runs.lifecycle.retention import due, remove, remove_due
from runs.limits import RETENTION_ROWS_PER_MINUTE
from runs.models import Answer, Example, Result, ResultScore, Run
from tests.api import client_of
from tests.factories import first_result, make_jury, make_model, make_test, make_user
from tests.reports.judged_runs import finish, judged
from tests.runs.rubric_runs import rubric_run
from tests.test_access_matrix import addresses, url_of
from tests.test_access_matrix import rows as rows  # a fixture
from tests.test_sealed_everywhere import clients_of, text_of

pytestmark = pytest.mark.django_db
SAID = "quillwort"
LONG_AGO = timedelta(days=100)


def age(*runs: Run) -> None:
    """Let runs have ended long ago, with calls of then."""
    then = timezone.now() - LONG_AGO
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(finished_at=then, created_at=then)
    Call.objects.update(started_at=then)


def say_it() -> None:
    turns = [{"content": SAID, "call": None}]
    Answer.objects.update(
        text=SAID,
        turns=turns,
        reasoning=SAID,
        documents=[{"text": SAID, "title": SAID}],
        tool_calls=[{"name": SAID, "arguments": {}}],
    )
    Call.objects.update(reply=SAID)


def test_no_page_breaks_or_keeps_a_removed_text_and_each_says_when(rows):
    run = rows["run"]
    say_it()
    rows["example"].delete()  # its answer would stay
    rows["queue"].assignments.all().delete()
    for one in Run.objects.all():
        finish(one)
    browser, script = clients_of(make_user("admin"))
    before = pages(browser, script, rows)
    showed = {name for name, (status, text) in before.items() if SAID in text}
    assert {"admin:runs_result_change", "api-result-detail", "reports:run_csv"} <= showed

    age(*Run.objects.all())
    remove(90)

    after = pages(browser, script, rows)
    statuses = {name: (before[name][0], after[name][0]) for name in before}
    assert {name: both for name, both in statuses.items() if both[0] < 400 <= both[1]} == {}
    assert sorted(name for name, (_, text) in after.items() if SAID in text) == []
    today = f"{timezone.now():%Y-%m-%d}"
    silent = sorted(name for name in showed if f"Removed on {today}" not in after[name][1])
    assert silent == []
    run.refresh_from_db()
    assert run.texts_removed_at is not None


def pages(browser, script, rows) -> dict[str, tuple[int, str]]:
    """Status and text of each address that is read, by its name."""
    found = {}
    for address in addresses():
        if address.name in ("", "admin:logout"):
            continue
        url = url_of(address, rows)
        response = (script if url.startswith("/api/") else browser).get(url)
        found[address.name] = (response.status_code, text_of(response))
    return found


def test_figures_stay_as_they_were():
    run = judged([1.0], [0.0])
    say_it()
    age(run)
    client = client_of("viewer")
    before = client.get(f"/api/v1/runs/{run.pk}/report/").json()

    assert remove(90).answers == 2

    assert client.get(f"/api/v1/runs/{run.pk}/report/").json() == before
    assert Result.objects.filter(outcome="passed").count() == 1
    assert remove(90) == (0, 0)


def test_what_is_young_unfinished_or_an_example_stays():
    young, paused, taught = judged([1.0]), judged([1.0]), judged([1.0])
    say_it()
    age(paused, taught)
    paused.judge_runs.update(state="paused")
    result = first_result(taught)
    evaluation = result.evaluations.create(
        criterion=result.revision.criteria.get(key=""), annotator=make_user("annotator"), value=1.0
    )
    Example.objects.create(evaluation=evaluation)

    assert remove(90).answers == 0
    assert set(Answer.objects.values_list("text", flat=True)) == {SAID}
    young.refresh_from_db()
    assert young.texts_removed_at is None


def test_a_reply_that_an_item_waits_for_stays():
    then = timezone.now() - LONG_AGO
    common = {"role": "judge", "request_digest": "d", "started_at": then, "reply": SAID}
    model = make_model()
    Call.objects.create(language_model=model, **common, cost_usd=2)
    Call.objects.create(language_model=model, **common, unsaved={"text": SAID})

    assert remove(90).replies == 1
    assert remove(90).replies == 0
    first, waiting = Call.objects.order_by("pk")
    assert (first.reply[:11], first.cost_usd) == ("[Removed on", 2)
    assert waiting.reply == SAID


def test_nothing_is_concluded_from_a_removed_text():
    """It is neither judged, compared, flagged nor retried: a judge would read its tombstone."""
    test = make_test()
    run, other = judged([1.0], tests=[test]), judged([0.0], tests=[test])
    assert len(comparable_pairs([run, other])) == 1
    age(run)
    remove(90)

    assert comparable_pairs([run, other]) == []
    with pytest.raises(NotPossible, match="texts of 1 of its answers were removed"):
        rejudge(run, make_jury(make_model()), by=None)
    with pytest.raises(Refused, match="Removed on"):
        filing.tests_of([first_result(run)], None, by=make_user("maintainer"))
    ResultScore.objects.update(answered=0, expected=1)
    with pytest.raises(NotPossible, match="no errors to retry"):
        retry_errors(run)


def test_a_conversation_says_so_at_each_turn(client):
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant"},
        {"role": "user", "content": "And?"},
    ]
    test = make_test(messages=messages)
    run = rubric_run([], {}, tests=(test,))
    Answer.objects.update(turns=[{"content": SAID, "call": None}] * 2)
    age(run)
    remove(90)
    client.force_login(make_user("annotator"))

    page = client.get(f"/admin/runs/result/{first_result(run).pk}/change/").content.decode()

    assert page.count("[Removed on") >= 2


def test_a_worker_removes_a_little_each_minute_only_if_told_to(settings, monkeypatch):
    runs = [judged([1.0]) for _ in range(3)]
    age(*runs)
    remove_due()
    assert not Answer.objects.filter(removed_at__isnull=False).exists()

    settings.EVALHUB_KEEP_TEXTS_DAYS = 90
    monkeypatch.setattr("runs.lifecycle.retention.RETENTION_ROWS_PER_MINUTE", 2)
    remove_due()
    assert Answer.objects.filter(removed_at__isnull=False).count() == 2
    remove_due()
    assert not Answer.objects.filter(removed_at=None).exists()
    assert RETENTION_ROWS_PER_MINUTE > 2


def test_the_command_counts_first_and_refuses_to_guess():
    run, printed = judged([1.0]), StringIO()
    age(run)

    call_command("retain", "--days=90", "--dry-run", stdout=printed)
    assert "Would remove 1 answers and 0 replies" in printed.getvalue()
    assert due(90) == (1, 0)
    call_command("retain", "--days=90", stdout=printed)
    assert due(90) == (0, 0)
    with pytest.raises(CommandError, match="EVALHUB_KEEP_TEXTS_DAYS"):
        call_command("retain")
