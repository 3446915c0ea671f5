import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.models import Call, CallRole, ItemState
from issues.models import IssueState
from issues.rubrics import scales
from runs import control
from runs.judging.activation import set_active
from runs.judging.sent_prompts import prompt_of
from runs.models import (
    ChosenBy,
    EvaluationKind,
    HumanEvaluation,
    Judgment,
    JudgmentState,
    Outcome,
    Result,
)
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import (
    first_result,
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
from tests.runs.judged_runs import judged_run

pytestmark = pytest.mark.django_db


def url_of(result, **query):
    url = reverse("admin:runs_result_change", args=[result.pk])
    return url + ("?" + "&".join(f"{name}={value}" for name, value in query.items()))


def shown(client, result, **query):
    """Return the HTML of a result's page."""
    response = client.get(url_of(result, **query))
    assert response.status_code == 200
    return response.content.decode()


def evaluate_by_form(client, result, act="save", query="", **fields):
    url = reverse("admin:runs_result_evaluate", args=[result.pk]) + query
    return client.post(url, {"act": act} | fields)


@pytest.fixture
def annotator(client):
    person = make_user("annotator")
    client.force_login(person)
    return person


# The page ----------------------------------------------------------------------------------------


def test_a_page_that_is_read_again_writes_nothing(client, annotator):
    result = first_result(make_run(make_test()))
    shown(client, result)
    with CaptureQueriesContext(connection) as queries:
        shown(client, result)
    written = [each["sql"] for each in queries if each["sql"].startswith(("INSERT", "UPDATE"))]
    assert written == []


def test_shows_question_answer_reference_guidelines_and_every_verdict(client, annotator):
    test = make_test("What is **2 + 2**?", flagged_answer="Five!", context="A book of sums.")
    result = first_result(judged_run(test, votes=(1, None, 0)))

    page = shown(client, result)

    for text in (
        "What is <strong>2 + 2</strong>?",
        "It is <strong>four</strong>.",
        "The answer is 4.",
        "Five!",
        "A book of sums.",
        "Because of 1.",
        "Because of 0.",
        "No verdict was found in the reply. Not counted.",
        "finish reason length",
        "mean 0.5, fails · 2 of 3 judgments",
    ):
        assert text in page


def test_model_output_is_shown_sanitised_and_as_written(client, annotator):
    answer = '<img src=x onerror="alert(1)"> [go](javascript:alert(1)) <div x-data="evil">'
    result = first_result(judged_run(answer=answer))

    page = shown(client, result)

    assert "<img src=x" not in page
    assert 'href="javascript:' not in page
    assert '<div x-data="evil"' not in page
    assert "&lt;img src=x" in page


def test_generated_turns_are_put_in_place_and_marked(client, annotator):
    test = make_test(
        messages=[
            {"role": "user", "content": "Remember 41."},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "Plus one?"},
        ]
    )
    run = judged_run(test)
    result = first_result(run)
    turns = [{"content": "I will.", "call": None}, {"content": "42", "call": None}]
    result.answer.turns = turns
    result.answer.save()

    page = shown(client, result)

    order = [page.index(text) for text in ("Remember 41.", "I will.", "Plus one?", "42</p>")]
    assert order == sorted(order)
    assert page.count("generated in this run") == 1


def test_each_turn_shows_the_tools_that_it_called(client, annotator):
    messages = [{"role": role, "content": None} for role in ("assistant", "assistant")]
    test = make_test(messages=[{"role": "user", "content": "Add and say."}, *messages])
    result = first_result(judged_run(test))
    first = {"content": "Adding.", "call": None, "tool_calls": [{"name": "add"}]}
    result.answer.turns = [first, {"content": "Saying.", "call": None}]
    result.answer.tool_calls = [{"name": "say"}]
    result.answer.save()

    page = shown(client, result)

    order = [
        page.index(text) for text in ("Adding.", "&quot;add&quot;", "Saying.", "&quot;say&quot;")
    ]
    assert order == sorted(order)


