"""Background work as rows: batches of items, and the workers that lease them.

A task in the queue only lets one more worker process work for a while. The work itself, its
progress and its leases are rows, so that a killed process loses nothing that was saved.
"""

from django.conf import settings
from django.db import models

from evalhub import logs
from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.llm.models import LanguageModel
from evalhub.work.cost_total import Spent, spent_by

LEASE_S = float(settings.EVALHUB_LEASE_S)
"""A worker without a heartbeat for this long is taken for dead."""


class BatchState(models.TextChoices):
    LIVE = "live", "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    DONE = "done"


class ItemState(models.TextChoices):
    PENDING = "pending"
    DONE = "done"
    ERROR = "error"
    CANCELLED = "cancelled"


class Worker(models.Model):
    """A worker process. Its heartbeat renews every lease that it holds."""

    name = models.CharField(
        max_length=100, unique=True, help_text="Host, process id and a random part."
    )
    process = models.CharField(
        max_length=200,
        blank=True,
        help_text="Where the process can be looked for: machine, namespace, id and start.",
    )
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField("last heartbeat", help_text="By the database's clock.")
    models_in_use = models.JSONField(default=dict, help_text="Its calls of each model, by key.")
    problem = models.TextField(blank=True, help_text="Why it takes no work. Empty: it does.")
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return self.name


class FinishedTask(models.Model):
    """A task of the queue that ended.

    django-q2's own table of them is neither written nor read: it holds unsigned pickles, and names
    functions to call.
    """

    name = models.CharField(max_length=100)
    queued_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    succeeded = models.BooleanField()
    detail = models.TextField(blank=True, help_text="Items done by batch, or the error.")

    class Meta:
        ordering = ("-ended_at", "-pk")

    def __str__(self) -> str:
        return self.name

    @property
    def duration_ms(self) -> int:
        return int((self.ended_at - self.queued_at).total_seconds() * 1000)


class SharedRate(models.Model):
    """A language model's current rate, which every worker process follows.

    `share` of the model's own limits, in (0, 1]: cut by a 429, and recovering with time. While
    its provider is down one call at a time tries it (`evalhub.work.limits.shared_rate`).
    """

    language_model = models.OneToOneField(
        LanguageModel, models.CASCADE, primary_key=True, related_name="shared_rate"
    )
    share = models.FloatField(default=1.0)
    cut_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True, help_text="No call starts until then.")
    down_since = models.DateTimeField(
        null=True, blank=True, help_text="Calls have only failed since then. Null: not down."
    )
    down_reason = models.TextField(blank=True, help_text="The error of the last call.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="evalhub_pace_share_range",
                condition=models.Q(share__gt=0) & models.Q(share__lte=1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.share:.0%} of {self.language_model}"


class CostReservation(models.Model):
    """Money that a worker may spend under a cost limit, beyond what is recorded as spent.

    `key` names the limit (`evalhub.work.limits.budget.Spend`).
    """

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="cost_reservations")
    key = models.CharField(max_length=60)
    amount_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("key", "worker"), name="evalhub_cost_reserved_once"),
        ]

    def __str__(self) -> str:
        return f"{self.amount_usd} US dollars for {self.key}"


class Batch(models.Model):
    """Work that a person requested and can pause, resume and cancel as a whole."""

    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.LIVE)
    reason = models.TextField(blank=True, help_text="Why it was paused, cancelled or failed.")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    cost_limit_usd = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="Empty: no limit."
    )
    spent_usd = models.DecimalField(
        max_digits=14, decimal_places=8, default=0, help_text="Of the calls with known cost."
    )
    unpriced_calls = models.PositiveIntegerField(
        default=0, help_text="Calls that may be billed, at a cost that is not known."
    )
    request_id = models.CharField(
        max_length=64,
        blank=True,
        default=logs.request_id,
        editable=False,
        help_text="Of the web request that started it; the workers log it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_live(self) -> bool:
        return self.state == BatchState.LIVE

    @property
    def spent(self) -> Spent:
        return spent_by([self])

    @property
    def work_key(self) -> str:
        """Return the batch's name in calls, such as 'run 12'."""
        return f"{self._meta.model_name} {self.pk}"

    @property
    def work_name(self) -> str:
        """Return the batch's name for people, such as 'judge run 12'."""
        return f"{self._meta.verbose_name} {self.pk}"


class ItemQuerySet(SealedQuerySet):
    """Items of work, which hold or are derived from the text of tests."""


class Item(models.Model):
    """A piece of a batch, leased to a worker while it is being done.

    `attempts` counts claims without an orderly end, to find work that kills its worker.
    `claimed_at` means nothing without a worker.
    """

    state = models.CharField(max_length=10, choices=ItemState, default=ItemState.PENDING)
    worker = models.ForeignKey(
        Worker, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True, blank=True, help_text="When the worker took it.")
    next_try_at = models.DateTimeField(null=True, blank=True)
    error_kind = models.CharField(max_length=30, blank=True)
    error_message = models.TextField(blank=True)

    class Meta:
        abstract = True
