"""The issues of a run, compared with the whole run and over the last runs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from reports.documents.reading import Reading
from reports.queries.names import titles
from reports.queries.scope import scope_of
from reports.underperforming.rule import (
    LAST,
    Before,
    Counted,
    IssueComparisons,
    issue_comparisons,
)
from runs.figures.rate import Rate, rate_of_issues
from runs.models import Outcome, Result, Run
from runs.models.run import RunQuerySet

SCORED = (Outcome.PASSED, Outcome.FAILED)
WINDOW = 50
"""Conclusive runs, up to the chosen one, that are searched for the last ones of an issue."""


@dataclass(frozen=True)
class UnderperformingReport:
    """The underperforming issues of a run.

    Attributes:
        run: None without any conclusive run.
        comparisons: None while they are computed.
        titles: By issue.
        excluded: Number of errors, unscored and pending results by issue.
    """

    run: Run | None
    comparisons: IssueComparisons | None
    titles: Mapping[int, str]
    excluded: Mapping[int, int]
    rate: Rate | None = None


def newest_run() -> Run | None:
    """Return the newest conclusive run of the suite that reports open on, else of all."""
    return _newest_of(scope_of(None).runs) or _newest_of(Run.objects.conclusive())


def _newest_of(runs: RunQuerySet) -> Run | None:
    return runs.select_related("suite").order_by("-created_at", "-pk").first()


def underperforming(run: Run | None, reading: Reading) -> UnderperformingReport:
    """Compare the issues of this run; a constant number of queries."""
    if run is None:
        return UnderperformingReport(None, None, {}, {})
    tests, excluded = _tests(run)
    never = [issue for issue, of in tests.items() if not any(test.passed for test in of)]
    last = _last_runs(run, never)
    rates = [
        (sum(one.passed for one in of), sum(one.scored for one in of)) for of in tests.values()
    ]
    issues = {*tests, *excluded}
    return UnderperformingReport(
        run=run,
        comparisons=_comparisons(run, tests, last, reading),
        titles=titles(issues),
        excluded=excluded,
        rate=rate_of_issues(
            rates,
            answers=run.repeats,
            total=sum(scored for _, scored in rates) + sum(excluded.values()),
        ),
    )


Tests = dict[int, list[Counted]]


def _tests(run: Run) -> tuple[Tests, dict[int, int]]:
    """Return the scored tests and the number of excluded results by issue; one query."""
    single = run.repeats == 1
    groups = ["issue_id", "judges_outcome"] if single else ["issue_id", "test_id", "judges_outcome"]
    rows = Result.objects.filter(run=run).order_by().values_list(*groups).annotate(n=Count("pk"))
    excluded: dict[int, int] = defaultdict(int)
    sums: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0])
    for *key, outcome, n in rows:
        if outcome in SCORED:
            sums[tuple(key)][0] += n if outcome == Outcome.PASSED else 0
            sums[tuple(key)][1] += n
        else:
            excluded[key[0]] += n
    tests: Tests = defaultdict(list)
    for (issue, *_), (passed, scored) in sorted(sums.items()):
        tests[issue].append(Counted(passed, scored))
    return dict(tests), dict(excluded)


def _last_runs(run: Run, issues: Collection[int]) -> dict[int, list[Before]]:
    """Return the newest runs that scored these issues, this one first; two queries."""
    if not issues:
        return {}
    earlier = Run.objects.conclusive().filter(created_at__lte=run.created_at)
    window = list(earlier.order_by("-created_at", "-pk").values_list("pk", flat=True)[:WINDOW])
    rows = Result.objects.filter(issue__in=issues, run__in=window, judges_outcome__in=SCORED)
    sums: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    counted = (
        rows.order_by().values_list("issue_id", "run_id", "judges_outcome").annotate(n=Count("pk"))
    )
    for issue, of, outcome, n in counted:
        sums[issue][of][0] += n if outcome == Outcome.PASSED else 0
        sums[issue][of][1] += n
    return {
        issue: [Before(pk, *found[pk]) for pk in window if pk in found][:LAST]
        for issue, found in sums.items()
    }


def _comparisons(
    run: Run, tests: Tests, last: Mapping[int, Sequence[Before]], reading: Reading
) -> IssueComparisons | None:
    """Compare the issues; with repeats, permutations may be left to a second request."""
    if run.repeats == 1:
        return issue_comparisons(tests, last, single=True)
    return reading.computed(
        "comparisons-3",
        [sorted(tests.items()), sorted(last.items())],
        IssueComparisons,
        lambda: issue_comparisons(tests, last, single=False),
    )
