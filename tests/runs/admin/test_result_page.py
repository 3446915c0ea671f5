import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.models import Call, CallRole, ItemState
from issues.models import IssueState
from issues.rubrics import scales
from runs.judging.activation import set_active
from runs.judging.sent_prompts import prompt_of
from runs.lifecycle import control
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
from tests.shared_data import shared_data

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


def test_shows_question_answer_reference_guidelines_and_every_verdict(client, annotator):
    issue = make_issue()
    test = make_test(
        "What is **2 + 2**?", flagged_answer="Five!", context="A book of sums.", issue=issue
    )
    answer = '<img src=x onerror="alert(1)"> [go](javascript:alert(1)) <div x-data="evil">'
    run = judged_run(test, votes=(1, None, 0), system_prompt="Be brief.", answer=answer)
    issue.state = IssueState.DEPRECATED  # its old results are shown all the same
    issue.save()
    result = first_result(run)

    page = shown(client, result)

    for text in (
        "What is <strong>2 + 2</strong>?",
        "&lt;img src=x",
        "The answer is 4.",
        "Five!",
        "A book of sums.",
        "Because of 1.",
        "Because of 0.",
        "No verdict was found in the reply. Not counted.",
        "finish reason length",
        "mean 0.5, fails · 2 of 3 judgments",
        "Be brief.",
        "from the run",
    ):
        assert text in page
    for text in ("<img src=x", 'href="javascript:', '<div x-data="evil"'):
        assert text not in page
    with CaptureQueriesContext(connection) as queries:
        shown(client, result)  # A page that is read again writes nothing.
    assert [q["sql"] for q in queries if q["sql"].startswith(("INSERT", "UPDATE"))] == []


def test_generated_turns_are_put_in_place_with_the_tools_that_they_called(client, annotator):
    roles = (("user", "Add 41."), ("assistant", None), ("user", "And one?"), ("assistant", None))
    test = make_test(messages=[{"role": role, "content": content} for role, content in roles])
    result = first_result(judged_run(test))
    first = {"content": "Adding.", "call": None, "tool_calls": [{"name": "add"}]}
    result.answer.turns = [first, {"content": "Saying.", "call": None}]
    result.answer.tool_calls = [{"name": "say"}]
    result.answer.save()

    page = shown(client, result)

    parts = ("Add 41.", "Adding.", "&quot;add&quot;", "And one?", "Saying.", "&quot;say&quot;")
    order = [page.index(text) for text in parts]
    assert order == sorted(order)
    assert page.count("generated in this run") == 1


def test_labels_of_run_and_judge_are_shown(client, annotator):
    model = make_model(note="Judges at chance.", is_scripted=True)
    jury = make_jury(model)
    imported = judged_run(has_imported_answers=True, self_evaluation_allowed=True)
    scripted = judged_run(votes=(1,), jury=jury, model=model, is_scripted=True)
    plain = shown(client, first_result(judged_run()))
    for run, said in (
        (imported, ("imported answers", "self-evaluation allowed")),
        (scripted, ("scripted model", "Judges at chance.", "judges its own answers")),
    ):
        page = shown(client, first_result(run))
        assert [part for part in said if part not in page] == []
        assert [part for part in said if part in plain] == []


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


def test_an_error_tells_what_happened_and_is_not_called_a_failure(client, annotator):
    result = first_result(make_run())
    Result.objects.filter(pk=result.pk).update(
        state=ItemState.ERROR, error_kind="timed_out", error_message="No answer within 30 s."
    )

    page = shown(client, result)

    for said in ("timed out", "No answer within 30 s.", "excluded from the pass rate"):
        assert said in page
    assert "Retry errors" not in page
    client.force_login(make_user("maintainer"))
    assert "Retry errors" in shown(client, result)


# The exact judge prompts -------------------------------------------------------------------------


