"""“Try it” on the form of a test, against a real HTTP provider."""

import json
from decimal import Decimal
from functools import partial
from threading import BoundedSemaphore

import pytest

from evalhub.models import Call, Exposure, SharedRate
from evalhub.work.calls.direct_caller import DirectCaller
from evalhub.work.limits.budget import Gate
from evalhub.work.limits.shared_rate import cut, read_shared
from issues.content.revisions import asked_digest
from issues.rubrics.draft import draft_of_test
from runs.laboratory import event_stream
from runs.laboratory.playground.asking import ask
from runs.models import Approach, Judge, Judgment, Result, Run
from tests.factories import make_issue, make_jury, make_template, make_test
from tests.issues.pages import form_of_a_test, grant, log_in, rubric_form, url
from tests.provider import (
    NO_SCHEMA,
    RATE_LIMITED,
    SERVER_ERROR,
    UNAUTHORIZED,
    Reply,
    failure,
    prompt,
    sequence,
    verdict,
)

pytestmark = pytest.mark.django_db

QUESTION = [{"role": "user", "content": "What is 2 + 2?"}]
ASKED = asked_digest({"messages": QUESTION, "context": "", "tools": []})
GOOD, BAD = "It is four.", "It is five."
SAID = {"content": GOOD, "finish_reason": "stop"}


def judge_of_fours(request):
    """An answer for a model; for a judge, 1 if the answer under judgment says four."""
    text = prompt(request)
    if '"score"' not in text:
        return Reply(GOOD)
    block = text.split("[BEGIN OUTPUT", 1)[-1].split("[END OUTPUT", 1)[0]
    return verdict(int("four" in block), "Read it.")


@pytest.fixture
def annotator(client):
    return log_in(client, "annotator")


@pytest.fixture
def attempt(client, annotator, provider):
    """Sends the form of a test with what is tried; gives the events by kind."""
    provider.script = judge_of_fours

    def send(act, *, test=None, form=None, **tried):
        sent = form_of_a_test(**(form or {}))
        sent |= {f"try-{name}": value for name, value in tried.items()}
        sent |= {"try-act": act, "try-test": test.pk if test else ""}
        response = client.post(url("test_try"), sent)
        assert response.status_code == 200
        lines = b"".join(response.streaming_content).splitlines()
        events = [json.loads(line) for line in lines if line.strip()]
        return {name: [e[name] for e in events if name in e] for e in events for name in e}

    return send


# Asking ------------------------------------------------------------------------------------------


def test_a_model_answers_the_unsaved_conversation_in_pieces(attempt, model_at, provider, annotator):
    model = model_at(input_usd_per_mtok=Decimal(2), output_usd_per_mtok=Decimal(10))
    test = make_test("Old question?")

    events = attempt(
        "ask",
        test=test,
        model=model.pk,
        form={"prompt": "New?", "system_prompt": "Be brief.", "context": "Sums."},
    )

    assert "".join(events["text"]) == GOOD
    assert len(events["text"]) == 3
    assert events["reply"][0]["turns"] == [SAID]
    sent = provider.requests[0]["messages"]
    assert sent[0] == {"role": "system", "content": "Be brief."}
    assert sent[1]["content"] == "<documents>\nSums.\n</documents>\n\nNew?"
    call = Call.objects.get()
    assert (call.batch, call.item_id, call.role) == (f"try {annotator.pk}", test.pk, "candidate")
    assert call.cost_usd
    assert "1 call, $" in events["cost"][0]


def test_a_raw_prompt_is_sent_as_typed(attempt, model_at, provider):
    form = {"kind": "raw", "prompt": "<|user|>2 + 2?<|assistant|>"}

    model = model_at()
    events = attempt("ask", model=model.pk, form=form)
    refused = attempt("ask", model=model.pk, form=form | {"context": "Sums."})

    assert events["text"] == [GOOD]
    assert provider.paths == ["/v1/completions"]
    assert provider.requests[0]["prompt"] == form["prompt"]
    assert "without documents" in str(refused)
    provider.completes = False
    assert "text-completion endpoint" in attempt("ask", model=model.pk, form=form)["error"][0]
    assert Call.objects.count() == 2


