"""The thirty pages that people open most, warm, against the theme's own empty page. Prints JSON.

Every request takes the site's whole way: WSGI, all middleware, and a session that is logged in. The
database is SQLite in the same process: its work is in the figures, and no other process's is.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from importlib import import_module
from io import BytesIO
from statistics import median
from typing import Any

ROUNDS = 15
OK = 200
THEME, OURS = "theme's empty page", "our empty page"
AT_MOST, MEDIAN_AT_MOST, LIST_KB = 6.0, 3.0, 250
"""Times the theme's empty page, of one page and of their median; kilobytes of a list's HTML before
compression."""

PARTS = ("template", "query", "session", "history")
IN_SESSION = {"sessions.Session", "evalhub.User"}
IN_HISTORY = {"runs.Sight", "evalhub.Exposure"}


@dataclass(frozen=True)
class WarmPage:
    """Medians of one page's requests, in milliseconds of CPU.

    Attributes:
        is_list: Whether its size is bounded.
        empty_ms: The theme's empty page, asked for in turns with it.
        parts_ms: By the names in `PARTS`, and the `rest`: Python of views, forms and middleware.
    """

    page: str
    is_list: bool
    status: int
    size_kb: float
    cpu_ms: float
    empty_ms: float
    queries: int
    parts_ms: Mapping[str, float]

    @property
    def ratio(self) -> float:
        return self.cpu_ms / self.empty_ms

    @property
    def holds(self) -> bool:
        is_small = not self.is_list or self.size_kb <= LIST_KB
        return self.status == OK and is_small and self.ratio <= AT_MOST

    def cells(self) -> list[str]:
        parts = [f"{self.parts_ms[part]:.1f}" for part in (*PARTS, "rest")]
        verdict = "yes" if self.holds else "NO"
        return [
            self.page,
            f"{self.size_kb:.0f}",
            f"{self.cpu_ms:.1f}",
            f"{self.ratio:.2f}",
            *parts,
            str(self.queries),
            verdict if self.status == OK else f"NO: status {self.status}",
        ]


class Clock:
    """CPU by parts of a request; a part that another one calls is counted there alone."""

    running: "Clock | None" = None

    def __init__(self) -> None:
        self.spent_ms: dict[str, float] = defaultdict(float)
        self.queries = 0
        self._open = ["rest"]
        self._since = time.process_time()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._charge()
        self._open.append(name)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def _charge(self) -> None:
        now = time.process_time()
        self.spent_ms[self._open[-1]] += 1000 * (now - self._since)
        self._since = now


def clocked(owner: Any, name: str, part: Callable[..., str]) -> None:
    """Let a method be counted as the part that the function names for its arguments."""
    method = getattr(owner, name)

    @wraps(method)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if Clock.running is None:
            return method(self, *args, **kwargs)
        Clock.running.queries += name == "execute_sql"
        with Clock.running.part(part(self)):
            return method(self, *args, **kwargs)

    setattr(owner, name, counted)


def clock_everything() -> None:
    from django.contrib.sessions.backends.base import SessionBase
    from django.contrib.sessions.middleware import SessionMiddleware
    from django.db.models.sql.compiler import SQLCompiler
    from django.template.base import Template

    clocked(Template, "render", lambda _: "template")
    clocked(SQLCompiler, "execute_sql", lambda compiler: part_of(compiler.query.model))
    clocked(SessionBase, "_get_session", lambda _: "session")
    clocked(SessionMiddleware, "process_request", lambda _: "session")
    clocked(SessionMiddleware, "process_response", lambda _: "session")


def part_of(model: Any) -> str:
    if model._meta.label in IN_SESSION:
        return "session"
    is_history = model._meta.label in IN_HISTORY or model.__name__.startswith("Historical")
    return "history" if is_history else "query"


class Browser:
    """Asks the WSGI application as a server does, with the cookie of a session."""

    def __init__(self, cookie: str) -> None:
        from evalhub.wsgi import application

        self.application, self.cookie = application, cookie

    def get(self, address: str) -> tuple[int, int]:
        """Return the status and the number of bytes."""
        path, _, query = address.partition("?")
        told: list[str] = []
        chunks = self.application(
            {
                "REQUEST_METHOD": "GET",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "SERVER_NAME": "localhost",
                "SERVER_PORT": "80",
                "SERVER_PROTOCOL": "HTTP/1.1",
                "REMOTE_ADDR": "127.0.0.1",
                "HTTP_HOST": "localhost",
                "HTTP_COOKIE": self.cookie,
                "HTTP_ACCEPT": "text/html",
                "wsgi.input": BytesIO(),
                "wsgi.errors": sys.stderr,
                "wsgi.url_scheme": "http",
            },
            lambda status, headers, exc_info=None: told.append(status),
        )
        size = sum(len(chunk) for chunk in chunks)
        chunks.close()
        return int(told[0].split()[0]), size


def theme_page(request: Any) -> Any:
    """The theme as it comes, with this site's menu: its own context, its own templates."""
    from django.contrib import admin
    from django.template.response import TemplateResponse
    from unfold.sites import UnfoldAdminSite

    site = UnfoldAdminSite()
    site._registry = admin.site._registry
    template, shown = "admin/base_site.html", {**site.each_context(request), "title": "Empty"}
    return TemplateResponse(request, template, shown, using="theme")


def our_page(request: Any) -> Any:
    from django.contrib import admin
    from django.template.response import TemplateResponse

    shown = {**admin.site.each_context(request), "title": "Empty"}
    return TemplateResponse(request, "admin/base_site.html", shown)


