"""How webhooks prove who sent them and when. Pure."""

import hmac

VERSION = "v1"
TOLERANCE_S = 300
"""An older signature is to be refused: somebody else may be sending it again."""


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """The header's value: `t=<seconds since 1970>,v1=<hex of HMAC-SHA256>`.

    What is signed is the timestamp, a full stop and the body, byte for byte.
    """
    return f"t={timestamp},{VERSION}={_digest(secret, timestamp, body)}"


def is_genuine(header: str, secret: str, body: bytes, *, now: int) -> bool:
    """Whether a header signs this body, not longer ago than `TOLERANCE_S`; for who receives."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    sent = parts.get("t", "")
    if not (sent.isascii() and sent.isdecimal()) or abs(now - int(sent)) > TOLERANCE_S:
        return False
    return hmac.compare_digest(parts.get(VERSION, ""), _digest(secret, int(sent), body))


def _digest(secret: str, timestamp: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hexdigest()
