"""A verdict is blind only if its annotator was shown none, at any address of the site."""

from itertools import product

import pytest
from django.db import transaction

from runs.laboratory.pairwise.models import Pair, PairEvaluation, PairJudgment, PairwiseJudgeRun
from runs.models import HumanEvaluation, Judgment, Result, Sight
from runs.review.models import Assignment
from runs.review.requirements import is_hidden
from runs.review.reservations import take
from runs.scoring.shown_verdicts import has_seen
from tests.api import client_of
from tests.factories import first_result, make_issue, make_test, make_user
from tests.images import picture
from tests.runs.review.rows import make_queue, put, review
from tests.runs.rubric_runs import rubric_run
from tests.test_access_matrix import addresses, image_of, url_of
from tests.test_sealed_everywhere import SECRET, clients_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows():
    """A run whose verdicts say the secret, all of it in a blind queue."""
    issue = make_issue()
    test = make_test(issue=issue, criteria=[{"text": "is kind"}])
    run = rubric_run([], {"is kind": [1.0, 0.0]}, tests=(test,))
    Judgment.objects.update(justification=SECRET)
    result = first_result(run)
    for value in (1.0, 0.0):
        HumanEvaluation.objects.create(
            result=result,
            criterion=result.revision.criteria.get(key=""),
            annotator=make_user("annotator"),
            value=value,
            justification=SECRET,
        )
    Result.objects.filter(pk=result.pk).update(is_disputed=True, is_overridden=True)
    queue = make_queue(blind="all", reviewers=3)
    (item,) = put(queue, result)
    other = rubric_run([], {"is kind": [1.0, 0.0]}, tests=(test,))
    pair = Pair.objects.create(first=result, second=first_result(other))
    judge_run = PairwiseJudgeRun.objects.create(
        language_model=run.language_model, endpoint=run.endpoint, method="m"
    )
    judge_run.runs.set([run, other])
    said = {"pair": pair, "choice": "first", "order": 0, "justification": SECRET}
    judgment = PairJudgment.objects.create(judge_run=judge_run, state="done", **said)
    return {
        "pairwisejudgerun": judge_run,
        "pairjudgment": judgment,
        "pairevaluation": PairEvaluation.objects.create(annotator=make_user("annotator"), **said),
        "image": image_of(test, picture()),
        "run": run,
        "result": result,
        "judgment": result.judgments.first(),
        "test": test,
        "issue": issue,
        "queue": queue,
        "reviewitem": item,
    }


def doors_that_tell(person, rows, *, is_held=False):
    """Names of the addresses at which this person reads a verdict, by whether that is recorded."""
    told: dict[bool, set[str]] = {True: set(), False: set()}
    browser, script = clients_of(person)
    for address in addresses():
        if address.name in ("", "admin:logout"):
            continue
        Sight.objects.all().delete()
        if not is_held:  # the work page has given it to this person
            Assignment.objects.update(state="open", annotator=None, reserved_until=None)
        url = url_of(address, rows)
        client = script if url.startswith("/api/") else browser
        if SECRET in text_of(client.get(url)):
            told[has_seen(person.pk, rows["result"])].add(address.name)
    return told


def test_every_door_that_tells_a_verdict_records_it(rows):
    told = doors_that_tell(make_user("annotator"), rows)

    assert told[False] == set()
    assert {"admin:runs_result_change", "api-judgment-list", "reports:run_json"} <= told[True]
    assert {"api-pair-judgment-list", "api-pair-evaluation-detail"} <= told[True]


def test_no_page_tells_who_reviews_it_blind_and_files_are_recorded(rows):
    ann = make_user("annotator")
    take(rows["queue"], by=ann)

    told = doors_that_tell(ann, rows, is_held=True)

    assert told[False] == set()
    assert not any(name.startswith("admin:") for name in told[True])
    assert "api-judgment-list" in told[True]
    assert "reports:run_json" not in told[True]
    assert not any("pair" in name for name in told[True])


def test_a_result_under_blind_review_is_in_no_table_of_its_run(client, rows):
    ann = make_user("annotator")
    client.force_login(ann)
    take(rows["queue"], by=ann)

    grid = client.get(f"/reports/runs/{rows['run'].pk}/rows/?outcome=failed&outcome=passed")
    listed = client.get("/admin/runs/result/").context["cl"].result_list
    pair = client.get(f"/reports/compare/answers/{rows['result'].pk}/{rows['result'].pk}/")

    assert grid.context["grid"].rows == ()
    assert "1 result left out" in grid.content.decode()
    assert rows["result"] not in list(listed)
    assert pair.status_code == 403
    assert take(rows["queue"], by=ann).state == "reserved"
    assert is_hidden(rows["reviewitem"].assignments.get(annotator=ann))


def test_a_verdict_after_a_look_is_not_blind(client, rows, subtests):
    run, result = rows["run"].pk, rows["result"]
    looks = {
        "page": (f"/admin/runs/result/{result.pk}/change/",),
        "grid": (f"/reports/runs/{run}/?tab=results",),
        "file": (f"/reports/runs/{run}/results.csv",),
        "script": (f"/api/v1/results/{result.pk}/",),
        "none": ("/admin/", f"/admin/runs/result/{result.pk}/change/", "/reports/trend/"),
    }
    for sight, urls in looks.items():
        with subtests.test(sight), transaction.atomic():
            ann = make_user("annotator")
            client.force_login(ann)
            assignment = take(rows["queue"], by=ann) if sight == "none" else None
            for url in urls:
                text_of((client_of(ann) if sight == "script" else client).get(url))
            review(assignment or take(rows["queue"], by=ann))

            evaluation = HumanEvaluation.objects.filter(annotator=ann).latest("pk")
            assert evaluation.blind is (sight == "none")
            transaction.set_rollback(True)


def test_a_list_that_a_result_is_missing_from_tells_its_outcome(client, rows, subtests):
    """Except pages that leave out what is reviewed blind now, as they tell nothing of it."""
    names = {name: rows[name].pk for name in ("run", "test", "issue")}
    addresses = (
        "/api/v1/results/?run={run}&outcome=failed",
        "/api/v1/results/?test={test}&outcome=failed&outcome=unscored",
        "/reports/runs/{run}/rows/?outcome=failed",
        "/reports/runs/{run}/?outcome=failed&test={test}",
        "/admin/runs/result/?outcome=failed&issue__id__exact={issue}",
        "/reports/issue_timeline/?issue={issue}",
        "/api/v1/reports/issue_timeline/?issue={issue}",
    )
    for held, url in product((False, True), addresses):
        with subtests.test(url, held=held), transaction.atomic():
            ann = make_user("annotator")
            client.force_login(ann)
            if held:
                take(rows["queue"], by=ann)
            asker = client_of(ann) if url.startswith("/api/") else client

            response = asker.get(url.format(**names))

            assert response.status_code == 200
            leaves_out = held and url.startswith(("/admin/", "/reports/runs/"))
            assert has_seen(ann.pk, rows["result"]) is not leaves_out
            transaction.set_rollback(True)
