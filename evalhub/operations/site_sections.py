"""Sections of a site's file: what a row of each is named by, and how it is checked and saved.

Each uses the serializer of the API, so that the same is accepted and refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import Model, QuerySet
from rest_framework import serializers

from evalhub.access.models import Token, User
from evalhub.access.roles import ROLES as BUILT_IN
from evalhub.api.administration_serializers import (
    TokenSerializer,
    UserSerializer,
    WebhookSerializer,
)
from evalhub.api.fields import RowSerializer
from evalhub.api.serializers import LanguageModelSerializer
from evalhub.llm.models import LanguageModel
from evalhub.notifications.models import Webhook
from evalhub.notifications.security import notify_of_connection


@dataclass(frozen=True)
class Section:
    """A list in the file. `key`: the fields that name a row; `lookups`: the same in the database.

    `changed` gets a row as it was and as it is.
    """

    name: str
    serializer: type[RowSerializer]
    rows: Callable[[], QuerySet[Any]]
    key: tuple[str, ...] = ("name",)
    lookups: tuple[str, ...] = ("name",)
    is_fixed: bool = False
    changed: Callable[[Any, Any], None] | None = None

    @property
    def row_name(self) -> str:
        return str(self.rows().model._meta.verbose_name)

    def found(self, entry: dict[str, Any]) -> Model | None:
        named = zip(self.lookups, self.key, strict=True)
        row: Model | None = (
            self.rows().filter(**{lookup: entry[key] for lookup, key in named}).first()
        )
        return row


class RoleSerializer(RowSerializer):
    """A role of the site's own. `rights` are written as `app.codename`."""

    rights = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Group
        fields = ("name", "rights")

    def validate_name(self, name: str) -> str:
        if name in BUILT_IN:
            raise serializers.ValidationError(
                f"The role {name!r} is built in and cannot be changed: choose another name."
            )
        return name

    def validate_rights(self, names: list[str]) -> list[Permission]:
        known = {
            f"{right.content_type.app_label}.{right.codename}": right
            for right in Permission.objects.select_related("content_type")
        }
        if unknown := [name for name in names if name not in known]:
            raise serializers.ValidationError(f"There is no right {', '.join(unknown)}.")
        return [known[name] for name in names]

    def to_representation(self, instance: Group) -> dict[str, Any]:
        rights = instance.permissions.select_related("content_type")
        names = sorted(f"{one.content_type.app_label}.{one.codename}" for one in rights)
        return {"name": instance.name, "rights": names}

    def create(self, validated_data: dict[str, Any]) -> Group:
        return self.update(Group(), validated_data)

    def update(self, instance: Group, validated_data: dict[str, Any]) -> Group:
        instance.name = validated_data["name"]
        instance.save()
        instance.permissions.set(validated_data["rights"])
        return instance


class OwnedTokenSerializer(TokenSerializer):
    """A token of a user who is named: a command has no user of its own."""

    class Meta(TokenSerializer.Meta):
        extra_kwargs = {"user": {"required": True}}


def _connection_changed(before: LanguageModel, after: LanguageModel) -> None:
    notify_of_connection(before, after, by="manage.py apply")


MODELS = Section(
    "models", LanguageModelSerializer, LanguageModel.objects.all, changed=_connection_changed
)
ROLES = Section("roles", RoleSerializer, Group.objects.all)
USERS = Section("users", UserSerializer, User.objects.all, ("username",), ("username",))
TOKENS = Section(
    *("tokens", OwnedTokenSerializer, lambda: Token.objects.usable()),
    *(("user", "name"), ("user__username", "name")),
    is_fixed=True,
)
WEBHOOKS = Section("webhooks", WebhookSerializer, Webhook.objects.all)
