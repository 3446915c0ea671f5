"""Readiness: all problems at once, and nothing else required."""

import pytest

from issues.models import Source, TemplateState
from issues.readiness import problems_of_issue, problems_of_test
from tests.factories import make_issue, make_template, make_test

pytestmark = pytest.mark.django_db


def make_reviewable_issue():
    issue = make_issue(description="It counts wrongly.", state="draft")
    Source.objects.create(issue=issue, value="A review")
    make_test(issue=issue)
    return issue


def test_a_whole_issue_is_ready():
    assert problems_of_issue(make_reviewable_issue()) == []


def test_an_empty_issue_is_told_everything_at_once():
    assert problems_of_issue(make_issue()) == [
        "Add a description.",
        "Add feedback or a source that shows it.",
        "Add a test that reproduces it.",
    ]


def test_a_raw_prompt_takes_no_tools_and_documents():
    raw = {"messages": [{"role": "raw_prompt", "content": "<|user|>Hi"}]}

    assert problems_of_test(make_test(**raw)) == []
    assert problems_of_test(make_test(**raw, tools=[{"type": "function"}], context="Sums.")) == [
        "A raw prompt is sent without tools: write them into it, and clear these.",
        "A raw prompt is sent without documents: write them into it, and clear these.",
    ]


def test_feedback_says_where_an_issue_was_seen_as_a_source_does():
    issue = make_reviewable_issue()
    issue.sources.all().delete()
    issue.feedback.create(comment="Wrong!")

    assert problems_of_issue(issue) == []


def test_a_deprecated_test_shows_no_issue():
    issue = make_reviewable_issue()
    issue.tests.update(state="deprecated")

    assert problems_of_issue(issue) == ["Add a test that reproduces it."]


def test_a_whole_test_is_ready():
    assert problems_of_test(make_test()) == []


def test_an_empty_test_is_told_everything_at_once():
    test = make_test(messages=[], guidelines=" ", reference="")
    test.template = None

    assert problems_of_test(test) == [
        "Enter at least one message, such as a user's question.",
        "Add guidelines for judges.",
        "Choose a judge template, or add a rubric.",
    ]


def test_a_reference_is_asked_for_where_the_template_shows_it():
    test = make_test(reference="", template=make_template(title="Whole"))

    assert problems_of_test(test) == [
        "Add a reference answer: the judge template Whole v1 shows it."
    ]


def test_no_reference_is_asked_for_where_the_template_shows_none():
    test = make_test(reference="", template=make_template(shows_reference=False))

    assert problems_of_test(test) == []


def test_a_draft_template_is_not_ready_for_use():
    test = make_test(template=make_template(title="New", state=TemplateState.DRAFT))

    assert problems_of_test(test) == ["The judge template New v1 is a draft. Publish it first."]


def test_a_test_with_a_rubric_needs_neither_template_nor_guidelines():
    test = make_test(guidelines="", reference="", criteria=[{"text": "Names a price"}])
    test.template = None

    assert problems_of_test(test) == []


def test_a_rubric_of_checks_alone_is_ready():
    test = make_test(criteria=[{"check_name": "is_json"}])

    assert problems_of_test(test) == []


def test_arguments_that_a_check_cannot_use_are_named_by_the_points_place():
    test = make_test(criteria=[{"text": "a"}, {"check_name": "contains"}])

    assert problems_of_test(test) == ["Criterion 2: “text” is missing."]


def test_a_rubric_of_which_nothing_can_be_scored_is_not_ready():
    test = make_test(criteria=[{"check_name": "js", "arguments": {"source": "1"}}])

    assert problems_of_test(test) == [
        "Nothing in the rubric can be scored, because none of its checks can run here. "
        "Add a criterion for judges."
    ]


def test_a_rubrics_pass_rule_comes_from_a_published_template():
    draft = make_template(title="New", state=TemplateState.DRAFT)
    test = make_test(template=draft, criteria=[{"text": "a"}])

    assert problems_of_test(test) == ["The judge template New v1 is a draft. Publish it first."]
