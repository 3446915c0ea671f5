"""Signatures of webhooks, as Standard Webhooks (standardwebhooks.com) defines them. Pure."""

import base64
import binascii
import hmac

PREFIX = "whsec_"


class BadSecret(ValueError):
    """A secret that begins like one of Standard Webhooks, and is none."""


def keys_in(secrets: str) -> list[bytes]:
    """Return the keys of secrets, which spaces separate: the new one and those still in use.

    Raises:
        BadSecret: What follows `whsec_` is no base64.
    """
    return [_key(secret) for secret in secrets.split()]


def _key(secret: str) -> bytes:
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise BadSecret(f"What follows {PREFIX} is no base64.") from error


def headers_of(message: str, timestamp: int, body: bytes, keys: list[bytes]) -> dict[str, str]:
    """Return the headers that identify and sign a message, with a signature by each key.

    Args:
        message: Its id, the same however often it is sent.
        timestamp: Seconds since 1970.
    """
    signed = f"{message}.{timestamp}.".encode() + body
    signatures = [hmac.digest(key, signed, "sha256") for key in keys]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{base64.b64encode(s).decode()}" for s in signatures),
    }
