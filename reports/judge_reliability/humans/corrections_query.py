"""Pass rates corrected for the known error of their jury."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Q

from evalhub.models import User
from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Checked, Corrected, Tally, corrected
from reports.queries.human_agreement import Calibration, Evaluated, inputs_of, jury_key, version_of
from reports.queries.names import titles
from runs.figures.rate import Rate, rate_of_issues
from runs.models import JudgeRun, Result, ResultScore, Run, Suite


class Names(NamedTuple):
    """Issue titles and run labels by id, and the results open to the reader."""

    issues: dict[int, str]
    runs: dict[int, str]
    open_to: set[int]


def names_of(rows: Sequence[Checked], reader: User) -> Names:
    """Return the names in these rows; three queries."""
    runs = Run.objects.filter(pk__in={row.run for row in rows}).only("label", "model_name")
    readable = Result.objects.filter(pk__in=[row.result for row in rows]).readable_by(reader)
    return Names(
        issues=titles({row.issue for row in rows}),
        runs={run.pk: str(run) for run in runs},
        open_to=set(readable.order_by().values_list("pk", flat=True)),
    )


@dataclass(frozen=True)
class JudgedRun:
    """A run's results by issue, as its judges alone scored them, without human overrides.

    `total` counts unscored ones too.
    """

    judge_run: JudgeRun
    issues: tuple[Tally, ...]
    total: int

    @property
    def rate(self) -> Rate:
        issues = [(one.passed, one.passed + one.failed) for one in self.issues]
        return rate_of_issues(issues, answers=self.judge_run.run.repeats, total=self.total)


def judged_runs(*, suite: Suite | None = None, last: int) -> list[JudgedRun]:
    """Return the newest complete runs that judges scored; two queries."""
    rows = JudgeRun.objects.filter(is_active=True, run__in=Run.objects.complete())
    rows = rows.exclude(jury__judges=[])
    if suite is not None:
        rows = rows.filter(run__suite=suite)
    judge_runs = list(rows.select_related("run").order_by("-run_id")[:last])
    scores = ResultScore.objects.filter(judge_run__in=judge_runs).order_by()
    counts = scores.values_list("judge_run_id", "result__issue_id").annotate(
        n_passed=Count("pk", filter=Q(passed=True)),
        n_failed=Count("pk", filter=Q(passed=False)),
        n=Count("pk"),
    )
    issues: dict[int, list[Tally]] = defaultdict(list)
    totals: Counter[int] = Counter()
    for pk, issue, passed, failed, n in counts:
        issues[pk].append(Tally(issue, passed, failed))
        totals[pk] += n
    return [JudgedRun(one, tuple(sorted(issues[one.pk])), totals[one.pk]) for one in judge_runs]


def corrections(
    runs: Sequence[JudgedRun],
    evaluated: Sequence[Evaluated],
    calibration: Calibration | None,
    reading: Reading,
) -> dict[int, Corrected] | None:
    """Return the corrected pass rates by judge run; None: not computed yet."""
    if calibration is None:
        return None
    inputs = [inputs_of(evaluated), [version_of(run.judge_run) for run in runs]]
    return reading.computed(
        "corrected-2", inputs, dict[int, Corrected], lambda: _correct(runs, calibration)
    )


def _correct(runs: Sequence[JudgedRun], calibration: Calibration) -> dict[int, Corrected]:
    by_party: dict[str, list[Checked]] = defaultdict(list)
    for row in calibration.rows:
        by_party[row.party].append(row)
    return {
        run.judge_run.pk: corrected(run.issues, by_party[jury_key(run.judge_run)]) for run in runs
    }
