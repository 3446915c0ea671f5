"""The real site in a real Chromium, through Playwright.

A test marked `browser` takes `page` (1280 × 800, light) and usually `log_in`. It fails on every
console error, uncaught script error and request to another host; a page that is meant to answer
with an error says so with `faults.clear()`. A failing test leaves a screenshot in `test-output/`;
where `TEST_SCREENS` is set, pages are pictured there to be looked at.
"""

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import pytest
from django.conf import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    from pytest_django.live_server_helper import LiveServer

    from evalhub.models import User

OUTPUT = Path(__file__).resolve().parent.parent / "test-output"
# The shell draws the same pages without a browser's own window, in less than half of the time.
SHELL = "chromium-headless-shell"
APT_PACKAGES = (SHELL, "libatomic1", "fonts-dejavu-core")
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
HEIGHTS = {1280: 800, 390: 844}
"""Height of the window in pixels for each width that pages are looked at in."""

PATIENCE_MS = 180_000
"""How long a page is waited for: on a busy machine it is late, which is no fault."""

Scheme = Literal["light", "dark"]
_failed = pytest.StashKey[bool]()


def chromium_path() -> str | None:
    names = (SHELL, "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def as_long_as_possible(fixture_name: str, config: pytest.Config) -> Literal["session", "module"]:
    """While Playwright's loop lives nothing else in the process can start one, as others do."""
    return "session" if config.getoption("-m") == "browser" else "module"


@pytest.fixture(scope=as_long_as_possible)
def chromium() -> Iterator["Browser"]:
    """One browser for a module's tests, or for all where only browser tests run."""
    path = chromium_path()
    if path is None:
        pytest.fail(f"No Chromium here: apt-get install {' '.join(APT_PACKAGES)}")
    from playwright.sync_api import sync_playwright

    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's loop runs in this thread, which to Django looks like asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture
def faults() -> list[str]:
    """What went wrong on the test's pages so far; the test fails if any are left at its end."""
    return []


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    chromium: "Browser",
    live_server: "LiveServer",
    faults: list[str],
) -> Iterator["Page"]:
    """A page of the live site in a fresh session; paths such as `/admin/` are enough to go to."""
    context = chromium.new_context(
        base_url=live_server.url,
        viewport={"width": 1280, "height": HEIGHTS[1280]},
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-US",
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE_MS)
    watch(context, live_server.url, faults)
    page = context.new_page()
    yield page
    if faults or request.node.stash.get(_failed, False):
        name = re.sub(r"[^\w.-]+", "-", request.node.name)
        page.screenshot(path=OUTPUT / "failures" / f"{name}.png", full_page=True)
    context.close()
    if faults:
        pytest.fail("faults on the page:\n" + "\n".join(faults), pytrace=False)


def watch(context: "BrowserContext", home: str, faults: list[str]) -> None:
    host = urlsplit(home).netloc

    def note_request(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != host:
            faults.append(f"request to another host: {url}")

    def note_error(text: str, url: str) -> None:
        """Note it; that a click left a page before one of its tabs was loaded is no fault."""
        if text == "htmx:sendAbort" and faults and "htmx:afterRequest" in faults[-1]:
            faults.pop()  # htmx says both
        else:
            faults.append(f"console: {text} ({url})")

    context.on("request", lambda request: note_request(request.url))
    context.on("weberror", lambda error: faults.append(f"script error: {error.error}"))
    context.on(
        "console",
        lambda message: (
            note_error(message.text, message.location["url"]) if message.type == "error" else None
        ),
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


@pytest.fixture
def log_in(page: "Page", live_server: "LiveServer") -> Callable[["User"], None]:
    """Make the page's session that of a user, without the login form."""
    from django.test import Client

    def log_in(user: "User") -> None:
        client = Client()
        client.force_login(user)
        value = client.cookies[settings.SESSION_COOKIE_NAME].value
        page.context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}]
        )

    return log_in


@pytest.fixture
def enter(page: "Page", log_in: Callable[["User"], None]) -> "Page":
    """The page of somebody who may do everything."""
    from tests.factories import make_user

    log_in(make_user("superuser"))
    return page


def show(page: "Page", *, width: int = 1280, scheme: Scheme = "light") -> None:
    """Look at the same page in another window width or colour scheme."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def shoot(page: "Page", name: str) -> None:
    """Screenshots in light and dark, wide and narrow, to look at; nothing looks at them by itself.

    They take longer than all else that a test does with a page, and are made where asked for.
    """
    for width in HEIGHTS if os.environ.get("TEST_SCREENS") else ():
        for scheme in ("light", "dark"):
            show(page, width=width, scheme=scheme)
            file = OUTPUT / "screens" / f"{name}-{scheme}-{width}.png"
            page.screenshot(path=file, full_page=True)
    show(page)


OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CHARTS_FIT = """[...document.querySelectorAll(".eh-chart .main-svg")].every(
    (drawing) => drawing.clientWidth <= drawing.closest(".eh-chart").clientWidth)"""


def overflow_px(page: "Page") -> int:
    """Pixels by which the page is wider than its window; 0 where nothing scrolls sideways.

    Plotly draws anew a moment after the window was made narrower, which is waited for.
    """
    page.wait_for_function(CHARTS_FIT)
    return int(page.evaluate(OVERFLOW))
