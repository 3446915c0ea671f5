"""What reports add to the admin: their own tables, and links on the tables of lower floors."""

from reports.admin.capability import CapabilityAdmin
from reports.admin.issue import IssueAdminWithReports
from reports.admin.schedule import ReportScheduleAdmin
from reports.admin.test import TestAdminWithReports

__all__ = [
    "CapabilityAdmin",
    "IssueAdminWithReports",
    "ReportScheduleAdmin",
    "TestAdminWithReports",
]
