from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from evalhub.llm import word_vectors
from issues.models import IssueState, Tag, TestState
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused, LaunchSpec, read_spec
from runs.launching.launch_selection import select, warnings
from runs.models import Approach, Judge, Launch, Result, ResultScore, Run, Suite
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


def test_all_problems_of_values_are_told_at_once(subtests):
    with pytest.raises(LaunchRefused) as refused:
        read_spec({"label": "", "tests": [1], "models": [1], "repeats": 0, "colour": "red"})

    told = " ".join(refused.value.problems)
    assert len(refused.value.problems) == 3
    assert all(word in told for word in ("label", "repeats", "(given: 0)", "colour"))
    inner = {"extra_body": {"api_base": "http://169.254.169.254"}}
    for said, fields in (
        ("nothing is selected", {"tests": []}),
        ("cannot be a parameter", {"params": {"api_key": "sk-1"}}),
        ("looks like a secret", {"params": {"x_api_key": "sk-1"}}),
        ("cannot be a parameter", {"params": {"api_base": "http://169.254.169.254"}}),
        ("cannot be a parameter", {"params": inner}),
        ("NaN or Infinity", {"params": {"top_p": float("inf")}}),
        ("at most 100", {"system_prompts": [str(number) for number in range(101)]}),
        ("leave one of them out", {"params": {"temperature": 1}, "temperatures": [0]}),
    ):
        with subtests.test(said, **fields), pytest.raises(LaunchRefused, match=said):
            read_spec({"label": "one", "tests": [1], "models": [1]} | fields)


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


def test_problems_of_different_kinds_are_told_together_and_nothing_is_left():
    off, draft = make_model(is_active=False), make_test(state=TestState.DRAFT)
    sound, model = make_test(), make_model()
    jury = make_jury(make_model(name="old judge", is_active=False))

    problems = refusal(tests=[999], models=[off.pk], jury=998, suite=997)
    assert len(problems) == 4
    assert off.name in problems[1]
    assert refusal(tests=[sound.pk, draft.pk], models=[model.pk], jury=jury.pk) == [
        f"These tests are not approved: {draft.pk}.",
        "These judges' models are inactive: old judge.",
    ]
    drawn, fields = make_test(origin="generated"), {"models": [model.pk], "without_synthetic": True}
    assert refusal(tests=[sound.pk, draft.pk, drawn.pk], **fields) == [
        f"These tests are synthetic, and left out: {drawn.pk}.",
        f"These tests are not approved: {draft.pk}.",
    ]
    with pytest.raises(LaunchRefused):
        launched(tests=[sound.pk], models=[999])
    assert not Launch.objects.exists()
    assert not Run.objects.exists()


def test_judging_itself_needs_consent(subtests):
    endpoint = {"litellm_model": "openai/x", "api_base": "https://models.example.org/v1"}
    model, twin = make_model(name="vain", **endpoint), make_model(**endpoint)
    values = {"tests": [make_test().pk], "models": [model.pk]}
    juries = {
        "judge": make_jury(model),
        "another row for the same endpoint": make_jury(twin),
        "backup": make_jury(make_model(), backup=Judge.objects.given(model)),
    }

    for name, jury in juries.items():
        with subtests.test(name):
            (problem,) = refusal(**values, jury=jury.pk)
            assert "vain would judge its own answers" in problem
            assert problem.endswith("set allow_self_evaluation.")
    consent = spec_of(**values, jury=juries["judge"].pk, allow_self_evaluation=True)
    assert select(consent).models == [model]


def test_a_cost_limit_needs_prices_of_candidates_judges_and_what_embeds():
    priced, embedder = make_model(input_usd_per_mtok=1, output_usd_per_mtok=1), make_model()
    jury = make_jury(make_model(name="judge without price"))
    fields = {"tests": [make_test().pk], "models": [priced.pk], "cost_limit_usd": Decimal(1)}

    assert refusal(**fields, jury=jury.pk) == [
        "A cost limit needs prices: add those of judge without price, or remove the limit."
    ]
    (problem,) = refusal(**fields, similarity_weight=0.2, similarity_model=embedder.pk)
    assert embedder.name in problem
    assert select(spec_of(**fields, similarity_model=embedder.pk)).embedder == embedder


