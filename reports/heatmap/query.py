"""Pass rates of the latest run of each model by issue or tag."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Q

from evalhub.models import LanguageModel
from reports.documents.model_lines import names_of
from reports.documents.reading import Reading
from reports.heatmap.spread_rule import RunTest, Spread, spreads
from reports.queries.exposure import only, tallies_of_tests, version_of_tests
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs, newer_than
from reports.queries.measurement_changes import measure_of
from reports.queries.names import all_tag_names, identities, titles
from reports.queries.run_variants import judge_runs_of, labels_of_all, runs_of, variant_of
from reports.queries.scope import Choice, Scope, scope_of
from runs.comparison.release_order import newest_first
from runs.figures.tallies import Group, Rates, Tally, groups_of
from runs.models import Outcome, Result, Run

MAX_COLUMNS, MAX_NAMED = 10, 30

ISSUE, TAG = "issue", "tag"
VARIANT, IDENTITY = "variant", "identity"
NEWEST, ALL_RELEASES = "", "all"
DIFFICULTY, SPREAD, NAME = "difficulty", "spread", "name"


@dataclass(frozen=True)
class HeatQuery:
    """Settings of the heat map: rows ISSUE or TAG, columns VARIANT or IDENTITY.

    `tests` is one of `exposure.CHOICES`, `release` NEWEST, ALL_RELEASES or the name of one.
    """

    suite: Choice
    rows: str
    columns: str
    order: str
    models: Sequence[LanguageModel]
    tests: str = ""
    release: str = NEWEST


@dataclass(frozen=True)
class Column:
    """The latest complete run of a model."""

    name: str
    run: Run


@dataclass(frozen=True)
class Row:
    """An issue (its id) or a tag (its name).

    Attributes:
        difficulty: Failure rate over all columns; None: nothing scored.
        spread: Highest minus lowest pass rate; None unless two columns have one.
    """

    key: int | str
    name: str
    difficulty: float | None
    spread: float | None


class HeatCell(NamedTuple):
    """A row and a run; run 0 is all runs together."""

    row: int | str
    run: int


@dataclass(frozen=True)
class HeatReport:
    """Columns by pass rate, best first.

    `left_out` names columns with older runs: at most `MAX_NAMED` of `left_out_count`. `release` is
    that of all columns, "" without; `elsewhere` counts models and variants without a run in it.
    """

    scope: Scope
    release: str
    elsewhere: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    rates: Rates[HeatCell]
    left_out: tuple[str, ...]
    left_out_count: int
    measured_apart: bool
    labels: tuple[str, ...]
    incomplete: tuple[IncompleteRun, ...]
    """Runs that would be columns if enough of them were scored."""


def heat_report(query: HeatQuery) -> HeatReport:
    """Compute the heat map; a constant number of queries."""
    scope = scope_of(query.suite)
    every = scope.all_runs.of_models(query.models)
    release, latest, elsewhere = _latest(scope, query)
    known = runs_of(latest[: MAX_COLUMNS + MAX_NAMED])
    if query.columns == IDENTITY:
        called = {pk: run.model_name for pk, run in known.items()}
    else:
        variants = names_of([variant_of(run) for run in known.values()])
        called = {pk: variants[run.variant_key] for pk, run in known.items()}
    runs = {pk: known[pk] for pk in latest[:MAX_COLUMNS]}
    judge_runs = judge_runs_of(runs)
    groups, names = _grouped(query, tallies_of_tests(list(runs), query.tests))
    # The column of all runs has their answers together.
    repeats = {pk: run.repeats for pk, run in runs.items()} | {
        0: max(1, sum(run.repeats for run in runs.values()))
    }
    rates = Rates(groups, answers=lambda place: repeats[place.run])
    return HeatReport(
        scope=scope,
        release=release,
        elsewhere=elsewhere,
        columns=_columns(runs.values(), called, groups),
        rows=_sorted(_rows(groups, names), query.order),
        rates=rates,
        left_out=tuple(called[pk] for pk in latest[MAX_COLUMNS:] if pk in called),
        left_out_count=max(0, len(latest) - MAX_COLUMNS),
        measured_apart=len({measure_of(run, judge_runs) for run in runs.values()}) > 1,
        labels=labels_of_all(runs.values(), judge_runs),
        incomplete=newer_than(known.values(), incomplete_runs(every)),
    )


def _latest(scope: Scope, query: HeatQuery) -> tuple[str, list[int], int]:
    """Return the release, the latest run of each column in it, and the number of other columns.

    Newest first; the release is "" where the columns are of all, or none has a name.
    """
    rows = newest_first(scope.runs.of_models(query.models))
    release = query.release
    if release == NEWEST:
        release = next((one.release for one in rows if one.release), "")
    elif release == ALL_RELEASES:
        release = ""
    by_identity = query.columns == IDENTITY
    keys = {pk: one.key for pk, one in identities().items()} if by_identity else {}
    newest: dict[str, int] = {}
    others: set[str] = set()
    for one in rows:
        key = keys[one.model] if by_identity else one.variant
        if release in ("", one.release):
            newest.setdefault(key, one.run)
        others.add(key)
    return release, list(newest.values()), len(others) - len(newest)


def _grouped(
    query: HeatQuery, tallies: Sequence[Tally]
) -> tuple[dict[HeatCell, Group], Mapping[int | str, str]]:
    """Return the results by row and run, and by row alone, and the names of the rows."""
    tags = {} if query.rows == ISSUE else all_tag_names()

    def cells(tally: Tally) -> Iterator[HeatCell]:
        for row in [tally.issue_id] if query.rows == ISSUE else tags[tally.tag_set_id]:
            yield HeatCell(row, tally.run_id)
            yield HeatCell(row, 0)

    groups = groups_of(tallies, cells)
    if query.rows == ISSUE:
        return groups, dict(titles({tally.issue_id for tally in tallies}).items())
    return groups, {cell.row: str(cell.row) for cell in groups}


def _rows(groups: Mapping[HeatCell, Group], names: Mapping[int | str, str]) -> list[Row]:
    shares: dict[int | str, list[float]] = defaultdict(list)
    for place, group in groups.items():
        if place.run and group.scored:
            shares[place.row].append(group.passed / group.scored)
    return [
        Row(
            key,
            name,
            difficulty=1 - together.passed / together.scored if together.scored else None,
            spread=max(mine) - min(mine) if len(mine := shares[key]) > 1 else None,
        )
        for key, name in names.items()
        for together in [groups[HeatCell(key, 0)]]
    ]


def _sorted(rows: Iterable[Row], order: str) -> tuple[Row, ...]:
    """Sort highest first, then by name; rows without a value come last."""

    def place(row: Row) -> tuple[float, str]:
        value = {DIFFICULTY: row.difficulty, SPREAD: row.spread}.get(order)
        return (0.0 if order == NAME else 2.0 if value is None else -value, row.name.casefold())

    return tuple(sorted(rows, key=place))


def _columns(
    runs: Iterable[Run], called: Mapping[int, str], groups: Mapping[HeatCell, Group]
) -> tuple[Column, ...]:
    """Sort the columns best first."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for place, group in groups.items():
        sums[place.run][0] += group.passed
        sums[place.run][1] += group.scored

    def place_of(column: Column) -> tuple[float, str]:
        passed, scored = sums[column.run.pk]
        return (-passed / scored if scored else 1.0, column.name)

    return tuple(sorted((Column(called[run.pk], run) for run in runs), key=place_of))


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
    scored = only(Result.objects.filter(run__in=runs, judges_outcome__in=SCORED), query.tests)
    rows = scored.order_by().values_list("run_id", "revision_id", "issue_id", "tag_set_id")
    counted = rows.annotate(
        passed=Count("pk", filter=Q(judges_outcome=Outcome.PASSED)), n=Count("pk")
    )
    tags = {} if query.rows == ISSUE else all_tag_names()
    return [
        RunTest(row, run, revision, issue, passed / n)
        for run, revision, issue, tag_set, passed, n in counted
        for row in ([issue] if query.rows == ISSUE else tags[tag_set])
    ]
