"""The reports' own tables, and links to reports on the pages of lower floors."""

from reports.admin import contributions, run_list
from reports.admin.capability import CapabilityAdmin
from reports.admin.release_decision import ReleaseDecisionAdmin
from reports.admin.schedule import ReportScheduleAdmin

__all__ = [
    "CapabilityAdmin",
    "ReleaseDecisionAdmin",
    "ReportScheduleAdmin",
    "contributions",
    "run_list",
]
