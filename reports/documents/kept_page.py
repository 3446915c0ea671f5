"""The content of a report's page, kept in this process for readers with the same rights.

It is shown again as long as nothing that reports read has changed.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, QueryDict
from django.middleware.csrf import get_token
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from evalhub.access.sealed import READ_SEALED, revealed_tests
from evalhub.admin_site.pages import current_user
from evalhub.models import User
from evalhub.values.digest import digest
from reports.documents.data_version import data_version, is_settled
from reports.documents.document import Document
from runs.sights import GIVES_VERDICTS, hidden_from

TOKEN = secrets.token_hex(16)


@dataclass
class KeptPage:
    """A page that is kept, or may be.

    Attributes:
        html: None until it was rendered.
        runs: None unless the document is complete.
        token: Written into its forms in place of the token of the reader's session.
    """

    key: str
    version: str
    title: str = ""
    labels: tuple[str, ...] = ()
    html: str | None = None
    runs: tuple[int, ...] | None = None
    token: str = TOKEN

    def shown_to(self, request: HttpRequest) -> SafeString:
        html = self.html or ""
        if self.token in html:
            html = html.replace(self.token, get_token(request))
        return mark_safe(html)

    def take(self, document: Document, title: str = "") -> None:
        """Keep what will be rendered of this complete document, by default under its title."""
        self.title, self.labels = title or document.title, document.labels
        self.runs = document.runs

    def keep(self, html: str) -> None:
        """Keep the content, unless its data have changed since it was asked for."""
        self.html = html
        if self.runs is not None and is_settled(self.runs) and data_version() == self.version:
            kept = (self.version, self.title, self.labels, html)
            caches["pages"].set(self.key, kept)


def kept_page(request: HttpRequest, name: str, query: QueryDict) -> KeptPage | None:
    """Return the page of this name and query for the reader; None where pages are not kept."""
    if settings.DEBUG:  # templates change
        return None
    name = f"{request.get_host()} {name}"
    rights = _rights(current_user(request))
    key = digest([name, query.urlencode(), rights, str(timezone.localdate())])
    found, version = caches["pages"].get(key), data_version()
    if found is None or found[0] != version:
        return KeptPage(key, version)
    return KeptPage(key, *found)


def _rights(reader: User) -> list[Any]:
    """Return all that tells this reader's page from another's.

    What annotators are shown is recorded when a page is made, so theirs are kept for them alone.
    """
    mine = [reader.pk, *sorted(hidden_from(reader))] if reader.has_perm(GIVES_VERDICTS) else []
    revealed = [] if reader.has_perm(READ_SEALED) else sorted(revealed_tests(reader))
    rights = ["all"] if reader.is_superuser else sorted(reader.get_all_permissions())
    return [mine, revealed, rights]
