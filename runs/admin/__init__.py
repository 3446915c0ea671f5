from runs.admin.example import ExampleAdmin
from runs.admin.issue import IssueAdminWithRuns
from runs.admin.jury import JuryAdmin
from runs.admin.launch import LaunchAdmin
from runs.admin.result import ResultAdmin
from runs.admin.run import RunAdmin
from runs.admin.suite import SuiteAdmin
from runs.admin.tag import TagAdminWithRuns
from runs.admin.test import TestAdminWithRuns

__all__ = [
    "ExampleAdmin",
    "IssueAdminWithRuns",
    "JuryAdmin",
    "LaunchAdmin",
    "ResultAdmin",
    "RunAdmin",
    "SuiteAdmin",
    "TagAdminWithRuns",
    "TestAdminWithRuns",
]
