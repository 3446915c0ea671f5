"""Admins of the ground floor, registered on import."""

from evalhub.access.admin import EvalHubUserAdmin, RoleAdmin, TokenAdmin
from evalhub.access.exposure_admin import ExposureAdmin
from evalhub.llm.admin import CallAdmin, LanguageModelAdmin
from evalhub.notifications.admin import DeliveryAdmin, NotificationAdmin, WebhookAdmin
from evalhub.work.admin import WorkerAdmin

__all__ = [
    "CallAdmin",
    "DeliveryAdmin",
    "EvalHubUserAdmin",
    "ExposureAdmin",
    "LanguageModelAdmin",
    "NotificationAdmin",
    "RoleAdmin",
    "TokenAdmin",
    "WebhookAdmin",
    "WorkerAdmin",
]
