"""Headers of the API. The `ETag` of a row is a digest of it as its reader is shown it.

It is the rule of the admin's pages (see `evalhub.admin_site.versions`) for a row as a whole.
"""

from hashlib import sha256
from typing import Any

from django.utils.http import parse_etags
from rest_framework.renderers import JSONRenderer

ETAG, IF_MATCH, IDEMPOTENCY_KEY = "ETag", "If-Match", "Idempotency-Key"
DIGITS = 32
WEAK = "W/"


def etag_of(data: Any) -> str:
    """Return the strong ETag of a serialized row."""
    return f'"{sha256(JSONRenderer().render(data)).hexdigest()[:DIGITS]}"'


def matches(header: str, etag: str) -> bool:
    """Tell whether an `If-Match` has the ETag, or any by "*".

    A proxy that compresses marks it as weak; it is still the digest of the same row.
    """
    tags = parse_etags(header)
    return tags == ["*"] or etag in [tag.removeprefix(WEAK) for tag in tags]
