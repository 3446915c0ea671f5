"""Records of GRAFITE data, as they are stored here. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from evalhub.values.strict_json import Problem

Json = dict[str, Any]


class Comment(NamedTuple):
    text: str
    author: str
    created_at: datetime | None


class FeedbackRecord(NamedTuple):
    """Feedback, with its other fields by `issues.content.feedback_content`."""

    source_id: str
    fields: Json


class IssueRecord(NamedTuple):
    """An issue. `sources` are (kind, value); `author` is the first of its authors."""

    place: str
    source_id: str
    fields: Json
    author: str
    tags: list[str]
    resolution_labels: list[str]
    sources: list[tuple[str, str]]
    comments: list[Comment]
    feedback_ids: list[str]
    test_ids: list[str]


class TestRecord(NamedTuple):
    """A test, with its own fields by `issues.content.test_content`.

    `template` is the family of a built-in template; None: no judge was configured.
    """

    place: str
    source_id: str
    issue_id: str
    fields: Json
    template: str | None
    author: str
    comments: list[Comment]
    tags: list[str]


class Vote(NamedTuple):
    """An entry of a result's votes. `value` is None if an error was stored as a vote."""

    voter: str
    is_human: bool
    value: float | None
    justification: str


class ResultRecord(NamedTuple):
    """A result with its own copy of the test. `judge_prompt` is the prompt that was used.

    `error` is set if the candidate's provider failed and its error was stored as the answer.
    """

    place: str
    test_id: str
    fields: Json
    template: str | None
    judge_prompt: str
    answer: str
    error: str
    votes: list[Vote]


class RunRecord(NamedTuple):
    """A run. `ended` is the state of a batch and its reason; `elapsed_s` is None if unknown."""

    place: str
    source_id: str
    creator: str
    model: str
    provider: str
    judges: list[str]
    judge_system_prompt: str
    params: Json
    ended: Json
    created_at: datetime | None
    elapsed_s: float | None
    results: list[ResultRecord]


@dataclass
class GrafiteData:
    """All records. Store them only if there are no problems."""

    tags: list[str] = field(default_factory=list)
    resolution_labels: list[str] = field(default_factory=list)
    feedback: list[FeedbackRecord] = field(default_factory=list)
    issues: list[IssueRecord] = field(default_factory=list)
    tests: list[TestRecord] = field(default_factory=list)
    runs: list[RunRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class Tally(NamedTuple):
    """Rows of one kind in the files, and the new ones among them."""

    kind: str
    found: int
    new: int
