"""Periods that reports cover: some days, since a release, or since the reader's last visit."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django import forms
from django.db.models import Exists, Min, OuterRef
from django.utils import timezone

from evalhub.models import User
from evalhub.values.days import start_of
from reports.limits import MAX_RELEASES
from runs.models import Release, Run


def newest_releases() -> list[str]:
    """Return the highest releases that have runs, highest first; one query."""
    has_runs = Exists(Run.objects.filter(release=OuterRef("name")))
    names = Release.objects.filter(has_runs).order_by("-position", "-pk")
    return list(names.values_list("name", flat=True)[:MAX_RELEASES])


ALL_TIME, LAST_VISIT, SINCE_RELEASE = "all", "visit", "release:"
DAYS = (7, 30)

SEEN, VISIT = "seen_at", "last_visit_at"
"""Preferences of a user: when they last opened Home, and when the visit before this one ended."""

NEW_VISIT, EVERY = timedelta(minutes=30), timedelta(minutes=5)
"""A visit is new after the first; the second bounds how often one is recorded."""


class PeriodField(forms.ChoiceField):
    """A period by its name in the address; `since_of` says when it begins."""

    def __init__(self, *, initial: str) -> None:
        super().__init__(label="Period", choices=_choices, initial=initial)


def _choices() -> Iterator[tuple[str, str]]:
    yield ALL_TIME, "All time"
    yield from ((f"{days}d", f"Last {days} days") for days in DAYS)
    yield LAST_VISIT, "Since my last visit"
    for release in newest_releases():
        yield f"{SINCE_RELEASE}{release}", f"Since release {release}"


def since_of(period: str, reader: User) -> datetime | None:
    """Return when a period begins, that of some days at midnight; at most one query.

    Returns:
        None: it has no beginning.
    """
    if period.startswith(SINCE_RELEASE):
        runs = Run.objects.filter(release=period.removeprefix(SINCE_RELEASE))
        first: datetime | None = runs.aggregate(first=Min("created_at"))["first"]
        return first
    if period == LAST_VISIT:
        ended = _time(reader, VISIT)
        return ended or timezone.now() - timedelta(days=DAYS[0])
    days = next((days for days in DAYS if period == f"{days}d"), None)
    return start_of(timezone.localdate() - timedelta(days=days)) if days else None


def period_words(since: datetime | None) -> str:
    """Return the period as it ends a sentence, such as "since 2026-03-01 08:00"."""
    return "over all time" if since is None else f"since {timezone.localtime(since):%Y-%m-%d %H:%M}"


def record_visit(user: User) -> None:
    """Record that the user is here now; seldom more than one query in five minutes."""
    now, seen = timezone.now(), _time(user, SEEN)
    if seen is not None and now - seen < EVERY:
        return
    visit = {VISIT: seen.isoformat()} if seen is not None and now - seen > NEW_VISIT else {}
    user.prefer(**{SEEN: now.isoformat(), **visit})


def _time(user: User, name: str) -> datetime | None:
    preferences = getattr(user, "preferences", {})
    found = preferences.get(name)
    return datetime.fromisoformat(found) if isinstance(found, str) else None
