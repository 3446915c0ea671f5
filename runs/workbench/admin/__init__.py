from runs.workbench.admin import contributions
from runs.workbench.admin.workbench import WorkbenchAdmin

__all__ = ["WorkbenchAdmin", "contributions"]
