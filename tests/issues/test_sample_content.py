"""Sample data: complete, consistent, and without names of people."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

LEDGER = Path(__file__).parents[2] / "issues" / "sample" / "workspace.json"
TEXT = LEDGER.read_text(encoding="utf-8")
SAMPLE: dict[str, list[dict[str, Any]]] = json.loads(TEXT)
ISSUES = SAMPLE["issues"]
TESTS = [test for issue in ISSUES for test in issue["tests"]]
TAGS = {tag["name"]: tag for tag in SAMPLE["tags"]}

TEMPLATES = {
    "input-output-reference-guidelines",
    "output-reference-guidelines",
    "input-output-guidelines",
}
WITHOUT_REFERENCE = "input-output-guidelines"
VENDORS = re.compile(
    r"\b(amazon|anthropic|chatgpt|claude|cohere|copilot|deepseek|gemini|gemma|google|gpt|grok"
    r"|hugging ?face|ibm|llama|meta|microsoft|mistral|nvidia|openai|phi|qwen|smollm|xai)\b",
    re.IGNORECASE,
)


def key_of(row: dict[str, Any]) -> str:
    return str(row["key"])


def roles_of(test: dict[str, Any]) -> list[str]:
    return [message["role"] for message in test["messages"]]


def phrases(text: str) -> set[tuple[str, ...]]:
    """Every run of four words, in lower case."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[start : start + 4]) for start in range(len(words) - 3)}


def each_test() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("test", TESTS, ids=key_of)


def each_issue() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("issue", ISSUES, ids=key_of)


def test_twenty_issues_cover_ten_domains():
    domains = {name for name, tag in TAGS.items() if tag["kind"] == "domain"}

    assert len(ISSUES) == 20
    assert len(domains) == 10
    assert {issue["tags"][0] for issue in ISSUES} == domains


def test_every_issue_has_its_own_task_type():
    task_types = {name for name, tag in TAGS.items() if tag["kind"] == "task_type"}

    assert {issue["tags"][1] for issue in ISSUES} == task_types
    assert len(task_types) == len(ISSUES)


@each_issue()
def test_issue_has_three_tests(issue):
    assert len(issue["tests"]) == 3


@each_issue()
def test_task_type_of_an_issue_belongs_to_its_domain(issue):
    domain, task_type = issue["tags"]

    assert TAGS[task_type]["parent"] == domain
    assert TAGS[domain]["parent"] is None


@each_issue()
def test_issue_is_ready_for_review(issue):
    assert issue["title"].strip()
    assert issue["description"].strip()
    assert issue["generic_statement"].strip()
    assert issue["severity"] in {"low", "medium", "high", "critical"}
    assert issue["sources"]
    assert all(
        source["kind"] in {"general", "github", "url"} and source["value"].strip()
        for source in issue["sources"]
    )


@each_issue()
def test_generic_statement_tells_no_text_of_a_test(issue):
    told = phrases(issue["generic_statement"])
    asked = [message["content"] for test in issue["tests"] for message in test["messages"]]

    assert told
    assert told.isdisjoint(set().union(*map(phrases, asked)))


@pytest.mark.parametrize("kind", ["issues", "tests", "feedback", "tags"])
def test_keys_are_unique(kind):
    rows = {"issues": ISSUES, "tests": TESTS, "feedback": SAMPLE["feedback"]}
    keys = [tag["name"] for tag in SAMPLE["tags"]] if kind == "tags" else map(key_of, rows[kind])

    assert [key for key, count in Counter(keys).items() if count > 1] == []


@each_test()
def test_messages_have_a_known_role_and_text(test):
    assert all(m["role"] in {"system", "user", "assistant"} for m in test["messages"])
    assert all(m["content"].strip() for m in test["messages"])


@each_test()
def test_conversation_ends_with_the_user(test):
    assert roles_of(test)[-1] == "user"


@each_test()
def test_system_turn_comes_first(test):
    assert "system" not in roles_of(test)[1:]


@each_test()
def test_guidelines_are_numbered_lines(test):
    lines = test["guidelines"].split("\n")

    assert lines == [
        line for number, line in enumerate(lines, 1) if re.match(rf"{number}\. \S", line)
    ]


@each_test()
def test_reference_stands_unless_the_template_shows_none(test):
    assert test["template"] in TEMPLATES
    if test["template"] == WITHOUT_REFERENCE:
        assert test["reference"] is None
    else:
        assert test["reference"].strip()


@each_test()
def test_flagged_answer_is_not_the_reference(test):
    assert test["flagged_answer"] != test["reference"]


@each_test()
def test_note_says_what_a_check_can_decide(test):
    assert test["note"] == "" or test["note"].startswith("A check can decide this: ")


@each_test()
def test_weight_and_author_are_plain(test):
    assert (test["weight"], test["reference_by"]) == (1, "human")


def test_some_tests_have_a_system_turn_and_some_are_conversations():
    assert sum("system" in roles_of(test) for test in TESTS) >= 4
    assert sum("assistant" in roles_of(test) for test in TESTS) >= 3


def test_no_question_is_asked_twice():
    asked = Counter(json.dumps(test["messages"]) for test in TESTS)

    assert [question for question, count in asked.items() if count > 1] == []


@pytest.mark.parametrize("row", SAMPLE["feedback"], ids=key_of)
def test_feedback_is_whole_and_its_issue_exists(row):
    assert row["rating"] in {"up", "down"}
    assert all(row[field].strip() for field in ("prompt", "answer", "comment", "model", "source"))
    assert row["issue"] is None or row["issue"] in set(map(key_of, ISSUES))


def test_some_feedback_is_left_to_triage():
    assert sum(row["issue"] is None for row in SAMPLE["feedback"]) >= 3


def test_no_vendor_is_named():
    assert VENDORS.findall(TEXT) == []
