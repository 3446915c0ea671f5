from runs.tuning.admin import contributions
from runs.tuning.admin.tuning import TuningAdmin

__all__ = ["TuningAdmin", "contributions"]
