"""The cards of Home, and those that a user chose; only these are read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from evalhub.models import BatchState, User
from evalhub.work.leases import workers_alive
from issues.models import Issue
from reports.activity.page import events_table, news_of
from reports.activity.query import activity
from reports.dashboard.to_do import REVIEW, may_act, to_do, to_do_table
from reports.dashboard.tour import may_tour, steps_of
from reports.documents.document import Table
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.issue_proposals.proposals import cached_proposals
from reports.issue_proposals.rule import Proposal
from reports.judge_reliability.concerns_rule import Trust
from reports.judge_reliability.judges.judge_tables import concerns_table
from reports.judge_reliability.judges.query import judge_report
from reports.judge_reliability.judges.totals_query import RECENT
from reports.limits import CARD_ROWS
from reports.overrides.override_tables import results_table
from reports.overrides.query import overrides_of, reviews_of
from reports.overrides.rule import OVERTURNED
from reports.queries.counts import any_of
from reports.queries.incomplete_runs import CONTROL, IncompleteRun, incomplete_runs
from reports.queries.periods import since_of
from reports.releases.page import document_of
from reports.releases.query import releases_report
from reports.underperforming.page import listed_table
from reports.underperforming.query import newest_run, underperforming
from runs.models import JudgeRun, Result, Run

LIVE = {"state": BatchState.LIVE}


@dataclass(frozen=True)
class SiteState:
    """The state of the site.

    Attributes:
        is_new: No run exists yet.
        is_stuck: Work is waiting, but no worker is active.
    """

    is_new: bool
    is_stuck: bool


def site_state() -> SiteState:
    """Return the state; one query while nothing is at work."""
    batches = Run.objects.filter(**LIVE), JudgeRun.objects.filter(**LIVE)
    has_runs, *live = any_of([Run.objects.all(), *batches])
    return SiteState(is_new=not has_runs, is_stuck=any(live) and not workers_alive())


PREFERENCE = "home"
"""Name of the user's preference that holds the chosen cards."""

MAX_PROPOSALS = 6


AT_ONCE = 4
"""Cards that come with the page; the others are loaded when they are scrolled to."""

HOME_PERIOD = "7d"
"""The period whose changes Home lists."""


@dataclass(frozen=True)
class Content:
    """The content of a card for its template.

    `url` leads to the full report, `lead` is its finding in words. A card that `is_over` is left
    out: nothing of it is left to do.
    """

    table: Table | None = None
    url: str = ""
    lead: str = ""
    rows: Any = None
    more: int = 0
    template: str = "reports/dashboard/table.html"
    is_over: bool = False


class Card(NamedTuple):
    """A card that users may choose. A wide one takes the full width."""

    key: str
    title: str
    summary: str
    build: "Callable[[Home], Content]"
    is_wide: bool = False


@dataclass(frozen=True)
class Home:
    """The first page of one user, or a single card of it."""

    reading: Reading
    only: str = ""

    @cached_property
    def site(self) -> SiteState:
        return site_state()

    @cached_property
    def incomplete(self) -> tuple[IncompleteRun, ...]:
        return incomplete_runs(Run.objects.all())

    @cached_property
    def newest(self) -> Run | None:
        return newest_run()

    @cached_property
    def choices(self) -> list[tuple[Card, bool]]:
        return choices_of(self.reading.reader)

    @cached_property
    def cards(self) -> list[tuple[Card, Content | None]]:
        """The chosen cards with their content, in the user's order; without runs only the tour.

        None: it is loaded later.
        """
        chosen = [card for card in cards_of(self.reading.reader) if self.only in ("", card.key)]
        chosen = [card for card in chosen if card.build is _tour or not self.site.is_new]
        at_once = len(chosen) if self.reading.computes else AT_ONCE
        built = [
            (card, card.build(self) if place < at_once else None)
            for place, card in enumerate(chosen)
        ]
        return [(card, content) for card, content in built if not (content and content.is_over)]

    @cached_property
    def is_pending(self) -> bool:
        """Some figures are left to a second request."""
        return bool(self.cards) and self.reading.pending


def _tour(home: Home) -> Content:
    steps = steps_of(home.reading.reader, home.newest)
    done = sum(step.is_done for step in steps)
    lead, template = f"{done} of {len(steps)} done", "reports/dashboard/tour.html"
    return Content(lead=lead, rows=steps, template=template, is_over=done == len(steps))


def _to_do(home: Home) -> Content:
    return Content(to_do_table(to_do(home.reading.reader, lambda: home.incomplete)))


def _releases(home: Home) -> Content:
    report = releases_report(home.reading)
    document = document_of(report, home.incomplete, home.reading)
    template = "reports/dashboard/releases.html"
    return Content(url=page_url("releases"), rows=document, template=template)


def _activity(home: Home) -> Content:
    since = since_of(HOME_PERIOD, home.reading.reader)
    events = activity(home.reading.reader, since)
    lead = news_of(events, since, home.reading)
    url = page_url("activity", period=HOME_PERIOD)
    table = events_table(events[:CARD_ROWS]).only("date", "what", "subject", "who")
    return Content(replace(table, note="", empty="Nothing changed in the last 7 days."), url, lead)


