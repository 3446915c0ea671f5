"""Heat map: pass rates of issues or tags by model."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from evalhub.display.formatting import counted, few, listed
from evalhub.statistics.changes.net_change import LEVEL
from reports.compare.conclusion_words import is_p
from reports.documents.document import Cell, Column, Document, LazyRows, Link, Linked, Table
from reports.documents.fields import SuiteField, models_field, tests_field, tests_filter_help
from reports.documents.links import page_url, results_urls
from reports.documents.reading import Page, Reading, ReportForm
from reports.heatmap.query import (
    ALL_RELEASES,
    DIFFICULTY,
    IDENTITY,
    ISSUE,
    NAME,
    NEWEST,
    SPREAD,
    TAG,
    VARIANT,
    HeatCell,
    HeatQuery,
    HeatReport,
    Row,
    heat_report,
    spreads_of,
)
from reports.heatmap.spread_rule import Spread
from reports.queries.incomplete_runs import incomplete_table
from reports.queries.periods import newest_releases

WARNING = "These runs differ in tests or judges: differences between columns may come from that."


def _releases() -> list[tuple[str, str]]:
    names = ((name, name) for name in newest_releases() if name != ALL_RELEASES)
    return [(NEWEST, "Newest release"), (ALL_RELEASES, "All releases"), *names]


class HeatForm(ReportForm):
    """Filters of the heat map."""

    suite = SuiteField()
    rows = forms.ChoiceField(
        label="Rows", choices=[(ISSUE, "Issues"), (TAG, "Tags")], initial=ISSUE
    )
    columns = forms.ChoiceField(
        label="Columns",
        choices=[(VARIANT, "Model variants"), (IDENTITY, "Models")],
        initial=VARIANT,
    )
    release = forms.ChoiceField(choices=_releases, initial=NEWEST)
    order = forms.ChoiceField(
        label="Sort by",
        choices=[(DIFFICULTY, "Difficulty"), (SPREAD, "Spread across models"), (NAME, "Name")],
        initial=DIFFICULTY,
    )
    models = models_field()
    tests = tests_field()


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the map and its most notable findings."""
    query = HeatQuery(
        suite=filters["suite"],
        rows=filters["rows"],
        columns=filters["columns"],
        order=filters["order"],
        models=list(filters["models"] or ()),
        tests=filters["tests"],
        release=filters["release"],
    )
    report = heat_report(query)
    spreads = spreads_of(report, query, reading)
    kind = "issues" if query.rows == ISSUE else "tags"
    of_models = tuple(_of_models(report)) if query.rows == ISSUE else ()
    leading = (*tests_filter_help(query.tests), *of_models)
    return Document(
        title=f"Pass rate of each model by {query.rows}",
        sentences=(*leading, *_sentences(report, kind, spreads)),
        leading=len(leading) if of_models else None,
        tables=(_map(report, query, spreads), *incomplete_table(report.incomplete, reading.reader)),
        warnings=(WARNING,) if report.measured_apart else (),
        labels=report.labels,
    )


def _sentences(report: HeatReport, kind: str, spreads: Mapping[int | str, Spread]) -> Iterator[str]:
    if not report.columns:
        return
    scored = [row for row in report.rows if row.difficulty is not None]
    rows = counted(len(report.rows), kind[:-1])
    columns = counted(len(report.columns), "latest complete run")
    of = f"release {report.release} of " if report.release else ""
    yield f"{rows} in {columns} of {of}{report.scope.name}, one per column."
    never = [row.name for row in scored if row.difficulty == 1]
    always = [row.name for row in scored if row.difficulty == 0]
    model = "model shown" if report.left_out else "model"
    if never:
        yield f"No {model} passed any test of {few(never)}."
    if always:
        yield f"Every {model} passed every test of {few(always)}."
    apart = [row for row in scored if row.key in spreads and spreads[row.key].holm <= LEVEL]
    if apart:
        yield _differ_most(max(apart, key=lambda row: row.spread or 0), spreads, kind)
    if report.left_out:
        names = few(report.left_out, of=report.left_out_count)
        yield f"Not shown: {names}, which ran longer ago. Choose models to show them."
    if report.elsewhere:
        others = counted(report.elsewhere, "column")
        yield f"Not shown: {others} without a run in this release; choose “All releases”."


