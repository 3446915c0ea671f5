from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from issues.judge_templates.prompts import variables_of
from issues.models import IssueState, TestState
from runs.launching.estimate import LeftOut, estimate, left_out
from runs.launching.launch_options import LaunchSpec
from runs.launching.selection import named
from runs.models import DEFAULT_APPROACHES, Judge, Jury, Result
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


def test_each_criterion_is_put_to_each_judge_and_checks_are_free():
    jury = make_jury(make_model(), approaches=DEFAULT_APPROACHES)

    found = estimated(tests=[make_test(criteria=RUBRIC).pk], models=[make_model().pk], jury=jury.pk)

    # 2 criteria × 2 judges, prompt-aware and holistic; the third judges whole tests only.
    assert found.judge_calls == (4, 8)
    assert "2 criteria are judged one by one, on every answer." in found.assumptions
    assert "1 criterion is tested by a check, which needs no call." in found.assumptions


def test_a_whole_test_is_put_to_the_judge_by_template_alone():
    jury = make_jury(make_model(), approaches=DEFAULT_APPROACHES)

    found = estimated(tests=[make_test().pk], models=[make_model().pk], jury=jury.pk)

    assert found.judge_calls == (1, 2)


def test_every_sample_is_a_call():
    judge = Judge.objects.given(make_model(), approach="standard", samples=5)
    jury = Jury.objects.create(name="sampled")
    jury.judges.add(judge)

    found = estimated(tests=[make_test(criteria=RUBRIC).pk], models=[make_model().pk], jury=jury.pk)

    assert found.judge_calls == (10, 20)
    assert f"{judge} takes 5 samples of each judgment." in found.assumptions


def test_a_debate_is_counted_from_its_fewest_to_its_most_calls():
    once, debate = (
        Judge.objects.given(make_model(), approach="standard", method=method)
        for method in ("single", "debate")
    )
    found = {}
    for judge in (once, debate):
        jury = Jury.objects.create(name=str(judge))
        jury.judges.add(judge)
        test = make_test(criteria=RUBRIC)
        found[judge] = estimated(tests=[test.pk], models=[make_model().pk], jury=jury.pk)

    assert found[once].judge_calls == (2, 4)
    assert found[debate].judge_calls == (4, 16)
    assert f"{debate} makes 2 to 4 calls for each judgment." in found[debate].assumptions


def test_a_backup_is_said_and_not_counted():
    jury = make_jury(make_model(), backup=Judge.objects.given(make_model(name="spare")))

    found = estimated(tests=[make_test().pk], models=[make_model().pk], jury=jury.pk)

    assert found.judge_calls == (1, 2)
    assert any("The backup judge, spare," in line for line in found.assumptions)


def test_a_whole_rubric_is_shown_with_every_criterion_to_a_holistic_judge():
    test = make_test(criteria=[{"text": "x" * 400}, {"text": "y" * 400}])
    narrow, broad = (make_jury(make_model(), approaches=(a,)) for a in ("standard", "holistic"))

    fields = {"tests": [test.pk], "models": [make_model().pk]}
    tokens = [estimated(**fields, jury=jury.pk).input_tokens.low for jury in (narrow, broad)]

    # Each of two questions shows both criteria of 100 tokens, and not only its own.
    assert tokens[1] - tokens[0] >= 200


def test_temperatures_make_runs_of_their_own():
    found = estimated(
        tests=[make_test().pk], models=[make_model().pk], temperatures=[0, 0.5], repeats=3
    )

    assert (found.runs, found.results, found.answer_calls) == (2, 6, 6)


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

    assert left_out(spec) == [LeftOut(2, "still a draft"), LeftOut(1, "of a deprecated issue")]


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
