"""The decisions on a release, and what its users reported since, on its page."""

from collections.abc import Iterator, Sequence

from django.urls import reverse
from django.utils.timezone import localtime

from evalhub.display.formatting import counted
from evalhub.models import User
from reports.documents.document import Column, Link, Table
from reports.models import ReleaseDecision
from reports.models.release_decision import ReleaseAct
from reports.releases.decisions import DECIDE, user_reports
from runs.models import Release


def decision_links(release: str, reader: User) -> Iterator[Link]:
    """Yield the buttons of a reader who may decide on this release."""
    row = Release.objects.filter(name=release).first() if reader.has_perm(DECIDE) else None
    if row is not None:
        for act, text in ((ReleaseAct.SHIPPED, "Ship…"), (ReleaseAct.HELD, "Hold…")):
            yield Link(text, reverse("reports:decide_release", args=[row.pk, act]))


def decision_sentences(decisions: Sequence[ReleaseDecision]) -> Iterator[str]:
    """Yield the newest decision, and the feedback since the release was shipped."""
    if not decisions:
        return
    one = decisions[0]
    why = f": {one.reason}" if one.reason else "."
    day = f"{localtime(one.decided_at):%Y-%m-%d}"
    yield f"{one.release} was {one.act} by {one.decided_by} on {day}{why}"
    if (found := user_reports(decisions)) and found.total:
        filed = f", in {counted(found.issues, 'issue')}" if found.issues else ""
        reports = counted(found.total, "report")
        yield f"Since then users sent {reports} on it, {found.down:,} thumbs down{filed}."


def decisions_table(decisions: Sequence[ReleaseDecision]) -> Iterator[Table]:
    """Yield the table of decisions; nothing without any."""
    if decisions:
        yield Table(
            key="decisions",
            title="Decisions",
            columns=(
                Column("decision", "Decision"),
                Column("who", "By"),
                Column("date", "Date", "date"),
                Column("reason", "Reason"),
                Column("concluded", "Concluded then"),
            ),
            rows=[
                (
                    *(one.get_act_display(), str(one.decided_by), one.decided_at),
                    *(one.reason or None, " ".join(_said(one)) or None),
                )
                for one in decisions
            ],
            note="Nobody can change or delete a decision.",
        )


def _said(decision: ReleaseDecision) -> list[str]:
    return [each["sentence"] for each in decision.concluded if each["sentence"]]
