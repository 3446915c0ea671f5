"""A test with a rubric on its whole way: asked criterion by criterion, checked, scored."""

from unittest.mock import Mock

import pytest
from django.db import transaction

from evalhub.models import Call, ItemState
from evalhub.work import saver
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import FrozenCriterion
from runs.launching.launch import launch
from runs.launching.launch_options import read_spec
from runs.lifecycle import control
from runs.models import Approach, Judge, Judgment
from runs.scoring.score import score_results
from tests import provider as scripted
from tests.evalhub.work.test_loop import slowly
from tests.factories import first_result, make_jury, make_run, make_test, make_user
from tests.provider import Reply, is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

RUBRIC_APPROACHES = (Approach.PROMPT_AWARE, Approach.HOLISTIC)


def criteria(*texts, **fields):
    return [{"text": text, **fields} for text in texts]


@pytest.fixture(autouse=True)
def prompt_templates():
    """What a new ledger is given; tests with transactions of their own empty it."""
    load_builtin_templates()


@pytest.fixture
def judged(provider, model_at, work):
    """The result of a run of one test with this rubric; `votes` are replies by criterion's text."""

    def make(rubric, votes=None, *, answer="Four.", jury=None, default="FULLY_MET", **fields):
        def script(request):
            if not is_judge(request):
                return answer
            for text, reply in (votes or {}).items():
                if text in prompt(request):
                    return reply(request) if callable(reply) else reply
            return verdict(default)

        provider.script = script
        jury = jury or make_jury(model_at(), approaches=(Approach.PROMPT_AWARE,))
        run = make_run(make_test(criteria=rubric), model=model_at(), jury=jury, **fields)
        work()
        return first_result(run)

    return make


def values(result):
    rows = Judgment.objects.filter(result=result).order_by("criterion__order", "judge", "sample")
    return list(rows.values_list("value", flat=True))


# Asking ------------------------------------------------------------------------------------------


def test_each_criterion_is_asked_of_each_judge_and_the_whole_is_not(judged, model_at):
    jury = make_jury(model_at(), approaches=RUBRIC_APPROACHES)

    result = judged(criteria("Is polite.", "Is short.", "Names four."), jury=jury)

    asked = Judgment.objects.filter(result=result).values_list("criterion__text", flat=True)
    assert sorted(asked) == sorted(["Is polite.", "Is short.", "Names four."] * 2)
    assert (result.outcome, result.score) == ("passed", 1)


def test_a_default_jury_asks_about_the_whole_where_there_is_no_rubric(provider, model_at, work):
    provider.script = lambda r: verdict(1) if is_judge(r) else "Four."
    approaches = (Approach.TEMPLATE, Approach.PROMPT_AWARE, Approach.HOLISTIC)
    model = model_at()
    run = make_run(make_test(), model=model, jury=make_jury(model_at(), approaches=approaches))
    other = make_run(
        make_test(), model=model, jury=make_jury(model_at(), approaches=RUBRIC_APPROACHES)
    )

    work()

    judgment = Judgment.objects.get(result__run=run)
    assert judgment.criterion.key == ""
    assert judgment.judge.approach == Approach.TEMPLATE
    assert first_result(run).outcome == "passed"
    # Two approaches of one model are one vote on a test without rubric.
    assert Judgment.objects.filter(result__run=other).count() == 1


def test_an_approach_shows_what_it_is_named_for(judged, provider, model_at):
    shows = {  # the prompt, and the other criteria
        Approach.STANDARD: (False, False),
        Approach.PROMPT_AWARE: (True, False),
        Approach.HOLISTIC: (True, True),
    }
    models = {approach: model_at() for approach in shows}
    jury = make_jury()
    jury.judges.set(Judge.objects.given(model, approach=one) for one, model in models.items())

    judged(criteria("Is polite.", "Is short."), jury=jury)

    found = {
        approach: ("What is 2 + 2?" in text, "Is short." in text)
        for request in provider.requests
        if is_judge(request) and "Is polite." in (text := prompt(request))
        for approach, model in models.items()
        if request["model"] in model.litellm_model
    }
    assert found == shows


