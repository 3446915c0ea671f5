"""Refusals of one, several and all requests of a run, by candidates and by judges."""

import json

import pytest

from evalhub.models import BatchState, Call, ItemState, SharedRate
from runs.lifecycle import control
from runs.models import Judgment
from tests import provider as scripted
from tests.evalhub.work.test_loop import some_tests
from tests.factories import make_jury, make_run
from tests.provider import Reply, is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

CONTENT = {"code": "permission-denied", "error": "Content violates usage guidelines. "}
BLOCKED = Reply(status=403, body=json.dumps(CONTENT))
NO_TOOLS = scripted.failure(404, "No endpoints found that support tool use.")
FORBIDDEN = scripted.failure(403, "Forbidden")
TOO_LARGE = scripted.failure(429, "Request too large: Limit 30000, Requested 50026.")


@pytest.fixture
def refused_run(provider, model_at):
    """A run whose candidate or judge refuses the tests with these numbers, in these words."""

    def make(n, numbers, refusal, *, of_judge=False):
        def script(request):
            has_number = any(f"Question {number}?" in prompt(request) for number in numbers)
            if has_number and is_judge(request) == of_judge:
                return refusal
            return verdict(1) if is_judge(request) else "Four."

        provider.script = script
        jury = make_jury(model_at(max_concurrency=1))
        return make_run(*some_tests(n), model=model_at(max_concurrency=1), jury=jury)

    return make


def ended(run):
    """The states of a run and its judge run, and the kinds of errors with their numbers."""
    run.refresh_from_db()
    kinds = [*run.results.values_list("error_kind", flat=True)]
    kinds += Judgment.objects.filter(judge_run__run=run).values_list("failure", flat=True)
    return (run.state, run.judge_runs.get().state), sorted(filter(None, kinds))


@pytest.mark.parametrize("of_judge", [False, True])
@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (BLOCKED, "content_filtered"),
        (NO_TOOLS, "bad_request"),
        (FORBIDDEN, "refused_key"),
        (TOO_LARGE, "context_too_long"),
    ],
)
def test_a_refused_request_is_an_error_of_its_own(refused_run, work, refusal, kind, of_judge):
    run = refused_run(6, [0, 4], refusal, of_judge=of_judge)

    work()

    assert ended(run) == ((BatchState.DONE, BatchState.DONE), [kind, kind])
    assert Call.objects.filter(error_kind=kind).count() == 2
    assert not SharedRate.objects.filter(share__lt=1).exists()


@pytest.mark.parametrize("of_judge", [False, True])
@pytest.mark.parametrize(
    ("numbers", "first_stop"),
    [(range(12), 3), ([0, 1, 2], 3), (range(1, 12), 10)],
    ids=["all", "the first three", "all but the first"],
)
def test_a_stopped_run_makes_progress_with_each_resume(
    refused_run, work, provider, numbers, first_stop, of_judge
):
    """Three refused in a row stop a model that never replied, ten one that did."""
    run = refused_run(12, numbers, FORBIDDEN, of_judge=of_judge)
    work()
    states, errors = ended(run)
    assert (states[of_judge], len(errors)) == (BatchState.FAILED, first_stop)

    for _ in range(4):
        before = len(ended(run)[1])
        if ended(run)[0] == (BatchState.DONE, BatchState.DONE):
            break
        control.resume_run(run)
        work()
        assert len(ended(run)[1]) > before or ended(run)[0][of_judge] == BatchState.DONE

    assert ended(run) == ((BatchState.DONE, BatchState.DONE), ["refused_key"] * len(numbers))
    provider.script = lambda request: verdict(1) if is_judge(request) else "Four."
    control.retry_errors(run)
    work()
    assert ended(run) == ((BatchState.DONE, BatchState.DONE), [])


@pytest.mark.parametrize("of_judge", [False, True])
def test_one_request_refused_in_words_of_the_key_does_not_stop_the_run_for_ever(
    refused_run, work, of_judge
):
    """Such words stop it at once, and the second time they are an error of the request."""
    run = refused_run(3, [0], scripted.UNAUTHORIZED, of_judge=of_judge)
    work()
    assert ended(run)[0][of_judge] == BatchState.FAILED
    assert ended(run)[1] == []

    for _ in range(2):
        control.resume_run(run)
        work()

    assert ended(run) == ((BatchState.DONE, BatchState.DONE), ["refused_key"])


def test_a_request_that_stays_rate_limited_is_an_error_in_the_end(refused_run, work, monkeypatch):
    monkeypatch.setattr("evalhub.llm.retry.LONGEST_PAUSE_S", 0.01)
    monkeypatch.setattr("evalhub.work.limits.refused_requests.MOST_RATE_LIMITED", 10)
    monkeypatch.setattr("evalhub.work.limits.shared_rate.CUT_EVERY_S", 1000)
    run = refused_run(3, [1], scripted.RATE_LIMITED)

    work()

    assert ended(run)[1] == ["rate_limited"]
    assert run.results.filter(state=ItemState.DONE).count() == 2
