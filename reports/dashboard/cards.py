"""What stands on each card of the first page; only those that are chosen are read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from issues.models import Issue
from reports.dashboard.card_choices import Kind, cards_of, choices_of
from reports.dashboard.card_tables import (
    everywhere_table,
    judges_table,
    models_table,
    underperforming_table,
    waiting_table,
    worse_table,
)
from reports.dashboard.latest_runs_query import (
    CompleteRun,
    LatestRunsReport,
    complete_run_infos,
    latests,
)
from reports.dashboard.query import Dashboard, dashboard_of
from reports.documents.document import Table
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.issue_proposals.proposals import kept_proposals
from reports.issue_proposals.rule import Proposal
from reports.judge_reliability.judges.totals_query import judge_concerns
from reports.underperforming.query import underperforming
from runs.models import Run

TABLE = "reports/dashboard/table.html"
MOST_PROPOSALS = 6


@dataclass(frozen=True)
class Card:
    """A card as its template reads it. `url` leads to the whole of it."""

    kind: Kind
    template: str
    url: str = ""
    table: Table | None = None
    content: Any = None


@dataclass(frozen=True)
class Proposed:
    """A proposal with the issue that it is about; None of `rows`: they are being computed."""

    rows: Sequence[tuple[Issue, Proposal]] | None
    more: int


@dataclass(frozen=True)
class Home:
    """The first page of one person."""

    reading: Reading

    @cached_property
    def dashboard(self) -> Dashboard:
        return dashboard_of(self.reading)

    @cached_property
    def complete(self) -> list[CompleteRun]:
        return complete_run_infos()

    @cached_property
    def latests(self) -> LatestRunsReport:
        return latests(self.complete, self.reading)

    @cached_property
    def choices(self) -> list[tuple[Kind, bool]]:
        return choices_of(self.reading.reader)

    @cached_property
    def cards(self) -> list[Card]:
        """Those that the person chose, in their order."""
        return [CARDS[kind.key](self, kind) for kind in cards_of(self.reading.reader)]

    @cached_property
    def is_pending(self) -> bool:
        """Whether something is left to a second request."""
        return bool(self.cards) and self.reading.pending


def _counts(home: Home, kind: Kind) -> Card:
    return Card(kind, "reports/dashboard/counts.html")


def _models(home: Home, kind: Kind) -> Card:
    return Card(kind, TABLE, page_url("leaderboard"), models_table(home.latests))


def _worse(home: Home, kind: Kind) -> Card:
    return Card(kind, TABLE, page_url("compare"), worse_table(home.latests))


def _waiting(home: Home, kind: Kind) -> Card:
    may_review = home.reading.reader.has_perm("review.view_queue")
    return Card(kind, TABLE, table=waiting_table(home.dashboard.waiting, may_review=may_review))


def _proposals(home: Home, kind: Kind) -> Card:
    found = kept_proposals(home.reading)
    rows = None if found is None else _with_issues(found[:MOST_PROPOSALS])
    more = max(0, len(found or ()) - MOST_PROPOSALS)
    return Card(kind, "reports/dashboard/proposals.html", content=Proposed(rows, more))


def _with_issues(proposals: Sequence[Proposal]) -> list[tuple[Issue, Proposal]]:
    issues = Issue.objects.only("title").in_bulk([one.issue for one in proposals])
    return [(issues[one.issue], one) for one in proposals if one.issue in issues]


def _underperforming(home: Home, kind: Kind) -> Card:
    window = [brief.pk for brief in home.complete]
    newest = Run.objects.get(pk=window[0]) if window else None
    report = underperforming(newest, home.reading, window)
    return Card(kind, TABLE, page_url("underperforming"), underperforming_table(report))


def _everywhere(home: Home, kind: Kind) -> Card:
    return Card(kind, TABLE, page_url("heatmap"), everywhere_table(home.latests))


def _judges(home: Home, kind: Kind) -> Card:
    return Card(
        kind, TABLE, page_url("judge_reliability", tab="judges"), judges_table(judge_concerns())
    )


def _worst(home: Home, kind: Kind) -> Card:
    return Card(kind, "reports/dashboard/worst_issues.html")


def _latest(home: Home, kind: Kind) -> Card:
    return Card(kind, "reports/dashboard/latest_runs.html")


CARDS: dict[str, Callable[[Home, Kind], Card]] = {
    "ledger": _counts,
    "models": _models,
    "worse": _worse,
    "waiting": _waiting,
    "proposals": _proposals,
    "underperforming": _underperforming,
    "everywhere": _everywhere,
    "judges": _judges,
    "worst": _worst,
    "latest": _latest,
}