def test_the_runs_system_prompt_is_shown_as_such(client, annotator):
    result = first_result(judged_run(system_prompt="Be brief."))

    page = shown(client, result)

    assert "Be brief." in page
    assert "from the run" in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"has_imported_answers": True}, "imported answers"),
        ({"is_scripted": True}, "scripted model"),
        ({"self_evaluation_allowed": True}, "self-evaluation allowed"),
    ],
)
def test_labels_of_a_run_are_shown(client, annotator, fields, said):
    plain, labelled = first_result(judged_run()), first_result(judged_run(**fields))

    assert said in shown(client, labelled)
    assert said not in shown(client, plain)


def test_labels_of_a_judge_are_shown(client, annotator):
    model = make_model(note="Judges at chance.", is_scripted=True)
    result = first_result(judged_run(votes=(1,), jury=make_jury(model), model=model))

    page = shown(client, result)

    for said in ("Judges at chance.", "scripted", "judges its own answers"):
        assert said in page


def test_older_judge_runs_are_kept_beside_the_current_one(client, annotator):
    run = judged_run(votes=(1,))
    second = control.rejudge(run, None, by=annotator)
    set_active(second)

    page = shown(client, first_result(run))

    assert "Judge run 1" in page
    assert "not active: 1" in page
    assert "not judged yet" in page


def test_an_unanswered_result_says_so_and_takes_no_verdict(client, annotator):
    page = shown(client, first_result(make_run()))

    assert "No response yet: the run is in progress." in page
    assert "No response to evaluate yet." in page
    assert 'name="justification"' not in page


def test_an_error_tells_what_happened_and_is_not_called_a_failure(client):
    client.force_login(make_user("maintainer"))
    run = make_run()
    result = first_result(run)
    Result.objects.filter(pk=result.pk).update(
        state=ItemState.ERROR, error_kind="timed_out", error_message="No answer within 30 s."
    )

    page = shown(client, result)

    for said in (
        "timed out",
        "No answer within 30 s.",
        "excluded from the pass rate",
        "Retry errors",
    ):
        assert said in page


def test_only_who_controls_runs_is_offered_to_retry(client, annotator):
    result = first_result(make_run())
    Result.objects.filter(pk=result.pk).update(state=ItemState.ERROR, error_kind="timed_out")

    assert "Retry errors" not in shown(client, result)


# The exact judge prompts -------------------------------------------------------------------------


def test_the_prompt_is_rendered_again_and_its_digest_compared(client, annotator):
    result = first_result(judged_run(make_test("What is 2 + 2?"), votes=(1,)))

    prompt = prompt_of(Judgment.objects.get(result=result), reader=make_user())

    assert prompt.matches is True
    assert "What is 2 + 2?" in prompt.messages[0]["content"]
    assert "It is **four**." in prompt.messages[0]["content"]
    assert "digest matches the request sent" in shown(client, result)


def test_a_test_that_changed_since_leaves_the_prompt_as_it_was():
    test = make_test("What is 2 + 2?")
    result = first_result(judged_run(test, votes=(1,)))
    test.guidelines = "Anything goes."
    test.save()

    prompt = prompt_of(Judgment.objects.get(result=result), reader=make_user())

    assert prompt.matches is True
    assert "Anything goes." not in prompt.messages[0]["content"]


def test_a_prompt_that_differs_from_the_request_is_marked(client, annotator):
    result = first_result(judged_run(votes=(1,)))
    Call.objects.filter(role=CallRole.JUDGE).update(request_digest="another")

    assert prompt_of(Judgment.objects.get(result=result), reader=make_user()).matches is False
    assert "differs from the request sent" in shown(client, result)


def test_of_a_repaired_judgment_the_first_request_is_compared():
    result = first_result(judged_run(votes=(1,)))
    judgment = Judgment.objects.get(result=result)
    first = judgment.call
    repair = Call.objects.create(
        language_model=first.language_model,
        role=CallRole.REPAIR,
        batch=first.batch,
        item_id=first.item_id,
        request_digest="of the repair",
        started_at=first.started_at,
    )
    Judgment.objects.update(call=repair, state=JudgmentState.REPAIRED)

    assert prompt_of(Judgment.objects.get(result=result), reader=make_user()).matches is True


