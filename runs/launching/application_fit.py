"""HTTP applications in a launch: what their requests cannot carry, and what they do not use."""

from collections.abc import Callable, Sequence

from evalhub.llm.applications.application import Application
from evalhub.llm.content.raw_prompt import raw_prompt_of
from evalhub.models import LanguageModel
from issues.content.conversation import Message
from issues.models import Test
from runs.launching.launch_options import LaunchSpec
from runs.launching.number_lists import joined


def application_problems(
    spec: LaunchSpec, tests: Sequence[Test], models: Sequence[LanguageModel]
) -> list[str]:
    """Return why applications cannot be asked what this launch asks."""
    return [
        problem
        for model in models
        if model.is_application
        for problem in _problems(spec, tests, model, model.application())
    ]


def _problems(
    spec: LaunchSpec, tests: Sequence[Test], model: LanguageModel, application: Application
) -> list[str]:
    named = application.placeholders
    takes_system = bool(named & {"messages", "system_prompt"})
    problems = []
    if any(prompt.strip() for prompt in spec.system_prompts) and not takes_system:
        problems.append(
            f"{model} takes no system prompt: remove it, or add "
            "{{ system_prompt }} to its body."
        )
    if (spec.params or spec.temperatures) and "params" not in named:
        problems.append(
            f"{model} takes no parameters: remove them, or add {{{{ params }}}} to its body."
        )
    if raw := _numbers(tests, lambda messages: raw_prompt_of(messages) is not None):
        problems.append(f"{model} takes no raw prompts. These tests are: {raw}.")
    if not takes_system and (own := _numbers(tests, _has_system_prompt)):
        problems.append(
            f"{model} takes no system prompt, but these tests have their own: {own}. Add "
            "{{ system_prompt }} to its body."
        )
    if application.keeps_conversation and (written := _numbers(tests, _has_written_turns)):
        problems.append(
            f"{model} gets one message at a time and remembers the rest, so that its own turns "
            f"cannot be given. These tests have turns that are written: {written}. Send "
            "{{ messages }}, or leave these turns to generate."
        )
    return problems


def application_warnings(tests: Sequence[Test], models: Sequence[LanguageModel]) -> list[str]:
    """Return what applications leave out of what these tests ask."""
    with_tools = joined([test.pk for test in tests if test.tools])
    return [
        f"{model} uses its own tools, not those of these tests: {with_tools}."
        for model in models
        if with_tools and model.is_application and "tools" not in model.application().placeholders
    ]


def _has_system_prompt(messages: list[Message]) -> bool:
    return bool(messages[0]["role"] == "system")


def _has_written_turns(messages: list[Message]) -> bool:
    """Return whether a conversation is anything but a person's turns, each to be answered."""
    if raw_prompt_of(messages) is not None:
        return False
    turns = messages[1:] if _has_system_prompt(messages) else messages
    expected = ("user", "assistant")
    return any(
        turn["role"] != expected[position % 2]
        or (turn["role"] == "assistant" and turn.get("content") is not None)
        or bool(turn.get("tool_calls"))
        for position, turn in enumerate(turns)
    )


def _numbers(tests: Sequence[Test], holds: Callable[[list[Message]], bool]) -> str:
    return joined([test.pk for test in tests if holds(test.messages)])
