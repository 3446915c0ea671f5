"""API permissions: the user's rights, limited by the token's scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.permissions import SAFE_METHODS, DjangoModelPermissions
from rest_framework.request import Request

from evalhub.access.models import Token, TokenScope

if TYPE_CHECKING:  # rest_framework.views imports this module while it is being imported itself
    from rest_framework.views import APIView


class ModelPermissions(DjangoModelPermissions):
    """Model permissions that require the view right for reading, unlike Django's.

    A view without a queryset names its right by `permission_required`; an action that is not plain
    create, change or delete names its own in `action_permissions`. One that `changes_nothing` is
    open to read-only tokens by any method, one in `takes_feedback` to those for feedback.
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
        token = request.auth
        reads = request.method in SAFE_METHODS or getattr(view, "changes_nothing", False)
        if isinstance(token, Token) and token.scope == TokenScope.FEEDBACK:
            if getattr(view, "action", None) not in getattr(view, "takes_feedback", ()):
                self.message = "This token can send feedback only. Create one that can read."
                return False
        elif isinstance(token, Token) and not reads and token.scope != TokenScope.WRITE:
            self.message = "This token is read-only. Create one that can write."
            return False
        actions: dict[str, str] = getattr(view, "action_permissions", {})
        required: str | None = getattr(view, "permission_required", None)
        special = actions.get(getattr(view, "action", None) or "", required)
        needed = [special] if special else self._needed(request, view)
        missing = [right for right in needed if not request.user.has_perm(right)]
        if missing:
            self.message = f"You need the right {' and '.join(map(repr, missing))} for this."
        return not missing

    def _needed(self, request: Request, view: Any) -> list[str]:
        rows = view.get_queryset() if hasattr(view, "get_queryset") else view.queryset
        return self.get_required_permissions(str(request.method), rows.model)
