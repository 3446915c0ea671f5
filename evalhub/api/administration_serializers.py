"""Users, tokens and webhooks of the API, and of `manage.py apply`."""

from typing import Any

from django.contrib.auth.models import Group
from rest_framework import serializers

from evalhub.access.granting import owner_problem, roles_problem, token_problems
from evalhub.access.models import Token, User, default_end
from evalhub.api.fields import RowSerializer
from evalhub.models import NotificationKind, Webhook


class UserSerializer(RowSerializer):
    """A person or a script. It gets no password here: set one on its page, or log in by OpenID."""

    roles = serializers.SlugRelatedField(
        slug_field="name", source="groups", queryset=Group.objects.all(), many=True, required=False
    )
    can_log_in = serializers.BooleanField(source="is_staff", required=False)
    has_all_rights = serializers.BooleanField(source="is_superuser", read_only=True)

    class Meta:
        model = User
        fields = (
            *("id", "username", "email", "first_name", "last_name", "roles"),
            *("can_log_in", "is_active", "has_all_rights", "last_login", "date_joined"),
        )
        read_only_fields = ("last_login", "date_joined")

    def validate_roles(self, roles: list[Group]) -> list[Group]:
        """Refuse what the giver lacks; `manage.py apply` has no giver, and all rights."""
        request = self.context.get("request")
        if request is not None and (problem := roles_problem(request.user, roles)):
            raise serializers.ValidationError(problem)
        return roles

    def create(self, validated_data: dict[str, Any]) -> User:
        roles = validated_data.pop("groups", [])
        user = User(**validated_data)
        user.set_unusable_password()
        user.save()
        user.groups.set(roles)
        return user


class TokenSerializer(RowSerializer):
    """An API token. `text` is shown once, in the answer to its creation."""

    user = serializers.SlugRelatedField(
        slug_field="username",
        queryset=User.objects.filter(is_active=True),
        required=False,
        help_text="Left out: yourself.",
    )
    text = serializers.SerializerMethodField(help_text="Null but in the answer to its creation.")

    class Meta:
        model = Token
        fields = (
            *("id", "name", "user", "scope", "expires_at", "networks", "prefix", "text"),
            *("created_at", "last_used_at", "revoked_at"),
        )
        read_only_fields = ("prefix", "created_at", "last_used_at", "revoked_at")

    def get_text(self, token: Token) -> str | None:
        return getattr(token, "text", None)

    def validate_user(self, owner: User) -> User:
        request = self.context.get("request")
        if request is not None and (problem := owner_problem(request.user, owner)):
            raise serializers.ValidationError(problem)
        return owner

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        checked = super().validate(attrs)
        request = self.context.get("request")
        if request is not None and isinstance(request.auth, Token):
            by = request.auth
            if by.expires_at:
                attrs.setdefault("expires_at", min(default_end(), by.expires_at))
            new = Token(**attrs)
            problems = token_problems(by, expires_at=new.expires_at, networks=new.networks)
            if problems:
                raise serializers.ValidationError(problems)
        return checked

    def create(self, validated_data: dict[str, Any]) -> Token:
        request = self.context.get("request")
        owner = {} if request is None else {"user": request.user}
        token, text = Token.objects.issue(**owner | validated_data)
        token.text = text  # type: ignore[attr-defined]
        return token


class WebhookSerializer(RowSerializer):
    """An address that is notified of events. Its signing secret stays in the environment."""

    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=NotificationKind.choices), allow_empty=False
    )

    class Meta:
        model = Webhook
        fields = ("id", "name", "url", "secret_env", "kinds", "is_active", "created_at")
