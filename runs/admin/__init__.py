from runs.admin import contributions, drafting_conflicts, exports
from runs.admin.examples import ExampleAdmin
from runs.admin.jury.admin import JuryAdmin
from runs.admin.launch.admin import LaunchAdmin
from runs.admin.release import ReleaseAdmin
from runs.admin.result.admin import ResultAdmin
from runs.admin.run.admin import RunAdmin
from runs.admin.suite.admin import SuiteAdmin
from runs.laboratory.playground import admin as playground

__all__ = [
    "ExampleAdmin",
    "JuryAdmin",
    "LaunchAdmin",
    "ReleaseAdmin",
    "ResultAdmin",
    "RunAdmin",
    "SuiteAdmin",
    "contributions",
    "drafting_conflicts",
    "exports",
    "playground",
]
