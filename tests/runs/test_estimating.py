from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from issues.models import IssueState, TestState
from runs.estimating import LeftOut, estimate, left_out
from runs.launch import named
from runs.models import Result
from runs.spec import LaunchSpec
from tests.factories import make_issue, make_jury, make_model, make_run, make_template, make_test

pytestmark = pytest.mark.django_db

PRICES = {"input_usd_per_mtok": Decimal(1), "output_usd_per_mtok": Decimal(2)}


def estimated(**values):
    spec = LaunchSpec.model_validate({"label": "one"} | values)
    return estimate(spec, named(spec))


def test_counts_runs_results_and_calls():
    tests = [make_test(), make_test()]
    models = [make_model(), make_model()]
    jury = make_jury(make_model(), make_model(), make_model())

    found = estimated(
        tests=[test.pk for test in tests],
        models=[model.pk for model in models],
        system_prompts=["", "Be brief."],
        repeats=3,
        jury=jury.pk,
    )

    # 2 models × 2 prompts; 2 tests × 3 repeats in each; 3 judges, each repairs at most once.
    assert (found.runs, found.results, found.answer_calls) == (4, 24, 24)
    assert found.judge_calls == (72, 144)
    assert found.calls == (96, 168)


def test_every_generated_turn_is_a_call():
    test = make_test(
        messages=[
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "And now?"},
        ]
    )

    assert estimated(tests=[test.pk], models=[make_model().pk]).answer_calls == 2


def test_without_judges_no_judge_is_counted():
    found = estimated(tests=[make_test().pk], models=[make_model().pk])

    assert found.judge_calls == (0, 0)


def test_cost_known_value():
    # 400 characters are 100 tokens in, and the limit lets at most 50 out: 100 + 2 × 50 per million.
    test = make_test("x" * 400)
    model = make_model(**PRICES, params={"max_tokens": 50})

    found = estimated(tests=[test.pk], models=[model.pk])

    assert found.cost is not None
    assert found.cost.high == Decimal("0.0002")


def test_cost_is_not_measured_without_prices_and_says_whose():
    priced, bare = make_model(**PRICES), make_model(name="bare")

    found = estimated(tests=[make_test().pk], models=[priced.pk, bare.pk])

    assert found.cost is None
    assert found.overshoot_usd is None
    assert found.unpriced == ["bare"]


def test_overshoot_is_that_of_the_calls_in_flight():
    tests = [make_test("x" * 400) for _ in range(10)]
    model = make_model(**PRICES, params={"max_tokens": 50}, max_concurrency=4)

    found = estimated(tests=[test.pk for test in tests], models=[model.pk])

    # Four calls at 0.0002 each, as above.
    assert found.overshoot_usd == Decimal("0.0008")


def test_a_system_prompt_is_sent_with_every_call():
    tests = [make_test().pk, make_test().pk]
    model = make_model().pk

    plain = estimated(tests=tests, models=[model])
    longer = estimated(tests=tests, models=[model], system_prompts=["x" * 400])

    assert longer.tokens_in.low - plain.tokens_in.low == 200


def test_answers_are_as_long_as_the_model_has_answered_lately():
    model = make_model()
    run = make_run(*[make_test() for _ in range(5)], model=model)
    Result.objects.filter(run=run).update(tokens_out=40)

    found = estimated(tests=[make_test().pk], models=[model.pk])

    assert found.tokens_out == (20, 80)


def test_tests_left_out_are_counted_by_reason():
    issue = make_issue()
    make_test(issue=issue)
    make_test(issue=issue, state=TestState.DRAFT)
    make_test(issue=issue, state=TestState.DRAFT)
    gone = make_test(issue=make_issue(state=IssueState.DEPRECATED))
    spec = LaunchSpec(label="one", issues=[issue.pk], tests=[gone.pk], models=[1])

    assert left_out(spec) == [LeftOut(2, "still a draft"), LeftOut(1, "of a deprecated issue")]


def test_query_count_does_not_grow_with_tests():
    template = make_template()
    model, jury = make_model(), make_jury(make_model())

    def queries(count):
        tests = [make_test(template=template).pk for _ in range(count)]
        spec = LaunchSpec(label="one", tests=tests, models=[model.pk], jury=jury.pk)
        with CaptureQueriesContext(connection) as captured:
            estimate(spec, named(spec))
        return len(captured)

    assert queries(12) == queries(2)