MOST_MODELS = 6
"""Models that have a sentence."""
WEAKEST = 2
"""Issues that it names."""


def _of_models(report: HeatReport) -> Iterator[str]:
    """Yield what each model is like: how much it passes, and where it fails most."""
    for column in report.columns[:MOST_MODELS]:
        found = [
            (rate, row.name)
            for row in report.rows
            if (rate := report.rates.get(HeatCell(row.key, column.run.pk))) and rate.n
        ]
        if not found:
            continue
        passed, n = sum(rate.passed for rate, _ in found), sum(rate.n for rate, _ in found)
        failing = [(rate, name) for rate, name in found if rate.passed < rate.n]
        weakest = sorted(failing, key=lambda one: (one[0].share or 0, -one[0].n, one[1]))
        names = [f"“{name}” ({rate.passed:,} of {rate.n:,})" for rate, name in weakest[:WEAKEST]]
        all_pass, of = len(found) - len(failing), counted(len(found), "issue")
        said = [f"all of them in {all_pass:,} of {of}"] if all_pass else []
        said += [f"fewest in {listed(names)}"] if names else []
        yield f"{column.name}: {passed:,} of {counted(n, 'answer')} pass, {', '.join(said)}."


def _differ_most(row: Row, spreads: Mapping[int | str, Spread], kind: str) -> str:
    found = spreads[row.key]
    over = f", Holm over {len(spreads):,} {kind}" if len(spreads) > 1 else ""
    return (
        f"Models differ most on {row.name}: by {100 * (row.spread or 0):.0f} points "
        f"({counted(found.tests, 'test')} that all have scored, {is_p(found.holm)} by "
        f"{found.method}{over})."
    )


def _map(report: HeatReport, query: HeatQuery, spreads: Mapping[int | str, Spread]) -> Table:
    return Table(
        key="map",
        title=f"Pass rate by {query.rows} and model",
        columns=(
            Column("name", query.rows.capitalize(), "link"),
            *(
                Column(f"run_{one.run.pk}", one.name, "rate", str(one.run))
                for one in report.columns
            ),
            Column("all", "All", "rate", "All columns"),
            Column("spread", "Spread", "number", "Highest minus lowest pass rate, in points"),
            Column("tests", "Tests", "count", "That all models have scored; from 6 on tested"),
            Column("p_holm", "p (Holm)", "p", "Of the spread; a dash: not tested"),
            Column("method", "Method"),
        ),
        rows=LazyRows(
            report.rows,
            lambda rows: [_row(report, query, row, spreads.get(row.key)) for row in rows],
        ),
        note=" ".join(_note(query)),
        empty="No complete run of this suite yet. Launch it, or choose another suite.",
        look="heat",
        describes="Darker green: more passed. Orange: more failed.",
    )


def _row(report: HeatReport, query: HeatQuery, row: Row, found: Spread | None) -> tuple[Cell, ...]:
    if query.rows == ISSUE:
        url = page_url("issue_timeline", issue=row.key)
    else:
        url = page_url("trend", suite=report.scope.suite, tag=row.key)
    runs = [column.run for column in report.columns]
    rates = [report.rates.get(HeatCell(row.key, run.pk)) for run in runs]
    urls = results_urls(runs, **{query.rows: row.key})
    return (
        Link(row.name, url),
        *(rate and Linked(rate, url) for rate, url in zip(rates, urls, strict=True)),
        report.rates.get(HeatCell(row.key, 0)),
        None if row.spread is None or report.measured_apart else round(100 * row.spread, 6),
        *((found.tests, found.holm, found.method) if found else (None, None, None)),
    )


def _note(query: HeatQuery) -> Iterator[str]:
    yield "Models and rows are in the order of their pass rates, which is not tested."
    yield "Click a cell for its results, a name for its history."
    yield "A dash: no such test in the run."
    if query.rows != ISSUE:
        yield "A test counts for each of its tags."
    if query.columns == IDENTITY:
        yield "Each model is shown with its newest run of any variant."
    yield (
        "Answers of several models to one test are not independent, so intervals in the column All "
        "account for issues, or count these answers as one."
    )


HEATMAP = Page(
    key="heatmap",
    title="Heat map",
    question="Which model fails at what?",
    summary="The pass rate of each issue or tag in the latest run of each model.",
    form=HeatForm,
    build=build,
)