def test_forty_criteria_are_asked_of_three_judges_at_once_and_saved_together(
    judged, provider, model_at, monkeypatch
):
    store, saved = saver.store, Mock()
    monkeypatch.setattr(saver, "store", saved)
    saved.side_effect = store
    slowly(provider, 0.3)
    judges = [model_at(max_concurrency=30) for _ in range(3)]
    jury = make_jury(*judges, approaches=(Approach.PROMPT_AWARE,))

    result = judged(criteria(*(f"Point {n}." for n in range(40))), jury=jury)

    assert Judgment.objects.filter(result=result, state="ok").count() == 120
    assert provider.max_in_flight >= 60
    assert saved.call_count < 60
    assert Call.objects.filter(role="judge").count() == 120


# Scoring -----------------------------------------------------------------------------------------


def test_polarity_weights_alternatives_and_what_is_mandatory_make_the_score(
    provider, model_at, work, subtests
):
    right = {"text": "Is right."}
    unsaid = "I cannot say."
    votes = {
        "Explains it.": verdict("UNMET"),
        "Cites it.": verdict("MODERATELY_MET"),
        "Warns first.": verdict("UNMET"),
        "Warns last.": unsaid,
        "Is short.": unsaid,
    }
    alternatives = [{"text": "Explains it.", "alternative": 1}]
    alternatives += [{"text": "Cites it.", "alternative": 2}]
    cases = {
        "inverted after the consensus": ([{**right, "polarity": "should_not"}], 0, "failed"),
        # required: 1·3; the ways: 0 and 0.5, of which the better counts once: (3·1 + 1·0.5) / 4
        "best alternative": ([{**right, "weight": 3}, *alternatives], 0.875, "passed"),
        "mandatory": ([right, {"text": "Warns first.", "mandatory": True}], 0, "failed"),
        "not judged": ([right, {"text": "Warns last.", "mandatory": True}], None, "unscored"),
        "takes its weight": ([right, {"text": "Is short.", "weight": 9}], 1, "passed"),
    }

    def script(request):
        if not is_judge(request):
            return "Four."
        replies = (reply for text, reply in votes.items() if text in prompt(request))
        return next(replies, verdict("FULLY_MET"))

    provider.script = script
    jury, model = make_jury(model_at(), approaches=(Approach.PROMPT_AWARE,)), model_at()
    runs = {
        name: make_run(make_test(criteria=rubric), model=model, jury=jury)
        for name, (rubric, *_) in cases.items()
    }
    work()

    for name, (_, score, outcome) in cases.items():
        with subtests.test(name):
            result = first_result(runs[name])
            assert (result.score, result.outcome) == (score and pytest.approx(score), outcome)
    assert values(first_result(runs["inverted after the consensus"])) == [1]
    result_score = first_result(runs["takes its weight"]).result_scores.get()
    assert (result_score.answered, result_score.expected) == (1, 2)


# Checks ------------------------------------------------------------------------------------------


def check(name, **arguments):
    return {"check_name": name, "arguments": arguments}


def test_checks_decide_without_a_judge(provider, model_at, work):
    provider.script = lambda r: "Four, of course."
    rubric = [check("contains", text="Four"), check("contains", text="Five")]
    run = make_run(make_test(criteria=rubric), model=model_at())

    work()

    result = first_result(run)
    assert values(result) == [1, 0]
    assert (result.outcome, result.score) == ("failed", 0.5)
    assert set(Judgment.objects.values_list("judge", flat=True)) == {None}


