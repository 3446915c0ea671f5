"""People, their tokens, and what sealed text was shown to whom."""

import hashlib
import secrets

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from evalhub.constraints import known

TOKEN_PREFIX = "ehub_"


class User(AbstractUser):
    """A person, or a script that acts for one. Rights come from the roles in `access.roles`."""

    preferences = models.JSONField(default=dict, blank=True)


class TokenScope(models.TextChoices):
    READ = "read", "read only"
    WRITE = "write", "read and write"


class TokenQuerySet(models.QuerySet["Token"]):
    def usable(self) -> "TokenQuerySet":
        """Neither revoked nor expired."""
        fresh = models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=timezone.now())
        return self.filter(fresh, revoked_at__isnull=True, user__is_active=True)

    def issue(self, **fields: object) -> tuple["Token", str]:
        """Make a token. Its text is returned once and cannot be read again."""
        text = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = self.create(digest=digest_of(text), prefix=text[:10], **fields)
        return token, text


class Token(models.Model):
    """A script's key to the API: it may do what its user may, or only read."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="What it is used for.")
    scope = models.CharField(max_length=5, choices=TokenScope, default=TokenScope.READ)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(max_length=10, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: never.")
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [known("evalhub_token_scope_known", "scope", TokenScope)]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


def digest_of(text: str) -> str:
    """What is stored of a token: it has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(text.encode()).hexdigest()
