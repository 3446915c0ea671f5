from runs.admin.jury import JuryAdmin
from runs.admin.launch import LaunchAdmin
from runs.admin.run import RunAdmin
from runs.admin.suite import SuiteAdmin

__all__ = ["JuryAdmin", "LaunchAdmin", "RunAdmin", "SuiteAdmin"]
