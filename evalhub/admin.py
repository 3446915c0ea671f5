"""The admin of the ground, room by room."""

from evalhub.access.admin import PersonAdmin, RoleAdmin, TokenAdmin
from evalhub.access.exposure_admin import ExposureAdmin
from evalhub.llm.admin import CallAdmin, LanguageModelAdmin
from evalhub.notices.admin import DeliveryAdmin, NoticeAdmin, WebhookAdmin
from evalhub.work.admin import WorkerAdmin

__all__ = [
    "CallAdmin",
    "DeliveryAdmin",
    "ExposureAdmin",
    "LanguageModelAdmin",
    "NoticeAdmin",
    "PersonAdmin",
    "RoleAdmin",
    "TokenAdmin",
    "WebhookAdmin",
    "WorkerAdmin",
]