def test_a_failure_that_passes_is_tried_again(attempt, model_at, provider, monkeypatch):
    monkeypatch.setattr("evalhub.llm.retry.BASE_S", 0.01)
    provider.script = sequence(RATE_LIMITED, SERVER_ERROR, GOOD)
    model = model_at(input_usd_per_mtok=Decimal(2), output_usd_per_mtok=Decimal(10))

    events = attempt("ask", model=model.pk)

    assert ("".join(events["text"]), provider.total) == (GOOD, 3)
    calls = Call.objects.order_by("attempt")
    assert [call.error_kind for call in calls] == ["rate_limited", "server_error", ""]
    assert events["reply"][0]["cost_usd"] == float(calls[2].cost_usd)
    assert SharedRate.objects.get(language_model=model).share == 0.5


def test_a_broken_stream_is_not_begun_again(attempt, model_at, provider):
    provider.script = lambda request: Reply("one two three", cut_short=True)
    events = attempt("ask", model=model_at().pk)
    assert events["error"]
    assert provider.total == 1


def test_a_model_that_asked_for_a_long_pause_is_not_called(attempt, model_at, provider):
    provider.script = lambda request: failure(429, "Too many requests.", retry_after="300")
    model = model_at()

    first, second = attempt("ask", model=model.pk), attempt("ask", model=model.pk)

    assert "Too many requests" in first["error"][0]
    assert "takes no call for" in second["error"][0]
    assert provider.total == 1


def test_tries_keep_to_a_share_that_workers_cut(model_at):
    endpoint = model_at(max_concurrency=8, requests_per_minute=10).endpoint()
    cut(endpoint.language_model_id, None)
    cut(endpoint.language_model_id, None)
    shared = read_shared({endpoint.language_model_id: None}, 0)
    caller = DirectCaller(work_key="try 1", item_id=None, gate=Gate(), shared=shared)
    limiter = caller._limiter(endpoint)
    assert (limiter.width, limiter.per_minute) == (4, 5)


def test_nothing_of_it_is_a_run_or_a_result(attempt, model_at):
    test, model = make_test(flagged_answer=BAD), model_at()
    attempt("ask", test=test, model=model.pk)
    form = {"flagged_answer": BAD, "template": make_template().pk}
    attempt("judge", test=test, jury=f"model-{model.pk}", answers=["flagged"], form=form)

    assert [kind.objects.count() for kind in (Run, Result, Judgment, Judge)] == [0, 0, 0, 0]
    test.refresh_from_db()
    assert test.revisions.count() == 0


def test_each_generated_turn_of_a_conversation_is_asked_for(attempt, model_at, provider):
    messages = [
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "Two?"},
    ]
    form = {"kind": "turns", "messages": json.dumps(messages)}
    events = attempt("ask", model=model_at().pk, form=form)

    assert events["turn"] == [1, 2]
    assert events["reply"][0]["turns"] == [SAID, SAID]
    assert provider.requests[1]["messages"][1] == {"role": "assistant", "content": GOOD}


def test_a_provider_that_does_not_stream_is_asked_for_the_whole(attempt, model_at, provider):
    provider.script = lambda request: NO_SCHEMA if request.get("stream") else Reply(GOOD)
    events = attempt("ask", model=model_at().pk)
    assert (events["text"], Call.objects.count()) == ([GOOD], 2)


def test_a_failure_ends_in_a_sentence(attempt, model_at, provider, subtests):
    for fields, reply, words in (
        ({"api_key_env": "UNSET_KEY"}, Reply(GOOD), "UNSET_KEY, which is not set"),
        ({}, UNAUTHORIZED, "Check the key"),
        ({"timeout_s": 1}, Reply("one two", hang_after=1), "did not answer within 1 s"),
        ({"api_base": "http://127.0.0.1:9/v1"}, Reply(GOOD), "may not be called"),
    ):
        with subtests.test(words):
            provider.script = lambda request, reply=reply: reply
            events = attempt("ask", model=model_at(**fields).pk)
            assert words in events["error"][0]
            assert Call.objects.latest("pk").error_kind


def test_what_is_wrong_with_the_form_is_said_before_any_call(attempt, model_at, provider):
    events = attempt("ask", model=model_at().pk, form={"prompt": " "})
    assert (events["error"], provider.total) == (["Enter a prompt."], 0)


def test_a_reference_is_drafted_from_all_that_the_form_says(attempt, model_at, provider):
    form = {"prompt": "2 + 2?", "guidelines": "Say four.", "flagged_answer": "Five."}
    form |= rubric_form({"text": "Names the sum"}, {"text": "Rude", "polarity": "should_not"})
    events = attempt("draft", model=model_at().pk, form=form)

    assert events["reference"] == [GOOD]
    sent = prompt(provider.requests[0])
    for words in ("2 + 2?", "Say four.", "Five.", "should: Names the sum", "should not: Rude"):
        assert words in sent
    assert Call.objects.get().role == "generator"


