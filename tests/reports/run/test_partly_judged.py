"""Missing judgments of judges, checks and backups: counted wherever a run is, bounded, retried."""

import csv
import io

import pytest

from evalhub.models import BatchState
from runs.figures.run_tallies import count_run, differences
from runs.lifecycle import control
from runs.models import Approach, Judge, TallyRow
from tests.factories import make_jury, make_run, make_test, make_tests, make_user
from tests.provider import failure, is_judge, prompt, verdict
from tests.runs.conftest import model_at, provider, work

__all__ = ["model_at", "provider", "work"]

pytestmark = pytest.mark.django_db(transaction=True)

REFUSED = failure(400, "Unsupported value: 'temperature'.")


class Judges:
    """A script in which judges, by the end of their model's name, say this or fail."""

    def __init__(self, **votes):
        self.votes, self.down, self.answer = votes, set(), "Twelve."

    def __call__(self, request):
        if not is_judge(request):
            return self.answer
        name = request["model"]
        is_down = name in self.down or any(part in prompt(request) for part in self.down)
        return REFUSED if is_down else verdict(self.votes[name])


@pytest.fixture
def judges(provider, model_at):
    def make(**votes):
        provider.script = script = Judges(**votes)
        return script, [model_at(litellm_model=f"openai/{name}") for name in votes]

    return make


@pytest.fixture
def reader(client):
    client.force_login(make_user("superuser"))
    return client


def outcome(result):
    return (result.lowest_score, result.score, result.highest_score), (
        *(result.lowest_passed, result.outcome, result.highest_passed),
    )


def coverage(result):
    found = result.result_scores.get()
    return found.answered, found.replaced, found.expected


def test_a_failing_judge_is_counted_everywhere_and_its_retry_leaves_no_doubt(
    judges, model_at, work, reader
):
    script, (lenient, strict) = judges(lenient=1, strict=0)
    script.down = {"strict"}
    run = make_run(*make_tests(3), model=model_at(), jury=make_jury(lenient, strict))
    work()
    first = run.results.first()
    assert coverage(first) == (1, 0, 2)
    assert outcome(first) == ((0.5, 1.0, 1.0), (False, "passed", True))

    page = reader.get(run.get_absolute_url()).text
    assert "Judged by 1 of 2: 3 answers" in page
    assert "0 to 3 of 3 results may pass" in page
    assert "Retry 3 failed" in page
    assert "3 partly judged" in reader.get("/admin/runs/run/").text
    progress = reader.get(f"/api/v1/runs/{run.pk}/progress/").json()
    kind = {"expected": 2, "answered": 1, "replaced": 0, "answers": 3}
    assert (progress["partly_judged"], progress["retryable"]) == ([kind], 3)
    report = reader.get(f"/api/v1/runs/{run.pk}/report/").json()
    assert report["tables"]["partly_judged"]["rows"][0]["answers"] == 3
    bounds = {"lowest_score": 0.5, "highest_score": 1, "lowest_passed": False}
    assert reader.get(f"/api/v1/results/{first.pk}/").json().items() >= bounds.items()
    for path in (f"/reports/runs/{run.pk}/results.csv", "/api/v1/results/export/?format=csv"):
        content = b"".join(reader.get(path)).decode("utf-8-sig")
        row = next(csv.DictReader(io.StringIO(content)))
        assert [float(row[name]) for name in ("lowest_score", "highest_score")] == [0.5, 1]

    assert count_run(run.pk)
    tally = TallyRow.objects.filter(run=run).first()
    assert (tally.passed, tally.lowest_passed, tally.highest_passed) == (1, 0, 1)
    TallyRow.objects.filter(pk=tally.pk).update(lowest_passed=1)
    assert ["lowest_passed is 1, counted 0" in one for one in differences(run.pk)] == [True]

    script.down = set()
    assert control.retry_errors(run) == 3
    work()
    first.refresh_from_db()
    assert coverage(first) == (2, 0, 2)
    assert outcome(first) == ((0.5, 0.5, 0.5), (False, "failed", False))
    progress = reader.get(f"/api/v1/runs/{run.pk}/progress/").json()
    assert (progress["partly_judged"], progress["retryable"]) == ([], 0)


def test_a_backup_stands_in_only_until_the_judge_has_answered(judges, model_at, work):
    script, (strict, lenient) = judges(strict=0, lenient=1)
    script.down = {"strict"}
    jury = make_jury(strict, backup=Judge.objects.given(lenient, approach=Approach.TEMPLATE))
    run = make_run(model=model_at(), jury=jury)
    work()
    result = run.results.get()
    assert coverage(result) == (0, 1, 1)
    assert outcome(result) == ((0, 1, 1), (False, "passed", True))
    assert control.retryable_of([run]) == {run.pk: 1}

    script.down = set()
    control.retry_errors(run)
    work()
    result.refresh_from_db()
    assert coverage(result) == (1, 0, 1)
    assert outcome(result) == ((0, 0, 0), (False, "failed", False))


def test_a_criterion_without_verdict_and_a_check_that_cannot_tell(judges, model_at, work):
    script, (judge,) = judges(judge="FULLY_MET")
    script.answer, script.down = "It is 1.234", {"Insults"}
    criteria = [
        {"text": "Is right."},
        {"text": "Insults.", "polarity": "should_not"},
        {"check_name": "number_equals", "arguments": {"value": 1234}, "weight": 2},
    ]
    jury = make_jury(judge, approaches=(Approach.STANDARD,))
    run = make_run(make_test(criteria=criteria), model=model_at(), jury=jury)
    work()
    result = run.results.get()
    assert coverage(result) == (1, 0, 3)
    assert outcome(result) == ((0.25, 1, 1), (False, "passed", True))

    script.down = set()
    control.retry_errors(run)
    work()
    result.refresh_from_db()
    assert coverage(result) == (2, 0, 3)
    assert outcome(result) == ((0.25, 0.5, 0.75), (False, "failed", True))
    assert control.retryable_of([run]) == {run.pk: 0}  # The check would say the same again.
    assert run.judge_runs.get().state == BatchState.DONE
