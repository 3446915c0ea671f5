"""The reports' own tables, and links to reports on the pages of lower floors."""

from reports.admin import contributions, run_list
from reports.admin.capability import CapabilityAdmin
from reports.admin.schedule import ReportScheduleAdmin

__all__ = ["CapabilityAdmin", "ReportScheduleAdmin", "contributions", "run_list"]
