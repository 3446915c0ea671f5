"""Judges that make several calls for one judgment: calls, failures and cost."""

import json

import pytest

from evalhub.models import Call
from issues.rubrics.scales import FIVE_CLASSES, as_json
from runs.judging.jury import jury_identity, snapshot
from runs.judging.sent_prompts import prompt_of
from runs.launching.judge_load import judge_shares, jury_preview
from runs.models import Judge, Judgment, Method
from tests import provider as scripted
from tests.factories import make_jury, make_model, make_run, make_template, make_test, make_user
from tests.provider import sequence, verdict

pytestmark = pytest.mark.django_db(transaction=True)

PRICES = {"input_usd_per_mtok": 1000, "output_usd_per_mtok": 1000}
NURSE = "You are a nurse who reads every leaflet."


def choice(score, alternative="(none)"):
    fields = {"justification": "The best case.", "score": score, "alternative": alternative}
    return json.dumps(fields)


@pytest.fixture
def judged(provider, model_at, work):
    """The judgment by a judge of this method that replies so, one reply after the other."""

    def make(method, *replies, role="", template=None, **judge_fields):
        model = model_at(**judge_fields)
        jury = make_jury()
        jury.judges.add(Judge.objects.given(model, method=method, role=role))
        answers = sequence("Four.", *replies)
        provider.script = lambda request: answers(request)
        test = make_test(template=template or make_template(scale=as_json(FIVE_CLASSES)))
        make_run(test, model=model_at(), jury=jury)
        work()
        return Judgment.objects.get()

    return make


def calls():
    return Call.objects.exclude(role="candidate").order_by("pk")


def turns(request):
    return [message["role"] for message in request["messages"]]


def last(request):
    return request["messages"][-1]["content"]


LABELS = [option.label for option in FIVE_CLASSES.options]
WORST, BEST = LABELS[0], LABELS[-1]


# Self-critique -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rating", ["excellent", "acceptable"])
def test_judgment_that_its_critique_accepts_stays(judged, provider, rating):
    judgment = judged("self_critique", verdict(BEST, "At first."), verdict(rating), verdict(WORST))
    assert (judgment.option, judgment.justification) == (BEST, "At first.")
    asked = provider.requests[1:]
    assert [turns(request) for request in asked] == [["user"], ["user", "assistant", "user"]]
    assert "At first." in asked[1]["messages"][1]["content"]
    assert "could be improved" in last(asked[1])
    assert [call.role for call in calls()] == ["judge", "judge"]
    assert judgment.call == calls()[0]


@pytest.mark.parametrize("rating", ["could be improved", "bad"])
def test_judgment_that_its_critique_rejects_is_made_again_with_the_feedback(
    judged, provider, rating
):
    feedback = verdict(rating, "You missed the sign.")
    judgment = judged("self_critique", verdict(BEST, "At first."), feedback, verdict(WORST, "Now."))
    assert (judgment.option, judgment.justification) == (WORST, "Now.")
    assert judgment.state == "ok"
    asked = provider.requests[1:]
    assert len(asked) == 3
    assert "You missed the sign." in asked[2]["messages"][3]["content"]
    assert LABELS[1] in last(asked[2])
    assert asked[2]["response_format"] == asked[0]["response_format"]
    assert judgment.call == calls()[2]


def test_cost_of_a_judgment_is_that_of_all_its_calls(judged):
    judgment = judged("self_critique", verdict(BEST), verdict("bad"), verdict(WORST), **PRICES)
    item = judgment.judge_run.result_scores.get()
    costs = [call.cost_usd for call in calls()]
    assert len(costs) == 3
    assert item.cost_usd == sum(costs) > 0


@pytest.mark.parametrize(
    ("replies", "failure", "made"),
    [
        ([scripted.CONTEXT_TOO_LONG], "context_too_long", 2),
        ([verdict("splendid")], "unreadable", 3),
        ([verdict("bad"), scripted.CONTEXT_TOO_LONG], "context_too_long", 3),
        ([verdict("bad"), "I cannot say."], "unreadable", 4),
    ],
)
def test_judgment_without_its_critique_is_failed_and_no_score(judged, replies, failure, made):
    judgment = judged("self_critique", verdict(BEST), *replies)
    assert (judgment.state, judgment.value, judgment.failure) == ("failed", None, failure)
    assert judgment.result.outcome == "unscored"
    assert calls().count() == made


def test_rating_is_repaired_once(judged):
    judgment = judged("self_critique", verdict(BEST), "It is fine.", verdict("excellent"))
    assert (judgment.option, judgment.state) == (BEST, "ok")
    assert [call.role for call in calls()] == ["judge", "judge", "repair"]