def addresses() -> dict[str, tuple[str, bool]]:
    """Return the address of each page by its name, and whether it is a list."""
    from django.urls import reverse

    from evalhub.models import LanguageModel
    from issues.models import Issue, JudgeTemplate, Test
    from reports.documents.links import page_url
    from runs.models import Jury, Result, Run, Suite

    runs = list(Run.objects.filter(suite__name="Everything").order_by("-pk"))
    newest = runs[0]
    before = next(run for run in runs[1:] if run.variant_key == newest.variant_key)
    result = Result.objects.filter(run=newest, test__sealed=False).order_by("pk")[3]
    rows: dict[str, Any] = {
        "issues_issue": Issue.objects.order_by("pk")[3],
        "issues_test": Test.objects.filter(sealed=False).order_by("pk")[3],
        "issues_judgetemplate": JudgeTemplate.objects.order_by("pk")[0],
        "runs_suite": Suite.objects.order_by("pk")[0],
        "runs_jury": Jury.objects.order_by("pk")[0],
        "evalhub_languagemodel": LanguageModel.objects.order_by("pk")[0],
        "runs_result": result,
    }
    lists = (
        *("issues_issue", "issues_test", "issues_feedback", "issues_tag", "issues_judgetemplate"),
        *("runs_run", "runs_result", "runs_suite", "runs_launch", "runs_jury"),
        *("evalhub_languagemodel", "evalhub_auditentry"),
    )
    issue = {"issue": rows["issues_issue"]}
    reports: dict[str, dict[str, Any]] = {
        "compare": {"runs": [before, newest]},
        **{key: {} for key in ("leaderboard", "trend", "heatmap", "releases")},
        "issue_timeline": issue,
    }
    return {
        "home": (reverse("admin:index"), False),
        "reports": (reverse("reports:index"), False),
        "settings": (reverse("admin:settings"), False),
        "feedback inbox": (reverse("admin:issues_feedback_inbox"), True),
        **{f"list {name}": (reverse(f"admin:{name}_changelist"), True) for name in lists},
        **{
            f"page {name}": (reverse(f"admin:{name}_change", args=[row.pk]), False)
            for name, row in rows.items()
        },
        "run": (reverse("reports:run", args=[newest.pk]), False),
        **{f"report {key}": (page_url(key, **state), False) for key, state in reports.items()},
    }


def measure(browser: Browser, name: str, address: str, is_list: bool) -> WarmPage:
    empty_ms, page_ms = [], []
    for _ in range(2):
        browser.get(THEME_ADDRESS)
        if not is_list:  # what a page leaves to a second request of its script is kept then
            browser.get(f"{address}{'&' if '?' in address else '?'}compute=1")
        status, size = browser.get(address)
    for _ in range(ROUNDS):
        empty_ms.append(timed(browser, THEME_ADDRESS))
        page_ms.append(timed(browser, address))
    clocks = [dissected(browser, address) for _ in range(3)]
    parts_ms = {part: median(clock.spent_ms[part] for clock in clocks) for part in (*PARTS, "rest")}
    return WarmPage(
        page=name,
        is_list=is_list,
        status=status,
        size_kb=size / 1024,
        cpu_ms=median(page_ms),
        empty_ms=median(empty_ms),
        queries=clocks[-1].queries,
        parts_ms=parts_ms,
    )


def timed(browser: Browser, address: str) -> float:
    started = time.process_time()
    browser.get(address)
    return 1000 * (time.process_time() - started)


def dissected(browser: Browser, address: str) -> Clock:
    Clock.running = clock = Clock()
    try:
        with clock.part("rest"):
            browser.get(address)
    finally:
        Clock.running = None
    return clock


THEME_ADDRESS, OUR_ADDRESS = "/theme/", "/ours/"


def prepare() -> Browser:
    """Add the two empty pages to the site, log a person in, and return their browser."""
    from copy import deepcopy

    from django.conf import settings

    theme = {**deepcopy(settings.TEMPLATES[0]), "NAME": "theme", "DIRS": []}
    settings.TEMPLATES.append(theme)
    import_module("evalhub.wsgi")
    from django.contrib import admin
    from django.test import Client
    from django.urls import path

    from evalhub import urls
    from evalhub.access import request_limits
    from reports.issue_proposals.proposals import cached_proposals, nobody
    from tests.bench.reports import reader
    from tests.bench.scale import count_all

    # So many pages in a minute.
    request_limits.PAGES_PER_MINUTE = request_limits.EXPENSIVE_PER_MINUTE = sys.maxsize

    urls.urlpatterns += [
        path(THEME_ADDRESS[1:], admin.site.admin_view(theme_page)),
        path(OUR_ADDRESS[1:], admin.site.admin_view(our_page)),
    ]
    client = Client(HTTP_HOST="localhost")
    client.force_login(reader(), settings.AUTHENTICATION_BACKENDS[-1])
    count_all()  # as workers do within minutes of a run's end
    cached_proposals(nobody())  # the same
    clock_everything()
    return Browser(f"{settings.SESSION_COOKIE_NAME}={client.session.session_key}")


def main(wanted: list[str]) -> None:
    """Measure all pages, or those whose names begin with one of the arguments."""
    browser = prepare()
    empty = {THEME: (THEME_ADDRESS, False), OURS: (OUR_ADDRESS, False)}
    chosen = {
        name: found
        for name, found in addresses().items()
        if not wanted or any(name.startswith(word) for word in wanted)
    }
    found = [measure(browser, name, *each) for name, each in (empty | chosen).items()]
    sys.stdout.write(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main(sys.argv[1:])