def test_checks_see_the_tool_calls_of_every_turn(provider, model_at, work):
    def script(request):
        name = "add" if len(request["messages"]) == 1 else "subtract"
        function = {"name": name, "arguments": "{}"}
        return Reply(text=None, tool_calls=[{"id": "1", "type": "function", "function": function}])

    provider.script = script
    messages = [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "Subtract."},
    ]
    rubric = [check("tool_call_order", tools=["add", "subtract"])]
    run = make_run(make_test(messages=messages, criteria=rubric), model=model_at())

    work()

    assert values(first_result(run)) == [1]


def test_a_check_that_cannot_run_has_no_value_and_is_no_zero(judged, work):
    pattern, code = check("matches", pattern=r"^(a|aa)+$"), check("js", source="r.length > 3")
    result = judged([{"text": "Is right."}, code, pattern], answer="a" * 80 + "!")
    failed = Judgment.objects.get(result=result, criterion__check_name="js")
    assert (failed.state, failed.value, failed.failure) == ("failed", None, "cannot_run")
    assert failed.failure_message
    assert (result.state, result.outcome, result.score) == (ItemState.DONE, "passed", 1)
    assert values(result) == [1, None, None]  # A catastrophic pattern hangs nothing.
    calls = Call.objects.count()
    result.answer.text, result.answer.turns = "aa", []
    result.answer.save()

    control.retry_errors(result.run)
    work()

    assert (Call.objects.count(), values(result)) == (calls, [1, None, 1])  # No judge is asked.


# Backup, samples, agreement ----------------------------------------------------------------------


def test_the_backup_is_asked_once_per_criterion_where_a_judge_failed(judged, provider, model_at):
    first, second, third = model_at(), model_at(), model_at()
    jury = make_jury(first, second, approaches=(Approach.PROMPT_AWARE,))
    jury.backup = Judge.objects.given(third, approach=Approach.PROMPT_AWARE)
    jury.save()

    def fails(request):
        is_backup = request["model"] in third.litellm_model
        return verdict("FULLY_MET") if is_backup else "I cannot say."

    result = judged(criteria("Is right.", "Is short."), {"Is short.": fails}, jury=jury)

    (backup,) = Judgment.objects.filter(result=result, is_backup=True)
    assert (backup.criterion.text, backup.value) == ("Is short.", 1)
    assert result.score == 1
    result_score = result.result_scores.get()
    coverage = result_score.answered, result_score.replaced, result_score.expected
    assert coverage == (2, 1, 4)


def test_a_judge_that_is_asked_often_is_one_vote(judged, model_at):
    often = Judge.objects.given(model_at(), approach=Approach.PROMPT_AWARE, samples=3)
    once = Judge.objects.given(model_at(), approach=Approach.PROMPT_AWARE)
    jury = make_jury()
    jury.judges.set([often, once])
    thrice = iter(["FULLY_MET", "FULLY_MET", "UNMET"])

    def reply(request):
        is_often = request["model"] in often.language_model.litellm_model
        return verdict(next(thrice) if is_often else "UNMET")

    result = judged(criteria("Is right."), {"Is right.": reply}, jury=jury)

    assert Judgment.objects.filter(result=result, judge=often).count() == 3
    assert result.score == pytest.approx((2 / 3 + 0) / 2)


def test_agreement_is_measured_over_five_criteria_and_two_judges(judged, model_at):
    texts = [f"Point {n}." for n in range(5)]
    jury = make_jury(model_at(), model_at(), approaches=(Approach.STANDARD,))
    votes = {"Point 0.": verdict("UNMET")}
    assert judged(criteria(*texts), votes, jury=jury).agreement == 1
    assert judged(criteria(*texts[:4]), votes, jury=jury).agreement is None


def test_a_run_that_is_resumed_asks_only_what_is_missing(judged, provider, model_at, work):
    result = judged(criteria("Is right.", "Is short."), {"Is short.": "I cannot say."})
    calls = Call.objects.count()
    provider.script = lambda request: verdict("FULLY_MET")

    control.retry_errors(result.run)
    work()

    assert Call.objects.count() == calls + 1
    result.refresh_from_db()
    assert (result.score, values(result)) == (1, [1, 1])


