"""Decisions on releases: made with what the report concludes, and the feedback since."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from evalhub.models import User
from evalhub.refusals import Refused
from issues.models import Feedback, Rating
from reports.documents.reading import Reading
from reports.models import ReleaseDecision
from reports.models.release_decision import ReleaseAct
from reports.releases.query import ReleasesReport, releases_report
from reports.releases.release_tables import line_sentence
from runs.models import Release, Run

DECIDE = "reports.add_releasedecision"
BASIS = "judges"


def concluded_in(report: ReleasesReport) -> list[dict[str, str]]:
    """Return what the report concludes of each model, as a decision keeps it."""
    return [
        {
            "model": line.full_name,
            "conclusion": line.word.value,
            "sentence": line_sentence(line, report) if line.change else "",
            "basis": BASIS if line.change else "",
        }
        for line in report.lines
    ]


def needs_reason(report: ReleasesReport, act: str) -> bool:
    """Tell whether the decision goes against a loss."""
    return act == ReleaseAct.SHIPPED and any(line.word.is_loss for line in report.lines)


@transaction.atomic
def decide(release: Release, act: str, reason: str, *, by: User) -> ReleaseDecision:
    """Record a decision with what is concluded now; that takes as long as the report.

    Raises:
        Refused: It ships what is worse or mixed, and gives no reason.
    """
    report = releases_report(Reading(by), release=release.name)
    if needs_reason(report, act) and not reason.strip():
        losses = [line.full_name for line in report.lines if line.word.is_loss]
        problem = f"{', '.join(losses)}: rated worse. Say why {release} ships nevertheless."
        raise Refused([problem], field="reason")
    return ReleaseDecision.objects.create(
        release=release,
        act=act,
        reason=reason.strip(),
        against=report.before,
        concluded=concluded_in(report),
        decided_by=by,
    )


@dataclass(frozen=True)
class UserReports:
    """Feedback of users on a release that was shipped: its numbers."""

    total: int
    down: int
    issues: int


def decisions_on(release: str) -> Sequence[ReleaseDecision]:
    """Return the decisions on a release, newest first; one query."""
    rows = ReleaseDecision.objects.filter(release__name=release)
    return list(rows.select_related("decided_by", "release"))


def user_reports(decisions: Sequence[ReleaseDecision]) -> UserReports | None:
    """Count the feedback on a release since it was first shipped; None: it was not.

    That is feedback which names the release, and feedback on its models, without a release, until
    another one was shipped.
    """
    shipped = [one for one in decisions if one.act == ReleaseAct.SHIPPED]
    if not shipped:
        return None
    found = _feedback_on(shipped[-1])
    issues = found.exclude(issue=None).order_by().values("issue").distinct().count()
    return UserReports(found.count(), found.filter(rating=Rating.DOWN).count(), issues)


def _feedback_on(shipped: ReleaseDecision) -> QuerySet[Feedback]:
    others = ReleaseDecision.objects.filter(act=ReleaseAct.SHIPPED, pk__gt=shipped.pk)
    next_one = others.exclude(release=shipped.release).order_by("pk").first()
    models = Run.objects.filter(release=shipped.release.name).order_by().values("model_name")
    of_models: Any = Q(release="", model__in=models)
    if next_one is not None:
        of_models &= Q(created_at__lt=next_one.decided_at)
    named = Q(release=shipped.release.name)
    return Feedback.objects.filter(named | of_models, created_at__gte=shipped.decided_at)
