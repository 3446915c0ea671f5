"""Reports whose time has come: looked for every minute, of which few have any."""

from datetime import datetime

from evalhub.schedules import do_due
from reports.models import ReportSchedule


def make_due(now: datetime | None = None) -> int:
    """Make every report that is due; return how many were made or refused."""
    return do_due(ReportSchedule, _make, now)


def _make(report: ReportSchedule) -> str:
    from reports.schedules.snapshots import make  # with all pages, which nothing else here needs

    return make(report)
