"""API permissions: the user's rights, limited by the token's scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS, DjangoModelPermissions
from rest_framework.request import Request

from evalhub.access.models import Token, TokenScope

if TYPE_CHECKING:  # rest_framework.views imports this module while it is being imported itself
    from rest_framework.views import APIView


class ModelPermissions(DjangoModelPermissions):
    """Model permissions that require the view right for reading, unlike Django's.

    A view without a queryset names its right by `permission_required`; an action that is not plain
    create, change or delete names its own in `action_permissions`.
    """

    perms_map = {
        **DjangoModelPermissions.perms_map,
        "GET": ["%(app_label)s.view_%(model_name)s"],
        "HEAD": ["%(app_label)s.view_%(model_name)s"],
        "OPTIONS": ["%(app_label)s.view_%(model_name)s"],
    }

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not request.user or not request.user.is_authenticated:
            return False
        if not scope_allows(request):
            self.message = "This token is read-only. Create one that can write."
            return False
        special = special_right(view)
        return request.user.has_perm(special) if special else super().has_permission(request, view)


def special_right(view: APIView) -> str | None:
    """Return the right that a view names for this action in place of the model's, or None."""
    actions: dict[str, str] = getattr(view, "action_permissions", {})
    required: str | None = getattr(view, "permission_required", None)
    return actions.get(getattr(view, "action", None) or "", required)


def scope_allows(request: Request) -> bool:
    token = request.auth
    if not isinstance(token, Token) or request.method in SAFE_METHODS:
        return True
    return token.scope == TokenScope.WRITE
