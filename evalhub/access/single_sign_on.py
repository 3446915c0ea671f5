"""Login by OpenID Connect, where the operator sets it up: mozilla-django-oidc, made stricter.

The provider's second factor is then the site's. Addresses come from the provider's discovery
document, which is read at the first login.
"""

import logging
from functools import cache
from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import Group
from django.core.exceptions import SuspiciousOperation
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import path
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
)

from evalhub.access.models import User
from evalhub.limits import OIDC_TIMEOUT_S

log = logging.getLogger(__name__)

ENDPOINTS = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
}
FAILED = (
    "You could not be logged in. Ask an admin whether your account exists here, with the e-mail "
    "address that your login provider has confirmed."
)


@cache
def discovered(issuer: str) -> dict[str, Any]:
    """Return the provider's discovery document; raise an error if it is another provider's."""
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    response = requests.get(address, timeout=OIDC_TIMEOUT_S)
    response.raise_for_status()
    found: dict[str, Any] = response.json()
    if found.get("issuer", "").rstrip("/") != issuer.rstrip("/"):
        raise SuspiciousOperation(f"{address} is of another issuer: {found.get('issuer')!r}")
    return found


class Discovered:
    """Mixin that finds the provider's addresses."""

    @staticmethod
    def get_settings(name: str, *default: Any) -> Any:
        if name in ENDPOINTS:
            return discovered(settings.EVALHUB_OIDC_ISSUER)[ENDPOINTS[name]]
        return OIDCAuthenticationBackend.get_settings(name, *default)


class SingleSignOn(Discovered, OIDCAuthenticationBackend):
    """Logs in the one active account with the e-mail address that the provider has confirmed."""

    def __init__(self) -> None:
        """Read nothing: every request makes all backends."""
        self.UserModel = User

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        if request is None or "code" not in request.GET or "nonce" not in credentials:
            return None
        OIDCAuthenticationBackend.__init__(self)
        try:
            user: User | None = super().authenticate(request, **credentials)
        except (requests.RequestException, jwt.PyJWTError, SuspiciousOperation, KeyError) as error:
            log.warning("A login by OpenID Connect failed: %s", error)
            return None
        return user

    def verify_token(self, token: str, **more: Any) -> dict[str, Any]:
        """Check what the library leaves open: the token is from this provider and for this site."""
        claims: dict[str, Any] = super().verify_token(token, **more)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if settings.OIDC_RP_CLIENT_ID not in audiences:
            raise SuspiciousOperation(f"The token is for another site: {audiences}")
        issuer = discovered(settings.EVALHUB_OIDC_ISSUER)["issuer"]
        if claims.get("iss") != issuer:
            raise SuspiciousOperation(f"The token is of another issuer: {claims.get('iss')!r}")
        return claims

    def get_userinfo(self, access_token: str, id_token: str, payload: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().get_userinfo(access_token, id_token, payload)
        if found.get("sub") != payload.get("sub"):
            raise SuspiciousOperation("The user's details are those of another user.")
        return found

    def filter_users_by_claims(self, claims: dict[str, Any]) -> QuerySet[User]:
        people = User.objects.filter(is_active=True, is_staff=True)
        return people.filter(email__iexact=claims["email"])

    def verify_claims(self, claims: dict[str, Any]) -> bool:
        return bool(claims.get("email")) and claims.get("email_verified") is True

    def create_user(self, claims: dict[str, Any]) -> User | None:
        """Create an account with the set role; None where an admin creates accounts."""
        role = settings.EVALHUB_OIDC_ROLE
        group = Group.objects.filter(name=role).first() if role else None
        is_taken = User.objects.filter(
            Q(username=claims["email"]) | Q(email__iexact=claims["email"])
        ).exists()
        if group is None or is_taken:
            return None
        user = User.objects.create_user(claims["email"], email=claims["email"], is_staff=True)
        user.groups.add(group)
        return user


class StartView(Discovered, OIDCAuthenticationRequestView):
    pass


class CallbackView(OIDCAuthenticationCallbackView):
    def login_failure(self) -> HttpResponse:
        messages.error(self.request, FAILED)
        return HttpResponseRedirect(resolve_url(settings.LOGIN_URL))


urlpatterns = [
    path("start/", StartView.as_view(), name="oidc_authentication_init"),
    path("callback/", CallbackView.as_view(), name="oidc_authentication_callback"),
]
