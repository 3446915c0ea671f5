"""Requests to judges with examples, prompt variants and a repair model."""

import json

import pytest
from django.urls import reverse

from evalhub.models import BatchState, Call
from issues.models import TemplateState
from runs.judging.sent_prompts import prompt_of
from runs.judging.work import JudgingKind as Work
from runs.launching.estimate import estimate
from runs.launching.launch_options import LaunchSpec
from runs.launching.launch_selection import named, problems_of
from runs.models import Judgment
from tests.factories import make_jury, make_model, make_run, make_template, make_test, make_user
from tests.provider import is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

PASSES = verdict(1)
OWN_WORDS = "Words for one model only. Judge {{ output }}"


@pytest.fixture
def taught(provider, model_at, work):
    """A run judged with a template that `fill` has filled while it was a draft."""

    def make(*tests, fill=None, judges=None, reply=PASSES, **fields):
        provider.script = lambda request: (
            (reply(request) if callable(reply) else reply) if is_judge(request) else "It is four."
        )
        template = make_template(state=TemplateState.DRAFT, **fields)
        if fill:
            fill(template)
        template.state = TemplateState.PUBLISHED
        template.save()
        for test in tests:
            test.template = template
            test.save()
        run = make_run(*tests, model=model_at(), jury=make_jury(*(judges or [model_at()])))
        work()
        return run

    return make


def asked_of_judges(provider):
    return [prompt(request) for request in provider.requests if is_judge(request)]


def add(template, test=None, **fields):
    defaults = {"input": "Who wrote it?", "output": "Dante did.", "option": "1"}
    return template.examples.create(test=test, **(defaults | {"justification": "So."} | fields))


# Examples ----------------------------------------------------------------------------------------


def test_examples_cross_the_wire_in_the_form_of_a_reply(provider, taught):
    taught(make_test(), fill=lambda template: add(template, justification="It names Dante."))
    (asked,) = asked_of_judges(provider)
    assert "Dante did." in asked
    assert json.dumps({"justification": "It names Dante.", "score": 1}) in asked
    assert asked.index("Dante did.") < asked.index("It is four.")


def test_a_test_is_never_judged_with_an_example_of_its_own_or_one_that_asks_the_same(
    provider, taught
):
    first, second = make_test("What is 2 + 2?"), make_test("What is 3 + 1?")

    def fill(template):
        add(template, first, output="Taken from the first.")
        add(template, second, output="Taken from the second.")
        add(template, make_test("what is 2  + 2?"), input="what is 2  + 2?", output="By a twin.")

    taught(first, second, fill=fill)
    asked = {"What is 2 + 2?" in text: text for text in asked_of_judges(provider)}
    assert len(asked) == len(asked_of_judges(provider)) == 2
    for is_first, text in asked.items():
        own, other = ("first", "second") if is_first else ("second", "first")
        assert f"Taken from the {own}." not in text
        assert f"Taken from the {other}." in text
        assert ("By a twin." in text) is not is_first


def test_the_nearest_examples_are_asked_and_rendered_again_alike(provider, taught):
    def fill(template):
        add(template, input="Who painted the Mona Lisa?", output="Leonardo.")
        add(template, input="How much is 5 + 3?", output="It is eight.")

    run = taught(
        make_test("How much is 2 + 2?"), fill=fill, example_choice="nearest", examples_shown=1
    )
    (asked,) = asked_of_judges(provider)
    assert "It is eight." in asked
    assert "Leonardo." not in asked
    found = prompt_of(Judgment.objects.get(judge_run__run=run), reader=make_user())
    assert found.matches is True
    assert found.messages[0]["content"] == asked


def test_examples_of_criteria_go_with_criteria_only(provider, taught, model_at):
    def fill(template):
        add(template, output="Judged as a whole.")
        add(template, output="Judged by a point.", criterion="It is polite.")

    taught(make_test(), fill=fill)
    (asked,) = asked_of_judges(provider)
    assert "Judged as a whole." in asked
    assert "Judged by a point." not in asked


def test_a_prompt_with_an_example_sealed_since_is_withheld_whole(taught):
    test, source = make_test("What is 2 + 2?"), make_test("What is 3 + 1?")
    run = taught(test, fill=lambda template: add(template, source, output="Kept secret."))
    judgment = Judgment.objects.get(judge_run__run=run)
    source.sealed = True
    source.save()
    withheld = prompt_of(judgment, reader=make_user("viewer"))
    assert (withheld.messages, withheld.digest) == ([], "")
    assert "sealed" in withheld.problem
    shown = prompt_of(judgment, reader=make_user("annotator"))
    assert "Kept secret." in shown.messages[0]["content"]
    assert shown.matches is True


# Wordings for one model --------------------------------------------------------------------------


def test_only_its_model_is_asked_in_words_of_its_own(provider, taught, model_at):
    one, other = model_at(name="one"), model_at(name="other")
    run = taught(
        make_test(),
        judges=[one, other],
        fill=lambda template: template.variants.create(language_model=one, text=OWN_WORDS),
    )
    by_model = {r["model"]: prompt(r) for r in provider.requests if is_judge(r)}
    assert len(by_model) == 2
    for model in (one, other):
        text = by_model[model.litellm_model.removeprefix("openai/")]
        assert ("Words for one model only." in text) == (model == one)
    judgments = Judgment.objects.filter(judge_run__run=run)
    reader = make_user()
    assert [prompt_of(j, reader=reader).matches for j in judgments] == [True, True]


# Repairs -----------------------------------------------------------------------------------------