def test_a_test_without_template_needs_similarity_or_a_judge_with_one_of_its_own(subtests):
    bare = make_test()
    bare.template = None
    bare.save()
    fields = {"tests": [bare.pk], "models": [make_model().pk]}
    own = Judge.objects.given(make_model(), template=make_template())

    for approach in (Approach.TEMPLATE, Approach.HOLISTIC):
        with subtests.test(approach):
            jury = make_jury(make_model(), approaches=(approach,))
            assert refusal(**fields, jury=jury.pk) == [
                f"These tests have no judge template and no rubric: {bare.pk}."
            ]
            by_similarity = spec_of(**fields, jury=jury.pk, score_by_similarity=True)
            assert select(by_similarity).tests == [bare]
    jury.judges.add(own)
    alone = make_jury()
    alone.judges.add(own)
    for one in (alone, jury):
        assert select(spec_of(**fields, jury=one.pk)).tests == [bare]


def test_similarity_that_cannot_be_measured_is_refused_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(word_vectors, "problem", lambda: "It is not installed.")
    fields = {"tests": [make_test().pk], "models": [make_model().pk]}

    assert select(spec_of(**fields)).tests
    assert refusal(**fields, similarity_weight=0.2) == [
        "Similarity cannot be measured. It is not installed."
    ]


# What is allowed, but should be known ------------------------------------------------------------


def warned(**values):
    spec = spec_of(**values)
    return warnings(spec, select(spec))


def test_what_is_allowed_but_doubtful_is_warned_of():
    cold, warm = make_model(name="cold"), make_model(params={"temperature": 1})
    busy = make_model(name="busy", developer="Acme")
    model = make_model(name="small", developer="Acme")
    jury = make_jury(busy, backup=Judge.objects.given(busy, params={"temperature": 1}))
    jury.judges.add(*[Judge.objects.given(each, samples=3) for each in (cold, warm)])
    check = {"check_name": "js", "arguments": {"source": "r.length"}}
    test = make_test(criteria=[check])

    found = warned(tests=[test.pk], models=[model.pk], jury=jury.pk)

    for said in (
        "small and a judge are both from Acme: judges favour related models.",
        "Several samples at temperature 0: cold (3 samples).",
        "busy is both judge and backup",
        "1 criterion uses the check 'js', which cannot run here: not scored.",
    ):
        (_,) = (warning for warning in found if warning.startswith(said))
    assert len(found) == 4


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


# What is written down ----------------------------------------------------------------------------


def test_one_run_for_each_model_and_system_prompt(django_capture_on_commit_callbacks):
    models, person = [make_model().pk, make_model().pk], make_user("maintainer")
    values = {"tests": [make_test().pk], "models": models, "system_prompts": ["", "Be brief."]}

    with django_capture_on_commit_callbacks(execute=True):
        record = launch(spec_of(**values), by=person)

    assert record.runs.count() == 4
    assert {run.label for run in record.runs.all()} == {"one · prompt 1", "one · prompt 2"}
    assert record.runs.values("variant_key").distinct().count() == 4
    assert {record.requested_by} == {run.requested_by for run in record.runs.all()} == {person}
    assert OrmQ.objects.count() == 1  # A worker is asked for once the launch is saved.


@pytest.mark.both_engines
def test_one_pending_result_for_each_test_and_repeat_is_judged_by_the_jury():
    tests, jury = [make_test().pk, make_test().pk], make_jury(make_model(name="judge"), name="us")

    run = launched(tests=tests, models=[make_model().pk], repeats=3, jury=jury.pk).runs.get()

    assert sorted(run.results.values_list("test_id", "repeat")) == [
        (test, repeat) for test in tests for repeat in range(3)
    ]
    assert set(run.results.values_list("outcome", flat=True)) == {"pending"}
    judge_run = run.judge_runs.get()
    assert (judge_run.is_active, judge_run.jury_name) == (True, "us")
    assert [judge["name"] for judge in judge_run.jury["judges"]] == ["judge"]
    assert ResultScore.objects.filter(judge_run=judge_run).count() == 6


