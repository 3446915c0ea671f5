"""Tallies beside a recount, after overrides and a re-judging that are taken back afterwards."""

import random
import time
from dataclasses import dataclass
from typing import Any

OVERRIDES, RUNS, UNTOUCHED = 1000, 100, 100


@dataclass(frozen=True)
class Proof:
    """What was done, how long each act took, and in how many runs a tally was not exact."""

    overrides: int
    override_ms: float
    rejudged: int
    rejudge_s: float
    marked: int
    recount_ms: float
    compared: int
    wrong: int

    @property
    def holds(self) -> bool:
        return self.wrong == 0 and self.marked > 0

    @property
    def words(self) -> str:
        return (
            f"{self.overrides:,} overrides of {self.override_ms:.0f} ms each and a re-judging of "
            f"{self.rejudged:,} results in {self.rejudge_s:.1f} s left {self.marked} runs to count "
            f"again, {self.recount_ms:.0f} ms each. {self.compared} tallies were compared with a "
            f"recount, {self.wrong} differed."
        )


def prove() -> Proof:
    from django.db import transaction

    from runs.figures.run_tallies import count_run, differences, uncounted
    from runs.models import Run, RunTally

    for run in uncounted().values_list("pk", flat=True):
        count_run(run)
    chance = random.Random(1)
    runs = list(Run.objects.complete().order_by("pk").values_list("pk", flat=True))
    touched = sorted(chance.sample(runs, min(RUNS, len(runs) // 2)))
    untouched = sorted(chance.sample([run for run in runs if run not in touched], len(touched)))
    with transaction.atomic():
        started = time.perf_counter()
        overrides = override(touched[1:], chance)
        overridden = time.perf_counter()
        rejudged = rejudge(Run.objects.get(pk=touched[0]))
        rejudged_at = time.perf_counter()
        marked = list(RunTally.objects.filter(version=None).values_list("pk", flat=True))
        counted = [count_run(run) for run in marked]
        recounted = time.perf_counter()
        found = [differences(run) for run in {*marked, *untouched[:UNTOUCHED]}]
        transaction.set_rollback(True)
    return Proof(
        overrides=overrides,
        override_ms=1000 * (overridden - started) / overrides,
        rejudged=rejudged,
        rejudge_s=rejudged_at - overridden,
        marked=len(marked),
        recount_ms=1000 * (recounted - rejudged_at) / max(1, len(marked)),
        compared=len(found),
        wrong=sum(one != [] for one in found) + counted.count(False),
    )


def override(runs: list[int], chance: random.Random) -> int:
    """Give random results of these runs a random verdict, one by one as annotators do."""
    from evalhub.models import ItemState
    from runs.models import Result
    from runs.scoring.human_evaluation import HumanVerdict, evaluate, evaluation_points_of
    from tests.bench.reports import reader

    by, related = reader(), ("run", "test", "revision__template")
    answered = Result.objects.filter(run__in=runs, state=ItemState.DONE).order_by()
    ids = chance.sample(list(answered.values_list("pk", flat=True)), OVERRIDES)
    for pk in ids:
        result = Result.objects.select_related(*related).get(pk=pk)
        scale = evaluation_points_of(result)[""].scale
        evaluate(result, HumanVerdict(chance.choice(scale.options).label, "A bench."), by=by)
    return OVERRIDES


def rejudge(run: Any) -> int:
    """Let another judge run, which fails two of three answers, set the run's scores."""
    from evalhub.models import BatchState, ItemState
    from runs.judging.activation import set_active
    from runs.models import JudgeRun, ResultScore

    active = JudgeRun.objects.get(run=run, is_active=True)
    copied = JudgeRun.objects.get(pk=active.pk)
    copied.pk, copied.number, copied.is_active = None, active.number + 1, False
    copied.state = BatchState.DONE
    copied.save()
    rows = ResultScore.objects.filter(judge_run=active).order_by().values_list("result_id", "state")
    ResultScore.objects.bulk_create(
        ResultScore(
            judge_run=copied,
            result_id=result,
            state=state,
            score=float(result % 3 == 0) if state == ItemState.DONE else None,
            passed=result % 3 == 0 if state == ItemState.DONE else None,
        )
        for result, state in rows
    )
    set_active(copied)
    return ResultScore.objects.filter(judge_run=copied).count()
