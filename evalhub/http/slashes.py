"""Addresses without their slash at the end."""

from typing import Any

from django.http import HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware


class SentAgain(HttpResponsePermanentRedirect):
    """A redirect with status 308, after which method and body are sent again."""

    def __init__(self, redirect_to: str, **kwargs: Any) -> None:
        super().__init__(redirect_to, preserve_request=True, **kwargs)


class WithSlash(CommonMiddleware):
    """Django's, which adds the slash, but loses no POST.

    After its 301, clients send a GET instead, and a script takes the answer for success.
    """

    response_redirect_class = SentAgain
