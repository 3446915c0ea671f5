"""The check of an endpoint's own address before each call."""

from functools import lru_cache

from django.conf import settings

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.security.address_policy import ForbiddenAddress, allowances, check_base_url


def check_called(endpoint: Endpoint) -> None:
    """Raise CallError if the base URL may not be called, as it is written.

    The addresses of its name are checked on connecting.
    """
    try:
        _check_written(endpoint.api_base, tuple(settings.EVALHUB_ALLOWED_ADDRESSES))
    except ForbiddenAddress as error:
        message = f"{place(endpoint)}: {error}"
        raise CallError(CallErrorKind.FORBIDDEN_ADDRESS, message) from error


@lru_cache(maxsize=1000)
def _check_written(url: str, allowed: tuple[str, ...]) -> None:
    check_base_url(url, allowances(allowed), resolve=lambda host: [])
