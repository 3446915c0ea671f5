"""The sidebar: the pages a user may open, in groups. Only this top floor knows them all."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from evalhub.models import (
    Call,
    Delivery,
    Exposure,
    LanguageModel,
    Notification,
    Token,
    User,
    Webhook,
    Worker,
)
from issues.models import Feedback, Issue, JudgeTemplate, Tag, Test
from reports.models import Capability, ReportSchedule
from reports.registry import PAGES
from runs.models import Example, Jury, Launch, Result, Run, Suite
from runs.review.models import Correction, Dispute, Queue
from runs.tuning.models import Tuning

Item = dict[str, Any]


class Entry(NamedTuple):
    """A model's entry in the sidebar, shown to users who may see its admin."""

    model: type[Model]
    title: str
    icon: str
    page: str = "changelist"
    """Name of the admin view to open."""


ISSUES_AND_TESTS = (
    Entry(Feedback, "Feedback", "forum", "inbox"),
    Entry(Issue, "Issues", "bug_report"),
    Entry(Test, "Tests", "science"),
    Entry(Tag, "Tags", "sell"),
    Entry(JudgeTemplate, "Judge templates", "rule"),
)
RUNS = (
    Entry(Run, "Runs", "play_circle"),
    Entry(Result, "Results", "checklist"),
    Entry(Suite, "Suites", "folder_copy"),
    Entry(Jury, "Juries", "groups"),
    Entry(Tuning, "Judge tuning", "tune"),
    Entry(Launch, "Launches", "schedule"),
)
REVIEW = (
    Entry(Queue, "Review queues", "rate_review"),
    Entry(Dispute, "Disputes", "balance"),
    Entry(Correction, "Corrections", "edit_note"),
    Entry(Example, "Labelled examples", "school"),
)
REPORTS = (
    Entry(ReportSchedule, "Report schedules", "event_repeat"),
    Entry(Capability, "Capability weights", "percent"),
)
SETTINGS = (
    Entry(LanguageModel, "Language models", "neurology"),
    Entry(User, "Users", "person"),
    Entry(Group, "Roles", "badge"),
    Entry(Token, "Tokens", "key"),
    Entry(Exposure, "Exposures", "lock_open"),
    Entry(Call, "Calls", "call_made"),
    Entry(Webhook, "Webhooks", "webhook"),
    Entry(Delivery, "Deliveries", "outbox"),
    Entry(Worker, "Workers and queue", "memory", "queue"),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar in the admin theme's format."""
    return [
        {
            "items": [
                _item("Dashboard", "home", reverse("admin:index"), exact=True, on=request),
                *_notifications(request),
            ]
        },
        {"title": "Review", "items": list(_visible(REVIEW, request))},
        {"title": "Issues & tests", "items": list(_visible(ISSUES_AND_TESTS, request))},
        {"title": "Runs", "items": [*_launch(request), *_visible(RUNS, request)]},
        {"title": "Reports", "items": [*_reports(request), *_visible(REPORTS, request)]},
        {
            "title": "Settings",
            "collapsible": True,
            "items": [
                *_visible(SETTINGS, request),
                _item("API", "api", reverse("api-docs"), on=request),
            ],
        },
        {
            "title": "Help",
            "items": [_item("Glossary", "dictionary", reverse("admin:glossary"), on=request)],
        },
    ]


def environment(request: HttpRequest) -> list[str] | None:
    """Return the badge of a site in debug mode."""
    from django.conf import settings

    return ["Debug", "warning"] if settings.DEBUG else None


def _visible(entries: tuple[Entry, ...], request: HttpRequest) -> Iterator[Item]:
    for entry in entries:
        model_admin = admin.site._registry.get(entry.model)
        if model_admin and model_admin.has_view_permission(request):
            item = _item(entry.title, entry.icon, _url(entry.model, "changelist"), on=request)
            yield {**item, "link": _url(entry.model, entry.page)}


def _notifications(request: HttpRequest) -> Iterator[Item]:
    """Yield the user's notifications, with a badge of the unread."""
    if request.user.is_authenticated:
        unread = Notification.objects.filter(recipient=request.user.pk, read_at=None).count()
        item = _item("Notifications", "notifications", _url(Notification, "changelist"), on=request)
        yield {**item, "badge": f"{unread:,}"} if unread else item


def _launch(request: HttpRequest) -> Iterator[Item]:
    launches = admin.site._registry.get(Launch)
    if launches and launches.has_add_permission(request):
        yield _item("Launch a run", "rocket_launch", _url(Launch, "add"), on=request)


def _reports(request: HttpRequest) -> Iterator[Item]:
    if request.user.has_perm("runs.view_run"):
        url = reverse("reports:summaries")
        yield _item("Executive summaries", "summarize", url, on=request)
        for page in PAGES:
            if page.in_menu:
                yield _item(page.title, page.icon, reverse(f"reports:{page.key}"), on=request)


def _url(model: type[Model], page: str) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}")


def _item(title: str, icon: str, link: str, *, on: HttpRequest, exact: bool = False) -> Item:
    if exact or link.endswith("/add/"):
        active = on.path == link
    elif link == _url(Run, "changelist"):
        active = on.path.startswith((link, "/reports/runs/"))
    else:
        active = on.path.startswith(link) and on.path != f"{link}add/"
    return {"title": title, "icon": icon, "link": link, "active": active}
