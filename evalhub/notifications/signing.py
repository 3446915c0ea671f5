"""Signatures of webhooks, which prove their sender and time. Pure."""

import hmac

VERSION = "v1"
TOLERANCE_S = 300
"""Refuse older signatures, which may be replays."""


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return the header `t=<seconds since 1970>,v1=<hex of HMAC-SHA256>`.

    The HMAC covers the timestamp, a full stop and the body.
    """
    return f"t={timestamp},{VERSION}={_digest(secret, timestamp, body)}"


def is_genuine(header: str, secret: str, body: bytes, *, now: int) -> bool:
    """Return whether a header signs this body within `TOLERANCE_S`; for receivers."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    sent = parts.get("t", "")
    if not (sent.isascii() and sent.isdecimal()) or abs(now - int(sent)) > TOLERANCE_S:
        return False
    return hmac.compare_digest(parts.get(VERSION, ""), _digest(secret, int(sent), body))


def _digest(secret: str, timestamp: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hexdigest()
