import hashlib
import secrets
from datetime import datetime
from ipaddress import ip_address, ip_network
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser, Group
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evalhub.history import History
from evalhub.limits import TOKEN_LIFETIME
from evalhub.llm.models import LanguageModel
from evalhub.model_parts import known

TOKEN_PREFIX = "ehub_"


class User(AbstractUser):
    """A person or a script. Rights come from the roles in `access.roles`."""

    preferences = models.JSONField(default=dict, blank=True)
    history = History(
        excluded_fields=["password", "last_login", "preferences"],
        m2m_fields=["groups", "user_permissions"],
    )
    groups = models.ManyToManyField(  # type: ignore[assignment]
        Group,
        verbose_name="roles",
        blank=True,
        related_name="user_set",
        related_query_name="user",
        help_text="Roles grant the user's rights.",
    )

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the user; the history tells that the password changed, not to what."""
        if getattr(self, "_password", None) is not None:
            self._change_reason = "Password changed"
        super().save(*args, **kwargs)

    def prefer(self, **values: Any) -> None:
        """Save preferences by name; None forgets one."""
        kept = {**self.preferences, **values}
        self.preferences = {name: value for name, value in kept.items() if value is not None}
        self.save(update_fields=["preferences"])


class TokenScope(models.TextChoices):
    READ = "read", "read only"
    WRITE = "write", "read and write"
    FEEDBACK = "feedback", "send feedback only"


def default_end() -> datetime:
    return timezone.now() + TOKEN_LIFETIME


def check_networks(text: str) -> None:
    """Raise ValidationError if this is no list of addresses and CIDR ranges."""
    for part in networks_in(text):
        try:
            ip_network(part, strict=False)
        except ValueError as error:
            problem = f"{part!r} is no address or range such as 192.0.2.7 or 10.0.0.0/8."
            raise ValidationError(problem) from error


def networks_in(text: str) -> list[str]:
    return [part.strip() for part in text.replace(",", " ").split()]


class TokenQuerySet(models.QuerySet["Token"]):
    def usable(self) -> "TokenQuerySet":
        """Filter tokens that are neither revoked nor expired."""
        fresh = models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=timezone.now())
        return self.filter(fresh, revoked_at__isnull=True, user__is_active=True)

    def issue(self, **fields: object) -> tuple["Token", str]:
        """Create a token. Its text is returned once and cannot be read again."""
        text = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = self.create(digest=digest_of(text), prefix=text[:10], **fields)
        return token, text

    def revoke(self, reason: str = "") -> int:
        """Revoke those that are not; return their number."""
        tokens = list(self.filter(revoked_at=None))
        for token in tokens:
            token.revoked_at = timezone.now()
            token._change_reason = reason  # type: ignore[attr-defined]
            token.save(update_fields=["revoked_at"])
        return len(tokens)


class Token(models.Model):
    """An API token with its user's rights, or fewer. A change of their password revokes it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="Name the script that uses it.")
    scope = models.CharField(max_length=8, choices=TokenScope, default=TokenScope.READ)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(max_length=10, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(
        null=True, blank=True, default=default_end, help_text="Leave empty for no expiry."
    )
    networks = models.CharField(
        "addresses",
        max_length=500,
        blank=True,
        validators=[check_networks],
        help_text="Addresses and CIDR ranges from which it works, such as 192.0.2.7, 10.0.0.0/8. "
        "Empty: all.",
    )
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    history = History(excluded_fields=["digest", "last_used_at"])

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [known("evalhub_token_scope_known", "scope", TokenScope)]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def works_from(self, address: str) -> bool:
        """Return whether the token can be used from an address."""
        try:
            client = ip_address(address)
        except ValueError:
            return not self.networks
        allowed = networks_in(self.networks)
        return not allowed or any(client in ip_network(one, strict=False) for one in allowed)


def digest_of(text: str) -> str:
    """Hash a token. It has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(text.encode()).hexdigest()


class ExposureKind(models.TextChoices):
    REVEALED = "revealed", "revealed to a user"
    SENT = "sent", "sent to an endpoint"
    OPENED = "opened", "open to all readers"


class ExposureQuerySet(models.QuerySet["Exposure"]):
    def revealed_to(self, user: AbstractBaseUser | AnonymousUser) -> "ExposureQuerySet":
        """Filter exposures that let this user read a sealed test now."""
        return self.filter(kind=ExposureKind.REVEALED, user=user.pk, ended_at__isnull=True)


class Exposure(models.Model):
    """A record that a sealed test's text was shown to a user or an endpoint. Append-only.

    `test` is the id of a test, a table that this floor does not know. `user` can read a revealed
    test until `ended_at`; ending it keeps the record. Sending is recorded once per endpoint and
    day. A test that was ever open was shown to all.
    """

    test = models.BigIntegerField(db_index=True)
    kind = models.CharField(max_length=8, choices=ExposureKind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="exposures"
    )
    reason = models.TextField(blank=True)
    endpoint = models.CharField(
        max_length=300, blank=True, help_text="Host and port of the recipient."
    )
    language_model = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="exposures"
    )
    purpose = models.CharField(max_length=20, blank=True, help_text="The role of the call.")
    day = models.DateField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = ExposureQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        permissions = [("reveal_sealed", "Can reveal sealed tests to users")]
        constraints = [
            known("evalhub_exposure_kind_known", "kind", ExposureKind),
            models.CheckConstraint(
                name="evalhub_exposure_one_recipient",
                condition=Q(kind="revealed", user__isnull=False, endpoint="")
                | Q(kind="sent", user__isnull=True) & ~Q(endpoint="")
                | Q(kind="opened", user__isnull=True, endpoint=""),
            ),
            models.UniqueConstraint(
                name="evalhub_exposure_sent_once",
                fields=("test", "endpoint", "day"),
                condition=Q(kind="sent"),
            ),
            models.UniqueConstraint(
                name="evalhub_exposure_revealed_once",
                fields=("test", "user"),
                condition=Q(kind="revealed", ended_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"test {self.test}, {self.get_kind_display()}"


class SavedFilter(models.Model):
    """A user's named filters of a list."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_filters")
    page = models.CharField(max_length=100, help_text="URL name of the list.")
    name = models.CharField(max_length=80)
    query = models.TextField(blank=True, help_text="The query string of the list.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("page", "name")
        constraints = [
            models.UniqueConstraint(
                name="evalhub_savedfilter_once",
                fields=("user", "page", "name"),
                violation_error_message="This list already has a saved filter with this name.",
            ),
        ]

    def __str__(self) -> str:
        return self.name