def test_the_prompt_is_rendered_again_and_its_digest_compared(client, annotator):
    test = make_test("What is 2 + 2?")
    result = first_result(judged_run(test, votes=(1,)))
    test.guidelines = "Anything goes."
    test.save()  # A test that changed since leaves the prompt as it was.

    def prompt():
        return prompt_of(Judgment.objects.get(result=result), reader=make_user())

    sent = prompt().messages[0]["content"]
    assert ("What is 2 + 2?" in sent, "It is **four**." in sent) == (True, True)
    assert "Anything goes." not in sent
    assert prompt().matches is True
    assert "digest matches the request sent" in shown(client, result)
    first = Judgment.objects.get().call
    repair = Call.objects.create(
        language_model=first.language_model,
        role=CallRole.REPAIR,
        batch=first.batch,
        item_id=first.item_id,
        request_digest="of the repair",
        started_at=first.started_at,
    )
    Judgment.objects.update(call=repair, state=JudgmentState.REPAIRED)
    assert prompt().matches is True  # compared with the first request
    Call.objects.filter(role=CallRole.JUDGE).update(request_digest="another")
    assert prompt().matches is False
    assert "differs from the request sent" in shown(client, result)
    Judgment.objects.update(call=None)
    Call.objects.filter(role=CallRole.JUDGE).delete()
    assert prompt().matches is None


# Human evaluations -------------------------------------------------------------------------------


def test_a_verdict_replaces_the_judges_and_keeps_theirs_until_it_is_undone(client, annotator):
    result = first_result(judged_run(votes=(0, 0, 1)))

    evaluate_by_form(client, result, option="1", justification="It is right.", seconds="12")

    result.refresh_from_db()
    assert (result.outcome, result.score, result.is_overridden) == (Outcome.PASSED, 1, True)
    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.annotator, evaluation.seconds) == (annotator, 12)
    assert evaluation.chosen_by == ChosenBy.DIRECT
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [0, 0, 1]

    response = evaluate_by_form(client, result, act="undo")

    result.refresh_from_db()
    assert (result.outcome, result.is_overridden) == (Outcome.FAILED, False)
    assert response.url.startswith(url_of(result).rstrip("?"))
    assert HumanEvaluation.objects.count() == 2


def test_agreeing_with_the_judges_saves_their_verdict(client, annotator, subtests):
    test = make_test()
    for votes, agreed in (((1, 1, 0), "1"), ((0, 0, 1), "0"), ((None,), None)):
        result = first_result(judged_run(test, votes=votes))
        with subtests.test(votes):
            form = shown(client, result).split('id="evaluation"')[1].split("</form>")[0]
            assert "checked>" not in form  # No verdict is chosen for the reader.
            assert re.findall(r'name="agree" value="(.*?)"', form) == ([agreed] if agreed else [])
            if agreed:
                other = evaluate_by_form(client, result, agree="01"[agreed == "0"])
                assert "verdict has changed since this page was opened" in other.content.decode()
                assert not result.evaluations.exists()
                evaluate_by_form(client, result, agree=agreed)
                (evaluation,) = result.evaluations.all()
                assert (evaluation.option, evaluation.justification) == (agreed, "")
                assert Result.objects.get(pk=result.pk).outcome == result.outcome


def test_the_tests_own_scale_is_offered_best_first(client, annotator):
    template = make_template(scale=scales.as_json(scales.FIVE_CLASSES))
    result = first_result(judged_run(make_test(template=template), votes=(0,), answer="Hm."))

    form = shown(client, result).split('id="evaluation"')[1]

    places = [form.index(f'value="{o.label}"') for o in reversed(scales.FIVE_CLASSES.options)]
    assert places == sorted(places)
    evaluate_by_form(client, result, option="MOSTLY_MET", justification="Nearly all of it.")
    assert HumanEvaluation.objects.get().value == 0.75


