"""Measures of position bias against a scripted provider: what is asked, and what it changes."""

import json
import re
from decimal import Decimal

import pytest

from evalhub.models import BatchState, Exposure, ItemState
from evalhub.refusals import Refused
from evalhub.work.control import cancel, resume, retry_errors
from issues.judge_templates.builtin import BUILTIN
from runs.laboratory.position_bias.figures import verdicts_on_options
from runs.laboratory.position_bias.measuring import Measure, estimate, start
from runs.laboratory.position_bias.models import ReversedJudgment
from runs.launching.launch import add_judge_run
from runs.models import JudgeRun, Judgment, Result, ResultScore
from tests.factories import make_jury, make_run, make_template, make_test
from tests.provider import prompt
from tests.reports.judged_runs import answer

pytestmark = pytest.mark.django_db(transaction=True)


def options_in(request):
    """The options in the order in which the judge reads them."""
    return re.findall(r"^- ([01]):", prompt(request), re.M)


def places(judge_run):
    """The places of the options given, and of those given with the order reversed."""
    found = verdicts_on_options([judge_run.pk])
    return {(one.given, one.turned) for mine in found.values() for one in mine}


def says(option):
    return json.dumps({"justification": "Because.", "score": option})


def takes_the_first(request):
    return says(options_in(request)[0])


@pytest.fixture
def judge_run(provider, model_at, work):
    """Two judges that always pass, on eight answers."""
    provider.script = lambda request: says("1")
    jury = make_jury(model_at(name="Steady"), model_at(name="Other"))
    run = make_run(*(make_test(f"Question {n}?") for n in range(8)), jury=jury)
    answer(run)
    type(run).objects.filter(pk=run.pk).update(state=BatchState.DONE)
    work()
    provider.requests.clear()
    made = JudgeRun.objects.select_related("run").get(run=run)
    assert made.state == BatchState.DONE
    return made


def everything():
    """All rows that scores, tallies and reports read."""
    return [
        list(model.objects.order_by("pk").values())
        for model in (Result, ResultScore, Judgment, JudgeRun)
    ]


def test_a_random_part_is_judged_again_in_reversed_order_and_changes_nothing_else(
    judge_run, provider, work
):
    provider.script = takes_the_first
    before = everything()

    made = start(Measure(judge_run, 5, 7), by=None)
    work()

    made.refresh_from_db()
    assert (made.state, made.results, made.seed) == (BatchState.DONE, 5, 7)
    assert len(provider.requests) == 10  # two judges on five results
    assert {tuple(options_in(request)) for request in provider.requests} == {("1", "0")}
    assert len(set(made.judgments.values_list("judgment__result", flat=True))) == 5
    assert everything() == before


def test_the_same_seed_draws_the_same_results_and_another_one_others(judge_run):
    drawn = {seed: Measure(judge_run, 4, seed).drawn for seed in (1, 2, 3)}

    assert drawn[1] == Measure(judge_run, 4, 1).drawn
    assert len({tuple(one) for one in drawn.values()}) > 1
    assert len(Measure(judge_run, 100, 1).drawn) == 8


def test_verdicts_are_compared_by_the_place_of_their_option(judge_run, provider, work):
    provider.script = takes_the_first  # 1, which is listed last as given
    start(Measure(judge_run, 8, 1), by=None)
    work()
    assert places(judge_run) == {(1.0, 1.0)}

    provider.script = lambda request: says(options_in(request)[-1])
    start(Measure(judge_run, 8, 1), by=None)
    work()
    newest = verdicts_on_options([judge_run.pk])
    assert {len(mine) for mine in newest.values()} == {8}
    assert places(judge_run) == {(1.0, 0.0)}


def test_the_estimate_counts_calls_and_cost_and_asks_nobody(judge_run, provider):
    for judge in judge_run.jury["judges"]:  # the prices are those of its copy
        judge["endpoint"] |= {"input_usd_per_mtok": "1", "output_usd_per_mtok": "2"}

    found = estimate(Measure(judge_run, 3, 1))

    assert (found.results, found.available, found.judgments) == (3, 8, 6)
    assert (found.calls.low, found.calls.high) == (6, 12)
    assert 0 < found.cost.low < found.cost.high
    assert not found.problems
    assert provider.requests == []


def test_failed_verdicts_are_neither_changed_nor_unchanged_and_are_retried(
    judge_run, provider, work
):
    provider.script = lambda request: "no verdict"
    made = start(Measure(judge_run, 2, 1), by=None)
    work()
    assert {one.state for one in made.judgments.all()} == {ItemState.ERROR}
    assert verdicts_on_options([judge_run.pk]) == {}

    provider.script = takes_the_first
    asked = len(provider.requests)
    assert retry_errors(made) == 4
    work()
    assert len(provider.requests) == asked + 4
    assert ReversedJudgment.objects.filter(state=ItemState.DONE).count() == 4


def test_a_cancelled_measure_can_be_resumed(judge_run, provider, work):
    made = start(Measure(judge_run, 2, 1), by=None)
    cancel(made)
    work()
    assert provider.requests == []

    made.refresh_from_db()
    resume(made)
    work()
    assert len(provider.requests) == 4


def test_what_prevents_a_measure_is_said_with_what_to_do(judge_run, model_at):
    with pytest.raises(Refused, match="Draw 1 to 2,000 results, not 0"):
        start(Measure(judge_run, 0, 1), by=None)
    with pytest.raises(Refused, match="A cost limit needs prices"):
        start(Measure(judge_run, 1, 1), by=None, cost_limit_usd=Decimal(1))
    live = add_judge_run(judge_run.run, [], name="", active=False)
    with pytest.raises(Refused, match="is not done"):
        start(Measure(live, 1, 1), by=None)


def test_a_prompt_that_lists_no_options_cannot_be_measured(judge_run):
    bare = make_template(text=re.sub(r"{{ *scale[^}]*}}", "", BUILTIN[0].text))
    Judgment.objects.update(template=bare)

    with pytest.raises(Refused, match="do not list the options"):
        start(Measure(judge_run, 1, 1), by=None)


def test_sealed_tests_leave_only_with_consent_and_on_record(judge_run, provider, work, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = takes_the_first
    test = judge_run.run.results.first().test
    type(test).objects.filter(pk=test.pk).update(sealed=True)

    with pytest.raises(Refused, match="sealed"):
        start(Measure(judge_run, 8, 1), by=None)
    start(Measure(judge_run, 8, 1), by=None, allow_sealed_exposure=True)
    work()

    assert set(Exposure.objects.filter(kind="sent").values_list("test", flat=True)) == {test.pk}
