"""Pass rates corrected for the known error of their jury."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Checked, Corrected, Tally, corrected
from reports.queries.human_agreement import Calibration, Evaluated, inputs_of, jury_key, version_of
from runs.models import JudgeRun, ResultScore, Run, Suite


@dataclass(frozen=True)
class JudgedRun:
    """A run's results as its judges alone scored them, without human overrides; `total` is all."""

    judge_run: JudgeRun
    passed: int
    failed: int
    total: int


def judged_runs(*, suite: Suite | None = None, last: int) -> list[JudgedRun]:
    """Return the newest complete runs that judges scored; two queries."""
    rows = JudgeRun.objects.filter(is_active=True, run__in=Run.objects.complete())
    rows = rows.exclude(jury__judges=[])
    if suite is not None:
        rows = rows.filter(run__suite=suite)
    judge_runs = list(rows.select_related("run").order_by("-run_id")[:last])
    scores = ResultScore.objects.filter(judge_run__in=judge_runs).order_by()
    counted = scores.values_list("judge_run_id", "passed").annotate(n=Count("pk"))
    counts: dict[int, dict[bool | None, int]] = {judge_run.pk: {} for judge_run in judge_runs}
    for pk, passed, n in counted:
        counts[pk][passed] = n
    return [
        JudgedRun(one, of.get(True, 0), of.get(False, 0), sum(of.values()))
        for one in judge_runs
        for of in [counts[one.pk]]
    ]


def corrections(
    runs: Sequence[JudgedRun],
    evaluated: Sequence[Evaluated],
    found: Calibration | None,
    reading: Reading,
) -> dict[int, Corrected] | None:
    """Return the corrected pass rates by judge run; None: not computed yet."""
    if found is None:
        return None
    inputs = [inputs_of(evaluated), [version_of(run.judge_run) for run in runs]]
    return reading.computed(
        "corrected-2", inputs, dict[int, Corrected], lambda: _correct(runs, found)
    )


def _correct(runs: Sequence[JudgedRun], found: Calibration) -> dict[int, Corrected]:
    tallies: dict[int, list[Tally]] = defaultdict(list)
    rows = ResultScore.objects.filter(judge_run__in=[run.judge_run for run in runs]).order_by()
    counted = rows.values_list("judge_run_id", "result__issue_id").annotate(
        n_passed=Count("pk", filter=Q(passed=True)), n_failed=Count("pk", filter=Q(passed=False))
    )
    for judge_run, *tally in counted:
        tallies[judge_run].append(Tally(*tally))
    by_party: dict[str, list[Checked]] = defaultdict(list)
    for row in found.rows:
        by_party[row.party].append(row)
    return {
        run.judge_run.pk: corrected(
            sorted(tallies[run.judge_run.pk]), by_party[jury_key(run.judge_run)]
        )
        for run in runs
    }
