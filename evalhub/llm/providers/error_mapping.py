import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from evalhub.llm.capabilities import names_schema
from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.http_transport import Exchange, ReplyTooLong
from evalhub.llm.providers.refusal_meaning import meaning_of
from evalhub.llm.providers.responses import first, parsed, stated_error
from evalhub.llm.security.address_policy import ForbiddenAddress
from evalhub.llm.security.redaction import redact

Kind = CallErrorKind
QUOTED = 300
"""Characters of a provider's own words that a message repeats."""

READ = 5_000
"""Characters searched for them: removing tags takes quadratic time."""

ADVICE = {
    Kind.RATE_LIMITED: "It is asked more slowly now; lower its requests per minute if this stays.",
    Kind.TIMED_OUT: "Raise its time-out if it is meant to take so long.",
    Kind.REFUSED_KEY: "Check the key, its rights and the account's credit.",
    Kind.NOT_FOUND: "Check the model's name and the base URL.",
    Kind.BAD_REQUEST: "Check the parameters, and that the model takes the tools and images.",
    Kind.CONTEXT_TOO_LONG: "Shorten the messages, or choose a model with a higher limit.",
    Kind.CONTENT_FILTERED: "Its content filter stepped in.",
    Kind.UNREACHABLE: "Check the base URL and that the server runs.",
    Kind.UNREADABLE_REPLY: "Check that the base URL is that of an API, not of a web page.",
    Kind.SERVER_ERROR: "The fault is the provider's; it may pass.",
}

RESPONSES_ONLY = re.compile(r"(only supported in|please use) /?v1/responses", re.IGNORECASE)
NAME_RESPONSES = "Name the model openai/responses/…, which asks it there."

SWITCH_OFF_SCHEMA = "It takes no JSON schema: switch off 'structured output' on the model's page."


def explain(
    endpoint: Endpoint, exchange: Exchange, error: BaseException, received: Completion, *keys: str
) -> CallError:
    """Return the error of a call that raised, by the network exchange, then by litellm's words."""
    if isinstance(error, CallError):
        return error
    if exchange.failure is not None:
        return _broken(endpoint, exchange.failure, received, *keys)
    if exchange.response is not None:
        return _refused(endpoint, exchange, received, *keys)
    if isinstance(error, TimeoutError):
        return _timed_out(endpoint, received)
    return _unsent(endpoint, error, received, *keys)


def _timed_out(endpoint: Endpoint, received: Completion) -> CallError:
    message = f"{place(endpoint)} did not answer within {endpoint.timeout_s:g} s."
    return _error(Kind.TIMED_OUT, message, received)


def place(endpoint: Endpoint) -> str:
    """Return an endpoint's name for messages, with its host if it has its own."""
    host = urlsplit(endpoint.api_base).netloc
    return f"{endpoint.name} ({host})" if host else endpoint.name


def _error(kind: CallErrorKind, message: str, received: Completion, **more: Any) -> CallError:
    advice = ADVICE.get(kind, "")
    return CallError(kind, f"{message} {advice}".strip(), completion=received, **more)


def _broken(endpoint: Endpoint, failure: Exception, received: Completion, *keys: str) -> CallError:
    """Return the error of a call without a whole reply."""
    where = place(endpoint)
    match failure:
        case ForbiddenAddress():
            return CallError(Kind.FORBIDDEN_ADDRESS, f"{where}: {failure}", completion=received)
        case TimeoutError() if isinstance(failure, aiohttp.ConnectionTimeoutError):
            return _error(Kind.UNREACHABLE, f"{where} took no connection.", received)
        case TimeoutError():
            return _timed_out(endpoint, received)
        case aiohttp.ClientConnectorCertificateError():  # which is a ValueError too
            detail = str(failure.certificate_error)
            message = f"{where} has a certificate that is not trusted: {detail}"
            return CallError(Kind.UNREACHABLE, message, completion=received)
        case ReplyTooLong() | aiohttp.ClientResponseError() | ValueError():
            message = f"{where} sent what is no reply: {redact(str(failure), *keys)[:QUOTED]}."
            return _error(Kind.UNREADABLE_REPLY, message, received, can_retry=False)
        case aiohttp.ClientConnectorDNSError():
            message = f"{where}: no address is known for the host {failure.host!r}."
        case aiohttp.ClientConnectorError():
            message = f"{where} cannot be reached: {failure.os_error.strerror or failure}."
        case _:
            message = f"{where} broke off the connection before its reply was whole."
            return _error(Kind.UNREACHABLE, message, received, is_billed=True)
    return _error(Kind.UNREACHABLE, message, received)


