"""The sidebar: what of the house a person may enter, by floor. Only the top floor sees it all."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django_q.models import Failure, OrmQ, Schedule, Success

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


class Room(NamedTuple):
    """A table's place in the sidebar; it is shown where its admin is open to the person."""

    model: type[Model]
    title: str
    icon: str
    page: str = "changelist"
    """Where it leads, if not to the list."""


ISSUES_AND_TESTS = (
    Room(Feedback, "Feedback", "forum", "inbox"),
    Room(Issue, "Issues", "bug_report"),
    Room(Test, "Tests", "science"),
    Room(Tag, "Tags", "sell"),
    Room(JudgeTemplate, "Judge templates", "gavel"),
)
RUNS = (
    Room(Run, "Runs", "play_circle"),
    Room(Result, "Results", "checklist"),
    Room(Suite, "Suites", "folder_copy"),
    Room(Jury, "Juries", "groups"),
    Room(Tuning, "Rehearsals", "theater_comedy"),
    Room(Launch, "Launches", "schedule"),
)
REVIEW = (
    Room(Queue, "Review queues", "rate_review"),
    Room(Dispute, "Disputed", "balance"),
    Room(Correction, "Corrections", "edit_note"),
    Room(Example, "Examples for judges", "school"),
)
REPORTS = (
    Room(ReportSchedule, "Recurring reports", "autorenew"),
    Room(Capability, "Capability weights", "balance"),
)
SETTINGS = (
    Room(LanguageModel, "Language models", "neurology"),
    Room(User, "Users", "person"),
    Room(Group, "Roles", "badge"),
    Room(Token, "Tokens", "key"),
    Room(Exposure, "Exposures", "lock_open"),
    Room(Call, "Calls", "call_made"),
    Room(Webhook, "Webhooks", "webhook"),
    Room(Delivery, "Deliveries", "outbox"),
    Room(Worker, "Workers", "memory"),
    Room(OrmQ, "Waiting tasks", "low_priority"),
    Room(Schedule, "Schedules", "event_repeat"),
    Room(Success, "Finished tasks", "task_alt"),
    Room(Failure, "Failed tasks", "error"),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of the sidebar, as the admin theme reads them."""
    return [
        {
            "items": [
                _item("Dashboard", "home", reverse("admin:index"), exact=True, on=request),
                *_notifications(request),
            ]
        },
        {"title": "Review", "items": list(_open_rooms(REVIEW, request))},
        {"title": "Ledger", "items": list(_open_rooms(ISSUES_AND_TESTS, request))},
        {"title": "Runs", "items": [*_launch(request), *_open_rooms(RUNS, request)]},
        {"title": "Reports", "items": list(_reports(request))},
        {"title": "Settings", "collapsible": True, "items": list(_settings(request))},
    ]


def environment(request: HttpRequest) -> list[str] | None:
    """The badge that tells a debugging site from a real one."""
    from django.conf import settings

    return ["Debug", "warning"] if settings.DEBUG else None


def _open_rooms(rooms: tuple[Room, ...], request: HttpRequest) -> Iterator[Item]:
    for room in rooms:
        room_admin = admin.site._registry.get(room.model)
        if room_admin and room_admin.has_view_permission(request):
            item = _item(room.title, room.icon, _url(room.model, "changelist"), on=request)
            yield {**item, "link": _url(room.model, room.page)}


def _notifications(request: HttpRequest) -> Iterator[Item]:
    """One's notices, with how many are not read."""
    if request.user.is_authenticated:
        unread = Notification.objects.filter(recipient=request.user.pk, read_at=None).count()
        item = _item("Notices", "notifications", _url(Notification, "changelist"), on=request)
        yield {**item, "badge": f"{unread:,}"} if unread else item


def _launch(request: HttpRequest) -> Iterator[Item]:
    launches = admin.site._registry.get(Launch)
    if launches and launches.has_add_permission(request):
        yield _item("Launch a run", "rocket_launch", _url(Launch, "add"), on=request)


def _reports(request: HttpRequest) -> Iterator[Item]:
    if request.user.has_perm("runs.view_run"):
        yield _item("Run reports", "donut_large", reverse("reports:runs"), on=request)
        url = reverse("reports:summaries")
        yield _item("Executive summaries", "summarize", url, on=request)
        for page in PAGES:
            if page.in_menu:
                yield _item(page.title, page.icon, reverse(f"reports:{page.key}"), on=request)
    yield from _open_rooms(REPORTS, request)


def _settings(request: HttpRequest) -> Iterator[Item]:
    yield from _open_rooms(SETTINGS, request)
    yield _item("API", "api", reverse("api-docs"), on=request)


def _url(model: type[Model], page: str) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}")


def _item(title: str, icon: str, link: str, *, on: HttpRequest, exact: bool = False) -> Item:
    active = on.path == link if exact or link.endswith("/add/") else _is_within(on.path, link)
    return {"title": title, "icon": icon, "link": link, "active": active}


def _is_within(path: str, link: str) -> bool:
    if link == reverse("reports:runs"):
        return path == link or path.startswith(f"{link}runs/")
    return path.startswith(link) and path != f"{link}add/"
