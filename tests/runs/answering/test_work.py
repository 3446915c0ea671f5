"""Requests to a candidate, and the answers that are saved."""

import pytest

from evalhub.llm.content.content_parts import with_system_prompt
from evalhub.models import Call, ItemState
from tests import provider as scripted
from tests.factories import make_jury, make_run, make_test
from tests.provider import Reply, verdict

pytestmark = pytest.mark.django_db(transaction=True)

USER = {"role": "user", "content": "Hi"}
SYSTEM = {"role": "system", "content": "Be brief."}
TWO_TURNS = [USER, {"role": "assistant", "content": None}, {"role": "user", "content": "And?"}]


def test_runs_system_prompt_stands_before_the_tests_own():
    first, second = with_system_prompt([SYSTEM, USER], "Speak French.")
    assert first == {"role": "system", "content": "Speak French.\n\nBe brief."}
    assert second == USER


def test_without_a_system_prompt_the_messages_are_the_tests():
    assert with_system_prompt([USER], "") == [USER]


def test_turn_that_was_saved_is_not_asked_again_after_an_error(provider, model_at, work):
    provider.script = scripted.sequence("One.", scripted.CONTEXT_TOO_LONG, "Two.")
    run = make_run(make_test(messages=TWO_TURNS), model=model_at())
    work()
    result = run.results.get()
    assert result.outcome == "error"
    assert [turn["content"] for turn in result.answer.turns] == ["One."]

    run.results.update(state=ItemState.PENDING, error_kind="", error_message="")
    type(run).objects.update(state="live")
    work()

    answer = run.results.get().answer
    assert [turn["content"] for turn in answer.turns] == ["One.", "Two."]
    assert provider.total == 3
    assert [turn["call"] for turn in answer.turns] == list(
        Call.objects.filter(error_kind="").order_by("pk").values_list("pk", flat=True)
    )


def test_figures_are_of_all_turns_and_none_as_soon_as_one_is(provider, model_at, work):
    replies = [Reply(text="one two"), Reply(text="three", usage=False)]
    provider.script = scripted.sequence(*replies)
    run = make_run(make_test(messages=TWO_TURNS), model=model_at())
    work()
    result = run.results.get()
    assert (result.output_tokens, result.cost_usd) == (None, None)
    assert result.latency_ms == sum(Call.objects.values_list("latency_ms", flat=True))


def test_tool_calls_are_an_answer(provider, model_at, work):
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    provider.script = lambda request: Reply(text=None, tool_calls=[call])
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    run = make_run(make_test(tools=tools), model=model_at())
    work()
    (asked,) = provider.requests
    assert asked["tools"] == tools
    assert asked.keys() == {"model", "messages", "tools", "stream"}
    assert run.results.get().answer.tool_calls[0]["function"]["name"] == "add"


def test_conversation_that_leaves_nothing_to_answer_is_an_error_in_words(model_at, work):
    """An import may bring one; a form refuses it."""
    said = {"role": "assistant", "content": "Hello."}
    run = make_run(make_test(messages=[USER, said]), model=model_at(), jury=make_jury(model_at()))
    work()
    result = run.results.get()
    assert (result.outcome, result.error_kind) == ("error", "nothing_asked")
    assert "no turn to answer" in result.error_message


def test_last_result_that_errs_ends_the_run_and_its_judge_run(provider, model_at, work):
    def script(request):
        if "response_format" in request:
            return verdict(1)
        return scripted.CONTEXT_TOO_LONG if "bad" in scripted.prompt(request) else "Four."

    provider.script = script
    run = make_run(
        make_test("good"), make_test("bad"), model=model_at(), jury=make_jury(model_at())
    )
    work()
    run.refresh_from_db()
    assert run.state == run.judge_runs.get().state == "done"
    assert run.finished_at is not None


def test_characters_that_no_database_stores_do_not_lose_the_answer(provider, model_at, work):
    provider.script = lambda request: "Fo\x00ur \ud83d."
    run = make_run(model=model_at())
    work()
    assert run.results.get().state == ItemState.DONE
    assert "\x00" not in run.results.get().answer.text