def test_without_a_recorded_request_nothing_is_claimed():
    result = first_result(judged_run(votes=(1,)))
    Judgment.objects.update(call=None)
    Call.objects.filter(role=CallRole.JUDGE).delete()

    assert prompt_of(Judgment.objects.get(result=result), reader=make_user()).matches is None


# Human evaluations -------------------------------------------------------------------------------


def test_a_verdict_replaces_the_judges_and_keeps_theirs(client, annotator):
    result = first_result(judged_run(votes=(0, 0, 1)))

    evaluate_by_form(client, result, option="1", justification="It is right.", seconds="12")

    result.refresh_from_db()
    assert (result.outcome, result.score, result.is_overridden) == (Outcome.PASSED, 1, True)
    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.annotator, evaluation.seconds) == (annotator, 12)
    assert evaluation.chosen_by == ChosenBy.DIRECT
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [0, 0, 1]


@pytest.mark.parametrize("votes", [(1, 1, 0), (0, 0, 1), (None,)])
def test_no_verdict_is_chosen_for_the_reader(client, annotator, votes):
    page = shown(client, first_result(judged_run(votes=votes)))

    assert "checked>" not in page.split('id="evaluation"')[1].split("</form>")[0]


@pytest.mark.parametrize(("votes", "agreed"), [((1, 1, 0), "1"), ((0, 0, 1), "0")])
def test_agreeing_with_the_judges_saves_their_verdict(client, annotator, votes, agreed):
    result = first_result(judged_run(votes=votes))
    before = result.outcome
    offered = shown(client, result).split('name="agree" value="')[1].split('"')[0]

    evaluate_by_form(client, result, agree=offered)

    result.refresh_from_db()
    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.option, evaluation.justification, result.outcome) == (agreed, "", before)


def test_agreeing_with_judges_who_changed_their_mind_is_refused(client, annotator):
    result = first_result(judged_run(votes=(1, 1, 0)))

    page = evaluate_by_form(client, result, agree="0").content.decode()

    assert "verdict has changed since this page was opened" in page
    assert not HumanEvaluation.objects.exists()


def test_the_tests_own_scale_is_offered_best_first(client, annotator):
    template = make_template(scale=scales.as_json(scales.FIVE_CLASSES))
    result = first_result(judged_run(make_test(template=template), votes=(0,), answer="Hm."))

    form = shown(client, result).split('id="evaluation"')[1]

    places = [form.index(f'value="{o.label}"') for o in reversed(scales.FIVE_CLASSES.options)]
    assert places == sorted(places)
    evaluate_by_form(client, result, option="MOSTLY_MET", justification="Nearly all of it.")
    assert HumanEvaluation.objects.get().value == 0.75


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"option": "1", "justification": " "}, "Enter a reason."),
        ({"option": "7", "justification": "So."}, "is not one of"),
        ({"justification": "So."}, "Choose a verdict first: nothing was saved."),
    ],
)
def test_a_refused_verdict_says_why_and_loses_nothing(client, annotator, fields, said):
    result = first_result(judged_run())

    page = evaluate_by_form(client, result, **fields).content.decode()

    assert said in page
    assert not HumanEvaluation.objects.exists()
    form = page.partition('id="evaluation"')[2]
    assert fields["justification"].strip() in form.split("<textarea")[1]


def test_undo_withdraws_and_the_judges_count_again(client, annotator):
    result = first_result(judged_run(votes=(0, 0, 1)))
    evaluate(result, HumanVerdict("1", "A slip."), by=annotator)

    response = evaluate_by_form(client, result, act="undo")

    result.refresh_from_db()
    assert (result.outcome, result.is_overridden) == (Outcome.FAILED, False)
    assert response.url.startswith(url_of(result).rstrip("?"))
    assert HumanEvaluation.objects.count() == 2


def test_the_history_keeps_every_verdict_and_strikes_withdrawn_ones(client, annotator):
    result = first_result(judged_run())
    other = make_user("annotator", username="bella")
    evaluate(result, HumanVerdict("0", "First thought."), by=annotator)
    evaluate(result, HumanVerdict("1", "Second thought."), by=annotator)
    evaluate(result, HumanVerdict("0", "A slip of mine."), by=other)
    withdraw(result, by=other)

    page = shown(client, result)

    struck = page.split("rn-evaluation-entry--withdrawn")[1].split("</article>")[0]
    assert "bella" in struck
    assert "A slip of mine." in struck
    past = page.split("rn-evaluation-entry--past")
    assert any("First thought." in part.split("</article>")[0] for part in past[1:])
    assert page.count("rn-evaluation-entry--withdrawn") == 1