# Judging -----------------------------------------------------------------------------------------


def test_a_jury_judges_reply_flagged_answer_and_reference(attempt, model_at):
    jury = make_jury(model_at(name="Ada"), model_at(name="Bo"))
    template = make_template()
    form = {"template": template.pk, "flagged_answer": BAD, "reference": BAD}
    reply = {"turns": [SAID], "asked": ASKED}

    events = attempt(
        "judge",
        jury=f"jury-{jury.pk}",
        answers=["reply", "flagged", "reference"],
        reply=json.dumps(reply),
        form=form,
    )

    replied, flagged, reference = events["html"]
    assert "passes" in replied
    assert "with 1.00" in replied
    assert "Read it." in replied
    assert "Ada" in replied
    assert "Bo" in replied
    assert "fails" in flagged
    assert "as expected" in flagged
    assert "but it should pass" in reference
    assert events["summary"] == ["As expected: 1 of 2 flagged or reference answers scored."]
    assert Call.objects.filter(role="judge").count() == 6


def test_a_rubric_is_judged_as_typed_and_checks_are_run(attempt, model_at, provider):
    jury = make_jury(model_at(name="Ada"), approaches=(Approach.TEMPLATE, Approach.PROMPT_AWARE))
    points = rubric_form(
        {"text": "Says four"}, {"text": "Says five", "check_name": "contains", "arg_text": "five"}
    )
    form = {"flagged_answer": BAD, **points}
    events = attempt("judge", jury=f"jury-{jury.pk}", answers=["flagged"], form=form)
    html = events["html"][0]

    assert "should: Says four" in html
    assert "should: Says five" in html
    assert "with 0.50" in html
    assert provider.total == 1


def test_siblings_are_judged_with_their_own_settings(attempt, model_at):
    issue = make_issue()
    make_test("Sibling?", issue=issue, flagged_answer=BAD, reference=GOOD)
    make_test("Secret?", issue=issue, flagged_answer=BAD, reference=GOOD, sealed=True)
    events = attempt(
        "judge", jury=f"model-{model_at().pk}", answers=["siblings"], form={"issue": issue.pk}
    )
    assert len(events["html"]) == 2
    assert "Sibling?" in events["html"][0]
    assert events["summary"] == ["As expected: 2 of 2 flagged or reference answers scored."]


def test_rubbish_by_a_judge_is_a_sentence_and_no_score(attempt, model_at, provider):
    provider.script = lambda request: "I would rather not say."
    form = {"flagged_answer": BAD, "template": make_template().pk}
    events = attempt("judge", jury=f"model-{model_at().pk}", answers=["flagged"], form=form)
    assert "no judgment." in events["html"][0]
    assert "not scored" in events["html"][0]
    assert "summary" not in events


def test_a_template_can_be_chosen_for_a_single_model(attempt, model_at, provider):
    template = make_template(text='Strictly: {{ output }} {{ scale }} Reply with "score".')
    tried = {"jury": f"model-{model_at().pk}", "template": template.pk, "answers": ["flagged"]}
    events = attempt("judge", form={"flagged_answer": GOOD}, **tried)
    assert "passes" in events["html"][0]
    assert "Strictly:" in prompt(provider.requests[0])

    rubric = {"flagged_answer": GOOD, **rubric_form({"text": "Says four"})}
    refused = attempt("judge", form=rubric, **tried)["error"][0]
    assert refused.endswith("judges whole tests, but this test has a rubric.")


def test_what_cannot_be_judged_is_said(attempt, model_at, monkeypatch, subtests):
    model = model_at()
    unasked = {"answers": ["reply"], "reply": '{"turns": []}'}
    for tried, words in (
        ({"answers": ["flagged"]}, "nothing to judge"),
        ({"answers": ["reply"], "reply": "[1"}, "nothing to judge"),
        (unasked, "Ask the model again"),
    ):
        with subtests.test(words, **tried):
            assert words in attempt("judge", jury=f"model-{model.pk}", **tried)["error"][0]
    monkeypatch.setattr("runs.laboratory.playground.try_it.MAX_TRY_CALLS", 1)
    jury, form = make_jury(model, model_at()), {"flagged_answer": BAD}
    events = attempt("judge", jury=f"jury-{jury.pk}", answers=["flagged"], form=form)
    assert events["error"][0].startswith("This would take 2 calls; one try may take 1.")


# Cost, rights, sealed tests ----------------------------------------------------------------------


