"""Release against release: each model against itself in the release before."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django import forms

from evalhub.statistics.changes.conclusion import Word
from reports.documents.document import Document, Fact
from reports.documents.reading import Page, Reading, ReportForm
from reports.documents.rejudging import rejudging
from reports.handout.of_release import handout_of
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs, incomplete_table
from reports.queries.periods import newest_releases
from reports.releases.decision_tables import (
    decision_links,
    decision_sentences,
    decisions_table,
)
from reports.releases.decisions import decisions_on
from reports.releases.query import ReleasesReport, models_in, releases_report
from reports.releases.reference_query import references_table
from reports.releases.release_tables import (
    basis,
    cost_note,
    issues_table,
    models_table,
    next_steps,
    refusals,
    sentences,
    title_of,
)
from runs.models import Run, Suite


def _releases(first: str) -> list[tuple[str, str]]:
    return [("", first), *((release, release) for release in newest_releases())]


class ReleasesForm(ReportForm):
    """Filters of the page."""

    release = forms.ChoiceField(choices=lambda: _releases("Newest release"))
    before = forms.ChoiceField(
        label="Against", choices=lambda: _releases("The release before"), initial=""
    )
    suite = forms.ModelChoiceField(
        Suite.objects.only("name").order_by("name"), empty_label="All suites"
    )


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Set each model against itself: rates, certain changes, issues, reviews and cost."""
    report = releases_report(
        reading, suite=filters["suite"], release=filters["release"], before=filters["before"]
    )
    runs = Run.objects.all() if filters["suite"] is None else filters["suite"].runs.all()
    document = document_of(report, incomplete_runs(runs), reading)
    decisions = decisions_on(report.release)
    decided = tuple(decision_sentences(decisions))
    return replace(
        document,
        sentences=(*decided, *document.sentences),
        leading=(document.leading or 0) + len(decided),
        tables=(*document.tables, *decisions_table(decisions)),
        actions=(*decision_links(report.release, reading.reader), *document.actions),
        handout=document.handout and replace(document.handout, decision=" ".join(decided)),
    )


def document_of(
    report: ReleasesReport, incomplete: Iterable[IncompleteRun], reading: Reading
) -> Document:
    """Build the report of a release; `incomplete` are the incomplete runs of its suites."""
    left_out = report.left_incomplete(incomplete)
    apart = [line for line in report.shown if line.is_refused]
    said = tuple(sentences(report))
    return Document(
        title=title_of(report),
        sentences=(*said, *basis(report)),
        facts=tuple(_facts(report)),
        tables=(
            models_table(report),
            issues_table(report),
            *references_table(report.looks),
            *incomplete_table(left_out, reading.reader),
        ),
        warnings=tuple(refusals(report)),
        labels=report.labels,
        leading=len(said),
        handout=handout_of(report),
        more={"next_steps": next_steps(report)},
        actions=tuple(
            link
            for line in apart
            if line.before
            for link in rejudging(line.run, line.before, line.comparable, reading.reader)
        ),
    )


def _facts(report: ReleasesReport) -> Iterator[Fact]:
    if not report.lines:
        return
    is_first = not any(line.before for line in report.lines)
    compared = models_in(line for line in report.lines if line.is_joined)
    if not is_first:
        of = f"of {models_in(report.lines):,}"
        yield Fact("compared", "Models compared", compared, "count", of)
    if report.compared:
        worse = models_in(report.with_word(Word.WORSE, Word.MIXED))
        yield Fact("worse", "Models worse or mixed", worse, "count", f"of {compared:,} compared")
        lost = {one.issue for _, one, is_sure in report.lost_issues() if is_sure}
        yield Fact("issues", "Issues surely lost", len(lost), "count")
    if len(report.reviews) or not is_first:
        of = f"of {len(report.reviews):,} reviewed by annotators"
        yield Fact("overturned", "Overturned", report.reviews.overturned, "count", of)
    yield Fact("cost", "Cost", report.cost.spent.usd, "usd", cost_note(report))


RELEASES = Page(
    key="releases",
    title="Release against release",
    question="Is the new release better?",
    summary="Each model of a release against itself in the release before, with certain changes.",
    form=ReleasesForm,
    build=build,
)