def test_differing_verdicts_are_disputed_until_an_adjudicator_settles(client):
    result = first_result(judged_run())
    for option in ("0", "1"):
        evaluate(result, HumanVerdict(option, "I think so."), by=make_user("annotator"))
    result.refresh_from_db()
    assert (result.outcome, result.is_disputed) == (Outcome.UNSCORED, True)
    client.force_login(make_user("adjudicator"))
    assert "Final decision" in shown(client, result)

    evaluate_by_form(client, result, option="1", justification="Read it again.", settles="on")

    result.refresh_from_db()
    assert (result.outcome, result.is_disputed) == (Outcome.PASSED, False)
    assert HumanEvaluation.objects.latest("pk").kind == EvaluationKind.ADJUDICATION


def test_both_verdicts_stay_to_be_seen_beside_who_settled_it(client, annotator):
    result = first_result(judged_run())
    people = [make_user("annotator", username=name) for name in ("anna", "bela")]
    for person, option in zip(people, "01", strict=True):
        evaluate(result, HumanVerdict(option, f"{person} thinks so."), by=person)
    judge = make_user("adjudicator", username="carla")
    evaluate(result, HumanVerdict("1", "Read it again.", kind="adjudication"), by=judge)

    page = shown(client, result)

    assert "dispute resolved by carla" in page
    for why in ("anna thinks so.", "bela thinks so.", "Read it again."):
        assert why in page
    assert "rn-evaluation-entry--past" not in page


def test_a_party_to_a_dispute_cannot_resolve_it(client):
    result = first_result(judged_run())
    people = [make_user("adjudicator"), make_user("annotator")]
    for person, option in zip(people, "01", strict=True):
        evaluate(result, HumanVerdict(option, "So."), by=person)
    client.force_login(people[0])

    page = shown(client, result)

    assert "Your verdict is part of this dispute" in page
    assert 'name="settles"' not in page


def test_settling_is_offered_only_where_verdicts_differ(client):
    result = first_result(judged_run())
    evaluate(result, HumanVerdict("1", "So."), by=make_user("annotator"))
    client.force_login(make_user("adjudicator"))
    assert 'name="settles"' not in shown(client, result)

    evaluate(result, HumanVerdict("0", "Not so."), by=make_user("annotator"))
    assert 'name="settles" value="" checked' in shown(client, result)


def test_a_second_adjudicator_learns_of_the_first_and_decides_again_on_purpose(client):
    result = first_result(judged_run())
    for option in ("0", "1"):
        evaluate(result, HumanVerdict(option, "I think so."), by=make_user("annotator"))
    client.force_login(make_user("adjudicator"))
    shown(client, result)  # Before the first decides.
    first = make_user("adjudicator", username="carla")
    decision = evaluate(result, HumanVerdict("1", "Yes.", kind="adjudication"), by=first)
    mine = {"option": "0", "justification": "It is wrong.", "settles": ""}

    page = evaluate_by_form(client, result, **mine).content.decode()

    assert "carla resolved this dispute at" in page
    assert "It is wrong." in page
    assert f'name="settles" value="{decision.pk}">' in page  # "Decide again", not chosen.
    assert HumanEvaluation.objects.latest("pk") == decision
    evaluate_by_form(client, result, **{**mine, "settles": str(decision.pk)})
    result.refresh_from_db()
    assert result.outcome == Outcome.FAILED


def test_an_annotator_cannot_settle(client, annotator):
    result = first_result(judged_run())

    response = evaluate_by_form(client, result, option="1", justification="So.", settles="on")

    assert response.status_code == 403
    assert not HumanEvaluation.objects.exists()


# Going through a list ----------------------------------------------------------------------------


