"""The eight entries of the sidebar and the pages behind them; only this floor knows them all."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.urls import get_script_prefix, reverse
from django.utils.text import capfirst

from evalhub.models import (
    AuditEntry,
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
from evalhub.work.kinds import kinds
from issues.models import (
    Feedback,
    Generation,
    Issue,
    JudgeTemplate,
    LibraryCriterion,
    ResolutionLabel,
    Tag,
    Test,
)
from reports.models import Capability, ReleaseDecision, ReportSchedule
from reports.registry import PAGES, TOPICS, WHICH_MODEL
from runs.judging.verdict_work import VerdictKind
from runs.laboratory.trials.models import Artifact, Benchmark, Idea, Trial
from runs.laboratory.tuning.models import Tuning
from runs.laboratory.workbench.models import Workbench
from runs.models import Example, Jury, Launch, Release, Result, Run, Suite
from runs.review.models import Correction, Dispute, Queue


@cache
def address(name: str, prefix: str) -> str:
    """Return the address of a page without arguments, below a prefix of the whole site."""
    return reverse(name)


@dataclass(frozen=True)
class Place:
    """A page that the navigation leads to, for those who may open it.

    Attributes:
        title: Its name in tabs and in the command palette.
        about: What it is for: a phrase, or the question that it answers.
        model: The model whose admin it is in; None for another page.
        page: Name of the model's admin view, or the URL name of another page.
        permission: What another page asks for; "" if nothing.
        topic: Its heading on the page of its entry.
        icon: On the page of its entry.
        picture: Name of its picture there; "" to show the icon.
        is_tab: False if a button leads to it.
    """

    title: str
    about: str
    model: type[Model] | None = None
    page: str = "changelist"
    permission: str = ""
    topic: str = ""
    icon: str = ""
    picture: str = ""
    is_tab: bool = True

    def url(self, page: str = "") -> str:
        """Return its address, or that of another admin view of its model."""
        if self.model is None:
            return address(self.page, get_script_prefix())
        meta = self.model._meta
        name = f"admin:{meta.app_label}_{meta.model_name}_{page or self.page}"
        return address(name, get_script_prefix())

    @property
    def stem(self) -> str:
        """Return the start of all addresses that belong to it."""
        return self.url("changelist" if self.model else "")

    def is_open_to(self, request: HttpRequest) -> bool:
        if self.model is None:
            return not self.permission or bool(request.user.has_perm(self.permission))
        if not admin.site.is_registered(self.model):
            return False
        model_admin = admin.site.get_model_admin(self.model)
        if self.page == "add":
            return bool(model_admin.has_add_permission(request))
        return bool(model_admin.has_view_permission(request))


class Entry(NamedTuple):
    """An entry of the sidebar.

    Attributes:
        page: URL name of a page of its own, which lists its places. Without one, the entry leads to
            its first place, and tabs lead to the others.
        stems: Starts of further addresses that belong to it.
    """

    title: str
    icon: str
    places: tuple[Place, ...]
    page: str = ""
    stems: tuple[str, ...] = ()


HOME = (
    Place("Home", "What waits for you, and what changed", page="admin:index"),
    Place(
        "Notifications",
        "Runs that finished, issues assigned to you, and other events",
        Notification,
    ),
    Place("Glossary", "What each term means", page="admin:glossary"),
)
REVIEW = (
    Place("Queues", "Results that wait for a human verdict", Queue),
    Place("Disputes", "Results on which annotators disagree", Dispute),
    Place("Corrections", "Better answers that annotators wrote", Correction),
    Place("Labelled examples", "Verdicts that judges are shown", Example),
)
FEEDBACK = (
    Place("Inbox", "Reports of bad answers that nobody has looked at", Feedback, "inbox"),
    Place("All feedback", "Every report of a bad answer, and what came of it", Feedback),
)
ISSUES = (
    Place("Issues", "What models get wrong", Issue),
    Place("Board", "Issues by state", Issue, "board", is_tab=False),
    Place("Tags", "Domains, tasks and other labels of issues and tests", Tag),
    Place("Resolution labels", "Ways in which issues are resolved", ResolutionLabel),
)
TESTS = (
    Place("Tests", "Prompts with what a good answer must show", Test),
    Place("Drafts", "Tests that a model drafted, for you to accept", Generation),
    Place("Suites", "Sets of tests that are run together", Suite),
    Place("Judge templates", "The prompt and the scale of a judge", JudgeTemplate),
    Place("Criterion library", "Criteria to copy into a rubric or to judge by", LibraryCriterion),
    Place("Workbench", "Your own rows: what judges say of them, and where you disagree", Workbench),
    Place("Judge tuning", "A better prompt for a judge, proved against human verdicts", Tuning),
    Place("Benchmarks", "Claims of known truth, to find out which judge is fit", Benchmark),
    Place("Texts", "What models wrote for benchmarks, to review", Artifact, is_tab=False),
    Place("Ideas", "What the texts of benchmarks are about", Idea, is_tab=False),
    Place("Trials", "Judges on the claims of benchmarks", Trial, is_tab=False),
)
RUNS = (
    Place("Runs", "The answers of a model to tests, scored", Run),
    Place("Results", "Single answers of all runs, with verdicts", Result),
    Place("Launches", "Runs started together or on a schedule", Launch),
    Place("Releases", "Their order, what each came from, and notes", Release),
    Place(
        "Release decisions",
        "What was shipped or held, by whom and why",
        ReleaseDecision,
        is_tab=False,
    ),
    Place("Juries", "Which models judge, and how", Jury),
    *(
        Place(
            capfirst(str(kind.batch_model._meta.verbose_name_plural)),
            kind.about,
            kind.batch_model,
            is_tab=False,
        )
        for kind in kinds()
        if isinstance(kind, VerdictKind) and kind.about
    ),
    Place("Launch a run", "Ask models, and have a jury judge", Launch, "add", is_tab=False),
)
SETUP = "Schedules and weights"
REPORTS = (
    *(
        Place(
            page.title,
            page.question,
            page=f"reports:{page.key}",
            permission="runs.view_run",
            topic=topic,
            picture=page.key,
        )
        for topic, pages in TOPICS
        for page in pages
    ),
    Place(
        "Executive summaries",
        "What does a language model conclude from the answers?",
        page="reports:summaries",
        permission="runs.view_run",
        topic=WHICH_MODEL,
        picture="summaries",
    ),
    Place(
        "Report schedules",
        "Reports that are made and sent regularly",
        ReportSchedule,
        topic=SETUP,
        icon="event_repeat",
    ),
    Place(
        "Capability weights",
        "What counts how much for a capability",
        Capability,
        topic=SETUP,
        icon="percent",
    ),
)
MODELS, PEOPLE, OTHERS = "Models and work", "People and access", "Other programs"
SETTINGS = (
    Place(
        "Language models",
        "Models, their addresses, prices and limits",
        LanguageModel,
        topic=MODELS,
        icon="neurology",
    ),
    Place(
        "Workers and queue",
        "Who works on what, and what waits",
        Worker,
        "queue",
        topic=MODELS,
        icon="memory",
    ),
    Place("Calls", "Each request to a model, with cost", Call, topic=MODELS, icon="call_made"),
    Place("Users", "Who may log in", User, topic=PEOPLE, icon="person"),
    Place("Roles", "Who may do what", Group, topic=PEOPLE, icon="badge"),
    Place("Tokens", "Keys of scripts to the API", Token, topic=PEOPLE, icon="key"),
    Place("Audit", "Who did what, when", AuditEntry, topic=PEOPLE, icon="policy"),
    Place("Exposures", "Who has seen sealed tests", Exposure, topic=PEOPLE, icon="lock_open"),
    Place("Webhooks", "Addresses that receive events", Webhook, topic=OTHERS, icon="webhook"),
    Place("Deliveries", "What webhooks were sent", Delivery, topic=OTHERS, icon="outbox"),
    Place("API", "Every endpoint, to read and to try", page="api-docs", topic=OTHERS, icon="api"),
)
REPORT_PAGES = {f"reports:{page.key}" for page in PAGES}
ENTRIES = (
    Entry("Home", "home", HOME),
    Entry("Review", "rate_review", REVIEW),
    Entry("Feedback", "forum", FEEDBACK),
    Entry("Issues", "bug_report", ISSUES, stems=("/admin/issues/resolutionlabel/",)),
    Entry("Tests", "science", TESTS, stems=("/admin/issues/revision/",)),
    Entry("Runs", "play_circle", RUNS, stems=("/reports/runs/",)),
    Entry("Reports", "monitoring", REPORTS, page="reports:index"),
    Entry("Settings", "settings", SETTINGS, page="admin:settings", stems=("/admin/axes/",)),
)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the entries of the sidebar in the admin theme's format, each with its places."""
    shown = [(entry, [p for p in entry.places if p.is_open_to(request)]) for entry in ENTRIES]
    active = _owner(request.path)
    return [
        {
            "items": [
                _item(entry, places, request) | {"active": entry is active, "has_permission": True}
                for entry, places in shown
                if places
            ]
        }
    ]


