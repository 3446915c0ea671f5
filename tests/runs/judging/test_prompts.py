"""The messages and parameters with which judges are asked."""

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.verdicts.judge_params import MIN_TOKENS, params_for
from evalhub.llm.verdicts.judge_replies import verdict_schema, verdict_token_limit
from issues.judge_templates.builtin import BUILTIN
from issues.rubrics.scales import BINARY
from runs.judging.prompts import (
    JudgedAnswer,
    JudgePromptTemplate,
    messages_for,
)

SCHEMA = verdict_schema(BINARY.options)
PROMPT = JudgePromptTemplate(BUILTIN[0].text, BINARY, SCHEMA, 1)
CONTENT = {
    "messages": [{"role": "user", "content": "How many?"}],
    "tools": [],
    "reference": "4",
    "guidelines": "The answer is 4.",
    "context": "",
    "criteria": [],
}
HOLED = [
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": None},
    {"role": "user", "content": "Second?"},
]


def judge(**params):
    return Endpoint(language_model_id=1, name="j", litellm_model="openai/j", params=params)


def test_equal_cases_are_asked_in_equal_words():
    case = JudgedAnswer(CONTENT, "", [AnswerTurn(text="Four.")])
    assert messages_for(PROMPT, case, "") == messages_for(PROMPT, case, "")


def test_all_turns_of_the_candidate_are_judged():
    assert (
        JudgedAnswer(
            CONTENT | {"messages": HOLED}, "", [AnswerTurn(text="One."), AnswerTurn(text="Two.")]
        ).output
        == "One.\n\nTwo."
    )


def test_generated_turns_are_marked_in_the_conversation():
    text = JudgedAnswer(
        CONTENT | {"messages": HOLED},
        "Be brief.",
        [AnswerTurn(text="One."), AnswerTurn(text="Two.")],
    ).input
    assert "assistant (generated):\n    One." in text
    assert "system:\n    Be brief." in text
    assert "Two." not in text


def test_judges_are_asked_at_temperature_zero_unless_they_set_it():
    assert params_for(judge(), {}, SCHEMA)["temperature"] == 0
    assert params_for(judge(temperature=0.7), {}, SCHEMA)["temperature"] == 0.7
    assert params_for(judge(temperature=0.7), {"temperature": 1}, SCHEMA)["temperature"] == 1


def test_limit_of_a_candidates_answers_does_not_cut_its_verdicts():
    limit = params_for(judge(max_tokens=20), {}, SCHEMA)["max_tokens"]
    assert limit >= max(MIN_TOKENS, verdict_token_limit(SCHEMA))


def test_judge_may_set_its_own_limit():
    assert params_for(judge(), {"max_tokens": 30}, SCHEMA)["max_tokens"] == 30
