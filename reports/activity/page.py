"""Activity: what changed in a period, as a feed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django import forms
from django.utils import timezone

from evalhub.display.charts import NEUTRAL, Figure, axis, base_layout
from evalhub.display.formatting import counted
from reports.activity.query import MOST, activity, tested_releases
from reports.activity.rule import TITLES, Event, Kind, counts, news
from reports.documents.document import MIN_DRAWN, Cell, Column, Document, Fact, Link, Table
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.issue_proposals.proposals import proposals_at_hand
from reports.queries.names import titles
from reports.queries.periods import PeriodField, period_words, since_of

DAY_MS, LABELS = 86_400_000, 10


class ActivityForm(ReportForm):
    """Filters of the page."""

    period = PeriodField(initial="7d")
    kind = forms.ChoiceField(choices=[("", "Everything"), *TITLES.items()])


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """List what happened in the period, with who, when and why."""
    since = since_of(filters["period"], reading.reader)
    events = activity(reading.reader, since, filters["kind"])
    return Document(
        title=f"Changes {period_words(since)}",
        sentences=tuple(_sentences(events, since, reading)),
        facts=tuple(_facts(events, filters)),
        tables=(events_table(events),),
    )


def news_of(events: Sequence[Event], since: datetime | None, reading: Reading) -> str:
    """Return what happened in a sentence; runs only where there are any that the reader may see."""
    if not any(event.kind == Kind.RUN for event in events):
        return news(events, [])
    failing = titles([one.issue for one in proposals_at_hand(reading) if one.act == "reopen"])
    return news(events, tested_releases(since), list(failing.values()))


def is_cut(events: Sequence[Event]) -> bool:
    """Tell whether there may be more than these, since a kind has as many as are read."""
    return any(n >= MOST for n in counts(events).values())


def _sentences(events: Sequence[Event], since: datetime | None, reading: Reading) -> Iterator[str]:
    if said := news_of(events, since, reading):
        yield said
    if is_cut(events):
        yield f"Only the newest {MOST} of each kind are listed: choose a shorter period."


def _facts(events: Sequence[Event], filters: Mapping[str, Any]) -> Iterator[Fact]:
    found = counts(events)
    for kind in Kind:
        if found[kind]:
            url = page_url("activity", period=filters["period"], kind=kind.value)
            yield Fact(kind.value, TITLES[kind], found[kind], "count", url=url)


def events_table(events: Sequence[Event]) -> Table:
    return Table(
        key="events",
        title="Changes",
        columns=(
            Column("date", "Date", "date"),
            Column("what", "Event"),
            Column("subject", "Subject", "link"),
            Column("who", "By"),
            Column("why", "Reason"),
        ),
        rows=[_row(event) for event in events],
        note="Newest first. Equal events of one person and day are one line.",
        empty="Nothing changed. Choose a longer period.",
        draw=lambda: _figure(events),
        describes="Number of changes by day",
    )


def _row(event: Event) -> tuple[Cell, ...]:
    times = f"{event.n:,} times" if event.n > 1 else ""
    subject = Link(event.subject, event.url, times)
    return (event.at, event.what, subject, event.who or "the system", event.why or None)


def _figure(events: Sequence[Event]) -> Figure | None:
    """Draw a bar for each day with changes, whole days apart; None for a few days."""
    days: Counter[str] = Counter()
    for event in events:
        days[f"{timezone.localtime(event.at):%Y-%m-%d}"] += event.n
    if len(days) < MIN_DRAWN:
        return None
    bars = {
        "type": "bar",
        "x": sorted(days),
        "y": [days[day] for day in sorted(days)],
        "hovertext": [f"{day}: {counted(days[day], 'change')}" for day in sorted(days)],
        "hoverinfo": "text",
        "marker": {"color": NEUTRAL},
    }
    layout = base_layout(
        height=220,
        showlegend=False,
        xaxis=axis(
            "", type="date", tickformat="%-d %b\n%Y", dtick=_label_every_ms(min(days), max(days))
        ),
        yaxis=axis("Changes", rangemode="tozero", tickformat=",d"),
    )
    return {"data": [bars], "layout": layout}


def _label_every_ms(first: str, last: str) -> int:
    """Return the milliseconds between labels: whole days, for at most `LABELS` of them."""
    n = (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    return DAY_MS * -(-n // LABELS)


ACTIVITY = Page(
    key="activity",
    title="Activity",
    question="What changed since last week, or since I was here?",
    summary="What changed in a period: runs, issues, tests, verdicts, baselines and juries.",
    form=ActivityForm,
    build=build,
)
