from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from evalhub.llm import word_vectors
from issues.models import IssueState, Tag, TestState
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused, LaunchSpec, read_spec
from runs.launching.selection import select, warnings
from runs.models import Judge, Launch, Result, ResultScore, Run, Suite
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)

pytestmark = pytest.mark.django_db


def spec_of(**values):
    return LaunchSpec.model_validate({"label": "one"} | values)


def launched(**values):
    return launch(spec_of(**values), by=None)


def refusal(**values):
    with pytest.raises(LaunchRefused) as refused:
        select(spec_of(**values))
    return refused.value.problems


# What is asked for -------------------------------------------------------------------------------


def test_all_problems_of_values_are_told_at_once():
    with pytest.raises(LaunchRefused) as refused:
        read_spec({"label": "", "tests": [1], "models": [1], "repeats": 0, "colour": "red"})

    told = " ".join(refused.value.problems)
    assert len(refused.value.problems) == 3
    assert all(word in told for word in ("label", "repeats", "(given: 0)", "colour"))


def test_nothing_selected_is_refused_in_words():
    with pytest.raises(LaunchRefused, match="nothing is selected"):
        read_spec({"label": "one", "models": [1]})


@pytest.mark.both_engines
def test_tests_are_the_union_each_once():
    issue = make_issue(tags=("maths",))
    one, two = make_test(issue=issue), make_test()
    suite = Suite.objects.create(name="suite")
    suite.tests.set([one, two])
    tag = Tag.objects.get(name="maths")

    selection = select(
        spec_of(
            tests=[one.pk],
            issues=[issue.pk],
            tags=[tag.pk],
            suite=suite.pk,
            models=[make_model().pk],
        )
    )

    assert selection.tests == [one, two]


def test_only_approved_tests_of_standing_issues_run():
    issue, gone = make_issue(), make_issue(state=IssueState.DEPRECATED)
    approved = make_test(issue=issue)
    make_test(issue=issue, state=TestState.DRAFT)
    make_test(issue=gone)

    selection = select(spec_of(issues=[issue.pk, gone.pk], models=[make_model().pk]))

    assert selection.tests == [approved]


# Refusals ----------------------------------------------------------------------------------------


def test_a_named_test_that_cannot_run_is_refused_by_number():
    sound, draft = make_test(), make_test(state=TestState.DRAFT)

    problems = refusal(tests=[sound.pk, draft.pk], models=[make_model().pk])

    assert problems == [f"These tests are not approved: {draft.pk}."]


def test_problems_of_different_kinds_are_told_together():
    off = make_model(is_active=False)

    problems = refusal(tests=[999], models=[off.pk], jury=998, suite=997)

    assert len(problems) == 4
    assert off.name in problems[1]


def test_an_inactive_judge_is_refused_by_name():
    jury = make_jury(make_model(name="old judge", is_active=False))

    problems = refusal(tests=[make_test().pk], models=[make_model().pk], jury=jury.pk)

    assert problems == ["These judges' models are inactive: old judge."]


def test_judge_run_itself_needs_consent():
    model = make_model(name="vain")
    values = {"tests": [make_test().pk], "models": [model.pk], "jury": make_jury(model).pk}

    (problem,) = refusal(**values)
    assert "vain would judge its own answers" in problem
    assert problem.endswith("set allow_self_evaluation.")
    assert select(spec_of(**values, allow_self_evaluation=True)).models == [model]


def test_another_row_for_the_same_endpoint_is_the_same_model():
    model = make_model(litellm_model="openai/x", api_base="https://models.example.org/v1")
    twin = make_model(litellm_model="openai/x", api_base="https://models.example.org/v1")

    problems = refusal(tests=[make_test().pk], models=[model.pk], jury=make_jury(twin).pk)

    assert "would judge its own answers" in problems[0]


def test_a_cost_limit_needs_prices_of_candidates_and_judges():
    priced = make_model(input_usd_per_mtok=1, output_usd_per_mtok=1)
    jury = make_jury(make_model(name="judge without price"))

    problems = refusal(
        tests=[make_test().pk], models=[priced.pk], jury=jury.pk, cost_limit_usd=Decimal(1)
    )

    assert problems == [
        "A cost limit needs prices: add those of judge without price, or remove the limit."
    ]


def test_a_test_without_template_cannot_be_judged_by_its_own():
    bare = make_test()
    bare.template = None
    bare.save()

    problems = refusal(tests=[bare.pk], models=[make_model().pk], jury=make_jury(make_model()).pk)

    assert problems == [f"These tests have no judge template and no rubric: {bare.pk}."]