def environment(request: HttpRequest) -> list[str] | None:
    """Return the badge of a site in debug mode."""
    return ["Debug", "warning"] if settings.DEBUG else None


def _owner(path: str) -> Entry | None:
    """Return the entry with the longest start of this address."""
    if path == address("admin:index", get_script_prefix()):
        return ENTRIES[0]
    return next(
        (entry for stem, entry in _stems(get_script_prefix()) if path.startswith(stem)), None
    )


@cache
def _stems(prefix: str) -> list[tuple[str, Entry]]:
    """Return the starts of addresses with their entries, the longest first."""
    home = address("admin:index", prefix)
    found = [(stem, entry) for entry in ENTRIES for stem in _stems_of(entry) if stem != home]
    return sorted(found, key=lambda pair: len(pair[0]), reverse=True)


def _stems_of(entry: Entry) -> Iterator[str]:
    yield from entry.stems
    yield from (place.stem for place in entry.places)
    if entry.page:
        yield reverse(entry.page)


def _item(entry: Entry, places: list[Place], request: HttpRequest) -> dict[str, Any]:
    links = [_link(place, request) for place in places]
    link = address(entry.page, get_script_prefix()) if entry.page else links[0]["link"]
    badge = "".join(each["badge"] for each in links)
    item = {
        "title": entry.title,
        "icon": entry.icon,
        "link": link,
        "places": links,
        "has_page": bool(entry.page),
        "is_tabbed": not entry.page and request.path in {each["link"] for each in links},
    }
    return item | {"badge": badge} if badge else item


def _link(place: Place, request: HttpRequest) -> dict[str, Any]:
    """Describe a place for templates: tabs, the page of its entry, and the command palette."""
    shown = _shown(place, get_script_prefix())
    return {
        **shown,
        "active": request.path == shown["link"],
        "download": shown["download"] if request.user.has_perm("runs.export_results") else "",
        "badge": _unread(request) if place.model is Notification else "",
    }


@cache
def _shown(place: Place, prefix: str) -> dict[str, Any]:
    """Return what is the same for all readers; `download` is of a report as one file."""
    download = f"{place.page}_download"
    return {
        "title": place.title,
        "about": place.about,
        "link": place.url(),
        "topic": place.topic,
        "icon": place.icon,
        "picture": place.picture and f"reports/pictures/{place.picture}.svg",
        "is_tab": place.is_tab,
        "download": reverse(download, args=["html"]) if place.page in REPORT_PAGES else "",
    }


def _unread(request: HttpRequest) -> str:
    """Return the number of the user's unread notifications; "" for none."""
    count = Notification.objects.filter(recipient=request.user.pk, read_at=None).count()
    return f"{count:,}" if count else ""
