from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from issues.judge_templates.prompts import variables_of
from issues.models import IssueState, TestState
from runs.launching.estimate import estimate
from runs.launching.launch_options import LaunchSpec
from runs.launching.launch_selection import chosen, named
from runs.models import DEFAULT_APPROACHES, Judge, Result
from runs.suites.test_selection import LeftOut
from tests.factories import make_issue, make_jury, make_model, make_run, make_template, make_test

pytestmark = pytest.mark.django_db

PRICES = {"input_usd_per_mtok": Decimal(1), "output_usd_per_mtok": Decimal(2)}
RUBRIC = (
    {"text": "It adds."},
    {"text": "It is brief."},
    {"text": "It has a digit.", "check_name": "contains", "arguments": {"text": "4"}},
)
"""Two criteria for judges, and one for a check."""


def estimated(**values):
    spec = LaunchSpec.model_validate({"label": "one"} | values)
    return estimate(spec, named(spec))


def test_counts_runs_results_and_calls():
    tests, models = [make_test().pk, make_test().pk], [make_model().pk, make_model().pk]
    jury = make_jury(make_model(), make_model(), make_model())
    fields = {"tests": tests, "models": models, "repeats": 3}

    found = estimated(**fields, system_prompts=["", "Be brief."], jury=jury.pk)

    # 2 models × 2 prompts; 2 tests × 3 repeats in each; 3 judges, each repairs at most once.
    assert (found.runs, found.results, found.answer_calls) == (4, 24, 24)
    assert found.judge_calls == (72, 144)
    assert found.calls == (96, 168)
    found = estimated(**fields, temperatures=[0, 0.5])
    assert (found.runs, found.results, found.answer_calls) == (4, 24, 24)
    assert found.judge_calls == (0, 0)  # without judges


def test_every_generated_turn_is_a_call():
    test = make_test(
        messages=[
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "And now?"},
        ]
    )

    assert estimated(tests=[test.pk], models=[make_model().pk]).answer_calls == 2


def test_judges_are_counted_by_criteria_approach_samples_and_method(subtests):
    model, judge = make_model(), make_model()
    whole, rubric = make_test(), make_test(criteria=RUBRIC)
    usual = make_jury(judge, approaches=DEFAULT_APPROACHES)
    sampled, once, debate = make_jury(), make_jury(), make_jury()
    by = {
        jury: Judge.objects.given(judge, approach="standard", **fields)
        for jury, fields in (
            (sampled, {"samples": 5}),
            (once, {"method": "single"}),
            (debate, {"method": "debate"}),
        )
    }
    for jury, one in by.items():
        jury.judges.add(one)
    spare = make_jury(judge, backup=Judge.objects.given(make_model(name="spare")))
    for test, jury, calls, said in (
        # 2 criteria × 2 judges, prompt-aware and holistic; the third judges whole tests only.
        (rubric, usual, (4, 8), "2 criteria are judged one by one, on every answer."),
        (rubric, usual, (4, 8), "1 criterion is tested by a check, which needs no call."),
        (whole, usual, (1, 2), ""),
        (rubric, sampled, (10, 20), f"{by[sampled]} takes 5 samples of each judgment."),
        (rubric, once, (2, 4), ""),
        (rubric, debate, (4, 16), f"{by[debate]} makes 2 to 4 calls for each judgment."),
        (whole, spare, (1, 2), "The backup judge, spare,"),
    ):
        with subtests.test(said, calls=calls):
            found = estimated(tests=[test.pk], models=[model.pk], jury=jury.pk)
            assert found.judge_calls == calls
            assert any(said in line for line in found.assumptions)


def test_a_whole_rubric_is_shown_with_every_criterion_to_a_holistic_judge():
    test = make_test(criteria=[{"text": "x" * 400}, {"text": "y" * 400}])
    narrow, broad = (make_jury(make_model(), approaches=(a,)) for a in ("standard", "holistic"))

    fields = {"tests": [test.pk], "models": [make_model().pk]}
    tokens = [estimated(**fields, jury=jury.pk).input_tokens.low for jury in (narrow, broad)]

    # Each of two questions shows both criteria of 100 tokens, and not only its own.
    assert tokens[1] - tokens[0] >= 200