def test_a_judge_with_a_template_of_its_own_needs_none_of_the_test():
    bare = make_test()
    bare.template = None
    bare.save()
    jury = make_jury()
    jury.judges.add(Judge.objects.given(make_model(), template=make_template()))

    selection = select(spec_of(tests=[bare.pk], models=[make_model().pk], jury=jury.pk))

    assert selection.tests == [bare]


def test_a_refused_launch_leaves_nothing():
    with pytest.raises(LaunchRefused):
        launched(tests=[make_test().pk], models=[999])

    assert not Launch.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"api_key": "sk-1"}, "cannot be a parameter"),
        ({"x_api_key": "sk-1"}, "looks like a secret"),
        ({"api_base": "http://169.254.169.254"}, "cannot be a parameter"),
        ({"extra_body": {"api_base": "http://169.254.169.254"}}, "cannot be a parameter"),
        ({"top_p": float("inf")}, "NaN or Infinity"),
    ],
)
def test_a_parameter_that_no_form_takes_is_refused_everywhere(params, said):
    with pytest.raises(LaunchRefused, match=said):
        read_spec({"label": "one", "tests": [1], "models": [1], "params": params})


def test_a_launch_makes_no_more_runs_than_anyone_can_mean():
    prompts = [str(number) for number in range(101)]
    with pytest.raises(LaunchRefused, match="at most 100"):
        read_spec({"label": "one", "tests": [1], "models": [1], "system_prompts": prompts})


def test_a_temperature_is_said_once():
    with pytest.raises(LaunchRefused, match="leave one of them out"):
        read_spec(
            {
                "label": "one",
                "tests": [1],
                "models": [1],
                "params": {"temperature": 1},
                "temperatures": [0],
            }
        )


def test_a_backup_that_is_the_candidate_is_refused_too():
    model = make_model(name="vain")
    jury = make_jury(make_model(), backup=Judge.objects.given(model))

    (problem,) = refusal(tests=[make_test().pk], models=[model.pk], jury=jury.pk)

    assert "vain would judge its own answers" in problem


def test_a_test_without_rubric_or_template_may_be_scored_by_similarity():
    test = make_test()
    test.template = None
    test.save()
    fields = {"tests": [test.pk], "models": [make_model().pk], "jury": make_jury(make_model()).pk}

    assert "no judge template and no rubric" in refusal(**fields)[0]
    assert select(spec_of(**fields, score_by_similarity=True)).tests == [test]


def test_a_judge_with_a_template_of_its_own_needs_no_template_beside_those_for_rubrics():
    test, jury = make_test(), make_jury(make_model(), approaches=("holistic",))
    test.template = None
    test.save()
    fields = {"tests": [test.pk], "models": [make_model().pk], "jury": jury.pk}

    assert "no judge template and no rubric" in refusal(**fields)[0]
    jury.judges.add(Judge.objects.given(make_model(), template=make_template()))
    assert select(spec_of(**fields)).tests == [test]


def test_similarity_that_cannot_be_measured_is_refused_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(word_vectors, "problem", lambda: "It is not installed.")
    fields = {"tests": [make_test().pk], "models": [make_model().pk]}

    assert select(spec_of(**fields)).tests
    assert refusal(**fields, similarity_weight=0.2) == [
        "Similarity cannot be measured. It is not installed."
    ]


def test_a_cost_limit_needs_the_price_of_what_embeds():
    model = make_model(input_usd_per_mtok=1, output_usd_per_mtok=1)
    embedder = make_model(name="near")
    fields = {"tests": [make_test().pk], "models": [model.pk], "cost_limit_usd": 1}

    (problem,) = refusal(**fields, similarity_weight=0.2, similarity_model=embedder.pk)

    assert "near" in problem
    assert select(spec_of(**fields, similarity_model=embedder.pk)).embedder == embedder


# What is allowed, but should be known ------------------------------------------------------------


def warned(**values):
    spec = spec_of(**values)
    return warnings(spec, select(spec))


def test_a_judge_of_the_same_developer_is_warned_of():
    model = make_model(name="small", developer="Acme")
    jury = make_jury(make_model(developer="Acme"))

    assert warned(tests=[make_test().pk], models=[model.pk], jury=jury.pk) == [
        "small and a judge are both from Acme: judges favour related models."
    ]


def test_samples_at_temperature_zero_are_warned_of():
    cold, warm = make_model(name="cold"), make_model(params={"temperature": 1})
    jury = make_jury(make_model())
    jury.judges.set([Judge.objects.given(model, samples=3) for model in (cold, warm)])

    (warning,) = warned(tests=[make_test().pk], models=[make_model().pk], jury=jury.pk)

    assert warning.startswith("Several samples at temperature 0: cold (3 samples).")