def _refused(endpoint: Endpoint, exchange: Exchange, received: Completion, *keys: str) -> CallError:
    """Return the error of a whole reply without an answer."""
    assert exchange.response is not None
    status, reply = exchange.response.status_code, received.reply
    raw = parsed(reply)
    error = stated_error(raw)
    if status < 400 and error is None:
        return _unreadable(endpoint, status, reply, raw, received)
    if status < 400:  # an error that was sent as a success
        code = str(first(error, "code"))
        is_known = meaning_of(400, reply).kind is not Kind.BAD_REQUEST
        status = int(code) if re.fullmatch("[45][0-9][0-9]", code) else 400 if is_known else 500
    quoted = redact(provider_message(raw, reply), *keys)
    retry_after_s = retry_after(exchange.response.headers, time.time())
    return _by_status(endpoint, status, quoted, reply, received, retry_after_s)


def _unreadable(
    endpoint: Endpoint, status: int, reply: str, raw: Any, received: Completion
) -> CallError:
    if reply.lstrip()[:1] == "<":
        what = "a web page"
    elif status >= 300:
        what = f"a redirect (status {status}) to nowhere"
    elif raw is None:
        what = "incomplete or no JSON" if reply.strip() else "an empty reply"
    else:
        what = "JSON without an answer"
    return _error(Kind.UNREADABLE_REPLY, f"{place(endpoint)} sent {what}.", received)


def _by_status(
    endpoint: Endpoint,
    status: int,
    quoted: str,
    everything: str,
    received: Completion,
    retry_after_s: float | None,
) -> CallError:
    kind, is_of_account = meaning_of(status, everything)
    verb = "has a fault" if kind is Kind.SERVER_ERROR else "refused the call"
    message = f"{place(endpoint)} {verb} (status {status}): {quoted.rstrip('.') or 'no reason'}."
    if kind is Kind.BAD_REQUEST and names_schema(everything):
        return CallError(kind, f"{message} {SWITCH_OFF_SCHEMA}", completion=received)
    if RESPONSES_ONLY.search(everything):
        return CallError(kind, f"{message} {NAME_RESPONSES}", completion=received)
    if kind is Kind.REFUSED_KEY and endpoint.api_key_env:
        message = f"{message} The key is that of {endpoint.api_key_env}."
    more = {"retry_after_s": retry_after_s, "is_of_account": is_of_account}
    return _error(kind, message, received, **more)


def provider_message(raw: Any, reply: str) -> str:
    """Return the provider's own words, shortened; those of the upstream one before a gateway's."""
    upstream = first(raw, "error", "metadata", "raw")
    if isinstance(upstream, str) and upstream:
        return provider_message(parsed(upstream), upstream)
    paths: tuple[tuple[str | int, ...], ...] = (
        ("error", "message"),
        ("error",),
        ("base_resp", "status_msg"),
        ("message",),
        ("detail",),
        (0, "error", "message"),
    )
    for path in paths:
        words = first(raw, *path)
        if isinstance(words, str) and words:
            return words[:QUOTED]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", reply[:READ])).strip()[:QUOTED]


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the provider asks to wait; None if missing or unreadable.

    Args:
        headers: Of its reply, found in any case.
        now: Seconds since the epoch; the header may hold a date.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*\d{1,9}(\.\d*)?\s*", text):
        return None
    return float(text)


def _unsent(
    endpoint: Endpoint, error: BaseException, received: Completion, *keys: str
) -> CallError:
    """Return the error of a call that litellm gave up, or that a provider's own library sent."""
    plain = re.sub(r"^(litellm\.\w+: )+|Traceback \(.*", "", str(error), flags=re.DOTALL)
    words = redact(" ".join(plain.split()), *keys)[:QUOTED]
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _by_status(endpoint, status, words, words, received, None)
    message = f"{place(endpoint)} could not be called: {type(error).__name__}: {words}"
    return _error(Kind.BAD_REQUEST, message, received)
