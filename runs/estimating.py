"""What a launch would ask for and cost, before it is made. Figures are estimates and say so."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Avg, Count, Q

from evalhub.llm.endpoint import Endpoint
from evalhub.models import LanguageModel
from issues.conversation import turns_to_generate
from issues.models import IssueState, JudgeTemplate, Test, TestState
from runs.launch import Selection, chosen
from runs.models import Judge, Result
from runs.spec import LaunchSpec

CHARS_PER_TOKEN = 4
USUAL_ANSWER = (100, 1000)
"""Tokens of an answer, from low to high, for a model that has not answered anything yet."""
USUAL_VERDICT = (60, 400)
"""Tokens of a judge's reply."""
VERDICT_SCHEMA_TOKENS = 150
"""Tokens by which options and form of reply lengthen a judge's prompt."""
LEAST_ANSWERS = 5
"""So many answers of a model are enough to go by their length."""


class Span(NamedTuple):
    """From low to high, in whole calls or tokens."""

    low: int
    high: int

    def __add__(self, other: object) -> "Span":
        assert isinstance(other, Span)
        return Span(self.low + other.low, self.high + other.high)


class Cost(NamedTuple):
    """From low to high, in US dollars."""

    low: Decimal
    high: Decimal

    def __add__(self, other: object) -> "Cost":
        assert isinstance(other, Cost)
        return Cost(self.low + other.low, self.high + other.high)


class LeftOut(NamedTuple):
    """Tests that are named but will not run, and why."""

    tests: int
    reason: str


@dataclass(frozen=True)
class Estimate:
    """Of a whole launch, all its runs together.

    `judge_calls` are high where each verdict has to be repaired once. `cost` None: not measured,
    as prices of `unpriced` are not known. `overshoot_usd`: what the calls in flight at one moment
    cost at most, by which each run may pass its cost limit; None where cost is not measured.
    """

    runs: int
    tests: int
    results: int
    answer_calls: int
    judge_calls: Span
    tokens_in: Span
    tokens_out: Span
    cost: Cost | None
    unpriced: list[str]
    overshoot_usd: Decimal | None
    assumptions: list[str]
    left_out: list[LeftOut]

    @property
    def calls(self) -> Span:
        return self.judge_calls + Span(self.answer_calls, self.answer_calls)


@dataclass(frozen=True)
class _Asked:
    """What one pass over the tests sends to a candidate, answers not counted."""

    calls: int
    tokens: int
    carried_answers: int
    """Earlier generated turns that are sent again with later ones."""


@dataclass(frozen=True)
class _Load:
    """What one endpoint is asked for by the whole launch."""

    endpoint: Endpoint
    calls: Span
    tokens_in: Span
    tokens_out: Span

    def cost(self) -> Cost | None:
        low = self.endpoint.cost_usd(self.tokens_in.low, self.tokens_out.low)
        high = self.endpoint.cost_usd(self.tokens_in.high, self.tokens_out.high)
        return None if low is None or high is None else Cost(low, high)

    def in_flight_usd(self) -> Decimal | None:
        """What as many of these calls as may be under way at once cost at most."""
        cost = self.cost()
        if cost is None or not self.calls.high:
            return None if cost is None else Decimal(0)
        width = min(self.endpoint.max_concurrency, self.calls.high)
        return cost.high / self.calls.high * width


def estimate(spec: LaunchSpec, selection: Selection) -> Estimate:
    """Calls, tokens and money that the launch takes, with what was assumed."""
    asked = _asked(selection.tests, spec.system_prompts)
    answers = {model: _answer_tokens(model, spec) for model in selection.models}
    candidates = [
        _candidate(model, asked, answers[model], spec.repeats) for model in selection.models
    ]
    judged = len(selection.models) * len(spec.system_prompts) * spec.repeats
    judges = [
        _judge(judge, selection.tests, judged, list(answers.values())) for judge in selection.judges
    ]
    loads = [*candidates, *judges]
    return Estimate(
        runs=len(selection.models) * len(spec.system_prompts),
        tests=len(selection.tests),
        results=len(selection.tests) * judged,
        answer_calls=sum(load.calls.low for load in candidates),
        judge_calls=sum((load.calls for load in judges), Span(0, 0)),
        tokens_in=sum((load.tokens_in for load in loads), Span(0, 0)),
        tokens_out=sum((load.tokens_out for load in loads), Span(0, 0)),
        cost=_total(loads),
        unpriced=sorted({load.endpoint.name for load in loads if load.cost() is None}),
        overshoot_usd=_overshoot(candidates, judges),
        assumptions=_assumptions(answers, spec, selection),
        left_out=left_out(spec),
    )


def left_out(spec: LaunchSpec) -> list[LeftOut]:
    """Tests that are named but may not run, counted by reason."""
    counts = chosen(spec).aggregate(
        of_deprecated_issues=Count("pk", filter=Q(issue__state=IssueState.DEPRECATED)),
        **{
            state: Count("pk", filter=Q(state=state) & ~Q(issue__state=IssueState.DEPRECATED))
            for state in (TestState.DRAFT, TestState.IN_REVIEW, TestState.DEPRECATED)
        },
    )
    reasons = {
        TestState.DRAFT: "still a draft",
        TestState.IN_REVIEW: "in review, not approved yet",
        TestState.DEPRECATED: "deprecated",
        "of_deprecated_issues": "of a deprecated issue",
    }
    return [LeftOut(counts[key], reason) for key, reason in reasons.items() if counts[key]]


