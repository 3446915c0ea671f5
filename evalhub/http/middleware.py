"""Compression of pages, and addresses without their slash at the end."""

from typing import Any

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.middleware.gzip import GZipMiddleware


class CompressPages(GZipMiddleware):
    """Compresses pages of HTML.

    An attacker cannot learn a secret from their sizes (BREACH): Django's middleware adds random
    bytes, and masks the CSRF token anew in each response. The API stays as it is: compressed, its
    ETags would be weak, and `If-Match` needs strong ones.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)


class SentAgain(HttpResponsePermanentRedirect):
    """A redirect with status 308, after which method and body are sent again."""

    def __init__(self, redirect_to: str, **kwargs: Any) -> None:
        super().__init__(redirect_to, preserve_request=True, **kwargs)


class WithSlash(CommonMiddleware):
    """Django's, which adds the slash, but loses no POST.

    After its 301, clients send a GET instead, and a script takes the answer for success.
    """

    response_redirect_class = SentAgain
