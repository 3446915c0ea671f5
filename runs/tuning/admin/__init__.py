from runs.tuning.admin.template import JudgeTemplateAdminWithTunings
from runs.tuning.admin.tuning import TuningAdmin

__all__ = ["JudgeTemplateAdminWithTunings", "TuningAdmin"]
