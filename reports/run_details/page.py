"""Run details: the outcomes of each run, overall and by tag."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from evalhub.charts import OutcomeRow, tag_bars
from evalhub.outcomes import OUTCOMES as STYLES
from reports.compare.controls import Offered
from reports.compare.form import RunsField
from reports.compare.run_choices_query import offered
from reports.documents.cells import rate_words
from reports.documents.document import Cell, Column, Document, Link, Linked, Table
from reports.documents.fields import tests_field, tests_filter_help
from reports.documents.lazy_rows import LazyRows
from reports.documents.links import page_url, results_url, run_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.run_details.figure import Bars, grouped_rates, rings
from reports.run_details.query import RunDetailsReport, RunOutcomes, TagCell, run_details_report
from runs.models import Run

MAX_RUNS, MAX_DRAWN = 8, 20


class RunDetailsForm(ReportForm):
    """Filters of the Run details page."""

    runs = RunsField(
        Run.objects.select_related("suite"),
        initial=[],
        label="Runs",
        help_text=f"At most {MAX_RUNS}. Without any: the latest complete runs.",
        widget=forms.MultipleHiddenInput,
    )
    tests = tests_field()
    find = forms.CharField(max_length=100, label="Find runs")


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the outcomes of each run, overall and by tag."""
    chosen = list(filters["runs"] or ())
    report = run_details_report(chosen[:MAX_RUNS], tests=filters["tests"])
    return Document(
        title="Pass rate of each run, overall and by tag",
        sentences=(
            *tests_filter_help(filters["tests"]),
            *_sentences(report, len(chosen) - MAX_RUNS),
        ),
        tables=(_runs(report), _tags(report)),
        labels=report.labels,
        more=_controls(report, filters["find"]),
    )


def _sentences(report: RunDetailsReport, too_many: int) -> Iterator[str]:
    if report.runs:
        yield (
            "; ".join(
                f"{one.name}: {rate_words(rate)} passed"
                for one in report.runs
                if (rate := report.rates.get(TagCell("", one.run.pk)))
            )
            + "."
        )
    if too_many > 0:
        yield f"Not shown: the last {too_many} chosen runs. Remove runs to show them."


def _controls(report: RunDetailsReport, find: str) -> dict[str, Any]:
    """Return the template's context: the runs shown, and others to add."""
    runs = [one.run for one in report.runs]
    others = offered(find, suites=[], without=runs) if len(runs) < MAX_RUNS else []
    return {
        "shown": [
            (one, page_url("run_details", runs=[run for run in runs if run != one.run]))
            for one in report.runs
        ],
        "offered": [
            Offered(run, page_url("run_details", runs=[*runs, run]), is_near=False)
            for run in others
        ],
        "find": find,
    }


OUTCOMES = tuple(Column(name, style.label, "count") for name, style in STYLES.items())


def _runs(report: RunDetailsReport) -> Table:
    drawn = [(one.name, report.counts("", one.run).as_dict()) for one in report.runs]
    return Table(
        key="runs",
        title="Runs",
        columns=(
            Column("run", "Run", "link"),
            Column("model", "Model"),
            Column("release", "Release"),
            Column("date", "Date", "date"),
            Column("rate", "Pass rate", "rate"),
            *OUTCOMES,
        ),
        rows=[_run(report, one) for one in report.runs],
        note="Rates count passed and failed results only.",
        empty="No complete run yet. Launch a run, or choose one in progress.",
        draw=lambda: rings(drawn) if drawn else None,
        describes="A ring of outcomes for each run",
    )


def _run(report: RunDetailsReport, one: RunOutcomes) -> tuple[Cell, ...]:
    counts = report.counts("", one.run).as_dict()
    return (
        Link(one.run.label, run_url(one.run)),
        one.name,
        one.run.release or None,
        one.run.created_at,
        report.rates.get(TagCell("", one.run.pk)),
        *(_opened(n, one.run, outcome=outcome) for outcome, n in counts.items()),
    )


def _opened(n: int, run: Run, **filters: str) -> Cell:
    return Linked(n, results_url(run, **filters)) if n else n


def _tags(report: RunDetailsReport) -> Table:
    """Make the table by tag: all outcomes of a single run, else the rates side by side."""
    alone = report.runs[0] if len(report.runs) == 1 else None
    return Table(
        key="tags",
        title="By tag",
        columns=(
            Column("tag", "Tag"),
            *(
                (Column("rate", "Pass rate", "rate"), *OUTCOMES)
                if alone
                else (Column(f"run_{one.run.pk}", one.name, "rate") for one in report.runs)
            ),
        ),
        rows=LazyRows(
            report.tags,
            lambda tags: [
                _outcomes(report, alone.run, tag) if alone else _rates(report, tag) for tag in tags
            ],
        ),
        note="Lowest pass rate first; the order is not tested. A test counts for each of its tags."
        + (f" The chart shows the first {MAX_DRAWN}." if len(report.tags) > MAX_DRAWN else ""),
        empty="The tests of these runs have no tags." if report.runs else "No complete run yet.",
        draw=lambda: _figure(report, alone, report.tags[:MAX_DRAWN]) if report.tags else None,
        describes="Results by outcome for each tag"
        if alone
        else "The pass rate of each run for each tag",
    )


def _outcomes(report: RunDetailsReport, run: Run, tag: str) -> tuple[Cell, ...]:
    counts = report.counts(tag, run).as_dict()
    return (
        tag,
        report.rates.get(TagCell(tag, run.pk)),
        *(_opened(n, run, tag=tag, outcome=outcome) for outcome, n in counts.items()),
    )


def _rates(report: RunDetailsReport, tag: str) -> tuple[Cell, ...]:
    rates = [(one, report.rates.get(TagCell(tag, one.run.pk))) for one in report.runs]
    return tag, *(rate and Linked(rate, results_url(one.run, tag=tag)) for one, rate in rates)


def _figure(
    report: RunDetailsReport, alone: RunOutcomes | None, tags: Sequence[str]
) -> dict[str, Any]:
    if alone:
        return tag_bars(
            [OutcomeRow(tag, tag, report.counts(tag, alone.run).as_dict()) for tag in tags]
        )
    return grouped_rates(tags, [_bars(report, one, tags) for one in report.runs])


def _bars(report: RunDetailsReport, one: RunOutcomes, tags: Sequence[str]) -> Bars:
    rates = [report.rates.get(TagCell(tag, one.run.pk)) for tag in tags]
    return Bars(
        name=one.name,
        look=one.look,
        rates=[
            None if rate is None or rate.share is None else (rate.share, rate.interval)
            for rate in rates
        ],
        texts=[
            f"{one.name}, {tag}: {rate_words(rate) if rate else 'no tests'}"
            for tag, rate in zip(tags, rates, strict=True)
        ],
    )


RUN_DETAILS = Page(
    key="run_details",
    title="Run details",
    question="How do several runs look side by side?",
    summary="Outcomes and pass rates of chosen runs, overall and by tag.",
    form=RunDetailsForm,
    build=build,
    template="reports/run_details/page.html",
)
