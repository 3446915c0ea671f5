"""A feed of events: their kinds, order and grouping. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from evalhub.display.formatting import counted, few, listed


class Kind(StrEnum):
    RUN = "run"
    REJUDGED = "rejudged"
    ISSUE = "issue"
    TEST = "test"
    VERDICT = "verdict"
    BASELINE = "baseline"
    JURY = "jury"


TITLES = {
    Kind.RUN: "Runs done",
    Kind.REJUDGED: "Runs re-judged",
    Kind.ISSUE: "Issues opened, resolved, reopened",
    Kind.TEST: "Tests approved",
    Kind.VERDICT: "Verdicts overturned",
    Kind.BASELINE: "Baselines changed",
    Kind.JURY: "Juries and judge templates changed",
}


@dataclass(frozen=True)
class Event:
    """Something that happened.

    `who` is "" where the system did it. `n` counts the equal events that it stands for; `url` is
    that of its subject, or of the list of all of them.
    """

    kind: Kind
    at: datetime
    what: str
    subject: str
    url: str
    who: str = ""
    why: str = ""
    n: int = 1


def feed(events: Iterable[Event]) -> list[Event]:
    """Return the events newest first; equal ones of one person and day are one."""
    found: dict[object, Event] = {}
    for event in sorted(events, key=lambda event: event.at, reverse=True):
        key = (event.kind, event.what, event.subject, event.url, event.who, event.at.date())
        first = found.setdefault(key, event)
        if first is not event:
            found[key] = replace(first, n=first.n + event.n)
    return list(found.values())


def counts(events: Iterable[Event]) -> Counter[Kind]:
    """Count events by kind."""
    found: Counter[Kind] = Counter()
    for event in events:
        found[event.kind] += event.n
    return found


class TestedRelease(NamedTuple):
    """A release of which runs were done in the period; "": runs without a release."""

    name: str
    runs: int
    models: int


NAMED = 3


def news(
    events: Iterable[Event], releases: Iterable[TestedRelease], failing: Sequence[str] = ()
) -> str:
    """Return what happened in a sentence: releases that were tested, then verdicts and issues.

    Args:
        failing: Resolved issues that fail again.
    """
    said = [
        f"{f'Release {one.name} was tested' if one.name else 'Without a release'}: "
        f"{counted(one.runs, 'run')} of {counted(one.models, 'model')}"
        for one in releases
    ]
    told = list(events)
    steps: Counter[str] = Counter()
    for event in told:
        if event.kind in (Kind.ISSUE, Kind.TEST):
            steps[event.what] += event.n
    overturned = counts(told)[Kind.VERDICT]
    counts_in_words = [counted(overturned, "verdict") + " overturned"] if overturned else []
    for what, n in sorted(steps.items()):
        noun, step = what.split(" ", 1)
        counts_in_words.append(f"{counted(n, noun.lower())} {step}")
    if counts_in_words:
        said.append(listed(counts_in_words))
    if again := [event.subject for event in told if event.what == REOPENED]:
        said.append(f"reopened: {few(again, most=NAMED)}")
    if failing:
        fails = f"{counted(len(failing), 'resolved issue')} {'fail' if failing[1:] else 'fails'}"
        said.append(f"{fails} again: {few([f'“{one}”' for one in failing], most=NAMED)}")
    return f"{'; '.join(said)}." if said else ""


REOPENED = "Issue reopened"
ISSUE_STEPS = {
    ("resolved", "approved"): "reopened",
    ("deprecated", "approved"): "reopened",
}


def issue_step(before: str | None, after: str) -> str:
    """Return the verb of an issue's new state; `before` None: it was created."""
    if before is None:
        return "opened"
    known = {"in_review": "sent to review", "draft": "sent back to draft"}
    return ISSUE_STEPS.get((before, after)) or known.get(after, after)
