"""Pairwise judge runs: their estimate and start. No score of a run changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction

from evalhub.models import LanguageModel, User
from evalhub.values.digest import digest
from evalhub.work.processes.queue import request_worker
from issues.judge_templates.pairwise_prompt import pair_messages
from runs.laboratory.pairwise.models import MAX_CRITERION, PairJudgment, PairwiseJudgeRun
from runs.laboratory.pairwise.pairs import Ids, case_of, comparable_pairs, saved_pairs
from runs.launching.batch_estimate import BatchEstimate, evenly, load_by_sample
from runs.launching.exposure import exposure_of_results
from runs.limits import MAX_PAIRWISE_RUNS
from runs.models import Result, Run


@dataclass(frozen=True)
class PairwiseOrder:
    """A pairwise judge run as somebody wants it."""

    runs: Sequence[Run]
    judge: LanguageModel
    criterion: str = ""
    ties: bool = True

    @property
    def method(self) -> str:
        """Return a digest of all that must be equal for outcomes to be counted together."""
        endpoint = self.judge.judge_endpoint()
        parts = [endpoint.litellm_model, endpoint.api_base, endpoint.params]
        return digest([*parts, self.criterion.strip(), self.ties])


@dataclass(frozen=True, kw_only=True)
class PairwiseEstimate(BatchEstimate):
    """The effort of judging these pairs."""

    pairs: list[Ids]


def estimate(wanted: PairwiseOrder) -> PairwiseEstimate:
    """Estimate calls and cost, and list what prevents the start."""
    pairs = comparable_pairs(wanted.runs)
    firsts = Result.objects.filter(pk__in=[first for first, _ in pairs])
    endpoint = wanted.judge.judge_endpoint()
    load = load_by_sample(endpoint, 2 * len(pairs), _prompt_lengths(wanted, pairs))
    return PairwiseEstimate.of(
        [load],
        pairs=pairs,
        problems=_problems(wanted, pairs),
        warnings=_warnings(wanted),
        sealed_exposure=exposure_of_results(firsts, [("judge", endpoint)]),
    )


def _problems(wanted: PairwiseOrder, pairs: Sequence[Ids]) -> list[str]:
    problems = []
    if not 2 <= len(wanted.runs) <= MAX_PAIRWISE_RUNS:
        problems.append(f"Choose 2 to {MAX_PAIRWISE_RUNS} runs, not {len(wanted.runs)}.")
    elif not pairs:
        problems.append(
            "These runs have no comparable answers: no test was asked with the same input in two "
            "of them and answered in both."
        )
    if live := [run.label for run in wanted.runs if run.is_live]:
        problems.append(f"{live[0]} is running: wait until it is done.")
    if not wanted.judge.is_active:
        problems.append(f"{wanted.judge} is inactive: activate it first.")
    if len(wanted.criterion) > MAX_CRITERION:
        problems.append(
            f"The criterion has {len(wanted.criterion):,} characters: at most {MAX_CRITERION:,}."
        )
    return problems


def _warnings(wanted: PairwiseOrder) -> list[str]:
    own = [run.label for run in wanted.runs if run.language_model_id == wanted.judge.pk]
    if not own:
        return []
    return [f"{wanted.judge} would judge its own answers in {', '.join(own)}: choose another one."]


def _prompt_lengths(wanted: PairwiseOrder, pairs: Sequence[Ids]) -> list[int]:
    """Return the characters of the prompts of an even sample, as far as they can be rendered."""
    sampled = evenly(pairs)
    rows = Result.objects.select_related("answer", "revision").in_bulk(
        [pk for pair in sampled for pk in pair]
    )
    sizes = []
    for first, second in sampled:
        case = case_of(rows[first], rows[second], wanted.criterion)
        try:
            sizes.append(len(str(pair_messages(case, ties=wanted.ties))))
        except ValueError:
            continue
    return sizes


@transaction.atomic
def start(
    wanted: PairwiseOrder,
    *,
    by: User | None,
    cost_limit_usd: Decimal | None = None,
    allow_sealed_exposure: bool = False,
) -> PairwiseJudgeRun:
    """Queue the judgments of all pairs, each in both orders.

    Raises:
        Refused: Something prevents it.
    """
    found = estimate(wanted)
    found.check(cost_limit_usd, allow_sealed_exposure=allow_sealed_exposure)
    made = PairwiseJudgeRun.objects.create(
        language_model=wanted.judge,
        endpoint=wanted.judge.judge_endpoint().to_json(),
        criterion=wanted.criterion.strip(),
        ties=wanted.ties,
        method=wanted.method,
        requested_by=by,
        cost_limit_usd=cost_limit_usd,
    )
    made.runs.set(wanted.runs)
    rows = saved_pairs(found.pairs)
    PairJudgment.objects.bulk_create(
        PairJudgment(judge_run=made, pair_id=rows[one], order=order)
        for one in found.pairs
        for order in (0, 1)
    )
    request_worker()
    return made
