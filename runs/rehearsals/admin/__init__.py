from runs.rehearsals.admin.rehearsal import RehearsalAdmin
from runs.rehearsals.admin.template import JudgeTemplateAdminWithRehearsals

__all__ = ["JudgeTemplateAdminWithRehearsals", "RehearsalAdmin"]
