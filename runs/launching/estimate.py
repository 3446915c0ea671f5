"""What a launch would ask for and cost, before it is made. Figures are estimates and say so."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Avg, Count, Q

from evalhub.llm.token_estimates import CHARS_PER_TOKEN, token_limit, tokens_in
from evalhub.models import LanguageModel
from issues.conversation import turns_to_generate
from issues.models import IssueState, Test, TestState
from runs.launching.detectable_change import Detectable, detectable
from runs.launching.judge_load import JudgeLoad, for_judges, jury_preview
from runs.launching.launch import variants
from runs.launching.load import JUDGMENT_TOKENS, Cost, EndpointLoad, Span, total, total_cost
from runs.launching.selection import Selection, chosen
from runs.launching.spec import LaunchSpec
from runs.models import Result

DEFAULT_ANSWER_TOKENS = (100, 1000)
"""Tokens of an answer, from low to high, for a model that has not answered anything yet."""
MIN_ANSWERS = 5
"""So many answers of a model are enough to go by their length."""


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
    `detectable`: what a comparison with an earlier run of these tests could find.
    """

    runs: int
    tests: int
    results: int
    answer_calls: int
    judge_calls: Span
    embedding_calls: int
    input_tokens: Span
    output_tokens: Span
    cost: Cost | None
    unpriced: list[str]
    overshoot_usd: Decimal | None
    detectable: Detectable | None
    assumptions: list[str]
    left_out: list[LeftOut]

    @property
    def calls(self) -> Span:
        other = self.answer_calls + self.embedding_calls
        return self.judge_calls + Span(other, other)


@dataclass(frozen=True)
class _Asked:
    """What one pass over the tests sends to a candidate, answers not counted."""

    calls: int
    tokens: int
    carried_answers: int
    """Earlier generated turns that are sent again with later ones."""


