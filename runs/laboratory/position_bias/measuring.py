"""Measuring a judge run's position bias: the sample, its estimate, and the start."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from random import Random

from django.db import transaction

from evalhub.display.formatting import counted
from evalhub.llm.costs.token_estimates import characters_in
from evalhub.models import BatchState, LanguageModel, User
from evalhub.work.processes.queue import request_worker
from issues.judge_templates.prompts import PromptError, variables_of
from runs.judging.jury import FrozenJudge, frozen_jury_of, prompt_templates_of
from runs.judging.prompts import JudgePromptTemplate, messages_for
from runs.judging.tasks import judged_answer_of
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment
from runs.launching.batch_estimate import BatchEstimate, Fact, evenly, load_by_sample
from runs.launching.endpoint_load import EndpointLoad, Span
from runs.launching.exposure import exposure_of_results, roles_of_jury
from runs.limits import MAX_REVERSED_RESULTS
from runs.models import JudgeRun, Judgment, JudgmentState, Method
from runs.models.jury import CALLS

MAX_SEED = 2**31 - 1
RENDERED = 5
"""Prompts of each judge that are rendered to estimate the length of all."""


def new_seed() -> int:
    return secrets.randbelow(MAX_SEED) + 1


def lists_options(judge: FrozenJudge, template: JudgePromptTemplate) -> bool:
    """Return whether the judge is shown the options in an order, which can be reversed."""
    text = template.text_for(judge.endpoint.language_model_id)
    return judge.method == Method.DEBATE or "scale" in variables_of(text)


@dataclass(frozen=True)
class Measure:
    """A measure as somebody wants it: of so many results of a judge run, drawn by the seed."""

    judge_run: JudgeRun
    results: int
    seed: int

    @cached_property
    def judges(self) -> dict[int, FrozenJudge]:
        jury = frozen_jury_of(self.judge_run.jury, with_templates=False)
        return {judge.judge_id: judge for judge in jury.frozen_judges}

    @cached_property
    def _judged(self) -> dict[int, list[int]]:
        """The ids of the verdicts that can be repeated, by result: the first sample of each."""
        rows = Judgment.objects.filter(
            judge_run=self.judge_run,
            judge__in=self.judges,
            is_backup=False,
            sample=0,
            taken_from=None,
        ).exclude(state=JudgmentState.FAILED)
        pairs = set(rows.order_by().values_list("judge_id", "template_id").distinct())
        templates = prompt_templates_of(template for _, template in pairs)
        shown = {
            (judge, template)
            for judge, template in pairs
            if template in templates and lists_options(self.judges[judge], templates[template])
        }
        found: dict[int, list[int]] = defaultdict(list)
        fields = ("pk", "result_id", "judge_id", "template_id")
        for pk, result, judge, template in rows.order_by("pk").values_list(*fields):
            if (judge, template) in shown:
                found[result].append(pk)
        return dict(found)

    @property
    def available(self) -> int:
        """Results with a verdict that can be repeated."""
        return len(self._judged)

    @cached_property
    def drawn(self) -> list[int]:
        """The results drawn at random, each at most once; equal seeds draw equal ones."""
        known = sorted(self._judged)
        return sorted(Random(self.seed).sample(known, min(self.results, len(known))))

    @cached_property
    def judgments(self) -> list[int]:
        """The verdicts on the drawn results, to be given again."""
        return [pk for result in self.drawn for pk in self._judged[result]]


@dataclass(frozen=True, kw_only=True)
class MeasureEstimate(BatchEstimate):
    """The effort of a measure; `available` results have verdicts that can be repeated."""

    results: int
    available: int
    judgments: int
    seed: int


def estimate(wanted: Measure) -> MeasureEstimate:
    """Estimate calls and cost, and list what prevents the start."""
    problems = _problems(wanted)
    verdicts = counted(len(wanted.judgments), "verdict")
    sample = f"{len(wanted.drawn):,} of {counted(wanted.available, 'judged result')}"
    results = wanted.judge_run.run.results.filter(pk__in=[] if problems else wanted.drawn)
    return MeasureEstimate.of(
        [] if problems else _loads(wanted),
        results=len(wanted.drawn),
        available=wanted.available,
        judgments=len(wanted.judgments),
        seed=wanted.seed,
        facts=[Fact("Sample", sample, f"{verdicts} to give again")],
        problems=problems,
        sealed_exposure=exposure_of_results(results, roles_of_jury(wanted.judge_run.jury)),
    )


def _problems(wanted: Measure) -> list[str]:
    if not 1 <= wanted.results <= MAX_REVERSED_RESULTS:
        return [f"Draw 1 to {MAX_REVERSED_RESULTS:,} results, not {wanted.results:,}."]
    if wanted.judge_run.state != BatchState.DONE:
        return [f"The {wanted.judge_run} is not done: wait for it, or resume it."]
    if not wanted.available:
        return [
            f"No verdict of the {wanted.judge_run} can be repeated: its judges gave none, or "
            "their prompts do not list the options (use {{ scale }} in the judge template)."
        ]
    models = {judge.endpoint.language_model_id for judge in wanted.judges.values()}
    inactive = LanguageModel.objects.filter(pk__in=models, is_active=False)
    return [f"{model} is inactive: activate it first." for model in inactive.order_by("name")]


def _loads(wanted: Measure) -> list[EndpointLoad]:
    """Return the load of each judge; a repair by another model counts as one by the judge."""
    rows = Judgment.objects.filter(pk__in=wanted.judgments).order_by("pk")
    by_judge: dict[int, list[int]] = defaultdict(list)
    for pk, asked in rows.values_list("pk", "judge_id"):
        by_judge[asked or 0].append(pk)
    loads = []
    for judge_id, mine in sorted(by_judge.items()):
        judge, lengths = wanted.judges[judge_id], _prompt_lengths(wanted, mine)
        calls = Span(*CALLS[Method(judge.method)])
        loads.append(
            load_by_sample(judge.endpoint, len(mine), lengths, params=judge.params, calls=calls)
        )
    return loads


def _prompt_lengths(wanted: Measure, judgments: Sequence[int]) -> list[int]:
    """Return the characters of an even sample of a judge's prompts, as far as they can be made."""
    rows = list(
        Judgment.objects.filter(pk__in=evenly(judgments, RENDERED)).select_related(
            "result__answer", "result__revision", "criterion"
        )
    )
    templates = prompt_templates_of(row.template_id for row in rows)
    sizes = []
    for row in rows:
        judge = wanted.judges[row.judge_id or 0]
        case = judged_answer_of(row.result, wanted.judge_run.run.system_prompt)
        try:
            asked = messages_for(
                templates[row.template_id or 0],
                case,
                row.criterion.key,
                language_model_id=judge.endpoint.language_model_id,
                role=judge.role,
            )
        except PromptError:
            continue
        sizes.append(characters_in(asked))
    return sizes


@transaction.atomic
def start(
    wanted: Measure,
    *,
    by: User | None,
    cost_limit_usd: Decimal | None = None,
    allow_sealed_exposure: bool = False,
) -> ReversedJudgeRun:
    """Queue each verdict on the drawn results once more, with its options reversed.

    Raises:
        Refused: Something prevents it.
    """
    found = estimate(wanted)
    found.check(cost_limit_usd, allow_sealed_exposure=allow_sealed_exposure)
    made = ReversedJudgeRun.objects.create(
        judge_run=wanted.judge_run,
        results=found.results,
        seed=wanted.seed,
        requested_by=by,
        cost_limit_usd=cost_limit_usd,
    )
    ReversedJudgment.objects.bulk_create(
        [ReversedJudgment(judge_run=made, judgment_id=pk) for pk in wanted.judgments],
        batch_size=1000,
    )
    request_worker()
    return made
