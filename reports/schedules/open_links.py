"""Links to snapshots that open without an account, for a time.

A link is good while the site allows such links, its schedule does, and its snapshot exists.
"""

from datetime import timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner
from django.urls import reverse

from reports.models import Snapshot

SIGNER = TimestampSigner(salt="reports.open-links")


class LinkEnded(Exception):
    """A link that was good once: it is too old, or it was withdrawn."""


class UnknownLink(Exception):
    """A link that this site did not sign, or does not allow."""


def open_url(snapshot: Snapshot) -> str:
    """Return the path of a snapshot that opens without an account; "" where that is not allowed."""
    if not settings.EVALHUB_OPEN_LINKS or not snapshot.report.has_open_links:
        return ""
    link = SIGNER.sign(str(snapshot.pk))
    return f"{reverse('reports:open_snapshot')}?{urlencode({'link': link})}"


def snapshot_of(link: str) -> Snapshot:
    """Return the snapshot that a signed link opens.

    Raises:
        LinkEnded: It is too old, its schedule has no such links any more, or its snapshot is gone.
        UnknownLink: The site allows none, or did not sign it.
    """
    if not settings.EVALHUB_OPEN_LINKS:
        raise UnknownLink
    try:
        pk = SIGNER.unsign(link, max_age=timedelta(days=settings.EVALHUB_OPEN_LINK_DAYS))
    except SignatureExpired as error:
        raise LinkEnded from error
    except BadSignature as error:
        raise UnknownLink from error
    rows = Snapshot.objects.select_related("report").filter(report__has_open_links=True)
    found = rows.filter(pk=pk).first()
    if found is None:
        raise LinkEnded
    return found
