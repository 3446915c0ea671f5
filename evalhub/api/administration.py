"""Doors to the API's own administration: users, tokens, webhooks, language models."""

import time
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from evalhub.access.granting import owner_problem
from evalhub.access.logins import entered_at
from evalhub.access.models import Token, TokenScope, User
from evalhub.api.administration_serializers import (
    TokenSerializer,
    UserSerializer,
    WebhookSerializer,
)
from evalhub.api.filters import Containing, OneOf, YesNo
from evalhub.api.serializers import LanguageModelSerializer
from evalhub.api.views import ReadOnly, Rows, Written
from evalhub.limits import PASSWORD_FRESH_S
from evalhub.models import LanguageModel, Webhook
from evalhub.notifications.security import notify_of_connection


class Administered(Rows):
    """Rows that say who may come in and where keys are sent.

    As on their pages, a session needs a password that was entered not long ago; a token does not.
    """

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method in SAFE_METHODS or isinstance(request.auth, Token):
            return
        if time.time() - entered_at(request._request) >= PASSWORD_FRESH_S:
            raise PermissionDenied("Send a token, or log in again: your password is asked for.")


class UserFilters(filters.FilterSet):
    username = filters.CharFilter()
    role = filters.CharFilter(field_name="groups__name")
    is_active = YesNo()


class UserViewSet(Administered, Written):
    """People and scripts with an account. They are set to inactive, never deleted.

    Nobody can give a role with rights that they lack, or change a user who has such rights.
    """

    queryset = User.objects.prefetch_related("groups").order_by("-pk")
    serializer_class = UserSerializer
    filterset_class = UserFilters
    ordering_fields = ("id", "username")

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        giver, target = self.request.user, serializer.instance
        if problem := owner_problem(giver, target):  # type: ignore[arg-type]
            raise PermissionDenied(problem)
        super().perform_update(serializer)


class TokenFilters(filters.FilterSet):
    user = filters.CharFilter(field_name="user__username")
    scope = OneOf(TokenScope)
    is_revoked = YesNo("revoked_at", lookup_expr="isnull", exclude=True)


class TokenViewSet(Administered, mixins.CreateModelMixin, ReadOnly):
    """API tokens: your own, or everybody's if you administer them.

    A token creates none with more rights than its own: not of a user with rights that its user
    lacks, not with a later end, not for other addresses. The answer to POST has the `text`, once;
    it is not kept for an `Idempotency-Key`.
    """

    keeps_answers = False
    queryset = Token.objects.select_related("user").order_by("-pk")
    serializer_class = TokenSerializer
    filterset_class = TokenFilters
    ordering_fields = ("id",)
    action_permissions = {"revoke": "evalhub.change_token"}

    def get_queryset(self) -> QuerySet[Token]:
        tokens: QuerySet[Token] = super().get_queryset()
        if self.request.user.has_perm("evalhub.change_token"):
            return tokens
        return tokens.filter(user=self.request.user.pk)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str | None = None) -> Response:
        """Revoke it."""
        token = self.get_object()
        Token.objects.filter(pk=token.pk).revoke()
        return self.shown(self.get_object())


class WebhookFilters(filters.FilterSet):
    name = filters.CharFilter()
    is_active = YesNo()


class WebhookViewSet(Administered, Written):
    """Addresses that are notified of events. The secret that signs is named, never sent."""

    queryset = Webhook.objects.order_by("-pk")
    serializer_class = WebhookSerializer
    filterset_class = WebhookFilters
    ordering_fields = ("id", "name")

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.save(created_by=self.request.user)


class LanguageModelFilters(filters.FilterSet):
    name = filters.CharFilter()
    developer = filters.CharFilter()
    family = filters.CharFilter()
    is_active = YesNo()
    is_scripted = YesNo()
    q = Containing("name", "litellm_model", "developer", "family")


class LanguageModelViewSet(Administered, Written):
    """Language models. They are set to inactive, never deleted.

    A key is named by its variable and goes only to the hosts that `EVALHUB_KEYS` lists for it.
    Admins are notified when a model's base URL, key variable or headers change.
    """

    queryset = LanguageModel.objects.order_by("-pk")
    serializer_class = LanguageModelSerializer
    filterset_class = LanguageModelFilters
    ordering_fields = ("id", "name")

    @transaction.atomic
    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        model: Any = serializer.instance
        before = LanguageModel.objects.get(pk=model.pk)
        super().perform_update(serializer)
        notify_of_connection(before, model, by=self.user)
