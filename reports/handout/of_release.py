"""A release against the one before on one page."""

from collections.abc import Iterator

from evalhub.display.formatting import few, usd
from evalhub.statistics.changes.conclusion import Word
from reports.compare.conclusion_words import family, lost
from reports.documents.handout import Handout, HandoutLine, together
from reports.handout.of_two_runs import concluded_line, passed_of
from reports.releases.query import ReleaseLine, ReleasesReport
from reports.releases.release_tables import cost_note, names_of

MAX_LOST = 5
"""Models whose lost issues are named."""

NEW = 3
"""Models that are named though they were not run before."""


def handout_of(report: ReleasesReport) -> Handout | None:
    """Return the page; None where there is nothing to conclude from, or not yet."""
    if report.is_pending or not any(line.before for line in report.lines):
        return None
    losses = [said for line in report.compared for said in _lost(line, report)]
    return Handout(
        about=report.release or "Newest runs",
        names=names_of(report),
        lines=tuple(_line(line) for line in report.shown if line.before),
        lost=together(losses, MAX_LOST),
        notes=tuple(_notes(report)),
        cost=f"{usd(report.cost.spent.usd)} ({cost_note(report)})",
    )


def _line(line: ReleaseLine) -> HandoutLine:
    before, now = passed_of(line.rate_before), passed_of(line.figures.rate)
    if line.change is None:
        why = f"not compared: {line.comparable.cause}"
        return HandoutLine(line.name, Word.NOTHING, why, before, now)
    found, tally = line.change.conclusion, line.change.whole.tally
    return concluded_line(line.name, found, tally, before, now)


def _lost(line: ReleaseLine, report: ReleasesReport) -> Iterator[str]:
    """Yield the surest sentence on the issues that a model lost."""
    if line.change and (said := next(lost(line.change.conclusion, report.titles), "")):
        yield f"{line.name}: {said[0].lower()}{said[1:]}"


def _notes(report: ReleasesReport) -> Iterator[str]:
    if said := family(len(report.compared), "comparison"):
        yield said
    if new := [line.name for line in report.lines if line.before is None]:
        yield f"Not run completely before: {few(new, most=NEW)}."
    if more := [line.name for line in report.lines[len(report.shown) :] if line.before]:
        yield f"On the site only: {few(more, most=NEW)}."
    if reviews := len(report.reviews):
        yield f"People overturned {report.reviews.overturned:,} of {reviews:,} checked answers."