def test_the_number_of_queries_does_not_grow_with_the_tests():
    template, issue = make_template(), make_issue(tags=("maths",))
    model, jury = make_model(), make_jury(make_model())

    def queries(count):
        tests = [make_test(template=template, issue=issue).pk for _ in range(count)]
        with CaptureQueriesContext(connection) as captured:
            launched(tests=tests, models=[model.pk], jury=jury.pk)
        return len(captured)

    queries(1)
    assert queries(20) <= queries(2)


# Frozen at launch --------------------------------------------------------------------------------


def test_what_is_changed_later_changes_no_run(monkeypatch):
    monkeypatch.setenv("ACME_KEY", "sk-very-secret")
    issue = make_issue(tags=("maths", "arithmetic"))
    test = make_test("What is 2 + 2?", issue=issue, weight=2)
    endpoint = {"litellm_model": "openai/first", "api_key_env": "ACME_KEY"}
    model = make_model(name="first", params={"temperature": 0}, **endpoint)
    jury = make_jury(make_model(name="judge"))
    launched(tests=[test.pk], models=[model.pk], jury=jury.pk)

    issue.tags.set([Tag.objects.create(name="poetry")])
    test.messages = [{"role": "user", "content": "What is 3 + 3?"}]
    test.guidelines, test.weight, test.issue = "The answer is 6.", 5, make_issue()
    test.save()
    model.name, model.litellm_model, model.params = "second", "openai/second", {}
    model.save()
    jury.judges.set([Judge.objects.given(make_model(name="another"))])

    result = Result.objects.select_related("run", "revision", "tag_set").get()
    content, run = result.revision.content, result.run
    assert content["messages"][0]["content"] == "What is 2 + 2?"
    assert content["guidelines"] == "The answer is 4."
    assert result.tag_set.names == ["arithmetic", "maths"]
    assert (result.weight, result.issue) == (2, issue)
    assert (run.model_name, run.candidate().litellm_model) == ("first", "openai/first")
    assert run.candidate().params == {"temperature": 0}
    assert [judge["name"] for judge in run.judge_runs.get().jury["judges"]] == ["judge"]
    assert run.endpoint["api_key_env"] == "ACME_KEY"
    assert "sk-very-secret" not in str(Run.objects.values())


# Digests -----------------------------------------------------------------------------------------


@pytest.mark.both_engines
def test_a_change_makes_another_rubric_or_question_and_a_label_neither(subtests):
    model, later = make_model().pk, make_template(family="acme", version=2)
    test = make_test(template=make_template(family="acme"))

    def revision():
        return launched(tests=[test.pk], models=[model]).runs.get().results.get().revision

    before = revision()
    for name, value, is_asked_the_same, is_judged_the_same in (
        ("state", test.state, True, True),
        ("weight", 3, True, True),
        ("note", "hm", True, True),
        ("source_id", "x", True, True),
        ("reference", "four", True, False),
        ("guidelines", "Be strict.", True, False),
        ("pass_threshold", 0.7, True, False),
        ("template", later, True, False),
        ("context", "A book.", False, False),
        ("tools", [{"name": "add"}], False, False),
    ):
        setattr(test, name, value)
        test.save()
        after = revision()
        with subtests.test(name):
            assert (after.asked_digest == before.asked_digest) is is_asked_the_same
            assert (after.digest == before.digest) is is_judged_the_same
            assert (after == before) is is_judged_the_same
        before = after


# Fingerprint of the jury -------------------------------------------------------------------------


def fingerprint(*models, tests=None, **fields):
    run = make_run(*(tests or [make_test()]), jury=make_jury(*models), **fields)
    return run.judge_runs.get().jury_fingerprint


def test_models_parameters_and_template_versions_make_the_fingerprint():
    template = make_template(family="acme")
    later = make_template(family="acme", version=2)
    test, other = make_test(template=template), make_test(template=later)
    one, two = make_model(), make_model()
    twin = make_model(litellm_model=one.litellm_model)  # of another name
    warm = make_model(litellm_model=one.litellm_model, params={"temperature": 1})

    prints = [
        fingerprint(one, tests=[test]),
        fingerprint(two, tests=[test]),
        fingerprint(one, two, tests=[test]),
        fingerprint(warm, tests=[test]),
        fingerprint(one, tests=[other]),
    ]

    assert len(set(prints)) == len(prints)
    assert fingerprint(two, one, tests=[test]) == prints[2]  # in any order
    assert fingerprint(twin, tests=[test]) == prints[0]
