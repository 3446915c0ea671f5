from typing import NamedTuple

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models

READ_AUDIT = "evalhub.read_audit"
"""Right to read who did what."""


class Act(models.TextChoices):
    ADDED = "added", "added"
    CHANGED = "changed", "changed"
    DELETED = "deleted", "deleted"
    LOGGED_IN = "logged_in", "logged in"
    REFUSED = "refused", "login refused"
    REVEALED = "revealed", "sealed text revealed"
    SENT = "sent", "sealed text sent"
    OPENED = "opened", "sealed text opened"
    ENDED = "ended", "access to sealed text ended"


class About(NamedTuple):
    """Name of the row, "" if it has none, and the fields that changed."""

    name: str
    changed: list[str]


class AuditEntry(models.Model):
    """An act on record: a row of a view over all tables that are only ever appended to.

    Attributes:
        kind: Label of the model, such as "issues.test".
        number: Of the row, or of the row that a comment, verdict or exposure is about; None where
            the act was on none.
        name: What a person entered to log in.
        address: The network that they logged in from.
        recipient: The user or endpoint that a sealed text went to.
        message: What the admin noted of a row without versions, as JSON.
        version: Id of the row's historical record; None where it has none.
    """

    id = models.CharField(max_length=100, primary_key=True)
    at = models.DateTimeField("when")
    kind = models.CharField("what", max_length=100)
    number = models.BigIntegerField(null=True)
    act = models.CharField(max_length=10, choices=Act)
    actor = models.ForeignKey(
        get_user_model(),
        models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
        verbose_name="who",
    )
    name = models.CharField(max_length=255)
    address = models.CharField(max_length=100)
    reason = models.TextField()
    recipient = models.TextField()
    message = models.TextField()
    version = models.BigIntegerField(null=True)
    about: "About"

    class Meta:
        managed = False
        db_table = "evalhub_audit"
        ordering = ("-at", "-id")
        verbose_name = "audit entry"
        verbose_name_plural = "audit entries"
        default_permissions = ()
        permissions = [("read_audit", "Can read who did what")]

    def __str__(self) -> str:
        return f"{self.get_act_display()}: {self.kind} {self.number or self.name}"

    @property
    def model(self) -> type[models.Model] | None:
        """Return the model of `kind`; None if there is none any more."""
        try:
            return apps.get_model(self.kind)
        except LookupError:
            return None
