"""The tables of the ground floor; each stands in the room that it belongs to."""

from evalhub.access.models import Token, TokenScope, User
from evalhub.llm.embedding_models import Embedding
from evalhub.llm.models import Call, CallRole, LanguageModel, Pace
from evalhub.work.models import BatchState, ItemState, Worker

__all__ = [
    "BatchState",
    "Call",
    "CallRole",
    "Embedding",
    "ItemState",
    "LanguageModel",
    "Pace",
    "Token",
    "TokenScope",
    "User",
    "Worker",
]
