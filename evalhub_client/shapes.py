"""Shapes of the API's JSON; `python -m tests.client_shapes` writes this file."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

BatchState = Literal["live", "paused", "cancelled", "failed", "done"]
BecameEnum = Literal["worse", "better"]
ExitEnum = Literal[0, 1, 2]
GateResultVerdictEnum = Literal["holds", "does_not_hold", "cannot_tell"]
GateRuleVerdictEnum = Literal["holds", "does_not_hold", "cannot_tell"]
ItemState = Literal["pending", "done", "error", "cancelled"]
OriginEnum = Literal["human", "feedback", "imported", "generated"]
PolarityEnum = Literal["should", "should_not"]
ReferenceByEnum = Literal["human", "model", "unknown"]
RuleEnum = Literal[
    "done",
    "scored",
    "baseline_scored",
    "comparable",
    "significant_regression",
    "max_net_loss_points",
    "failing_severity",
    "min_pass_rate",
    "max_p90_latency_ms",
    "max_mean_cost_usd",
]
SentRowStateEnum = Literal["added", "duplicates"]
TestState = Literal["draft", "in_review", "approved", "deprecated"]


class Answer(TypedDict):
    text: NotRequired[str]
    turns: NotRequired[Any]
    tool_calls: NotRequired[Any]
    documents: NotRequired[Any]
    reasoning: NotRequired[str]
    created_at: str
    removed_at: str | None


class BatchAnswer(TypedDict):
    added: int
    duplicates: int
    results: list[SentRow]


class Comment(TypedDict):
    id: int
    author: str | None
    author_name: str
    text: str
    created_at: str


class Counts(TypedDict):
    passed: int
    failed: int
    unscored: int
    error: int
    pending: int


class Criterion(TypedDict):
    key: NotRequired[str]
    text: NotRequired[str]
    polarity: NotRequired[PolarityEnum]
    weight: NotRequired[float]
    alternative: NotRequired[int | None]
    mandatory: NotRequired[bool]
    check: NotRequired[str]
    arguments: NotRequired[Any]
    citation: NotRequired[str]


class Flip(TypedDict):
    became: BecameEnum
    test: int
    issue: str
    change: float


class GatePolicy(TypedDict):
    significant_regression: NotRequired[bool]
    alpha: NotRequired[float]
    max_net_loss_points: NotRequired[float | None]
    failing_severity: NotRequired[Literal["low", "medium", "high", "critical"] | None]
    min_pass_rate: NotRequired[float | None]
    max_p90_latency_ms: NotRequired[int | None]
    max_mean_cost_usd: NotRequired[float | None]


class GateResult(TypedDict):
    exit: ExitEnum
    verdict: GateResultVerdictEnum
    reason: str
    is_running: bool
    run: int
    against: int | None
    policy: GatePolicy
    rules: list[GateRule]
    notes: list[str]
    detectable: float | None
    detectable_note: str
    flips: list[Flip]


class GateRule(TypedDict):
    rule: RuleEnum
    title: str
    verdict: GateRuleVerdictEnum
    sentence: str
    n: int
    value: float | None
    limit: float | None
    unit: str
    interval: list[float] | None
    p: float | None
    method: str
    remedy: Remedy | None


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


class ImportedTurn(TypedDict):
    content: str
    tool_calls: NotRequired[list[str | dict[str, Any]]]
    documents: NotRequired[list[str | dict[str, Any]] | None]


class Launch(TypedDict):
    id: int
    spec: Any
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
    allow_sealed_exposure: NotRequired[bool]


class Progress(TypedDict):
    state: str
    reason: str
    is_live: bool
    total: int
    answered: int
    judged: int
    to_judge: int
    awaiting: int
    retryable: int
    counts: Counts


class Remedy(TypedDict):
    text: str
    path: str
    body: dict[str, Any]
    url: str


class Result(TypedDict):
    id: int
    run_label: str
    release: str
    model: str
    test_source_id: str
    tags: list[str]
    is_readable: bool
    answer: Answer | None
    state: NotRequired[ItemState]
    claimed_at: NotRequired[str | None]
    error_kind: NotRequired[str]
    error_message: NotRequired[str]
    repeat: NotRequired[int]
    origin: NotRequired[OriginEnum]
    weight: NotRequired[float]
    is_judged: NotRequired[bool]
    score: NotRequired[float | None]
    passed: NotRequired[bool | None]
    agreement: NotRequired[float | None]
    similarity: NotRequired[float | None]
    is_overridden: NotRequired[bool]
    is_disputed: NotRequired[bool]
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    cost_usd: NotRequired[str | None]
    latency_ms: NotRequired[int | None]
    outcome: str
    run: int
    revision: int
    test: int
    issue: int


class Run(TypedDict):
    id: int
    litellm_model: str
    similarity_model: str
    spent_usd: str | None
    requested_by: str | None
    suite_version: int | None
    page: str
    state: NotRequired[BatchState]
    reason: NotRequired[str]
    cost_limit_usd: NotRequired[str | None]
    request_id: str
    created_at: str
    started_at: NotRequired[str | None]
    finished_at: NotRequired[str | None]
    label: str
    release: NotRequired[str]
    model_name: str
    system_prompt: NotRequired[str]
    params: NotRequired[Any]
    repeats: NotRequired[int]
    n_results: NotRequired[int]
    variant_key: str
    suite_fingerprint: str
    has_imported_answers: NotRequired[bool]
    self_evaluation_allowed: NotRequired[bool]
    similarity_weight: NotRequired[float]
    score_by_similarity: NotRequired[bool]
    is_scripted: NotRequired[bool]
    source_id: NotRequired[str]
    texts_removed_at: str | None
    launch: NotRequired[int | None]
    suite: NotRequired[int | None]
    language_model: int


class SentRow(TypedDict):
    id: int | None
    state: SentRowStateEnum


class Test(TypedDict):
    id: int
    issue: int
    messages: Any
    tools: NotRequired[list[Any]]
    context: NotRequired[str]
    reference: NotRequired[str]
    reference_by: NotRequired[ReferenceByEnum]
    flagged_answer: NotRequired[str]
    guidelines: NotRequired[str]
    criteria: NotRequired[list[Criterion]]
    template: NotRequired[int | None]
    pass_threshold: NotRequired[float | None]
    weight: NotRequired[float]
    tags: NotRequired[list[str]]
    state: TestState
    origin: OriginEnum
    author: str | None
    sealed: NotRequired[bool]
    note: NotRequired[str]
    comments: list[Comment]
    source_id: NotRequired[str]
    created_at: str
    updated_at: str
