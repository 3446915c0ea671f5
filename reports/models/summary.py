from django.db import models
from django.db.models import Q
from django.urls import reverse

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.llm.endpoint import Endpoint
from evalhub.model_parts import known
from evalhub.models import BatchState, Call, ItemState, LanguageModel
from evalhub.work.models import Batch, Item, ItemQuerySet
from issues.models import Test
from reports.summaries.analyst.dimensions import KEYS, MAX_GRADE, MIN_GRADE
from runs.models import Run, Suite


class ExecutiveSummary(Batch):
    """An analyst model's summary of anonymous runs over the same suite.

    The analyst is frozen by copy in `endpoint`. `content` is what
    `reports.summaries.analyst.replies` read in the newest usable reply; {} until there is one.
    `tags` are its topics, normalised and not confirmed.
    """

    sealed_path = "exchanges__tests__sealed"
    sealed_fields = ("content",)

    runs = models.ManyToManyField(Run, related_name="summaries")
    suite = models.ForeignKey(
        Suite, models.SET_NULL, null=True, blank=True, related_name="summaries"
    )
    suite_fingerprint = models.CharField(max_length=64)
    analyst = models.ForeignKey(LanguageModel, models.PROTECT, related_name="summaries")
    analyst_name = models.CharField(max_length=100)
    endpoint = models.JSONField(default=dict)
    context_tokens = models.PositiveIntegerField(
        help_text="Input and output tokens at most; larger runs are reduced to fit."
    )
    seed = models.PositiveBigIntegerField(help_text="Determines the anonymous ids.")
    content = models.JSONField(default=dict, blank=True)
    tags = models.JSONField(default=list, blank=True)
    is_scripted = models.BooleanField(default=False)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "executive summaries"
        permissions = [("ask_summary", "Can request executive summaries")]
        constraints = [
            known("reports_summary_state_known", "state", BatchState),
            models.CheckConstraint(
                name="reports_summary_context_positive", condition=Q(context_tokens__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"executive summary {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("reports:summary", args=[self.pk])

    def analyst_endpoint(self) -> Endpoint:
        """Return the analyst as it was at the request."""
        return Endpoint.from_json(self.endpoint)


class Exchange(Item):
    """An attempt at a summary: the request and the reply. Regenerating adds another.

    `sent` are the messages, stored before sending and [] until then; `key` resolves the anonymous
    ids in them (`reports.summaries.analyst.key`); `figures` is the table in them, whose cells
    claims name ({} if none was sent); `masked` counts the names removed from texts; `notes` list
    what was left out or cut. `received` is the reply in use, usable or not.
    `repair` are the first reply, the request to mend it and the second reply, as messages; [] if
    the first one had no problem. `tests` are those whose text was sent: a reader who may not see
    one of them that was sealed since may not see the exchange.
    """

    sealed_path = "tests__sealed"
    sealed_fields = ("sent", "received", "repair", "error_message")

    summary = models.ForeignKey(ExecutiveSummary, models.CASCADE, related_name="exchanges")
    number = models.PositiveSmallIntegerField(default=1)
    sent = models.JSONField(default=list, blank=True)
    key = models.JSONField(default=dict, blank=True)
    figures = models.JSONField(default=dict, blank=True)
    masked = models.JSONField(default=dict, blank=True)
    notes = models.JSONField(default=list, blank=True)
    tests = models.ManyToManyField(Test, blank=True, related_name="+")
    received = models.TextField(blank=True)
    repair = models.JSONField(default=list, blank=True)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    is_current = models.BooleanField(
        default=False, help_text="The summary's content and grades are from this attempt."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("summary", "number")
        constraints = [
            known("reports_exchange_state_known", "state", ItemState),
            models.UniqueConstraint(
                name="reports_exchange_number_once", fields=("summary", "number")
            ),
            models.UniqueConstraint(
                name="reports_exchange_one_current",
                fields=("summary",),
                condition=Q(is_current=True),
            ),
            models.UniqueConstraint(
                name="reports_exchange_one_pending",
                fields=("summary",),
                condition=Q(state="pending"),
            ),
        ]

    def __str__(self) -> str:
        return f"exchange {self.number} of {self.summary}"


class Grade(models.Model):
    """An analyst's grade of one model in one dimension, from 1 to 10.

    Null: the analyst gave none. A model and dimension without a grade that could be parsed has no
    row. Grades are of the summary's current exchange only.
    """

    sealed_path = "summary__exchanges__tests__sealed"
    sealed_fields = ("reasoning",)

    summary = models.ForeignKey(ExecutiveSummary, models.CASCADE, related_name="grades")
    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="grades")
    model_name = models.CharField(max_length=100, help_text="As in the runs.")
    dimension = models.CharField(max_length=20, choices=[(key, key) for key in KEYS])
    grade = models.FloatField(null=True, blank=True)
    reasoning = models.TextField(blank=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("summary", "model_name", "dimension")
        constraints = [
            models.CheckConstraint(
                name="reports_grade_dimension_known", condition=Q(dimension__in=KEYS)
            ),
            models.CheckConstraint(
                name="reports_grade_range",
                condition=Q(grade__isnull=True) | Q(grade__range=(MIN_GRADE, MAX_GRADE)),
            ),
            models.UniqueConstraint(
                name="reports_grade_once", fields=("summary", "language_model", "dimension")
            ),
        ]
        indexes = [
            models.Index(fields=("dimension", "language_model"), name="reports_grade_dimension")
        ]

    def __str__(self) -> str:
        return f"{self.model_name}: {self.dimension} {self.grade}"