@pytest.fixture
def repaired(taught, model_at):
    """A judge run whose judge rambles, so that a repair model is called."""
    repair_model = model_at(name="repair_model", input_usd_per_mtok=1, output_usd_per_mtok=1)

    def make(reply, rambles="I would say it passes, as it says four.", **fields):
        def script(request):
            is_repair_model = request["model"] == repair_model.litellm_model.removeprefix("openai/")
            return reply if is_repair_model else rambles

        return taught(make_test(), reply=script, repair_model=repair_model, **fields), repair_model

    return make


def test_a_repair_is_asked_of_the_other_model_and_says_nothing_of_the_case(repaired, provider):
    _, repair_model = repaired(verdict("1", "It says four."))
    asked = provider.requests[-1]
    assert asked["model"] == repair_model.litellm_model.removeprefix("openai/")
    assert "I would say it passes" in prompt(asked)
    assert "What is 2 + 2?" not in prompt(asked)
    assert "It is four." not in prompt(asked)


def test_a_repaired_judgment_stays_the_judges_and_its_call_says_who_repaired(repaired):
    run, repair_model = repaired(verdict("1", "It says four."))
    judgment = Judgment.objects.get(judge_run__run=run)
    assert (judgment.state, judgment.value, judgment.option) == ("repaired", 1, "1")
    assert judgment.judge.language_model != repair_model
    assert (judgment.call.role, judgment.call.language_model) == ("repair", repair_model)
    assert judgment.call.cost_usd > 0
    calls = Call.objects.filter(batch=judgment.judge_run.work_key).order_by("pk")
    assert [call.role for call in calls] == ["judge", "repair"]
    assert prompt_of(judgment, reader=make_user()).matches is True


@pytest.mark.parametrize("reply", ["No idea.", verdict("(no verdict)", "It gives none.")])
def test_where_nothing_can_be_repaired_there_is_no_vote(repaired, reply):
    run, _ = repaired(reply)
    judgment = Judgment.objects.get(judge_run__run=run)
    assert (judgment.state, judgment.failure, judgment.value) == ("failed", "unreadable", None)


def test_the_repair_model_is_frozen_at_launch_and_keeps_to_limits(repaired):
    run, repair_model = repaired(verdict("1"))
    judge_run = run.judge_runs.get()
    repair_model.name = "renamed"
    repair_model.save()
    (endpoint,) = judge_run.jury["repair_models"].values()
    assert endpoint["name"] == "repair_model"
    asked = [endpoint.language_model_id for endpoint in Work().endpoints(judge_run)]
    assert repair_model.pk in asked
    assert judge_run.state == BatchState.DONE


def test_a_classifiers_reply_is_repaired_too(repaired):
    run, _ = repaired(verdict("1", "It said yes."), reply_form="label", rambles="Yes, certainly.")
    judgment = Judgment.objects.get(judge_run__run=run)
    assert (judgment.state, judgment.option) == ("repaired", "1")


def test_a_model_that_is_deactivated_mends_nothing(taught, model_at, provider):
    repair_model = model_at(is_active=False)
    replies = iter(["It passes.", verdict(1)])
    run = taught(make_test(), reply=lambda request: next(replies), repair_model=repair_model)
    assert Judgment.objects.get(judge_run__run=run).state == "repaired"
    assert "repair_models" not in run.judge_runs.get().jury
    assert len(asked_of_judges(provider)) == 2


# Before a launch ---------------------------------------------------------------------------------


@pytest.fixture
def spec_of(model_at):
    """A launch of one test with a template, by one judge."""

    def make(template, **fields):
        jury = make_jury(make_model(input_usd_per_mtok=1, output_usd_per_mtok=1))
        candidate = make_model(input_usd_per_mtok=1, output_usd_per_mtok=1)
        asked = {"tests": [make_test(template=template).pk], "models": [candidate.pk]}
        return LaunchSpec(**(asked | {"jury": jury.pk, "label": "l"} | fields))

    return make


def estimated(spec):
    return estimate(spec, named(spec))


def test_an_estimate_counts_the_examples(spec_of):
    plain, taught = make_template(), make_template(state=TemplateState.DRAFT, examples_shown=2)
    for n in range(4):
        add(taught, output=f"{n}" * 4000)
    few, many = (estimated(spec_of(template)).input_tokens for template in (plain, taught))
    assert 2000 <= many.low - few.low <= 2300  # two examples of 4,000 characters


def test_an_estimate_counts_repairs_where_they_are_asked(spec_of):
    repair_model = make_model(name="repair_model", input_usd_per_mtok=None)
    plain, repaired = make_template(), make_template(repair_model=repair_model)
    one, other = (estimated(spec_of(template)) for template in (plain, repaired))
    assert (one.judge_calls, other.judge_calls) == ((1, 2), (1, 2))
    assert (one.unpriced, other.unpriced) == ((), ("repair_model",))


def test_a_cost_limit_needs_the_repair_models_price_too(spec_of):
    template = make_template(repair_model=make_model(name="repair_model"))
    spec = spec_of(template, cost_limit_usd=1)
    assert any("repair_model" in problem for problem in problems_of(spec, named(spec)))


def test_a_candidate_does_not_repair_verdicts_on_its_own_answers(spec_of):
    candidate = make_model()
    template = make_template(repair_model=candidate)
    spec = spec_of(template, models=[candidate.pk])
    assert any("judge its own answers" in problem for problem in problems_of(spec, named(spec)))


def test_the_page_says_who_repaired(repaired, client):
    run, _ = repaired(verdict("1", "It says four."))
    client.force_login(make_user("annotator"))
    result = run.results.get()
    page = client.get(reverse("admin:runs_result_change", args=[result.pk])).content.decode()
    assert "by repair_model" in page
    judgment = Judgment.objects.get(result=result)
    url = reverse("admin:runs_result_judgment", args=[result.pk, judgment.pk])
    assert "by repair_model" in client.get(url).content.decode()