def three_failed_of_four():
    issue = make_issue()
    run = judged_run(*[make_test(f"Question {n}", issue=issue) for n in range(4)], votes=(0,))
    results = list(run.results.order_by("test_id"))
    person = make_user("annotator")
    evaluate(results[1], HumanVerdict("1", "Fine."), by=person)
    return run, [results[0], results[2], results[3]]


def test_the_position_is_that_in_the_list(client, annotator):
    run, failed = three_failed_of_four()

    page = shown(client, failed[1], run=run.pk, outcome="failed")

    assert "2 of 3" in page
    assert f"/{failed[2].pk}/change/" in page
    assert f"/{failed[0].pk}/change/" in page


def test_saving_goes_to_the_next_and_the_list_stays_as_it_was(client, annotator):
    run, failed = three_failed_of_four()
    query = f"?run={run.pk}&outcome=failed"
    shown(client, failed[0], run=run.pk, outcome="failed")

    response = evaluate_by_form(
        client, failed[0], query=f"{query}&navigation=1", option="1", justification="Right."
    )

    assert response.url == url_of(failed[1]).rstrip("?") + f"{query}&navigation=1"
    page = client.get(response.url).content.decode()
    assert "2 of 3" in page
    assert f"Saved: result {failed[0].pk} now passes" in page


def test_after_the_last_one_it_stays_and_says_so(client, annotator):
    run, failed = three_failed_of_four()

    response = evaluate_by_form(
        client, failed[2], query=f"?run={run.pk}&outcome=failed", option="1", justification="Right."
    )

    page = client.get(response.url).content.decode()
    assert "That was the last result in this list." in page


def test_the_admins_list_is_followed_with_its_filters_and_order(client, annotator):
    run, failed = three_failed_of_four()
    filters = f"run__id__exact%3D{run.pk}%26outcome%3Dfailed%26o%3D-2"

    page = shown(client, failed[2], _changelist_filters=filters)

    assert "1 of 3" in page


def test_without_a_list_it_is_the_whole_run(client, annotator):
    _, failed = three_failed_of_four()

    assert "1 of 4" in shown(client, failed[0])


# Rights ------------------------------------------------------------------------------------------


def test_a_viewer_reads_but_has_no_form(client):
    result = first_result(judged_run())
    client.force_login(make_user("viewer"))

    assert 'id="evaluation"' not in shown(client, result)
    assert evaluate_by_form(client, result, option="1", justification="So.").status_code == 403
    assert not HumanEvaluation.objects.exists()


def test_without_the_right_to_view_nothing_is_shown(client):
    result = first_result(judged_run())
    client.force_login(make_user())

    assert client.get(url_of(result)).status_code == 403


def test_a_sealed_result_is_not_there_for_who_may_not_read_it(client):
    result = first_result(judged_run(make_test(sealed=True)))
    client.force_login(make_user("viewer"))
    assert client.get(url_of(result)).status_code == 404
    client.force_login(make_user("annotator"))
    assert client.get(url_of(result)).status_code == 200


def test_a_sealed_result_is_in_no_list_of_who_may_not_read_it(client):
    run = judged_run(make_test(), make_test(sealed=True))
    client.force_login(make_user("viewer"))

    assert "1 of 1" in shown(client, run.results.get(test__sealed=False))


def test_evaluating_takes_a_post(client, annotator):
    result = first_result(judged_run())

    url = reverse("admin:runs_result_evaluate", args=[result.pk])
    assert client.get(url).status_code == 405


def test_a_deprecated_issue_still_shows_its_old_results(client, annotator):
    issue = make_issue()
    result = first_result(judged_run(make_test(issue=issue)))
    issue.state = IssueState.DEPRECATED
    issue.save()

    assert "It is <strong>four</strong>." in shown(client, result)


def test_the_number_of_queries_does_not_grow_with_judges_or_verdicts(
    client, annotator, django_assert_max_num_queries
):
    small, large = first_result(judged_run(votes=(1,))), first_result(judged_run(votes=(1,) * 8))
    for _ in range(5):
        evaluate(large, HumanVerdict("1", "Again."), by=make_user("annotator"))
    shown(client, small)
    for result in (small, large):
        with django_assert_max_num_queries(45):
            page = shown(client, result, navigation=1)
        assert "It is <strong>four</strong>." in page
