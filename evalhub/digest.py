"""One way to digest JSON values, so that equal content has equal digests everywhere."""

import hashlib
import json
from typing import Any


def digest(value: Any) -> str:
    """SHA-256, in hex, of a JSON value in its canonical form (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
