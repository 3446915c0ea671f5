"""The tables of the ground floor; each stands in the room that it belongs to."""

from evalhub.access.models import Exposure, ExposureKind, SavedFilter, Token, TokenScope, User
from evalhub.llm.embedding_models import Embedding
from evalhub.llm.models import Call, CallRole, LanguageModel, Pace
from evalhub.notices.models import Delivery, DeliveryState, Notice, NoticeKind, Webhook
from evalhub.work.models import BatchState, ItemState, Worker

__all__ = [
    "BatchState",
    "Call",
    "CallRole",
    "Delivery",
    "DeliveryState",
    "Embedding",
    "Exposure",
    "ExposureKind",
    "ItemState",
    "LanguageModel",
    "Notice",
    "NoticeKind",
    "Pace",
    "SavedFilter",
    "Token",
    "TokenScope",
    "User",
    "Webhook",
    "Worker",
]