def test_similarity_by_a_model_is_counted_and_priced_by_what_it_reads():
    test = make_test(reference="x" * 400)
    model = make_model(**PRICES, params={"max_tokens": 50})
    embedder = make_model(input_usd_per_mtok=Decimal(1))
    fields = {"tests": [test.pk], "models": [model.pk], "repeats": 2}

    without = estimated(**fields)
    found = estimated(**fields, similarity_weight=0.5, similarity_model=embedder.pk)

    # Two answers of 50 tokens at most, and one reference of 100.
    assert found.embedding_calls == 2
    assert found.cost.high - without.cost.high == Decimal("0.0002")


def test_similarity_that_is_built_in_costs_nothing():
    found = estimated(tests=[make_test().pk], models=[make_model().pk], similarity_weight=0.5)

    assert found.embedding_calls == 0
    assert any("costs nothing" in line for line in found.assumptions)


def test_cost_and_overshoot_have_known_values():
    # 400 characters are 100 tokens in, and the limit lets at most 50 out: 100 + 2 × 50 per million.
    tests = [make_test("x" * 400).pk for _ in range(10)]
    model = make_model(**PRICES, params={"max_tokens": 50}, max_concurrency=4)

    found = estimated(tests=tests[:1], models=[model.pk])
    assert found.cost is not None
    assert found.cost.high == Decimal("0.0002")
    # Four calls in flight at 0.0002 each.
    assert estimated(tests=tests, models=[model.pk]).overshoot_usd == Decimal("0.0008")
    found = estimated(tests=tests, models=[model.pk, make_model(name="bare").pk])
    assert (found.cost, found.overshoot_usd, found.unpriced) == (None, None, ("bare",))


def test_judges_of_one_model_share_its_bound_on_calls_in_flight():
    tests = [make_test(criteria=RUBRIC).pk for _ in range(10)]
    model, judge = make_model(**PRICES, params={"max_tokens": 50}), make_model(**PRICES)

    def overshoot(*approaches):
        jury = make_jury(judge, approaches=approaches)
        return estimated(tests=tests, models=[model.pk], jury=jury.pk).overshoot_usd

    assert overshoot("standard", "holistic") == overshoot("holistic")


def test_a_system_prompt_is_sent_with_every_call():
    tests = [make_test().pk, make_test().pk]
    model = make_model().pk

    plain = estimated(tests=tests, models=[model])
    longer = estimated(tests=tests, models=[model], system_prompts=["x" * 400])

    assert longer.input_tokens.low - plain.input_tokens.low == 200


def test_answers_are_as_long_as_the_model_has_answered_lately():
    model = make_model()
    run = make_run(*[make_test() for _ in range(5)], model=model)
    Result.objects.filter(run=run).update(output_tokens=40)

    found = estimated(tests=[make_test().pk], models=[model.pk])

    assert found.output_tokens == (20, 80)


def test_tests_left_out_are_counted_by_reason():
    issue = make_issue()
    make_test(issue=issue)
    make_test(issue=issue, state=TestState.DRAFT)
    make_test(issue=issue, state=TestState.DRAFT)
    gone = make_test(issue=make_issue(state=IssueState.DEPRECATED))
    spec = LaunchSpec(label="one", issues=[issue.pk], tests=[gone.pk], models=[1])

    assert chosen(spec).left_out() == [
        LeftOut(2, "still a draft"),
        LeftOut(1, "of a deprecated issue"),
    ]


def test_query_count_does_not_grow_with_tests():
    template = make_template()
    model, jury = make_model(), make_jury(make_model())

    def queries(count):
        tests = [make_test(template=template).pk for _ in range(count)]
        tests += [make_test(template=template, criteria=RUBRIC).pk for _ in range(count)]
        spec = LaunchSpec(label="one", tests=tests, models=[model.pk], jury=jury.pk)
        with CaptureQueriesContext(connection) as captured:
            estimate(spec, named(spec))
        return len(captured)

    assert queries(12) == queries(2)


def test_a_template_is_parsed_once_for_all_tests():
    variables_of.cache_clear()
    tests = [make_test(criteria=RUBRIC).pk for _ in range(5)]
    jury = make_jury(make_model(), make_model(), approaches=DEFAULT_APPROACHES)

    estimated(tests=tests, models=[make_model().pk], jury=jury.pk)

    assert variables_of.cache_info().misses == 2