def test_a_refused_verdict_says_why_and_loses_nothing(client, annotator, subtests):
    result = first_result(judged_run())
    refused = {
        "Enter a reason.": {"option": "1", "justification": " "},
        "is not one of": {"option": "7", "justification": "So."},
        "Choose a verdict first: nothing was saved.": {"justification": "So."},
    }
    for said, fields in refused.items():
        with subtests.test(said):
            page = evaluate_by_form(client, result, **fields).content.decode()
            assert said in page
            assert not HumanEvaluation.objects.exists()
            form = page.partition('id="evaluation"')[2]
            assert fields["justification"].strip() in form.split("<textarea")[1]


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
    party, chief = make_user("adjudicator"), make_user("adjudicator")
    evaluate(result, HumanVerdict("0", "I think so."), by=party)
    client.force_login(chief)
    assert 'name="settles"' not in shown(client, result)  # nothing differs yet
    annotator = make_user("annotator")
    evaluate(result, HumanVerdict("1", "I think so."), by=annotator)
    result.refresh_from_db()
    assert (result.outcome, result.is_disputed) == (Outcome.UNSCORED, True)

    page = shown(client, result)
    assert "Final decision" in page
    assert 'name="settles" value="" checked' in page
    settled = {"option": "1", "justification": "Read it again.", "settles": "on"}
    client.force_login(annotator)
    assert evaluate_by_form(client, result, **settled).status_code == 403
    client.force_login(party)
    page = shown(client, result)
    assert "Your verdict is part of this dispute" in page
    assert 'name="settles"' not in page
    client.force_login(chief)
    evaluate_by_form(client, result, **settled)

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


# Going through a list ----------------------------------------------------------------------------


@shared_data
def four():
    """Four results, of which all but the second fail."""
    issue = make_issue()
    run = judged_run(*[make_test(f"Question {n}", issue=issue) for n in range(4)], votes=(0,))
    results = list(run.results.order_by("test_id"))
    evaluate(results[1], HumanVerdict("1", "Fine."), by=make_user("annotator"))
    return results


def test_the_position_is_that_in_the_list(client, annotator, four):
    run, first, last = four[0].run_id, four[0], four[3]

    page = shown(client, four[2], run=run, outcome="failed")
    for part in ("2 of 3", f"/{first.pk}/change/", f"/{last.pk}/change/"):
        assert part in page
    filters = f"run__id__exact%3D{run}%26outcome%3Dfailed%26o%3D-2"
    assert "1 of 3" in shown(client, last, _changelist_filters=filters)  # the admin's own list
    assert "1 of 4" in shown(client, first)


def test_saving_goes_to_the_next_and_the_list_stays_as_it_was(client, annotator, four):
    query = f"?run={four[0].run_id}&outcome=failed"
    shown(client, four[0], run=four[0].run_id, outcome="failed")

    def saved(result, navigation):
        fields = {"option": "1", "justification": "Right."}
        return evaluate_by_form(client, result, query=query + navigation, **fields).url

    url = saved(four[0], "&navigation=1")
    assert url == url_of(four[2]).rstrip("?") + f"{query}&navigation=1"
    page = client.get(url).content.decode()
    assert "2 of 3" in page
    assert f"Saved: result {four[0].pk} now passes" in page
    page = client.get(saved(four[3], "")).content.decode()
    assert "That was the last result in this list." in page


# Rights ------------------------------------------------------------------------------------------


def test_a_viewer_reads_what_is_not_sealed_but_has_no_form(client, annotator):
    run = judged_run(make_test(), make_test(sealed=True))
    sealed, result = run.results.get(test__sealed=True), run.results.get(test__sealed=False)
    assert client.get(url_of(sealed)).status_code == 200
    client.force_login(make_user("viewer"))

    page = shown(client, result)
    assert "1 of 1" in page  # nor is a sealed one in the list
    assert 'id="evaluation"' not in page
    assert client.get(url_of(sealed)).status_code == 404
    client.force_login(make_user())
    assert client.get(url_of(result)).status_code == 403


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