def estimate(spec: LaunchSpec, selection: Selection) -> Estimate:
    """Calls, tokens and money that the launch takes, with what was assumed."""
    runs = len(variants(spec, selection.models))
    passes = runs * spec.repeats
    answers = {model: _answer_tokens(model, spec) for model in selection.models}
    usual = _mean(list(answers.values()))
    candidates = _candidates(spec, selection, answers)
    bench = JudgeLoad(jury_preview(selection.judges, selection.tests), selection.tests)
    judges = [
        bench.load(frozen_judge, passes, usual) for frozen_judge in bench.frozen_jury.frozen_judges
    ]
    judges += bench.repair(passes)
    embedding = _embedding(spec, selection, passes, usual)
    loads = [*candidates, *judges, *embedding]
    return Estimate(
        runs=runs,
        tests=len(selection.tests),
        results=len(selection.tests) * passes,
        answer_calls=sum(load.calls.low for load in candidates),
        judge_calls=total(load.calls for load in judges),
        embedding_calls=sum(load.calls.high for load in embedding),
        input_tokens=total(load.input_tokens for load in loads),
        output_tokens=total(load.output_tokens for load in loads),
        cost=total_cost(loads),
        unpriced=sorted({load.endpoint.name for load in loads if load.cost() is None}),
        overshoot_usd=_overshoot(candidates, judges),
        detectable=detectable(len(selection.tests), selection.suite),
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
    calls = size = carried = 0
    for test in tests:
        for number, position in enumerate(turns_to_generate(test.messages)):
            calls += 1
            carried += number
            size += tokens_in(_contents(test, position))
    prompts = sum(tokens_in([prompt]) for prompt in system_prompts)
    n = len(system_prompts)
    return _Asked(calls * n, size * n + calls * prompts, carried * n)


def _contents(test: Test, position: int) -> list[str]:
    return [str(message.get("content") or "") for message in test.messages[:position]]


def _candidates(
    spec: LaunchSpec, selection: Selection, answers: dict[LanguageModel, Span]
) -> list[EndpointLoad]:
    """What each model is asked for in all its runs together."""
    asked = _asked(selection.tests, spec.system_prompts)
    times = spec.repeats * max(1, len(set(spec.temperatures)))
    return [_candidate(model, asked, answers[model], times) for model in selection.models]


def _candidate(model: LanguageModel, asked: _Asked, answer: Span, repeats: int) -> EndpointLoad:
    return EndpointLoad(
        model.endpoint(),
        Span(asked.calls * repeats, asked.calls * repeats),
        Span(*(repeats * (asked.tokens + asked.carried_answers * size) for size in answer)),
        Span(*(repeats * asked.calls * size for size in answer)),
    )


def _answer_tokens(model: LanguageModel, spec: LaunchSpec) -> Span:
    """Tokens of one answer: as this model's have been, or as is usual; never above the limit."""
    measured = _measured_tokens(model)
    low, high = measured or DEFAULT_ANSWER_TOKENS
    limit = token_limit(model.params | spec.params)
    return Span(low, high) if limit is None else Span(min(low, limit), min(high, limit))


def _measured_tokens(model: LanguageModel) -> Span | None:
    """From half to double the mean of what the model has answered lately; None: too little."""
    recent = Result.objects.filter(
        run__language_model=model, run__has_imported_answers=False, output_tokens__isnull=False
    ).order_by("-pk")[:200]
    found = recent.aggregate(mean=Avg("output_tokens"), n=Count("pk"))
    if found["n"] < MIN_ANSWERS:
        return None
    return Span(max(1, round(found["mean"] / 2)), max(1, round(found["mean"] * 2)))


def _embedding(
    spec: LaunchSpec, selection: Selection, passes: int, answer: Span
) -> list[EndpointLoad]:
    """What the model for similarity reads: every answer, and each reference once."""
    if selection.embedder is None or not spec.wants_similarity:
        return []
    texts = [t.reference for t in selection.tests if t.reference.strip()]
    calls = len(texts) * passes
    read = [tokens_in(texts) + calls * size for size in answer]
    endpoint = selection.embedder.endpoint()
    return [EndpointLoad(endpoint, Span(calls, calls), Span(*read), Span(0, 0))]


def _mean(spans: Sequence[Span]) -> Span:
    if not spans:
        return Span(*DEFAULT_ANSWER_TOKENS)
    return Span(*(round(sum(column) / len(spans)) for column in zip(*spans, strict=True)))


def _overshoot(
    candidates: Sequence[EndpointLoad], judges: Sequence[EndpointLoad]
) -> Decimal | None:
    """For one run: the dearest candidate's calls in flight, and those of its judges.

    Judges of one model share its bound on calls in flight.
    """
    answering = [load.in_flight_usd() for load in candidates]
    judge_run = defaultdict(list)
    for load in judges:
        judge_run[load.endpoint.language_model_id].append(load.in_flight_usd())
    known = [usd for usd in answering if usd is not None]
    dearest = [
        max(u for u in found if u is not None) for found in judge_run.values() if None not in found
    ]
    if len(known) < len(answering) or len(dearest) < len(judge_run) or not answering:
        return None
    return max(known) + sum(dearest, Decimal(0))


def _assumptions(
    answers: dict[LanguageModel, Span], spec: LaunchSpec, selection: Selection
) -> list[str]:
    lines = [f"{CHARS_PER_TOKEN} characters are one token."]
    for model, span in answers.items():
        basis = "as its latest answers" if _measured_tokens(model) else "as is usual"
        lines.append(f"{model} answers with {span.low} to {span.high} tokens, {basis}.")
    lines += _said_of_judges(selection)
    if spec.repeats > 1:
        lines.append(f"Each test is asked {spec.repeats} times.")
    if spec.wants_similarity:
        lines.append(_said_of_similarity(selection))
    lines.append("Calls that fail and are tried again are not counted.")
    return lines


def _said_of_judges(selection: Selection) -> list[str]:
    lines = []
    rubrics = [list(test.criteria.all()) for test in selection.tests]
    asked = sum(len(for_judges(rubric)) for rubric in rubrics)
    checks = sum(map(len, rubrics)) - asked
    if selection.judges:
        low, high = JUDGMENT_TOKENS
        lines.append(
            f"A judge replies with {low} to {high} tokens; at most each verdict is repaired once."
        )
        if asked:
            lines.append(f"{_criteria(asked)} put to judges one by one, on every answer.")
        lines += [
            f"{judge} is asked {judge.samples} times about each."
            for judge in selection.judges
            if judge.samples > 1
        ]
    if checks:
        kind = "a check, which calls" if checks == 1 else "checks, which call"
        lines.append(f"{_criteria(checks)} decided by {kind} no model.")
    if selection.backup:
        lines.append(
            f"The backup judge, {selection.backup}, is asked only where another fails: "
            "it is not counted."
        )
    return lines


def _criteria(count: int) -> str:
    return "1 criterion is" if count == 1 else f"{count:,} criteria are"


def _said_of_similarity(selection: Selection) -> str:
    if selection.embedder is None:
        return "Similarity is measured on this machine and costs nothing."
    return f"Similarity: {selection.embedder} embeds every answer, and each reference once."
