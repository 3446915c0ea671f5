"""The digest of a JSON value. Pure."""

import hashlib
import json
from typing import Any


def digest(value: Any) -> str:
    """Return the SHA-256 in hex of a JSON value in canonical form (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
