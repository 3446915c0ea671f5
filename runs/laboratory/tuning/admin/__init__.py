from runs.laboratory.tuning.admin import contributions
from runs.laboratory.tuning.admin.tuning import TuningAdmin

__all__ = ["TuningAdmin", "contributions"]
