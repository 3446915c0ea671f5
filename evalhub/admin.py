"""The admin of the ground, room by room."""

from evalhub.access.admin import PersonAdmin, RoleAdmin, TokenAdmin
from evalhub.access.exposure_admin import ExposureAdmin
from evalhub.llm.admin import CallAdmin, LanguageModelAdmin
from evalhub.work.admin import WorkerAdmin

__all__ = [
    "CallAdmin",
    "ExposureAdmin",
    "LanguageModelAdmin",
    "PersonAdmin",
    "RoleAdmin",
    "TokenAdmin",
    "WorkerAdmin",
]
