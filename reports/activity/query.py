"""Events of a period, from the records of each kind of row."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, Max, Model, OuterRef, Q, Subquery
from django.urls import reverse

from evalhub.models import BatchState, User
from issues.models import Issue, JudgeTemplate, Test, TestState
from issues.models.template import TemplateState
from reports.activity.rule import Event, Kind, TestedRelease, feed, issue_step
from reports.documents.links import page_url, row_url
from reports.overrides.query import overrides_of, reviews_of
from reports.overrides.rule import OUTCOME_OF, OVERTURNED
from runs.models import HumanEvaluation, JudgeRun, Jury, Result, Run, Suite

MAX_RELEASES = 3
"""Releases that the sentences name."""

MOST = 200
"""Newest events read of each kind."""

AT_ONCE = timedelta(seconds=5)
BY = "history_user__username"


def activity(reader: User, since: datetime | None, kind: str = "") -> list[Event]:
    """Return what happened since then that this reader may see, newest first.

    A constant number of queries, each for at most `MOST` rows.

    Args:
        since: None: ever.
        kind: Only events of this `Kind`; "": all.
    """
    events: list[Event] = []
    for one, (right, read) in SOURCES.items():
        if kind in ("", one) and reader.has_perm(right):
            events += read(reader, since)
    return feed(events)


def tested_releases(since: datetime | None) -> list[TestedRelease]:
    """Return the releases of which runs were done since then, the newest run first; one query."""
    done = Run.objects.complete().filter(_since("finished_at", since)).exclude(finished_at=None)
    found = (
        done.order_by()
        .values_list("release")
        .annotate(
            runs=Count("pk"), models=Count("model_name", distinct=True), last=Max("finished_at")
        )
    )
    return [TestedRelease(*row[:3]) for row in found.order_by("-last")[:MAX_RELEASES]]


def _since(field: str, since: datetime | None) -> Q:
    return Q() if since is None else Q(**{f"{field}__gte": since})


def _runs(reader: User, since: datetime | None) -> Iterator[Event]:
    rows = Run.objects.complete().filter(_since("finished_at", since))
    rows = rows.exclude(finished_at=None).order_by("-finished_at")
    fields = ("pk", "finished_at", "label", "model_name", "requested_by__username")
    for pk, at, label, model, who in rows.values_list(*fields)[:MOST]:
        url = row_url("reports:run", pk)
        yield Event(Kind.RUN, at, "Run done", f"{model}, {label}", url, who or "")


def _rejudged(reader: User, since: datetime | None) -> Iterator[Event]:
    rows = JudgeRun.objects.filter(_since("finished_at", since), state=BatchState.DONE)
    rows = rows.exclude(finished_at=None).filter(number__gt=1).order_by("-finished_at")
    fields = ("run_id", "finished_at", "run__label", "run__model_name", "jury_name", BY_REQUEST)
    for run, at, label, model, jury, who in rows.values_list(*fields)[:MOST]:
        url = row_url("reports:run", run)
        why = f"jury {jury}" if jury else ""
        yield Event(Kind.REJUDGED, at, "Run re-judged", f"{model}, {label}", url, who or "", why)


BY_REQUEST = "requested_by__username"


def _changes(model: type[Model], field: str, since: datetime | None) -> Any:
    """Select the versions in which this field changed, newest first, with the value `before`.

    Those of deleted rows are left out: they lead nowhere.
    """
    history: Any = model.history.model.objects  # type: ignore[attr-defined]
    earlier = history.filter(id=OuterRef("id"), history_id__lt=OuterRef("history_id"))
    before = Subquery(earlier.order_by("-history_id").values(field)[:1])
    exists = Exists(model._default_manager.filter(pk=OuterRef("id")))
    rows = history.filter(exists, _since("history_date", since)).annotate(before=before)
    changed = Q(before__isnull=True, **{f"{field}__isnull": False}) | (
        Q(before__isnull=False) & (~Q(before=F(field)) | Q(**{f"{field}__isnull": True}))
    )
    return rows.exclude(history_type="-").filter(changed).order_by("-history_id")


def _issues(reader: User, since: datetime | None) -> Iterator[Event]:
    fields = ("id", "history_date", "title", "before", "state", BY, "history_change_reason")
    rows = list(_changes(Issue, "state", since).values_list(*fields)[:MOST])
    ids = {row[0] for row in rows}
    # Reasons may quote a sealed test.
    readable = set(
        Issue.objects.readable_by(reader).filter(pk__in=ids).order_by().values_list("pk", flat=True)
    )
    for pk, at, title, before, state, who, reason in rows:
        why = reason if pk in readable else ""
        url = page_url("issue_timeline", issue=pk)
        step = f"Issue {issue_step(before, state)}"
        yield Event(Kind.ISSUE, at, step, title, url, who or "", why or "")


def _tests(reader: User, since: datetime | None) -> Iterator[Event]:
    rows = _changes(Test, "state", since).filter(state=TestState.APPROVED)
    fields = ("history_date", "issue_id", "issue__title", BY)
    for at, issue, title, who in rows.values_list(*fields)[:MOST]:
        url = row_url("admin:issues_issue_change", issue)
        yield Event(Kind.TEST, at, "Test approved", title, url, who or "")


def _verdicts(reader: User, since: datetime | None) -> Iterator[Event]:
    given = HumanEvaluation.objects.filter(_since("created_at", since), result=OuterRef("pk"))
    reviews = reviews_of(Result.objects.filter(Exists(given)))
    for one in overrides_of(reviews.matching(OVERTURNED)[:MOST], reader):
        humans, judges = OUTCOME_OF[one.review.humans], OUTCOME_OF[one.review.judges]
        why = "; ".join(dict.fromkeys(verdict.why for verdict in one.verdicts if verdict.why))
        yield Event(
            Kind.VERDICT,
            one.when,
            f"Verdict overturned from {judges} to {humans}",
            f"{one.issue}, {one.model_name}",
            row_url("admin:runs_result_change", one.review.result),
            ", ".join(dict.fromkeys(verdict.who for verdict in one.verdicts)),
            why,
        )


def _baselines(reader: User, since: datetime | None) -> Iterator[Event]:
    """Compare each version of a suite with the one before; that of the oldest read is unknown."""
    versions = Suite.history.exclude(history_type="-").select_related("history_user")
    newest = versions.prefetch_related("historicalsuite_baselines_set").order_by("-history_id")
    rows = [
        (row, {one.run_id for one in row.historicalsuite_baselines_set.all()})
        for row in newest[:MOST]
    ]
    names = Run.objects.in_bulk({run for _, runs in rows for run in runs})
    before: dict[int, set[int]] = {}
    for row, now in reversed(rows):
        changed = now ^ before.get(row.id, set() if row.history_type == "+" else now)
        before[row.id] = now
        for run in sorted(changed) if since is None or row.history_date >= since else ():
            known = names.get(run)
            url = row_url("reports:run", run) if known else reverse("admin:runs_suite_changelist")
            what = f"Baseline of {row.name} {'set' if run in now else 'removed'}"
            who = row.history_user.username if row.history_user else ""
            name = str(known or "a deleted run")
            yield Event(Kind.BASELINE, row.history_date, what, name, url, who)


def _juries(reader: User, since: datetime | None) -> Iterator[Event]:
    words = {"+": "created", "~": "changed", "-": "deleted"}
    rows = Jury.history.filter(_since("history_date", since)).order_by("-history_id")
    fields = ("id", "history_date", "name", "history_type", BY, "history_change_reason")
    found = list(rows.values_list(*fields)[:MOST])
    created = {pk: at for pk, at, _, how, *_ in found if how == "+"}
    for pk, at, name, how, who, why in found:
        if how == "~" and pk in created and at - created[pk] < AT_ONCE:
            continue  # its judges, which are added to the row that was just created
        url = row_url("admin:runs_jury_change", pk)
        if how == "-":
            url = reverse("admin:runs_jury_changelist")
        yield Event(Kind.JURY, at, f"Jury {words[how]}", name, url, who or "", why or "")
    published = _changes(JudgeTemplate, "state", since).filter(state=TemplateState.PUBLISHED)
    columns = ("id", "history_date", "title", "version", BY)
    for pk, at, title, version, who in published.values_list(*columns)[:MOST]:
        url = row_url("admin:issues_judgetemplate_change", pk)
        what = "Judge template published"
        yield Event(Kind.JURY, at, what, f"{title} v{version}", url, who or "")


SOURCES = {
    Kind.RUN: ("runs.view_run", _runs),
    Kind.REJUDGED: ("runs.view_run", _rejudged),
    Kind.ISSUE: ("issues.view_issue", _issues),
    Kind.TEST: ("issues.view_issue", _tests),
    Kind.VERDICT: ("runs.view_run", _verdicts),
    Kind.BASELINE: ("runs.view_suite", _baselines),
    Kind.JURY: ("runs.view_jury", _juries),
}
"""The right that a kind takes, and what reads it."""