def test_the_daily_limit_holds_for_each_user(attempt, model_at, annotator, settings, provider):
    settings.EVALHUB_TRY_LIMIT_USD = 1
    model = model_at(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(1))
    attempt("ask", model=model.pk)
    Call.objects.update(cost_usd=1)

    events = attempt("ask", model=model.pk)

    assert "1 USD per day" in events["error"][0]
    assert provider.total == 1


def test_only_writers_with_the_right_may_try(client, model_at, annotator):
    sent = form_of_a_test() | {"try-act": "ask", "try-model": model_at().pk}
    assert client.get(url("test_try")).status_code == 405
    log_in(client, "viewer")
    assert client.post(url("test_try"), sent).status_code == 403
    assert client.get(url("test_try_pane")).status_code == 403
    assert "data-try=" not in client.get(url("test_change", make_test().pk)).content.decode()


def test_both_forms_have_the_place_of_the_pane(client, annotator, model_at):
    test, place = make_test(), url("test_try_pane")
    for page, asked in (
        (url("test_add"), place),
        (url("test_change", test.pk), f"{place}?test={test.pk}"),
    ):
        assert f'hx-get="{asked}"' in client.get(page).content.decode()


def test_the_pane_offers_models_and_counts_the_other_tests(client, annotator, model_at):
    model_at(name="Ada")
    test = make_test()
    make_test(issue=test.issue)

    html = client.get(url("test_try_pane"), {"test": test.pk}).content.decode()

    assert ">Ada</option>" in html
    assert "other tests (1)" in html


def test_a_pane_without_models_says_so(client, annotator):
    assert "No model to ask" in client.get(url("test_try_pane")).content.decode()


def test_there_is_no_pane_of_a_sealed_test_for_others(client):
    user = log_in(client, "model developer")
    for right in ("try_test", "change_test"):
        grant(user, right)
    address = url("test_try_pane")
    assert client.get(address, {"test": make_test().pk}).status_code == 200
    assert client.get(address, {"test": make_test(sealed=True).pk}).status_code == 404


def test_a_sealed_test_needs_consent_and_writes_the_exposure(
    attempt, model_at, annotator, settings, provider
):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    test, model = make_test(sealed=True), model_at()

    asked = attempt("ask", test=test, model=model.pk)
    assert "is sealed and would be sent to 127.0.0.1" in asked["words"][0]
    assert (provider.total, Exposure.objects.count()) == (0, 0)

    events = attempt("ask", test=test, model=model.pk, consent=asked["consent"][0])
    assert events["text"]
    exposure = Exposure.objects.get()
    assert (exposure.test, exposure.by, exposure.purpose) == (test.pk, annotator, "candidate")


def test_a_new_sealed_test_goes_nowhere_outside(attempt, model_at, settings, provider):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    events = attempt("ask", model=model_at().pk, form={"sealed": "on"})
    assert "Save the test first" in events["error"][0]
    assert provider.total == 0


def test_a_sealed_test_is_out_of_reach_of_who_may_not_read_it(client, model_at):
    test = make_test(sealed=True)
    user = log_in(client, "viewer")
    for right in ("change_test", "try_test"):
        grant(user, right)
    sent = form_of_a_test() | {"try-act": "ask", "try-model": model_at().pk, "try-test": test.pk}
    assert client.post(url("test_try"), sent).status_code == 404


def test_a_reader_who_leaves_ends_the_call(model_at, provider, monkeypatch):
    monkeypatch.setattr(event_stream, "BEAT_S", 0.05)
    provider.script = lambda request: Reply("one two", hang_after=1)
    draft, endpoint = draft_of_test(make_test()), model_at(timeout_s=60).endpoint()
    caller = DirectCaller(work_key="try 1", item_id=None, gate=Gate())
    ended = []
    work = partial(ask, draft, endpoint, caller=caller)

    lines = event_stream.streamed(lambda emit: work(emit=emit), at_end=lambda: ended.append(1))
    while b"one" not in next(lines):
        pass
    lines.close()

    assert (caller.calls[0].error_kind, ended) == ("cancelled", [1])


def test_half_of_the_servers_threads_stay_free(monkeypatch):
    monkeypatch.setattr(event_stream, "slots", BoundedSemaphore(1))

    async def work(emit):
        emit({"text": "first"})

    first = event_stream.streamed(work, at_end=lambda: None)
    assert b"first" in next(first)
    assert b"Too many people" in b"".join(event_stream.streamed(work, at_end=lambda: None))
    list(first)
    assert b"first" in b"".join(event_stream.streamed(work, at_end=lambda: None))