def _overrides(home: Home) -> Content:
    reviews = reviews_of(Result.objects.all())
    newest = reviews.matching(OVERTURNED)[:CARD_ROWS]
    table = results_table(
        "Newest overturned results",
        newest,
        lambda some: overrides_of(some, home.reading.reader),
        empty="No verdict is overturned." if reviews else "Open a result that you doubt.",
    ).only("issue", "judges", "annotators", "verdicts", "why")
    return Content(table, page_url("overrides"), reviews.sentence)


def _proposals(home: Home) -> Content:
    """`rows` None: the proposals are still being computed."""
    template, found = "reports/dashboard/proposals.html", cached_proposals(home.reading)
    if found is None:
        return Content(template=template)
    shown: Sequence[Proposal] = found[:MAX_PROPOSALS]
    issues = Issue.objects.only("title").in_bulk([one.issue for one in shown])
    rows = [(issues[one.issue], one) for one in shown if one.issue in issues]
    return Content(rows=rows, more=max(0, len(found) - MAX_PROPOSALS), template=template)


def _underperforming(home: Home) -> Content:
    """What to work on next, with the evidence, as on its page."""
    table = listed_table(underperforming(home.reading)).only("issue", "why")
    return Content(_first(replace(table, note="")), page_url("underperforming"))


def _judges(home: Home) -> Content:
    """The unreliable ones of the last judge runs, as on Judge reliability."""
    table = concerns_table(judge_report(home.reading, suite=None, run=None, last=RECENT))
    trust = [column.name for column in table.columns].index("trust")
    rows = [row for row in table.rows if row[trust] == Trust.UNRELIABLE]
    note = (
        "By the rule of Judge reliability: human verdicts on answers drawn at random, agreement "
        "with other judges, failed judgments, and judging its own answers."
    )
    empty = "No serious concern about a judge or jury in the last judge runs."
    shown = replace(table, rows=rows, note=note, empty=empty).only("name", "why", "kind")
    return Content(_first(shown), page_url("judge_reliability", tab="judges"))


def _first(table: Table) -> Table:
    """Return the first rows; the note counts the others."""
    more = len(table.rows) - CARD_ROWS
    note = f"{more:,} more. {table.note}" if more > 0 else table.note
    return replace(table, rows=table.rows[:CARD_ROWS], note=note)


CARDS = (
    Card("tour", "First steps", "What to do once to know EvalHub.", _tour, is_wide=True),
    Card("to_do", "To do", "Reviews, drafts, disputes and triage, your own first.", _to_do),
    Card(
        "releases",
        "Release against release",
        "Each model against itself in the release before.",
        _releases,
        is_wide=True,
    ),
    Card(
        "activity",
        "Activity",
        "Runs, issues, tests, verdicts, baselines and juries of the last 7 days.",
        _activity,
        is_wide=True,
    ),
    Card("proposals", "Resolve or reopen?", "Issues whose runs suggest a new state.", _proposals),
    Card(
        "overrides",
        "Human overrides",
        "Results reviewed and overturned by annotators.",
        _overrides,
        is_wide=True,
    ),
    Card(
        "underperforming",
        "Underperforming issues",
        "What to work on next in the newest release.",
        _underperforming,
    ),
    Card(
        "judges",
        "Unreliable judges",
        "Judges and juries with serious concerns, also by human verdicts.",
        _judges,
    ),
)

FOR_REVIEWERS = ("tour", "to_do", "proposals", "releases", "activity", "overrides")
FOR_MANAGERS = ("releases", "tour", "to_do", "proposals", "activity", "overrides", "judges")


def default_of(user: User) -> list[str]:
    """Return the cards shown until the user chooses: to do first for those who only review."""
    reviews_only = user.has_perm(REVIEW) and not user.has_perm(CONTROL)
    keys = FOR_REVIEWERS if reviews_only else FOR_MANAGERS
    useless = {"to_do": not may_act(user), "tour": not may_tour(user)}
    return [key for key in keys if not useless.get(key)]


def cards_of(user: User) -> list[Card]:
    """Return the cards that this user chose, in order; `default_of` before the first choice."""
    found = user.preferences.get(PREFERENCE)
    return _known(found if isinstance(found, list) else default_of(user))


def choices_of(user: User) -> list[tuple[Card, bool]]:
    """Return all cards, the chosen ones (True) first in their order."""
    chosen = cards_of(user)
    return [(card, True) for card in chosen] + [(c, False) for c in CARDS if c not in chosen]


def choose(user: User, keys: Iterable[str]) -> None:
    """Save the user's cards in this order; unknown keys are left out."""
    user.prefer(**{PREFERENCE: [card.key for card in _known(keys)]})


def drop(user: User, key: str) -> None:
    """Show the user's cards without this one."""
    choose(user, [card.key for card in cards_of(user) if card.key != key])


def reset(user: User) -> None:
    """Show the default cards to the user again."""
    user.prefer(**{PREFERENCE: None})


def _known(keys: Iterable[object]) -> list[Card]:
    cards = {card.key: card for card in CARDS}
    return [cards[key] for key in dict.fromkeys(map(str, keys)) if key in cards]
