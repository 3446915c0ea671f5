"""The errors of calls: their kind, if a retry can help, and a message for people. Pure."""

from enum import StrEnum

from evalhub.llm.completion import Completion


class CallErrorKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    TIMED_OUT = "timed_out"
    REFUSED_KEY = "refused_key"
    MISSING_KEY = "missing_key"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    CONTEXT_TOO_LONG = "context_too_long"
    CONTENT_FILTERED = "content_filtered"
    UNREACHABLE = "unreachable"
    EMPTY_ANSWER = "empty_answer"
    BROKEN_OFF = "broken_off"
    UNREADABLE_REPLY = "unreadable_reply"
    SERVER_ERROR = "server_error"
    FORBIDDEN_ADDRESS = "forbidden_address"
    IMAGES_NOT_TAKEN = "images_not_taken"


PASSING = {
    CallErrorKind.RATE_LIMITED,
    CallErrorKind.TIMED_OUT,
    CallErrorKind.UNREACHABLE,
    CallErrorKind.EMPTY_ANSWER,
    CallErrorKind.BROKEN_OFF,
    CallErrorKind.UNREADABLE_REPLY,
    CallErrorKind.SERVER_ERROR,
}
"""Kinds that may pass before the next try."""

UNSENT = {CallErrorKind.MISSING_KEY, CallErrorKind.FORBIDDEN_ADDRESS}
"""Kinds that keep every call to an endpoint from being sent."""

SUSPECT = {CallErrorKind.REFUSED_KEY, CallErrorKind.NOT_FOUND}
"""Kinds of refusals that may be of the account or the endpoint, and not only of a request."""

BILLED = {
    CallErrorKind.TIMED_OUT,
    CallErrorKind.EMPTY_ANSWER,
    CallErrorKind.BROKEN_OFF,
    CallErrorKind.UNREADABLE_REPLY,
}
"""Kinds of failures that may cost; others cost nothing, unless the reply says so."""

OUTAGES = {
    CallErrorKind.TIMED_OUT,
    CallErrorKind.UNREACHABLE,
    CallErrorKind.UNREADABLE_REPLY,
    CallErrorKind.SERVER_ERROR,
}
"""Kinds by which a provider that is down shows."""


class CallError(Exception):
    """A call without a usable answer. Its message is for people and holds no key.

    Attributes:
        kind: The kind of failure.
        can_retry: A retry can help; None in the constructor: the default of the kind.
        is_of_account: Every other call to the endpoint would fail too; None: the default of the
            kind.
        is_billed: The provider may bill it; None: the default of the kind.
        retry_after_s: The wait that the provider asked for; None: it did not.
        completion: The reply despite the error, for the record; None: there was none.
    """

    def __init__(
        self,
        kind: CallErrorKind,
        message: str,
        *,
        retry_after_s: float | None = None,
        can_retry: bool | None = None,
        is_of_account: bool | None = None,
        is_billed: bool | None = None,
        completion: Completion | None = None,
    ) -> None:
        super().__init__(message)
        self.can_retry = kind in PASSING if can_retry is None else can_retry
        self.is_of_account = kind in UNSENT if is_of_account is None else is_of_account
        self.is_billed = kind in BILLED if is_billed is None else is_billed
        self.kind = kind
        self.message = message
        self.retry_after_s = retry_after_s
        self.completion = completion