# People ------------------------------------------------------------------------------------------


def say(result, text, value):
    criterion = FrozenCriterion.objects.get(revision=result.revision, text=text)
    result.evaluations.create(criterion=criterion, annotator=make_user("annotator"), value=value)
    with transaction.atomic():
        score_results([result.pk])
    result.refresh_from_db()


def test_a_person_overrides_one_criterion_and_then_the_whole(judged):
    result = judged(criteria("Is right.", "Is short."))
    say(result, "Is short.", 0)
    assert (result.score, result.is_overridden, result.outcome) == (0.5, True, "failed")
    say(result, "", 1)
    assert (result.score, result.outcome) == (1, "passed")


def test_two_who_differ_on_a_criterion_decide_nothing_where_it_decides(judged):
    result = judged(criteria("Is right."))
    say(result, "Is right.", 0)
    say(result, "Is right.", 1)
    assert (result.outcome, result.is_disputed) == ("unscored", True)


# Similarity --------------------------------------------------------------------------------------


def test_similarity_makes_up_its_share_of_the_score(judged):
    result = judged(
        criteria("Is right."), {"Is right.": verdict("UNMET")}, answer="4", similarity_weight=0.25
    )
    assert result.similarity == pytest.approx(1)
    assert result.score == pytest.approx(0.25)


def test_a_rubric_without_a_verdict_has_no_score_however_near_the_answer(judged):
    result = judged(
        criteria("Is right."), {"Is right.": "I cannot say."}, answer="4", similarity_weight=0.5
    )
    assert result.similarity == pytest.approx(1)
    assert (result.score, result.outcome) == (None, "unscored")


def test_a_test_that_nothing_judges_is_scored_by_similarity_if_asked(provider, model_at, work):
    provider.script = lambda request: "The sky is blue."
    test, unworded = (make_test(reference="The sky is blue.") for _ in range(2))
    type(unworded).objects.filter(pk=unworded.pk).update(template=None)
    unworded.refresh_from_db()
    model = model_at()
    bare = make_run(test, model=model, score_by_similarity=True)
    unasked = make_run(test, model=model)
    judges = make_jury(model_at())
    mute = make_run(unworded, model=model, jury=judges, score_by_similarity=True)

    work()

    assert first_result(bare).score == pytest.approx(1)
    assert first_result(unasked).score is None
    assert first_result(mute).score == pytest.approx(1)  # Its judges have no wording.
    assert provider.total == 3


def test_an_embedding_model_that_fails_leaves_the_score_unmeasured(
    judged, model_at, provider, work
):
    model = model_at(litellm_model="openai/embedder")
    provider.embed = lambda text: scripted.SERVER_ERROR
    result = judged(
        criteria("Is right."), similarity_weight=0.5, similarity_endpoint=model.endpoint().to_json()
    )
    assert (result.similarity, result.score) == (None, None)

    provider.embed = scripted.vector
    control.retry_errors(result.run)
    work()

    result.refresh_from_db()
    assert result.similarity is not None
    assert result.score is not None
    assert Call.objects.filter(role="judge").count() == 1


# Variants ----------------------------------------------------------------------------------------


def test_a_launch_makes_one_run_for_each_prompt_and_temperature(model_at):
    spec = {
        "label": "grid",
        "tests": [make_test().pk],
        "models": [model_at().pk],
        "system_prompts": ["", "Be brief."],
        "temperatures": [0, 0.7],
    }

    made = launch(read_spec(spec), by=None)

    runs = made.runs.order_by("pk")
    asked = [(run.system_prompt, run.params["temperature"]) for run in runs]
    assert asked == [("", 0), ("", 0.7), ("Be brief.", 0), ("Be brief.", 0.7)]
    assert len({run.variant_key for run in runs}) == 4
    assert runs[1].label == "grid · prompt 1 · temperature 0.7"
