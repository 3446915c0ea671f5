"""Pairwise judge runs against a scripted provider: number, order and content of calls."""

from collections import Counter
from decimal import Decimal

import pytest

from evalhub.models import BatchState, Exposure, ItemState
from evalhub.refusals import NotPossible, Refused
from evalhub.work.control import cancel, resume, retry_errors
from runs.laboratory.pairwise.judge_runs import PairwiseOrder, estimate, start
from runs.laboratory.pairwise.models import Pair, PairJudgment
from runs.laboratory.pairwise.outcomes import pair_rows
from runs.models import Result
from tests.factories import make_test
from tests.provider import REFUSED, prompt
from tests.runs.laboratory.pairwise.rows import answered_runs, answers_in, prefers, says

pytestmark = pytest.mark.django_db(transaction=True)


def outcomes(judge_run):
    runs = list(judge_run.runs.values_list("pk", flat=True))
    return [row.outcome for row in pair_rows(runs, judge_run)]


@pytest.fixture
def judged(provider, model_at, work):
    """Judges runs of these answers to so many tests, to its end."""

    def make(script, *texts, tests=3, **fields):
        provider.script = script
        order = PairwiseOrder(answered_runs(*texts, tests=tests), model_at(), **fields)
        judge_run = start(order, by=None)
        work()
        judge_run.refresh_from_db()
        return judge_run

    return make


def test_each_pair_is_asked_in_both_orders_without_names(provider, judged):
    judge_run = judged(prefers("good", "fair", "bad"), "good", "bad", "fair", tests=2)

    assert judge_run.state == BatchState.DONE
    asked = Counter(answers_in(request) for request in provider.requests)
    texts = ("good", "bad", "fair")
    assert asked == {(one, other): 2 for one in texts for other in texts if one != other}
    sent = " ".join(prompt(request) for request in provider.requests)
    assert not any(
        name in sent for run in judge_run.runs.all() for name in (run.label, run.model_name)
    )
    assert Pair.objects.count() == 6
    assert {one.judge.is_biased for one in outcomes(judge_run)} == {False}
    assert Counter(one.score for one in outcomes(judge_run)) == {1: 4, 0: 2}


def test_a_judge_that_prefers_the_first_has_ties_by_position_bias(judged):
    judge_run = judged(lambda request: says("A"), "x", "y")
    assert [(one.score, one.judge.is_biased) for one in outcomes(judge_run)] == [(0.5, True)] * 3


def test_a_refusal_is_repaired_once_and_else_a_failed_judgment(provider, judged):
    judge_run = judged(lambda request: REFUSED, "x", "y", tests=1)

    assert len(provider.requests) == 4  # two orders, each with one repair
    judgments = judge_run.judgments.all()
    assert {(one.state, one.choice, one.error_kind) for one in judgments} == {
        (ItemState.ERROR, "", "unreadable")
    }
    (found,) = outcomes(judge_run)
    assert (found.score, found.is_failed) == (None, True)


def test_a_tie_is_a_failed_judgment_where_none_is_allowed(judged):
    judge_run = judged(lambda request: says("tie"), "x", "y", tests=1, ties=False)
    assert {one.state for one in judge_run.judgments.all()} == {ItemState.ERROR}


def test_a_retry_asks_exactly_what_failed(provider, judged, work):
    good = prefers("good", "bad")
    fails = lambda request: answers_in(request)[0] == "bad"  # noqa: E731
    judge_run = judged(
        lambda request: "no verdict" if fails(request) else good(request), "good", "bad", tests=2
    )
    asked = len(provider.requests)
    provider.script = good

    assert retry_errors(judge_run) == 2
    work()

    assert len(provider.requests) == asked + 2
    assert [one.score for one in outcomes(judge_run)] == [1, 1]
    with pytest.raises(NotPossible):
        retry_errors(judge_run)


def test_a_cancelled_judge_run_can_be_resumed(provider, model_at, work):
    provider.script = prefers("good", "bad")
    judge_run = start(PairwiseOrder(answered_runs("good", "bad"), model_at()), by=None)
    cancel(judge_run)
    work()
    assert provider.requests == []

    judge_run.refresh_from_db()
    resume(judge_run)
    work()

    assert len(provider.requests) == 6
    assert [one.score for one in outcomes(judge_run)] == [1, 1, 1]


def test_a_cost_limit_stops_before_it_is_passed(provider, model_at, work):
    provider.script = prefers("good", "bad")
    model = model_at(input_usd_per_mtok=Decimal(1000), output_usd_per_mtok=Decimal(1000))
    judge_run = start(
        PairwiseOrder(answered_runs("good", "bad"), model),
        by=None,
        cost_limit_usd=Decimal("0.0001"),
    )
    work()
    judge_run.refresh_from_db()
    assert judge_run.state == BatchState.PAUSED
    assert len(provider.requests) < 6


def test_only_answers_to_the_same_input_are_compared(model_at):
    test, changed, other = make_test("One?"), make_test("Two?"), make_test("Three?")
    first, second = answered_runs("x", asked=[test, changed]), []
    changed.messages = [{"role": "user", "content": "Two, please?"}]
    changed.save()
    test.guidelines = "Another rubric, and the same input."
    test.save()
    second = answered_runs("y", asked=[test, changed, other])

    found = estimate(PairwiseOrder([*first, *second], model_at()))

    pairs = Result.objects.filter(pk__in=[pk for pair in found.pairs for pk in pair])
    assert {result.test_id for result in pairs} == {test.pk}


def test_what_prevents_a_start_is_listed_with_its_values(model_at):
    runs = answered_runs("x", tests=1)
    with pytest.raises(Refused, match="Choose 2 to 8 runs, not 1"):
        start(PairwiseOrder(runs, model_at()), by=None)
    elsewhere = answered_runs("y", asked=[make_test("Other?")])
    with pytest.raises(Refused, match="no comparable answers"):
        start(PairwiseOrder([*runs, *elsewhere], model_at()), by=None)


def test_sealed_tests_leave_only_with_consent_and_on_record(provider, model_at, work, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = prefers("good", "bad")
    runs = answered_runs("good", "bad", asked=[make_test("Secret?", sealed=True)])
    wanted = PairwiseOrder(runs, model_at())
    with pytest.raises(Refused, match="sealed"):
        start(wanted, by=None)
    assert not PairJudgment.objects.exists()

    start(wanted, by=None, allow_sealed_exposure=True)
    work()

    assert Exposure.objects.filter(kind="sent").exists()


def test_a_model_that_judges_itself_is_warned_about(model_at):
    model = model_at()
    runs = answered_runs("x", "y", tests=1, model=model)
    assert "its own answers" in estimate(PairwiseOrder(runs, model)).warnings[0]