def test_a_backup_of_a_model_that_judges_is_warned_of():
    model = make_model(name="busy")
    jury = make_jury(model, backup=Judge.objects.given(model, params={"temperature": 1}))

    (warning,) = warned(tests=[make_test().pk], models=[make_model().pk], jury=jury.pk)

    assert warning.startswith("busy is both judge and backup")


def test_tests_without_a_reference_are_named_where_similarity_counts():
    bare, compared = make_test(reference=" ", criteria=[{"text": "It adds."}]), make_test()
    fields = {"tests": [bare.pk, compared.pk], "models": [make_model().pk]}

    assert warned(**fields) == []
    (warning,) = warned(**fields, similarity_weight=0.1)
    assert f"without a reference answer: {bare.pk}." in warning
    assert "no score" in warning


def test_similarity_alone_needs_a_reference_only_where_nothing_judges():
    judged, bare = make_test(reference="", criteria=[{"text": "It adds."}]), make_test(reference="")
    fields = {"tests": [judged.pk, bare.pk], "models": [make_model().pk]}

    (warning,) = warned(**fields, score_by_similarity=True)

    assert f"without a reference answer: {bare.pk}." in warning
    assert warned(**fields, score_by_similarity=True, jury=make_jury(make_model()).pk) == []


def test_checks_that_cannot_run_are_warned_of():
    test = make_test(criteria=[{"check_name": "js", "arguments": {"source": "r.length"}}])

    assert warned(tests=[test.pk], models=[make_model().pk]) == [
        "1 criterion uses the check 'js', which cannot run here: not scored."
    ]


# What is written down ----------------------------------------------------------------------------


def test_one_run_for_each_model_and_system_prompt():
    models = [make_model().pk, make_model().pk]

    record = launched(tests=[make_test().pk], models=models, system_prompts=["", "Be brief."])

    assert record.runs.count() == 4
    assert {run.label for run in record.runs.all()} == {"one · prompt 1", "one · prompt 2"}
    assert record.runs.values("variant_key").distinct().count() == 4


@pytest.mark.both_engines
def test_one_pending_result_for_each_test_and_repeat():
    tests = [make_test().pk, make_test().pk]

    run = launched(tests=tests, models=[make_model().pk], repeats=3).runs.get()

    assert sorted(run.results.values_list("test_id", "repeat")) == [
        (test, repeat) for test in tests for repeat in range(3)
    ]
    assert set(run.results.values_list("outcome", flat=True)) == {"pending"}


@pytest.mark.both_engines
def test_a_jury_gives_one_current_judge_run_with_every_result():
    jury = make_jury(make_model(name="judge"), name="the jury")

    run = launched(
        tests=[make_test().pk, make_test().pk], models=[make_model().pk], jury=jury.pk
    ).runs.get()

    judge_run = run.judge_runs.get()
    assert judge_run.is_active
    assert judge_run.jury_name == "the jury"
    assert [judge["name"] for judge in judge_run.jury["judges"]] == ["judge"]
    assert ResultScore.objects.filter(judge_run=judge_run).count() == 2


