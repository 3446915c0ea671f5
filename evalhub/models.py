from django.contrib.auth.models import Group
from simple_history import register

from evalhub.access.models import Exposure, ExposureKind, SavedFilter, Token, TokenScope, User
from evalhub.audit.models import Act, AuditEntry
from evalhub.history import History
from evalhub.http.idempotency import KeptAnswer
from evalhub.llm.applications.application_fields import ModelKind
from evalhub.llm.content.images import Image, MediaType
from evalhub.llm.models import Call, CallRole, Embedding, LanguageModel
from evalhub.notifications.models import (
    Delivery,
    DeliveryState,
    Notification,
    NotificationKind,
    Webhook,
)
from evalhub.values.database_cache import CachedValue
from evalhub.work.models import BatchState, CostReservation, ItemState, SharedRate, Worker

register(Group, app="evalhub", records_class=History, m2m_fields=["permissions"])

__all__ = [
    "Act",
    "AuditEntry",
    "BatchState",
    "CachedValue",
    "Call",
    "CallRole",
    "CostReservation",
    "Delivery",
    "DeliveryState",
    "Embedding",
    "Exposure",
    "ExposureKind",
    "Image",
    "ItemState",
    "KeptAnswer",
    "LanguageModel",
    "MediaType",
    "ModelKind",
    "Notification",
    "NotificationKind",
    "SavedFilter",
    "SharedRate",
    "Token",
    "TokenScope",
    "User",
    "Webhook",
    "Worker",
]