def _asked(tests: Sequence[Test], system_prompts: Sequence[str]) -> _Asked:
    """One repeat of every test under every system prompt."""
    calls = tokens = carried = 0
    for test in tests:
        for number, position in enumerate(turns_to_generate(test.messages)):
            calls += 1
            carried += number
            tokens += _tokens(_contents(test, position))
    prompts = sum(_tokens([prompt]) for prompt in system_prompts)
    variants = len(system_prompts)
    return _Asked(calls * variants, tokens * variants + calls * prompts, carried * variants)


def _contents(test: Test, position: int) -> list[str]:
    return [str(message.get("content") or "") for message in test.messages[:position]]


def _tokens(texts: Iterable[str]) -> int:
    return sum(len(text) for text in texts) // CHARS_PER_TOKEN


def _candidate(model: LanguageModel, asked: _Asked, answer: Span, repeats: int) -> _Load:
    return _Load(
        model.endpoint(),
        Span(asked.calls * repeats, asked.calls * repeats),
        Span(*(repeats * (asked.tokens + asked.carried_answers * size) for size in answer)),
        Span(*(repeats * asked.calls * size for size in answer)),
    )


def _answer_tokens(model: LanguageModel, spec: LaunchSpec) -> Span:
    """Tokens of one answer: as this model's have been, or as is usual; never above the limit."""
    measured = _measured_tokens(model)
    low, high = measured or USUAL_ANSWER
    limit = _token_limit(model.params | spec.params)
    return Span(low, high) if limit is None else Span(min(low, limit), min(high, limit))


def _measured_tokens(model: LanguageModel) -> Span | None:
    """From half to double the mean of what the model has answered lately; None: too little."""
    recent = Result.objects.filter(
        run__language_model=model, run__answers_supplied=False, tokens_out__isnull=False
    ).order_by("-pk")[:200]
    found = recent.aggregate(mean=Avg("tokens_out"), n=Count("pk"))
    if found["n"] < LEAST_ANSWERS:
        return None
    return Span(max(1, round(found["mean"] / 2)), max(1, round(found["mean"] * 2)))


def _token_limit(params: dict[str, object]) -> int | None:
    limits = [params.get(name) for name in ("max_tokens", "max_completion_tokens")]
    known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    return min(known) if known else None


def _judge(judge: Judge, tests: Sequence[Test], judged: int, answers: Sequence[Span]) -> _Load:
    """One judge, asked once for each result, and once more where its reply has to be repaired."""
    calls = Span(len(tests) * judged, 2 * len(tests) * judged)
    fixed = sum(_judged_tokens(test, judge.template or test.template) for test in tests)
    answer = _mean(answers)
    low = judged * (fixed + len(tests) * answer.low)
    high = judged * (fixed + len(tests) * (answer.high + USUAL_VERDICT[1]))
    limit = _token_limit(judge.language_model.params | judge.params)
    reply = [min(size, limit or size) for size in USUAL_VERDICT]
    return _Load(
        judge.language_model.endpoint(),
        calls,
        Span(low, 2 * high),
        Span(calls.low * reply[0], calls.high * reply[1]),
    )


def _judged_tokens(test: Test, template: JudgeTemplate | None) -> int:
    shown = [*_contents(test, len(test.messages)), test.context, test.guidelines]
    if template is None or template.shows_reference:
        shown.append(test.reference)
    wording = template.text if template else ""
    return _tokens([*shown, wording]) + VERDICT_SCHEMA_TOKENS


def _mean(spans: Sequence[Span]) -> Span:
    if not spans:
        return Span(*USUAL_ANSWER)
    return Span(*(round(sum(column) / len(spans)) for column in zip(*spans, strict=True)))


def _total(loads: Sequence[_Load]) -> Cost | None:
    costs = [load.cost() for load in loads]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Cost(Decimal(0), Decimal(0))) if len(known) == len(costs) else None


def _overshoot(candidates: Sequence[_Load], judges: Sequence[_Load]) -> Decimal | None:
    """For one run: the dearest candidate's calls in flight, and those of its judges."""
    answering = [load.in_flight_usd() for load in candidates]
    judging = [load.in_flight_usd() for load in judges]
    known = [usd for usd in (*answering, *judging) if usd is not None]
    if len(known) < len(answering) + len(judging) or not answering:
        return None
    return max(known[: len(answering)]) + sum(known[len(answering) :], Decimal(0))


def _assumptions(
    answers: dict[LanguageModel, Span], spec: LaunchSpec, selection: Selection
) -> list[str]:
    lines = [f"{CHARS_PER_TOKEN} characters are one token."]
    for model, span in answers.items():
        basis = "as its latest answers" if _measured_tokens(model) else "as is usual"
        lines.append(f"{model} answers with {span.low} to {span.high} tokens, {basis}.")
    if selection.judges:
        low, high = USUAL_VERDICT
        lines.append(
            f"A judge replies with {low} to {high} tokens; at most each verdict is repaired once."
        )
    if spec.repeats > 1:
        lines.append(f"Each test is asked {spec.repeats} times.")
    lines.append("Calls that fail and are tried again are not counted.")
    return lines
