"""Scheduled reports and summaries: make what is due and keep a snapshot of each."""

from dataclasses import replace
from typing import Any, cast

from django.http import QueryDict
from django.urls import reverse

from evalhub.access.sealing.readers import FiguresOnly
from evalhub.models import User
from evalhub.notifications.events import notify
from evalhub.schedules import ScheduleRefused
from evalhub.values.typed_json import from_json, to_json
from reports.compare.page import COMPARE
from reports.documents.document import Document
from reports.documents.origin import linked_runs
from reports.documents.reading import Reading
from reports.limits import MAX_SNAPSHOTS
from reports.models import ReportSchedule, Snapshot
from reports.registry import page_of
from reports.schedules.mail import event_of
from reports.summaries.requests import REQUEST_PERMISSION, ask_anew, like
from runs.models import Run
from runs.scoring.shown_verdicts import Keeper, record

SUMMARY = "summary"
"""Takes the place of a page's key where an executive summary is scheduled."""


def subject_of(page: str, state: str) -> tuple[str, str]:
    """Return the default title of a scheduled report and the address of its page.

    Raises:
        LookupError: There is no such page.
        ScheduleRefused: There is no such summary.
    """
    if page == SUMMARY:
        summary = like(state)
        return f"Summary of {summary.suite}", summary.get_absolute_url()
    return page_of(page).title, f"{reverse(f'reports:{page}')}?{state}"


def newest_instead(page: str, state: str) -> str:
    """Return the query with the newest run of its suite and model in place of fixed runs.

    Raises:
        ScheduleRefused: The runs have no suite, so that there is no newest one to compare.
    """
    query = QueryDict(state, mutable=True)
    if page != COMPARE.key or "runs" not in query:
        return state
    chosen = COMPARE.form(query).filters["runs"]
    if not chosen:
        return state
    run = chosen[-1]
    if run.suite is None:
        raise ScheduleRefused(
            f"{run.label} belongs to no suite. A comparison of fixed runs would stay the same: "
            "compare runs of a suite, so that each snapshot can take the newest one."
        )
    del query["runs"]
    query["suite"], query["model"] = str(run.suite_id), str(run.language_model_id)
    return query.urlencode()


def make(report: ReportSchedule) -> str:
    """Make the report now and return a sentence on the result.

    Raises:
        ScheduleRefused: The page is gone or rejects the stored filters, or the owner of a scheduled
            summary may no longer request summaries.
    """
    if report.page == SUMMARY:
        return _asked(report)
    keeper = Keeper()
    document = _document(report, keeper)
    shown = {name: sorted(ids) for name, ids in keeper.shown.items()}
    content = stored(document) | {"shown": shown}
    snapshot = Snapshot.objects.create(report=report, content=content)
    kept = report.snapshots.order_by("-pk").values_list("pk", flat=True)[:MAX_SNAPSHOTS]
    report.snapshots.exclude(pk__in=list(kept)).delete()
    notify(
        event_of(report, snapshot, document), to=report.people.all(), addresses=report.address_list
    )
    return f"Made snapshot {snapshot.pk}."


def _asked(report: ReportSchedule) -> str:
    """Request a summary with the permissions of the schedule's owner, since it costs money."""
    like(report.query)
    by = report.requested_by
    if by is None or not by.has_perm(REQUEST_PERMISSION):
        raise ScheduleRefused(
            "The owner of this schedule may not ask for summaries any more. "
            "Somebody else has to schedule it."
        )
    return ask_anew(report.query)


def opened(snapshot: Snapshot, reader: User) -> Document:
    """Return the report, and record what it shows to its reader.

    What an older snapshot shows was not kept: its reader counts as shown all its runs.
    """
    content = snapshot.content
    shown = content.get("shown", {"runs": content["runs"], "results": []})
    runs = Run.objects.filter(pk__in=shown["runs"])  # some may be deleted by now
    record(reader, shown["results"], list(runs.values_list("pk", flat=True)))
    return from_json(Document, content)


def stored(document: Document) -> dict[str, Any]:
    """Return the report as JSON, without what its own page or reader alone can use."""
    runs = document.runs or tuple(linked_runs(document))
    tables = tuple(replace(table, rows=list(table.rows)) for table in document.tables)
    whole = replace(document, runs=runs, tables=tables, actions=(), more={})
    content: dict[str, Any] = to_json(Document, whole)
    return content


def _document(report: ReportSchedule, reader: FiguresOnly) -> Document:
    try:
        page = page_of(report.page)
    except LookupError as error:
        raise ScheduleRefused(str(error)) from error
    form = page.form(QueryDict(report.query))
    if form.problems:
        raise ScheduleRefused(" ".join(form.problems))
    # Querysets only ask it for permissions, as they would ask a user.
    return page.build(form.filters, Reading(cast(User, reader)))