def test_a_worker_is_asked_for_once_the_launch_is_saved(django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        launched(tests=[make_test().pk], models=[make_model().pk])

    assert OrmQ.objects.count() == 1


def test_who_launched_is_kept():
    person = make_user("maintainer")
    spec = spec_of(tests=[make_test().pk], models=[make_model().pk])

    record = launch(spec, by=person)

    assert record.requested_by == record.runs.get().requested_by == person


def test_the_number_of_queries_does_not_grow_with_the_tests():
    template, issue = make_template(), make_issue(tags=("maths",))
    model, jury = make_model(), make_jury(make_model())

    def queries(count):
        tests = [make_test(template=template, issue=issue).pk for _ in range(count)]
        with CaptureQueriesContext(connection) as captured:
            launched(tests=tests, models=[model.pk], jury=jury.pk)
        return len(captured)

    queries(1)
    assert queries(30) <= queries(2)


# Frozen at launch --------------------------------------------------------------------------------


def only_result():
    return Result.objects.select_related("run", "revision", "tag_set").get()


def test_a_test_changed_later_changes_no_result():
    test = make_test("What is 2 + 2?")
    launched(tests=[test.pk], models=[make_model().pk])

    test.messages = [{"role": "user", "content": "What is 3 + 3?"}]
    test.guidelines = "The answer is 6."
    test.save()

    content = only_result().revision.content
    assert content["messages"][0]["content"] == "What is 2 + 2?"
    assert content["guidelines"] == "The answer is 4."


def test_labels_changed_later_change_no_old_result():
    issue = make_issue(tags=("maths", "arithmetic"))
    test = make_test(issue=issue, weight=2)
    launched(tests=[test.pk], models=[make_model().pk])

    issue.tags.set([Tag.objects.create(name="poetry")])
    test.weight, test.issue = 5, make_issue()
    test.save()

    result = only_result()
    assert result.tag_set.names == ["arithmetic", "maths"]
    assert (result.weight, result.issue) == (2, issue)


def test_a_model_changed_later_changes_no_run():
    model = make_model(name="first", litellm_model="openai/first", params={"temperature": 0})
    launched(tests=[make_test().pk], models=[model.pk])

    model.name, model.litellm_model, model.params = "second", "openai/second", {}
    model.save()

    run = Run.objects.get()
    assert run.model_name == "first"
    assert run.candidate().litellm_model == "openai/first"
    assert run.candidate().params == {"temperature": 0}


def test_a_jury_changed_later_changes_no_judge_run():
    jury = make_jury(make_model(name="judge"))
    launched(tests=[make_test().pk], models=[make_model().pk], jury=jury.pk)

    jury.judges.set([Judge.objects.given(make_model(name="another"))])

    judge_run = Run.objects.get().judge_runs.get()
    assert [judge["name"] for judge in judge_run.jury["judges"]] == ["judge"]


def test_no_key_is_frozen_with_a_run(monkeypatch):
    monkeypatch.setenv("ACME_KEY", "sk-very-secret")
    launched(tests=[make_test().pk], models=[make_model(api_key_env="ACME_KEY").pk])

    assert Run.objects.get().endpoint["api_key_env"] == "ACME_KEY"
    assert "sk-very-secret" not in str(Run.objects.values())


# Digests -----------------------------------------------------------------------------------------


def revisions_after(test, **changes):
    """The test's revisions as launched before and after a change."""
    model = make_model().pk
    first = launched(tests=[test.pk], models=[model]).runs.get().results.get().revision
    for name, value in changes.items():
        setattr(test, name, value)
    test.save()
    second = launched(tests=[test.pk], models=[model]).runs.get().results.get().revision
    return first, second


@pytest.mark.both_engines
def test_an_unchanged_test_is_one_revision():
    first, second = revisions_after(make_test())

    assert first == second


@pytest.mark.parametrize("change", [{"weight": 3}, {"note": "hm"}, {"source_id": "x"}])
def test_labels_change_no_digest(change):
    first, second = revisions_after(make_test(), **change)

    assert first == second


@pytest.mark.parametrize(
    "change", [{"reference": "four"}, {"guidelines": "Be strict."}, {"pass_threshold": 0.7}]
)
def test_another_rubric_is_the_same_question(change):
    first, second = revisions_after(make_test(), **change)

    assert first.asked_digest == second.asked_digest
    assert first.digest != second.digest


@pytest.mark.parametrize("change", [{"context": "A book."}, {"tools": [{"name": "add"}]}])
def test_what_a_candidate_sees_is_another_question(change):
    first, second = revisions_after(make_test(), **change)

    assert first.asked_digest != second.asked_digest


def test_another_template_version_is_another_rubric():
    first = make_template(family="acme")
    test = make_test(template=first)
    second = make_template(family="acme", version=2)

    before, after = revisions_after(test, template=second)

    assert before.digest != after.digest


# Fingerprint of the jury -------------------------------------------------------------------------


def fingerprint(*models, tests=None, **fields):
    run = make_run(*(tests or [make_test()]), jury=make_jury(*models), **fields)
    return run.judge_runs.get().jury_fingerprint


def test_equal_juries_have_equal_fingerprints_in_any_order():
    one, two = make_model(), make_model()
    test = make_test()

    assert fingerprint(one, two, tests=[test]) == fingerprint(two, one, tests=[test])


def test_models_parameters_and_template_versions_make_the_fingerprint():
    template = make_template(family="acme")
    later = make_template(family="acme", version=2)
    test, other = make_test(template=template), make_test(template=later)
    one, two = make_model(), make_model()
    warm = make_model(litellm_model=one.litellm_model, params={"temperature": 1})

    prints = [
        fingerprint(one, tests=[test]),
        fingerprint(two, tests=[test]),
        fingerprint(one, two, tests=[test]),
        fingerprint(warm, tests=[test]),
        fingerprint(one, tests=[other]),
    ]

    assert len(set(prints)) == len(prints)


def test_a_name_makes_no_fingerprint():
    one = make_model(litellm_model="openai/x")
    twin = make_model(litellm_model="openai/x")
    test = make_test()

    assert fingerprint(one, tests=[test]) == fingerprint(twin, tests=[test])
