"""Estimate of a launch: calls, tokens and cost, with the assumptions."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Avg, Count

from evalhub.display.formatting import listed, percent, usd
from evalhub.llm.costs.token_estimates import (
    CHARS_PER_TOKEN,
    token_limit,
    tokens_in,
    tokens_in_messages,
)
from evalhub.models import LanguageModel
from evalhub.statistics.changes.detectable_change import Detectable
from issues.content.conversation import request_messages
from issues.content.message_form import turns_to_generate
from issues.models import Test
from runs.comparison.baselines import latest_pair
from runs.comparison.detectable_change import detectable_of, measured_from
from runs.judging.equal_requests import taken_share
from runs.judging.jury import frozen_jury_of
from runs.launching.batch_estimate import BatchEstimate
from runs.launching.endpoint_load import JUDGMENT_TOKENS, EndpointLoad, Span, total
from runs.launching.judge_load import JudgeLoad, for_judges, jury_preview
from runs.launching.launch import variants
from runs.launching.launch_options import LaunchSpec
from runs.launching.launch_selection import Selection, chosen
from runs.models import JudgeRun, Method, Result, Run, Suite
from runs.models.jury import CALLS
from runs.suites.test_selection import LeftOut


class EstimatedChange(NamedTuple):
    """The loss that a planned run shows, with basis and caveat, as Compare prints them."""

    found: Detectable
    note: str


def detectable(issues: Sequence[int], suite: Suite | None) -> EstimatedChange | None:
    """Return what a run of tests of these issues could show; None without tests.

    As many of them are taken to change as did in the suite's latest run from its baseline or
    previous run: of the last pair that is comparable, for another jury would flip verdicts, too.
    """
    if not issues:
        return None
    runs = latest_pair(suite, is_comparable=True) if suite else None
    found = detectable_of(Counter(issues).values(), runs)
    return EstimatedChange(found, found.note(measured_from(runs)))


DEFAULT_ANSWER_TOKENS = (100, 1000)
"""Tokens of an answer, low and high, for a model without earlier answers."""
MIN_ANSWERS = 5
"""Earlier answers of a model that suffice to estimate their length."""


@dataclass(frozen=True, kw_only=True)
class LaunchEstimate(BatchEstimate):
    """Estimate of all runs of a launch together.

    Attributes:
        judge_calls: High if every reply has to be repaired once.
        overshoot_usd: Highest cost of calls in flight, by which each run may exceed its cost
            limit; None if cost is unknown.
        detectable: Loss against an earlier run of these tests that would show.
    """

    runs: int
    tests: int
    results: int
    answer_calls: int
    judge_calls: Span
    embedding_calls: int
    input_tokens: Span
    output_tokens: Span
    overshoot_usd: Decimal | None
    detectable: EstimatedChange | None
    assumptions: list[str]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class _Answering:
    """Calls and input tokens of one pass over the tests, answers not counted."""

    calls: int
    tokens: int
    carried_answers: int
    """Generated turns that are sent again with later ones."""


def estimate(spec: LaunchSpec, selection: Selection) -> LaunchEstimate:
    """Return the calls, tokens and cost of a launch, with the assumptions made."""
    runs = len(variants(spec, selection.models))
    passes = runs * spec.repeats
    answers = {model: _answer_tokens(model, spec) for model in selection.models}
    bounds = list(zip(*answers.values(), strict=True)) or [(n,) for n in DEFAULT_ANSWER_TOKENS]
    usual = Span(*(round(sum(sizes) / len(sizes)) for sizes in bounds))
    candidates = _candidates(spec, selection, answers)
    jury = JudgeLoad(jury_preview(selection.judges, selection.tests), selection.tests)
    judges = [
        jury.load(frozen_judge, passes, usual) for frozen_judge in jury.frozen_jury.frozen_judges
    ]
    judges += jury.repair(passes)
    embedding = _embedding(spec, selection, passes, usual)
    loads = [*candidates, *judges, *embedding]
    return LaunchEstimate.of(
        loads,
        runs=runs,
        tests=len(selection.tests),
        results=len(selection.tests) * passes,
        answer_calls=sum(load.calls.low for load in candidates),
        judge_calls=total(load.calls for load in judges),
        embedding_calls=sum(load.calls.high for load in embedding),
        input_tokens=total(load.input_tokens for load in loads),
        output_tokens=total(load.output_tokens for load in loads),
        overshoot_usd=_overshoot(candidates, judges),
        detectable=detectable([test.issue_id for test in selection.tests], selection.suite),
        assumptions=_assumptions(answers, spec, selection),
        left_out=chosen(spec).left_out(),
    )


def _answering(tests: Sequence[Test], system_prompts: Sequence[str]) -> _Answering:
    """Count one repeat of every test under every system prompt."""
    calls = size = carried = 0
    for test in tests:
        messages = request_messages(test.messages, test.context)
        for number, position in enumerate(turns_to_generate(messages)):
            calls += 1
            carried += number
            size += tokens_in_messages(messages[:position])
    prompts = sum(tokens_in([prompt]) for prompt in system_prompts)
    n = len(system_prompts)
    return _Answering(calls * n, size * n + calls * prompts, carried * n)


def _candidates(
    spec: LaunchSpec, selection: Selection, answers: dict[LanguageModel, Span]
) -> list[EndpointLoad]:
    """Return the load of each model in all its runs together."""
    load = _answering(selection.tests, spec.system_prompts)
    times = spec.repeats * max(1, len(set(spec.temperatures)))
    return [
        EndpointLoad(
            model.endpoint(),
            Span(load.calls * times, load.calls * times),
            Span(*(times * (load.tokens + load.carried_answers * n) for n in answers[model])),
            Span(*(times * load.calls * n for n in answers[model])),
        )
        for model in selection.models
    ]


def _answer_tokens(model: LanguageModel, spec: LaunchSpec) -> Span:
    """Return the tokens of an answer: measured or default, never above the limit."""
    limit = token_limit(model.params | spec.params)
    found = _measured_tokens(model) or DEFAULT_ANSWER_TOKENS
    return Span(*(size if limit is None else min(size, limit) for size in found))


def _measured_tokens(model: LanguageModel) -> Span | None:
    """Return half to double the mean of the latest answers; None if there are too few."""
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
    """Return the load of the embedding model: every answer, and each reference once."""
    if selection.embedder is None or not spec.wants_similarity:
        return []
    texts = [t.reference for t in selection.tests if t.reference.strip()]
    calls = len(texts) * passes
    read = [tokens_in(texts) + calls * size for size in answer]
    endpoint = selection.embedder.endpoint()
    return [EndpointLoad(endpoint, Span(calls, calls), Span(*read), Span(0, 0))]


def _overshoot(
    candidates: Sequence[EndpointLoad], judges: Sequence[EndpointLoad]
) -> Decimal | None:
    """Return the cost of calls in flight of the most expensive candidate and all judges.

    Judges of one model share its limit on calls in flight. None: a cost is unknown.
    """
    answering = [load.in_flight_usd() for load in candidates]
    judging: dict[int | None, Decimal] = defaultdict(Decimal)
    for load in judges:
        usd, model = load.in_flight_usd(), load.endpoint.language_model_id
        if usd is None:
            return None
        judging[model] = max(judging[model], usd)
    known = [usd for usd in answering if usd is not None]
    if not known or len(known) < len(answering):
        return None
    return max(known) + sum(judging.values(), Decimal(0))


def _assumptions(
    answers: dict[LanguageModel, Span], spec: LaunchSpec, selection: Selection
) -> list[str]:
    lines = [f"One token is {CHARS_PER_TOKEN} characters."]
    for model, span in answers.items():
        basis = "its latest answers" if _measured_tokens(model) else "a default"
        lines.append(f"{model} answers with {span.low} to {span.high} tokens ({basis}).")
    lines += _about_judges(selection)
    lines += _known_verdicts(spec, selection)
    if spec.repeats > 1:
        lines.append(f"Each test is answered {spec.repeats} times.")
    if spec.wants_similarity:
        lines.append(
            f"Similarity: {selection.embedder} embeds every answer, and each reference once."
            if selection.embedder
            else "Similarity is computed locally and costs nothing."
        )
    lines.append("Retries of failed calls are not counted.")
    return lines


LAST_RUNS = 2
"""Runs by which the share of known verdicts is estimated."""


def _known_verdicts(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.ask_judges_again or not selection.judges:
        return []
    done = JudgeRun.objects.filter(number=1, run__takes_known_verdicts=True)
    done = done.exclude(statistics={}).exclude(jury__judges=[])
    if selection.suite:
        done = done.filter(run__suite=selection.suite)
    share = taken_share(done.order_by("-pk")[:LAST_RUNS])
    measured = "" if share is None else f": {percent(share)} of them in the last {LAST_RUNS} runs"
    return [f"Verdicts taken from equal requests in earlier runs cost nothing{measured}."]


def _about_judges(selection: Selection) -> list[str]:
    lines = []
    rubrics = [list(test.criteria.all()) for test in selection.tests]
    judged = sum(len(for_judges(rubric)) for rubric in rubrics)
    checks = sum(map(len, rubrics)) - judged
    if selection.judges:
        low, high = JUDGMENT_TOKENS
        lines.append(
            f"A judge replies with {low} to {high} tokens; each reply is repaired once at most."
        )
        if judged:
            lines.append(f"{_criteria(judged)} judged one by one, on every answer.")
        lines += [
            f"{judge} takes {judge.samples} samples of each judgment."
            for judge in selection.judges
            if judge.samples > 1
        ]
        lines += [
            "{} makes {} to {} calls for each judgment.".format(judge, *CALLS[Method(judge.method)])
            for judge in selection.judges
            if judge.method != Method.SINGLE
        ]
    if checks:
        kind = "a check, which needs" if checks == 1 else "checks, which need"
        lines.append(f"{_criteria(checks)} tested by {kind} no call.")
    if selection.backup:
        lines.append(
            f"The backup judge, {selection.backup}, is not counted: it is called only if a judge "
            "fails."
        )
    return lines


def _criteria(count: int) -> str:
    return "1 criterion is" if count == 1 else f"{count:,} criteria are"


class RejudgeEstimate(BatchEstimate):
    """Calls and cost of a new judge run."""

    def __str__(self) -> str:
        low, high = self.calls
        calls = f"{low:,} calls" if low == high else f"{low:,} to {high:,} calls"
        if self.cost is None:
            return f"Estimate: {calls}; cost unknown, without prices of {listed(self.unpriced)}."
        return f"Estimate: {calls}, {usd(self.cost.low)} to {usd(self.cost.high)}."


def rejudge_estimate(run: Run, jury: Mapping[str, Any]) -> RejudgeEstimate:
    """Estimate a judge run over the run's answers by the jury of this snapshot."""
    found = Test.objects.filter(pk__in=run.results.values("test")).order_by("pk")
    tests = list(found.select_related("template").prefetch_related("criteria"))
    mean = run.results.order_by().aggregate(mean=Avg("output_tokens"))["mean"]
    answer = Span(*DEFAULT_ANSWER_TOKENS) if mean is None else Span(round(mean), round(mean))
    load = JudgeLoad(frozen_jury_of(dict(jury)), tests)
    loads = [load.load(judge, run.repeats, answer) for judge in load.frozen_jury.frozen_judges]
    loads += load.repair(run.repeats)
    return RejudgeEstimate.of(loads)
