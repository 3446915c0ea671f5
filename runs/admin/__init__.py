from runs.admin.examples import ExampleAdmin
from runs.admin.issue import IssueAdminWithRuns
from runs.admin.jury.admin import JuryAdmin
from runs.admin.launch.admin import LaunchAdmin
from runs.admin.result.admin import ResultAdmin
from runs.admin.run.admin import RunAdmin
from runs.admin.suite.admin import SuiteAdmin
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
