"""Records of GRAFITE data, as they are stored here. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from evalhub.values.strict_json import Problem


@dataclass(frozen=True)
class Comment:
    text: str
    author: str
    created_at: datetime | None


class FeedbackRecord(NamedTuple):
    """Feedback, with its other fields by `issues.feedback_content`."""

    source_id: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class IssueRecord:
    """An issue. `sources` are (kind, value); `author` is the first of its authors."""

    place: str
    source_id: str
    title: str
    description: str
    author: str
    state: str
    tags: list[str]
    resolution_labels: list[str]
    resolution_note: str
    sources: list[tuple[str, str]]
    comments: list[Comment]
    feedback_ids: list[str]
    test_ids: list[str]


@dataclass(frozen=True)
class Request:
    """The request to a candidate, and its criteria.

    `template` is the family of a built-in template; None: no judge was configured.
    """

    messages: list[dict[str, Any]]
    reference: str
    guidelines: str
    template: str | None


@dataclass(frozen=True)
class TestRecord:
    """A test. `reference_by` is human, model or unknown."""

    __test__ = False

    place: str
    source_id: str
    issue_id: str
    author: str
    request: Request
    tools: list[dict[str, Any]]
    flagged_answer: str
    reference_by: str
    comments: list[Comment]
    tags: list[str]
    state: str


@dataclass(frozen=True)
class Vote:
    """An entry of a result's votes. `value` is None if an error was stored as a vote."""

    voter: str
    is_human: bool
    value: float | None
    justification: str


@dataclass(frozen=True)
class ResultRecord:
    """A result with its own copy of the request. `judge_prompt` is the prompt that was used.

    `error` is set if the candidate's provider failed and its error was stored as the answer.
    """

    place: str
    test_id: str
    request: Request
    judge_prompt: str
    answer: str
    error: str
    votes: list[Vote]


@dataclass(frozen=True)
class RunRecord:
    """A run. `state` is that of a batch; `elapsed_s` is None if unknown."""

    place: str
    source_id: str
    creator: str
    model: str
    provider: str
    judges: list[str]
    judge_system_prompt: str
    params: dict[str, Any]
    state: str
    reason: str
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
