"""Readiness: all problems at once, and nothing else required."""

import pytest

from issues.lifecycle.readiness import problems_of_issue, problems_of_test
from issues.models import Source, TemplateState
from tests.factories import make_issue, make_template, make_test

pytestmark = pytest.mark.django_db


def make_reviewable_issue():
    issue = make_issue(description="It counts wrongly.", state="draft")
    Source.objects.create(issue=issue, value="A review")
    make_test(issue=issue)
    return issue


def test_a_whole_issue_is_ready_and_feedback_will_do_for_a_source():
    issue = make_reviewable_issue()
    assert problems_of_issue(issue) == []
    issue.sources.all().delete()
    issue.feedback.create(comment="Wrong!")
    assert problems_of_issue(issue) == []
    issue.tests.update(state="deprecated")
    assert problems_of_issue(issue) == ["Add a test that reproduces it."]


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


def test_a_whole_test_is_ready():
    unshown = make_template(shows_reference=False)
    for test in (make_test(), make_test(reference="", template=unshown)):
        assert problems_of_test(test) == []


def test_a_rubric_needs_neither_template_nor_guidelines_nor_judges():
    for point in ({"text": "Names a price"}, {"check_name": "is_json"}):
        test = make_test(guidelines="", reference="", criteria=[point])
        test.template = None
        assert problems_of_test(test) == []


def test_an_empty_test_is_told_everything_at_once():
    test = make_test(messages=[], guidelines=" ", reference="")
    test.template = None

    assert problems_of_test(test) == [
        "Enter at least one message, such as a user's question.",
        "Add guidelines for judges.",
        "Choose a judge template, or add a rubric.",
    ]


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ([], "Add a reference answer: the judge template Whole v1 shows it."),
        ([{"text": "a"}, {"check_name": "contains"}], "Criterion 2: “text” is missing."),
        (
            [{"check_name": "js", "arguments": {"source": "1"}}],
            "Nothing in the rubric can be scored, because none of its checks can run here. "
            "Add a criterion for judges.",
        ),
    ],
)
def test_what_a_test_lacks_to_be_judged_is_named(criteria, problem):
    test = make_test(reference="", template=make_template(title="Whole"), criteria=criteria)

    assert problems_of_test(test) == [problem]


@pytest.mark.parametrize("criteria", [[], [{"text": "a"}]])
def test_a_draft_template_is_not_ready_for_use(criteria):
    draft = make_template(title="New", state=TemplateState.DRAFT)
    test = make_test(template=draft, criteria=criteria)

    assert problems_of_test(test) == ["The judge template New v1 is a draft. Publish it first."]
