from runs.laboratory.workbench.admin import contributions
from runs.laboratory.workbench.admin.workbench import WorkbenchAdmin

__all__ = ["WorkbenchAdmin", "contributions"]
