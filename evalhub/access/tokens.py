"""Token authentication: `Authorization: Bearer ehub_…`."""

from collections.abc import Callable
from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import (
    APIException,
    AuthenticationFailed,
    PermissionDenied,
    Throttled,
)
from rest_framework.request import Request

from evalhub.access.client_addresses import client_address, client_network
from evalhub.access.models import Token, TokenScope, User, digest_of
from evalhub.access.request_limits import MINUTE_S, is_over
from evalhub.api.problems import response_of
from evalhub.limits import INVALID_TOKENS_PER_MINUTE

KEYWORD = "Bearer"
USE_PRECISION = timedelta(minutes=1)
"""Times of use are saved once in this time at most, so that few reads write."""


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        words = get_authorization_header(request).decode(errors="replace").split()
        if not words or words[0].lower() != KEYWORD.lower():
            return None
        if len(words) != 2:
            raise AuthenticationFailed(f"Send 'Authorization: {KEYWORD} <token>'.")
        usable = Token.objects.usable().select_related("user")
        token = usable.filter(digest=digest_of(words[1])).first()
        if token is None:
            if is_over(f"tokens-{client_network(request)}", INVALID_TOKENS_PER_MINUTE):
                raise Throttled(MINUTE_S, "Too many invalid tokens came from this address.")
            raise AuthenticationFailed("This token is unknown, revoked or expired.")
        if not token.works_from(address := client_address(request)):
            raise AuthenticationFailed(
                f"This token cannot be used from {address}. Create one for this address."
            )
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at >= USE_PRECISION:
            Token.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


def open_reports(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: a token opens reports and their downloads like a login, for scripts.

    Only to read: without a session there is no protection against forged requests.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith("/reports/") and request.method in ("GET", "HEAD"):
            try:
                found = TokenAuthentication().authenticate(Request(request))
                if found and found[1].scope == TokenScope.FEEDBACK:
                    raise PermissionDenied("This token can send feedback only.")
            except APIException as error:
                return _refusal(request, error)
            if found is not None:
                request.user, request.token = found  # type: ignore[attr-defined]
        return get_response(request)

    return respond


def _refusal(request: HttpRequest, error: APIException) -> HttpResponse:
    response = response_of(request, error.default_code, str(error.detail))
    if isinstance(error, AuthenticationFailed):
        response["WWW-Authenticate"] = KEYWORD
    if isinstance(error, Throttled):
        response["Retry-After"] = str(MINUTE_S)
    return response


class RevokeTokens:
    """A password validator that allows every password; Django tells it of changed ones."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Allow it."""

    def password_changed(self, password: str, user: User | None = None) -> None:
        if user is not None and user.pk is not None:
            user.tokens.revoke("Password changed")

    def get_help_text(self) -> str:
        return "A new password revokes the user's API tokens."


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "evalhub.access.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
