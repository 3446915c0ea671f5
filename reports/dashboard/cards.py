"""The cards of the dashboard, and those that a user chose; only these are read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from evalhub.models import User
from issues.models import Issue
from reports.dashboard.card_tables import (
    everywhere_table,
    judges_table,
    models_table,
    underperforming_table,
    waiting_table,
    worse_table,
)
from reports.dashboard.latest_runs_query import CompleteRun, LatestRunsReport, latests
from reports.dashboard.query import Dashboard, dashboard_of
from reports.documents.document import Table
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.issue_proposals.proposals import kept_proposals
from reports.issue_proposals.rule import Proposal
from reports.judge_reliability.judges.query import judge_concerns
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs, newer_than
from reports.underperforming.query import underperforming
from runs.baselines import HAS_BASELINE
from runs.models import Run

PREFERENCE = "home"
"""Name of the user's preference that holds the chosen cards."""

MAX_PROPOSALS = 6


@dataclass(frozen=True)
class Content:
    """The content of a card for its template; `url` leads to the full report."""

    table: Table | None = None
    url: str = ""
    rows: Any = None
    more: int = 0
    template: str = "reports/dashboard/table.html"


class Card(NamedTuple):
    """A card that users may choose. A wide one takes the full width."""

    key: str
    title: str
    summary: str
    build: "Callable[[Home], Content]"
    is_wide: bool = False


@dataclass(frozen=True)
class Home:
    """The dashboard of one user."""

    reading: Reading

    @cached_property
    def dashboard(self) -> Dashboard:
        return dashboard_of(self.reading)

    @cached_property
    def complete(self) -> list[CompleteRun]:
        """All conclusive runs, newest first."""
        runs = Run.objects.conclusive().order_by("-created_at", "-pk")
        rows = runs.values_list("pk", "language_model_id", HAS_BASELINE, "created_at")
        return [CompleteRun(*row) for row in rows]

    @cached_property
    def incomplete(self) -> tuple[IncompleteRun, ...]:
        """Incomplete runs that are newer than the run that is shown of their model."""
        return newer_than(
            (one.run for one in self.latests.runs), incomplete_runs(Run.objects.all())
        )

    @cached_property
    def latests(self) -> LatestRunsReport:
        return latests(self.complete, self.reading)

    @cached_property
    def choices(self) -> list[tuple[Card, bool]]:
        return choices_of(self.reading.reader)

    @cached_property
    def cards(self) -> list[tuple[Card, Content]]:
        """The chosen cards with their content, in the user's order."""
        return [(card, card.build(self)) for card in cards_of(self.reading.reader)]

    @cached_property
    def is_pending(self) -> bool:
        """Some figures are left to a second request."""
        return bool(self.cards) and self.reading.pending


def _todo(home: Home) -> Content:
    may_review = home.reading.reader.has_perm("review.view_queue")
    return Content(waiting_table(home.dashboard, may_review=may_review))


def _proposals(home: Home) -> Content:
    """`rows` None: the proposals are still being computed."""
    template, found = "reports/dashboard/proposals.html", kept_proposals(home.reading)
    if found is None:
        return Content(template=template)
    shown: Sequence[Proposal] = found[:MAX_PROPOSALS]
    issues = Issue.objects.only("title").in_bulk([one.issue for one in shown])
    rows = [(issues[one.issue], one) for one in shown if one.issue in issues]
    return Content(rows=rows, more=max(0, len(found) - MAX_PROPOSALS), template=template)


def _underperforming(home: Home) -> Content:
    window = [run.pk for run in home.complete]
    newest = Run.objects.get(pk=window[0]) if window else None
    report = underperforming(newest, home.reading, window)
    return Content(underperforming_table(report), page_url("underperforming"))


CARDS = (
    Card(
        "counts",
        "At a glance",
        "Feedback, issues, tests and workers.",
        lambda home: Content(template="reports/dashboard/counts.html"),
        is_wide=True,
    ),
    Card(
        "models",
        "Latest run of each model",
        "Compared with the suite's baseline or the previous run.",
        lambda home: Content(
            models_table(home.latests, home.incomplete, home.reading.reader),
            page_url("leaderboard"),
        ),
        is_wide=True,
    ),
    Card(
        "worse",
        "Issues that lost tests",
        "Net losses in the latest runs, with their significance.",
        lambda home: Content(worse_table(home.latests), page_url("compare")),
        is_wide=True,
    ),
    Card("waiting", "To do", "Triage, reviews, errors and unscored results.", _todo),
    Card("proposals", "Resolve or reopen?", "Issues whose runs suggest a new state.", _proposals),
    Card(
        "underperforming",
        "Underperforming issues",
        "Issues significantly below the newest run's pass rate.",
        _underperforming,
    ),
    Card(
        "everywhere",
        "Issues that fail for every model",
        "Issues without a pass in any model's latest run.",
        lambda home: Content(everywhere_table(home.latests), page_url("heatmap")),
    ),
    Card(
        "judges",
        "Unreliable judges",
        "Judges and juries with serious concerns, also by human verdicts.",
        lambda home: Content(
            judges_table(judge_concerns(home.reading)), page_url("judge_reliability", tab="judges")
        ),
    ),
    Card(
        "worst",
        "Highest failure rates of the newest run",
        "Issues by failure rate; the order is not tested.",
        lambda home: Content(template="reports/dashboard/worst_issues.html"),
    ),
    Card(
        "latest",
        "Newest runs",
        "The newest runs of all models, finished or not.",
        lambda home: Content(template="reports/dashboard/latest_runs.html"),
        is_wide=True,
    ),
)
DEFAULT = tuple(card.key for card in CARDS if card.key != "worst")
"""Shown until the user chooses; underperforming issues say more than the worst ones."""


def cards_of(user: User) -> list[Card]:
    """Return the cards that this user chose, in order; `DEFAULT` before the first choice."""
    found = user.preferences.get(PREFERENCE)
    return _known(found if isinstance(found, list) else DEFAULT)


def choices_of(user: User) -> list[tuple[Card, bool]]:
    """Return all cards, the chosen ones (True) first in their order."""
    chosen = cards_of(user)
    return [(card, True) for card in chosen] + [(c, False) for c in CARDS if c not in chosen]


def choose(user: User, keys: Iterable[str]) -> None:
    """Save the user's cards in this order; unknown keys are left out."""
    _save(user, {**user.preferences, PREFERENCE: [card.key for card in _known(keys)]})


def reset(user: User) -> None:
    """Show the default cards to the user again."""
    _save(user, {key: kept for key, kept in user.preferences.items() if key != PREFERENCE})


def _save(user: User, preferences: dict[str, Any]) -> None:
    user.preferences = preferences
    user.save(update_fields=["preferences"])


def _known(keys: Iterable[object]) -> list[Card]:
    cards = {card.key: card for card in CARDS}
    return [cards[key] for key in dict.fromkeys(map(str, keys)) if key in cards]
