from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from evalhub.history import History
from evalhub.llm.models import environment_name
from evalhub.llm.security.address_policy import ForbiddenAddress, check_base_url
from evalhub.llm.security.key_policy import key_problem
from evalhub.model_parts import known


class NotificationKind(models.TextChoices):
    RUN_FINISHED = "run_finished", "a run finished"
    REGRESSION = "regression", "a run fails its gate"
    ASSIGNED = "assigned", "an issue was assigned"
    SENT_BACK = "sent_back", "a review was sent back"
    REOPENING = "reopening", "a resolved issue fails again"
    REPORT = "report", "a scheduled report was made"
    SECURITY = "security", "a login was locked, or a model's connection changed"


class Notification(models.Model):
    """A notification of one user, without text of a test.

    `key` identifies the event, so that each is notified once. `url` is a path of the site.
    """

    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="notifications", db_index=False
    )
    kind = models.CharField(max_length=12, choices=NotificationKind)
    key = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    url = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = [
            known("evalhub_notification_kind_known", "kind", NotificationKind),
            models.UniqueConstraint(name="evalhub_notification_once", fields=("recipient", "key")),
        ]
        indexes = [
            models.Index(
                fields=("recipient",),
                name="evalhub_notification_unread",
                condition=Q(read_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Webhook(models.Model):
    """An address to notify of events. Only the name of the signing secret is stored."""

    name = models.CharField(max_length=100, unique=True)
    url = models.CharField("URL", max_length=300)
    secret_env = models.CharField(
        "secret variable",
        max_length=100,
        validators=[environment_name],
        help_text="Name of the environment variable with the signing secret.",
    )
    kinds = models.JSONField(default=list, help_text="Events to send.")
    is_active = models.BooleanField("active", default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )
    created_at = models.DateTimeField(auto_now_add=True)
    history = History()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse forbidden addresses, and a secret of another host, guessed from signatures."""
        try:
            check_base_url(self.url)
        except ForbiddenAddress as error:
            raise ValidationError({"url": str(error)}) from error
        if problem := key_problem(self.secret_env, self.url):
            raise ValidationError({"secret_env": problem})


class DeliveryState(models.TextChoices):
    PENDING = "pending"
    DONE = "done", "delivered"
    FAILED = "failed", "given up"


class Delivery(models.Model):
    """Delivery of an event to a webhook or by e-mail, with retries.

    An e-mail goes to the user of its notification, or to an `address` without an account.
    `payload` is what a webhook gets; of an e-mail its picture as SVG, and its text to an address.
    """

    webhook = models.ForeignKey(
        Webhook, models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    notification = models.ForeignKey(
        Notification, models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    address = models.EmailField(blank=True)
    key = models.CharField(max_length=100, help_text="Identifies the event.")
    payload = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=7, choices=DeliveryState, default=DeliveryState.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0, validators=[MaxValueValidator(100)])
    next_try_at = models.DateTimeField(null=True, blank=True)
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    problem = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "deliveries"
        constraints = [
            known("evalhub_delivery_state_known", "state", DeliveryState),
            models.CheckConstraint(
                name="evalhub_delivery_one_way",
                condition=Q(webhook__isnull=False, notification__isnull=True, address="")
                | Q(webhook__isnull=True, notification__isnull=False, address="")
                | Q(webhook__isnull=True, notification__isnull=True) & ~Q(address=""),
            ),
            models.UniqueConstraint(
                name="evalhub_delivery_webhook_once",
                fields=("webhook", "key"),
                condition=Q(webhook__isnull=False),
            ),
            models.UniqueConstraint(
                name="evalhub_delivery_mail_once",
                fields=("notification",),
                condition=Q(notification__isnull=False),
            ),
            models.UniqueConstraint(
                name="evalhub_delivery_address_once",
                fields=("address", "key"),
                condition=~Q(address=""),
            ),
        ]
        indexes = [
            models.Index(
                fields=("next_try_at",),
                name="evalhub_delivery_waiting",
                condition=Q(state="pending"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} to {self.webhook or self.notification or self.address}"
