from django.conf import settings
from django.db import models
from django.urls import reverse

from evalhub.schedules import ScheduledModel


class ReportSchedule(ScheduledModel):
    """A report that is made on a schedule; each snapshot is kept.

    `page` is the key of a page of `reports.registry` and `query` its filters; or `page` is
    "summary" and `query` names the summary to repeat.
    """

    title = models.CharField(max_length=150)
    page = models.CharField(max_length=40, editable=False)
    query = models.TextField(blank=True, editable=False)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("title", "pk")

    def __str__(self) -> str:
        return self.title


class Snapshot(models.Model):
    """A scheduled report as it was at one time.

    It holds no text of tests, so that everybody may read it even if tests are sealed later.
    `content` is in the format of `reports.documents.storage.stored`.
    """

    report = models.ForeignKey(ReportSchedule, models.CASCADE, related_name="snapshots")
    made_at = models.DateTimeField(auto_now_add=True)
    content = models.JSONField()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.report}, {self.made_at:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("reports:snapshot", args=[self.pk])
