"""The tests behind the heat map, and the rows on which its models differ."""

from collections.abc import Collection, Mapping

from django.db.models import Count, Q

from reports.documents.reading import Reading
from reports.heatmap.query import ISSUE, HeatQuery, HeatReport
from reports.heatmap.spread_rule import RunTest, Spread, spreads
from reports.queries.exposure import only, version_of_tests
from reports.queries.names import all_tag_names
from runs.models import Outcome, Result

SCORED = (Outcome.PASSED, Outcome.FAILED)


def spreads_of(
    report: HeatReport, query: HeatQuery, reading: Reading
) -> Mapping[int | str, Spread]:
    """Return the significance of the differences by row; {} where runs are not comparable.

    Also {} while it is computed; a constant number of queries.
    """
    if report.measured_apart or len(report.columns) < 2:
        return {}
    runs = [column.run.pk for column in report.columns]
    found = reading.computed(
        "heatmap-spreads",
        [query.rows, runs, version_of_tests(runs, query.tests)],
        list[tuple[int | str, Spread]],
        lambda: list(spreads(_tests(query, runs)).items()),
        of=runs,
    )
    return dict(found or ())


def _tests(query: HeatQuery, runs: Collection[int]) -> list[RunTest]:
    scored = only(Result.objects.filter(run__in=runs, outcome__in=SCORED), query.tests)
    rows = scored.order_by().values_list("run_id", "revision_id", "issue_id", "tag_set_id")
    counted = rows.annotate(passed=Count("pk", filter=Q(outcome=Outcome.PASSED)), n=Count("pk"))
    tags = {} if query.rows == ISSUE else all_tag_names()
    return [
        RunTest(row, run, revision, issue, passed / n)
        for run, revision, issue, tag_set, passed, n in counted
        for row in ([issue] if query.rows == ISSUE else tags[tag_set])
    ]
