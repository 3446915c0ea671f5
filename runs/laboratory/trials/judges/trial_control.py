"""Trials of several judges on a benchmark: estimate and start."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from evalhub.llm.security.trusted_network import address_of, is_trusted
from evalhub.models import ItemState, User
from evalhub.work.processes.queue import request_worker
from runs.laboratory.trials.judges.thresholds import best_threshold
from runs.laboratory.trials.judges.trial_judges import TrialJudge, method_of_metric
from runs.laboratory.trials.models import Benchmark, Claim, ClaimJudgment, ClaimKind, Trial
from runs.laboratory.tuning.models import Split
from runs.launching.batch_estimate import BatchEstimate, evenly, load_by_sample
from runs.limits import MAX_TRIAL_JUDGES

ORDERS = (0, 1)
TRUTHS = ((True, "true"), (False, "false"))


@dataclass(frozen=True, kw_only=True)
class TrialEstimate(BatchEstimate):
    """The effort of all trials."""

    claims: int
    held_out: int


def estimate(benchmark: Benchmark, judges: Sequence[TrialJudge]) -> TrialEstimate:
    """Estimate calls and cost of trials of all these judges, and list what prevents them."""
    usable = benchmark.claims.usable()
    claims = usable.count()
    return TrialEstimate.of(
        _loads(benchmark, judges, claims * len(ORDERS)),
        claims=claims,
        held_out=usable.filter(split=Split.HELD_OUT).count(),
        problems=_problems(benchmark, judges, claims),
    )


def _loads(benchmark: Benchmark, judges: Sequence[TrialJudge], n: int) -> Any:
    asked = [judge for judge in judges if judge.endpoint and judge.template]
    size = _prompt_characters(benchmark) if asked else 0
    for judge in asked:
        assert judge.endpoint is not None
        assert judge.template is not None
        yield load_by_sample(judge.endpoint, n, [size + len(judge.template.text)])


def _prompt_characters(benchmark: Benchmark) -> int:
    """Return the mean length of both texts over an even sample of claims."""
    ids = list(benchmark.claims.usable().order_by("pk").values_list("pk", flat=True))
    texts = Claim.objects.filter(pk__in=evenly(ids)).values_list("left__text", "right__text")
    sizes = [len(left) + len(right) for left, right in texts]
    return sum(sizes) // len(sizes) if sizes else 0


def _problems(benchmark: Benchmark, judges: Sequence[TrialJudge], claims: int) -> list[str]:
    problems = [problem for judge in judges for problem in judge.problems]
    if not 1 <= len(judges) <= MAX_TRIAL_JUDGES:
        problems.append(f"Choose 1 to {MAX_TRIAL_JUDGES} judges, not {len(judges)}.")
    if not claims:
        problems.append(f"{benchmark} has no claims yet: generate its texts first.")
    methods = [judge.method for judge in judges if not judge.problems]
    if len(set(methods)) < len(methods):
        problems.append("The same judge is chosen twice.")
    outside = [
        address_of(judge.endpoint)
        for judge in judges
        if judge.endpoint and not is_trusted(judge.endpoint)
    ]
    if any(judge.tunes_threshold for judge in judges):
        problems += _problems_of_tuning(benchmark)
    if benchmark.sealed and outside:
        problems.append(
            f"{benchmark} is sealed, and {outside[0]} is outside the trusted network: choose a "
            "judge inside, or a metric."
        )
    return problems


def _problems_of_tuning(benchmark: Benchmark) -> list[str]:
    """Return why no threshold can be chosen on the development claims."""
    claims = tuning_claims(benchmark)
    lacking = [name for truth, name in TRUTHS if not claims.filter(truth=truth).exists()]
    return [
        f"{benchmark} has no {name} development claim to choose thresholds on: enter them."
        for name in lacking
    ]


def tuning_claims(benchmark: Benchmark) -> QuerySet[Claim]:
    """Return the claims that a metric's threshold may be chosen on; rank claims need none."""
    claims = benchmark.claims.usable().filter(split=Split.DEVELOPMENT)
    found: QuerySet[Claim] = claims.exclude(kind=ClaimKind.RANK)
    return found


def choose_threshold(trial: Trial) -> None:
    """Choose the threshold of an ended trial on its development claims; no score, no change."""
    rows = trial.judgments.filter(state=ItemState.DONE, claim__in=tuning_claims(trial.benchmark))
    scores = list(rows.values_list("score", "claim__truth"))
    threshold = best_threshold(scores)
    if threshold is not None:
        trial.threshold = threshold
        number = rows.values("claim").distinct().count()
        trial.settings = {**trial.settings, "tuned_on": number}
        trial.method = method_of_metric(trial.metric, threshold)
        trial.save(update_fields=["threshold", "settings", "method"])


@transaction.atomic
def start(
    benchmark: Benchmark,
    judges: Sequence[TrialJudge],
    *,
    by: User | None,
    cost_limit_usd: Decimal | None = None,
) -> list[Trial]:
    """Queue a trial of each judge: every claim in both orders.

    Args:
        cost_limit_usd: Of each trial.

    Raises:
        Refused: Something prevents it.
    """
    estimate(benchmark, judges).check(cost_limit_usd)
    claims = list(benchmark.claims.usable().order_by("pk").values_list("pk", flat=True))
    trials = [_started(benchmark, judge, claims, by, cost_limit_usd) for judge in judges]
    request_worker()
    return trials


def _started(
    benchmark: Benchmark,
    judge: TrialJudge,
    claims: Sequence[int],
    by: User | None,
    cost_limit_usd: Decimal | None,
) -> Trial:
    trial: Trial = Trial.objects.create(
        benchmark=benchmark,
        language_model=judge.language_model,
        endpoint=judge.endpoint.to_json() if judge.endpoint else None,
        template=judge.template,
        metric=judge.metric,
        threshold=judge.threshold,
        settings={"tunes_threshold": True} if judge.tunes_threshold else {},
        method=judge.method,
        is_scripted=bool(judge.language_model and judge.language_model.is_scripted),
        requested_by=by,
        cost_limit_usd=cost_limit_usd if judge.language_model else None,
    )
    ClaimJudgment.objects.bulk_create(
        (
            ClaimJudgment(trial=trial, claim_id=claim, order=order)
            for claim in claims
            for order in ORDERS
        ),
        batch_size=2000,
    )
    return trial