# Debate ------------------------------------------------------------------------------------------


def test_sure_judge_argues_and_chooses(judged, provider):
    judgment = judged("debate", "For each of them.", choice(BEST))
    assert (judgment.option, judgment.justification) == (BEST, "The best case.")
    argue, choose = provider.requests[1:]
    assert "response_format" not in argue
    assert all(f"- {label}" in last(argue) for label in LABELS)
    assert turns(choose) == ["user", "assistant", "user"]
    assert choose["messages"][1]["content"] == "For each of them."
    assert [call.role for call in calls()] == ["judge", "judge"]


def test_unsure_judge_argues_against_both_and_decides_between_them(judged, provider):
    replies = ("For each of them.", choice(BEST, LABELS[1]), "Against both.", verdict(LABELS[1]))
    judgment = judged("debate", *replies, **PRICES)
    assert judgment.option == LABELS[1]
    oppose, decide = provider.requests[3:]
    shown = {label for label in LABELS if f"- {label}" in last(oppose).splitlines()}
    assert shown == {BEST, LABELS[1]}
    assert decide["messages"][-2]["content"] == "Against both."
    assert judgment.call == calls()[3]
    item = judgment.judge_run.result_scores.get()
    assert item.cost_usd == sum(call.cost_usd for call in calls()) > 0


@pytest.mark.parametrize("alternative", ["(none)", "something else", BEST, None, 7])
def test_only_another_option_of_the_scale_is_an_alternative(judged, alternative):
    assert judged("debate", "Arguments.", choice(BEST, alternative)).option == BEST
    assert calls().count() == 2


@pytest.mark.parametrize(
    ("replies", "failure", "made"),
    [
        ([scripted.CONTEXT_TOO_LONG], "context_too_long", 1),
        (["Arguments.", choice("splendid")], "unreadable", 3),
        (["Arguments.", choice(BEST, WORST), scripted.FILTERED], "content_filtered", 3),
        (["Arguments.", choice(BEST, WORST), "Against.", verdict(LABELS[1])], "unreadable", 5),
    ],
)
def test_debate_that_does_not_end_is_failed(judged, replies, failure, made):
    judgment = judged("debate", *replies)
    assert (judgment.state, judgment.value, judgment.failure) == ("failed", None, failure)
    assert calls().count() == made


# All ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["self_critique", "debate"])
def test_classifier_that_replies_with_labels_alone_cannot_give_reasons(judged, method):
    template = make_template(reply_form="label")
    judgment = judged(method, "1", template=template)
    assert judgment.failure == "unaskable"
    assert "label alone" in judgment.failure_message
    assert not calls()


@pytest.mark.parametrize("method", Method.values)
def test_role_stands_before_the_prompt_that_is_shown_as_sent(judged, provider, method):
    replies = {
        "single": [verdict(BEST)],
        "self_critique": [verdict(BEST), verdict("bad"), verdict(BEST)],
        "debate": ["Arguments.", choice(BEST)],
    }
    judgment = judged(method, *replies[method], role=NURSE)
    for request in provider.requests[1:]:
        assert request["messages"][0] == {"role": "system", "content": NURSE}
    prompt = prompt_of(judgment, reader=make_user("superuser"))
    assert prompt.matches is True
    assert prompt.messages[0]["content"] == NURSE


def test_method_and_role_tell_judges_and_juries_apart():
    model = make_model()
    judges = [
        Judge.objects.given(model, method=method, role=role)
        for method in Method
        for role in ("", NURSE)
    ]
    assert len({judge.pk for judge in judges}) == len({str(judge) for judge in judges}) == 6
    found = {jury_identity(snapshot([j], None, name=""), on_rubric=False) for j in judges}
    assert len(found) == 6
    assert Judge.objects.given(model, role=f" {NURSE}\n") == judges[1]


def test_judge_runs_of_before_are_of_the_same_judges():
    jury = snapshot([Judge.objects.given(make_model())], None, name="")
    before = {**jury, "judges": [{**jury["judges"][0]}]}
    del before["judges"][0]["method"], before["judges"][0]["role"]
    assert jury_identity(jury, on_rubric=True) == jury_identity(before, on_rubric=True)


def test_calls_before_a_launch_are_the_most_there_can_be():
    template = make_template()
    model = make_model()
    judges = [Judge.objects.given(model, method=m, template=template) for m in Method]
    assert [share.whole for share in judge_shares(jury_preview(judges[:1]), 2)] == [1]
    assert [judge_shares(jury_preview([j]), 2)[0].whole for j in judges] == [1, 3, 4]
