"""Shapes of the API's JSON; `python -m tests.client_shapes` writes this file."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

BatchState = Literal["live", "paused", "cancelled", "failed", "done"]
Blank = Literal[""]
Ending = Literal["length", "content_filter", "error", "abort", "prompt_cut"]
FeedbackBatchRowState = Literal["added", "duplicates"]
FlipDirection = Literal["worse", "better"]
GateExit = Literal[0, 1, 2]
GateResultVerdict = Literal["holds", "does_not_hold", "cannot_tell"]
GateRuleName = Literal[
    "done",
    "scored",
    "baseline_scored",
    "comparable",
    "conclusion",
    "against_reference",
    "blind_spot_points",
    "max_worsening_points",
    "edited_tests",
    "max_net_loss_points",
    "failing_severity",
    "min_pass_rate",
    "max_p90_latency_ms",
    "max_mean_cost_usd",
]
GateRuleVerdict = Literal["holds", "does_not_hold", "cannot_tell"]
Handling = Literal["judged", "failed", "error"]
ItemState = Literal["pending", "done", "error", "cancelled"]
MessageRole = Literal["system", "user", "assistant", "tool", "raw_prompt"]
Origin = Literal["human", "feedback", "imported", "generated"]
Outcome = Literal["passed", "failed", "unscored", "error", "pending"]
Polarity = Literal["should", "should_not"]
ReferenceBy = Literal["human", "model", "unknown"]
TestState = Literal["draft", "in_review", "approved", "deprecated"]


class Answer(TypedDict):
    text: NotRequired[str]
    turns: list[Turn]
    tool_calls: list[dict[str, Any]]
    documents: list[RetrievedDocument] | None
    reasoning: NotRequired[str]
    created_at: str
    removed_at: str | None


class Comment(TypedDict):
    id: int
    author: str | None
    author_name: str
    text: str
    created_at: str


class Criterion(TypedDict):
    key: NotRequired[str]
    text: NotRequired[str]
    polarity: NotRequired[Polarity]
    weight: NotRequired[float]
    alternative: NotRequired[int | None]
    mandatory: NotRequired[bool]
    check: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    citation: NotRequired[str]


class FeedbackBatchResult(TypedDict):
    added: int
    duplicates: int
    results: list[FeedbackBatchRow]


class FeedbackBatchRow(TypedDict):
    id: int | None
    state: FeedbackBatchRowState


class GateFlip(TypedDict):
    became: FlipDirection
    test: int
    prompt: str
    issue: str
    change: float


class GatePolicy(TypedDict):
    conclusion: NotRequired[bool]
    level: NotRequired[float]
    against_reference: NotRequired[bool]
    blind_spot_points: NotRequired[float | None]
    max_worsening_points: NotRequired[float | None]
    max_net_loss_points: NotRequired[float | None]
    failing_severity: NotRequired[Literal["low", "medium", "high", "critical"] | None]
    min_pass_rate: NotRequired[float | None]
    max_p90_latency_ms: NotRequired[int | None]
    max_mean_cost_usd: NotRequired[float | None]


class GateRemedy(TypedDict):
    text: str
    path: str
    body: dict[str, Any]
    url: str


class GateResult(TypedDict):
    exit: GateExit
    verdict: GateResultVerdict
    reason: str
    is_running: bool
    run: int
    against: int | None
    policy: GatePolicy
    rules: list[GateRule]
    notes: list[str]
    detectable: float | None
    detectable_note: str
    flips: list[GateFlip]


class GateRule(TypedDict):
    rule: GateRuleName
    title: str
    verdict: GateRuleVerdict
    sentence: str
    n: int
    value: float | None
    limit: float | None
    unit: str
    interval: list[float] | None
    p: float | None
    method: str
    remedy: GateRemedy | None


class ImagePart(TypedDict):
    type: str
    image: str
    alt: NotRequired[str]


class ImageUrl(TypedDict):
    url: str


class ImageUrlPart(TypedDict):
    type: str
    image_url: ImageUrl
    alt: NotRequired[str]


class ImportedAnswerBody(TypedDict):
    test: int
    answer: NotRequired[str]
    repeat: NotRequired[int]
    error: NotRequired[str]
    turns: NotRequired[list[str | ImportedTurn]]
    tool_calls: NotRequired[list[str | dict[str, Any]]]
    documents: NotRequired[list[str | dict[str, Any]] | None]
    latency_ms: NotRequired[int | None]
    cost_usd: NotRequired[str | None]
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    scores: NotRequired[list[ImportedScore]]


class ImportedScore(TypedDict):
    name: str
    value: NotRequired[float | None]
    passed: NotRequired[bool | None]
    explanation: NotRequired[str]
    criterion: NotRequired[str]


class ImportedTurn(TypedDict):
    content: str
    tool_calls: NotRequired[list[str | dict[str, Any]]]
    documents: NotRequired[list[str | dict[str, Any]] | None]
    refusal: NotRequired[str]
    reasoning: NotRequired[str]
    finish_reason: NotRequired[str]


class Launch(TypedDict):
    id: int
    spec: dict[str, Any]
    runs: list[int]
    requested_by: str | None
    cron: NotRequired[str]
    is_paused: NotRequired[bool]
    next_at: NotRequired[str | None]
    last_at: NotRequired[str | None]
    last_outcome: NotRequired[str]
    label: str
    release: NotRequired[str]
    created_at: str


class LaunchSpecRequest(TypedDict):
    label: str
    release: NotRequired[str]
    tests: NotRequired[list[int]]
    issues: NotRequired[list[int]]
    tags: NotRequired[list[int]]
    suite: NotRequired[int | None]
    without_synthetic: NotRequired[bool]
    models: list[int]
    system_prompts: NotRequired[list[str]]
    params: NotRequired[dict[str, Any]]
    temperatures: NotRequired[list[float]]
    repeats: NotRequired[int]
    jury: NotRequired[int | None]
    cost_limit_usd: NotRequired[str | None]
    allow_self_evaluation: NotRequired[bool]
    similarity_weight: NotRequired[float]
    similarity_model: NotRequired[int | None]
    score_by_similarity: NotRequired[bool]
    cut_off_answers: NotRequired[Handling]
    broken_off_answers: NotRequired[Handling]
    ask_judges_again: NotRequired[bool]
    allow_sealed_exposure: NotRequired[bool]


class Message(TypedDict):
    role: MessageRole
    content: NotRequired[str | list[TextPart | ImagePart | ImageUrlPart] | None]
    tool_calls: NotRequired[list[dict[str, Any]] | None]


class OutcomeCounts(TypedDict):
    passed: int
    failed: int
    unscored: int
    error: int
    pending: int


class PartlyJudged(TypedDict):
    expected: int
    answered: int
    replaced: int
    answers: int


class Result(TypedDict):
    id: int
    run_label: str
    release: str
    model: str
    test_source_id: str
    tags: list[str]
    is_readable: bool
    outcome: Outcome
    repeat: int
    answer: Answer | None
    state: NotRequired[ItemState]
    claimed_at: NotRequired[str | None]
    error_kind: NotRequired[str]
    error_message: NotRequired[str]
    lowest_score: NotRequired[float]
    highest_score: NotRequired[float]
    lowest_passed: NotRequired[bool]
    highest_passed: NotRequired[bool]
    origin: NotRequired[Origin]
    weight: NotRequired[float]
    is_judged: NotRequired[bool]
    score: NotRequired[float | None]
    passed: NotRequired[bool | None]
    agreement: NotRequired[float | None]
    ending: NotRequired[Ending | Blank]
    similarity: NotRequired[float | None]
    has_taken_verdicts: NotRequired[bool]
    is_overridden: NotRequired[bool]
    is_disputed: NotRequired[bool]
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    cost_usd: NotRequired[str | None]
    latency_ms: NotRequired[int | None]
    judges_ended: NotRequired[bool]
    judges_score: NotRequired[float | None]
    judges_passed: NotRequired[bool | None]
    judges_lowest_passed: NotRequired[bool]
    judges_highest_passed: NotRequired[bool]
    judges_outcome: str
    run: int
    revision: int
    test: int
    issue: int


class RetrievedDocument(TypedDict):
    text: NotRequired[str]
    title: NotRequired[str]


class Run(TypedDict):
    id: int
    litellm_model: str
    similarity_model: str
    spent_usd: str | None
    requested_by: str | None
    params: dict[str, Any]
    suite_version: int | None
    page: str
    state: NotRequired[BatchState]
    reason: NotRequired[str]
    cost_limit_usd: NotRequired[str | None]
    unpriced_calls: NotRequired[int]
    request_id: str
    created_at: str
    started_at: NotRequired[str | None]
    finished_at: NotRequired[str | None]
    label: str
    release: NotRequired[str]
    model_name: str
    system_prompt: NotRequired[str]
    repeats: NotRequired[int]
    n_results: NotRequired[int]
    variant_key: str
    suite_fingerprint: str
    has_imported_answers: NotRequired[bool]
    self_evaluation_allowed: NotRequired[bool]
    similarity_weight: NotRequired[float]
    score_by_similarity: NotRequired[bool]
    cut_off_answers: NotRequired[Handling]
    broken_off_answers: NotRequired[Handling]
    takes_known_verdicts: NotRequired[bool]
    is_scripted: NotRequired[bool]
    source_id: NotRequired[str]
    texts_removed_at: str | None
    launch: NotRequired[int | None]
    suite: NotRequired[int | None]
    language_model: int


class RunProgress(TypedDict):
    state: BatchState
    reason: str
    is_live: bool
    total: int
    answered: int
    judged: int
    to_judge: int
    awaiting: int
    retryable: int
    counts: OutcomeCounts
    endings: dict[str, int]
    partly_judged: list[PartlyJudged]


class Test(TypedDict):
    id: int
    issue: int
    messages: list[Message]
    tools: NotRequired[list[dict[str, Any]]]
    context: NotRequired[str]
    reference: NotRequired[str]
    reference_by: NotRequired[ReferenceBy]
    flagged_answer: NotRequired[str]
    guidelines: NotRequired[str]
    criteria: NotRequired[list[Criterion]]
    template: NotRequired[int | None]
    pass_threshold: NotRequired[float | None]
    weight: NotRequired[float]
    tags: NotRequired[list[str]]
    state: TestState
    origin: Origin
    author: str | None
    sealed: NotRequired[bool]
    note: NotRequired[str]
    comments: list[Comment]
    source_id: NotRequired[str]
    created_at: str
    updated_at: str


class TextPart(TypedDict):
    type: str
    text: str


class Turn(TypedDict):
    content: str | None
    call: NotRequired[int | None]
    tool_calls: NotRequired[list[dict[str, Any]]]
    documents: NotRequired[list[RetrievedDocument] | None]
    session_id: NotRequired[str]
