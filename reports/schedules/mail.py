"""A scheduled report as an event: its subject is the finding, its text short and without p."""

import json
from collections.abc import Iterator

from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from evalhub.drawing.figure import svg_of
from evalhub.notifications.events import Attachment, Event, link_to
from evalhub.notifications.models import NotificationKind
from evalhub.notifications.preferences import is_mail_on
from reports.documents.cells import words
from reports.documents.document import Document
from reports.documents.exports import json_of
from reports.documents.handout import Handout
from reports.documents.html_export import light_colours
from reports.documents.origin import Origin
from reports.handout.rendering import CannotMakePdf, pdf_of
from reports.models import ReportSchedule, Snapshot
from reports.schedules.open_links import open_url

ROWS, COLUMNS = 8, 5
"""Of the first table, where a report has no handout."""


def event_of(report: ReportSchedule, snapshot: Snapshot, document: Document) -> Event:
    """Return what people, addresses and webhooks of a schedule are sent of a snapshot."""
    handout = document.handout
    figure = next((table.figure for table in document.tables if table.figure), None)
    opens_at = open_url(snapshot)
    origin = Origin(link_to(opens_at or snapshot.get_absolute_url()), made_at=snapshot.made_at)
    return Event(
        kind=NotificationKind.REPORT,
        key=f"report {report.pk} snapshot {snapshot.pk}",
        title=handout.subject if handout else f"{report.title}: {document.title}",
        text="\n\n".join(_paragraphs(report, document)),
        url=snapshot.get_absolute_url(),
        facts={
            "schedule": report.pk,
            "snapshot": snapshot.pk,
            "report": json.loads(json.dumps(json_of(document), cls=DjangoJSONEncoder)),
        },
        open_url=opens_at,
        table=tuple(_of_models(handout) if handout else _first_rows(document)),
        picture=svg_of(figure, document.title, light_colours()) if figure else "",
        attachment=_attachment(report.page, document, origin) if is_mail_on() else None,
    )


def _paragraphs(report: ReportSchedule, document: Document) -> Iterator[str]:
    handout = document.handout
    if warnings := " ".join(document.warnings):
        yield warnings
    if handout is None:
        figures = "; ".join(
            f"{fact.title}: {words(fact.value, fact.form)}" for fact in document.facts
        )
        nothing = " ".join(table.empty for table in document.tables if not table.rows)
        rows = "; ".join(f"{table.title}: {len(table.rows):,}" for table in document.tables)
        yield " ".join(document.leading_sentences) or figures or nothing or rows
        return
    yield f"{report.title}: {document.title}."
    yield "\n".join(f"{one.text[0].upper()}{one.text[1:]}." for one in handout.findings)
    yield from filter(None, [handout.decision, "\n".join(handout.lost)])
    if handout.cost:
        yield f"Cost: {handout.cost}."


def _of_models(handout: Handout) -> Iterator[tuple[str, ...]]:
    yield "Model", "Answers passed", "What changed", "Sure?"
    for line in handout.lines:
        yield line.name, line.from_to, line.changed or line.finding, line.sure


def _first_rows(document: Document) -> Iterator[tuple[str, ...]]:
    table = next((table for table in document.tables if table.rows), None)
    if table is None:
        return
    columns = table.columns[:COLUMNS]
    yield tuple(column.title for column in columns)
    for row in table.rows[:ROWS]:
        yield tuple(words(cell, column.form) for cell, column in zip(row, columns, strict=False))


def _attachment(key: str, document: Document, origin: Origin) -> Attachment | None:
    """Return the report on one page; None where this server cannot make it."""
    try:
        made = pdf_of(document, origin)
    except CannotMakePdf:
        return None
    day = timezone.localdate(origin.made_at)
    name = f"{origin.file_name(key, document.title)}-{day}.pdf"
    return Attachment(name, "application/pdf", made)
