"""What says much the same is found, with why; nothing is told to who may not read it."""

import json
from pathlib import Path

import pytest

from issues.alike import ISSUE, similar
from issues.models import Issue, IssueState
from tests.factories import make_issue, make_user

pytestmark = pytest.mark.django_db

PLANTED = json.loads((Path(__file__).parent / "paraphrases.json").read_text())
"""Kinds of mistakes, each with a paraphrase, an anecdote, and ten others of the same field."""


def plant() -> list[Issue]:
    """The planted issues among two hundred others; gives them in order."""
    others = [
        Issue(title=title, description=description, state=IssueState.APPROVED)
        for kind in PLANTED
        for title, description in kind["distractors"]
    ]
    Issue.objects.bulk_create(others)
    return [make_issue(title=one["title"], description=one["description"]) for one in PLANTED]


def found_in_the_first_five(said: str) -> int:
    """How many planted issues are among the first five for what was said of each."""
    reader, planted = make_user("viewer"), plant()
    hits = 0
    for issue, kind in zip(planted, PLANTED, strict=True):
        hits += issue.pk in [one.pk for one in similar(kind[said], reader=reader, kinds=[ISSUE])]
    return hits


def test_at_least_sixteen_of_twenty_paraphrases_are_found():
    assert found_in_the_first_five("paraphrase") >= 16


def test_of_anecdotes_which_name_no_fault_some_are_found():
    assert found_in_the_first_five("anecdote") >= 5
