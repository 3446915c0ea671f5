"""Verdicts of trials on claims, as figures need them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db.models import QuerySet

from evalhub.models import ItemState
from runs.laboratory.trials.judges.measures import ClaimVerdict
from runs.laboratory.trials.models import Claim, ClaimJudgment, ClaimKind, Hardness, Task, Trial
from runs.laboratory.tuning.models import Split

FIELDS = (
    *("pk", "kind", "truth", "hardness", "left", "right", "anchor", "idea"),
    *("left__idea", "right__idea", "right__kind", "topic", "topic__is_cluster"),
)
PARTS = (ClaimKind.PART, ClaimKind.CONTEXT)


class Judged(NamedTuple):
    """A judgment of a claim in one order, and its verdict."""

    claim: int
    order: int
    state: str
    verdict: ClaimVerdict


def task_of(kind: str, described_by: str, *, is_code: bool) -> Task:
    """Return the kind of task that a claim tries.

    Args:
        kind: Of the claim.
        described_by: Kind of its right artifact.
    """
    if kind == ClaimKind.RANK:
        return Task.RANK
    if kind in PARTS:
        return Task.PART
    if kind == ClaimKind.DESCRIBES:
        return Task.EXPLANATION if described_by == "explanation" else Task.SUMMARY
    return Task.CODE if is_code else Task.SIMILARITY


def judged_claims(
    trials: Iterable[Trial], claims: QuerySet[Claim], kinds: Iterable[Mapping[str, Any]]
) -> dict[int, list[Judged]]:
    """Return all judgments of these claims by trial, in two queries.

    Args:
        kinds: Those of the benchmark's artifacts.
    """
    codes = {kind["key"] for kind in kinds if kind.get("form") == "code"}
    known = {row["pk"]: row for row in claims.order_by("pk").values(*FIELDS)}
    thresholds = {trial.pk: trial.threshold for trial in trials}
    rows = ClaimJudgment.objects.filter(trial__in=thresholds).order_by("claim", "order")
    found: dict[int, list[Judged]] = defaultdict(list)
    for trial, claim, order, state, score in rows.values_list(
        "trial", "claim", "order", "state", "score"
    ):
        if claim in known:
            verdict = _verdict(known[claim], order, score, thresholds[trial], codes)
            found[trial].append(Judged(claim, order, state, verdict))
    return found


def ended_verdicts(trial: Trial) -> list[ClaimVerdict]:
    """Return a trial's verdicts on usable claims, on held-out ones only if it was tuned."""
    claims = Claim.objects.filter(benchmark=trial.benchmark).usable()
    if trial.is_tuned:
        claims = claims.filter(split=Split.HELD_OUT)
    judged = judged_claims([trial], claims, trial.benchmark.kinds).get(trial.pk, ())
    return [one.verdict for one in judged if one.state in (ItemState.DONE, ItemState.ERROR)]


def _verdict(
    claim: Mapping[str, Any], order: int, score: float | None, threshold: float, codes: set[str]
) -> ClaimVerdict:
    is_rank, is_part = claim["kind"] == ClaimKind.RANK, claim["kind"] in PARTS
    part = claim["idea"] if is_part else None
    shown = ((claim["left"], part), (claim["right"], part))
    ideas = (claim["left__idea"] or claim["idea"], claim["right__idea"] or claim["idea"])
    topic = str(claim["topic"])
    return ClaimVerdict(
        kind=claim["kind"],
        task=task_of(claim["kind"], claim["right__kind"], is_code=claim["right__kind"] in codes),
        truth=claim["truth"] != (is_rank and order == 1),
        verdict=None if score is None else score >= threshold,
        shown=shown[::-1] if order else shown,
        ideas=ideas,
        topic=topic,
        cluster=topic if claim["topic__is_cluster"] else "",
        is_hard=claim["hardness"] == Hardness.WITHIN_CLUSTER and not claim["truth"],
        score=score,
        anchor=claim["anchor"],
    )
