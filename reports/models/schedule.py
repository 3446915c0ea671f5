from django.conf import settings
from django.db import models
from django.urls import reverse

from evalhub.schedules import ScheduledModel


class ReportSchedule(ScheduledModel):
    """A report that is made again and again, and kept each time.

    `page` is the key of a page of `reports.registry`, and `query` its state; or `page` is
    "summary", and `query` names the suite and the analyst of an executive summary.
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
    """A recurring report as it was at one time.

    No text of a test is in it: all may read it, whatever is sealed later.

    `content` is what `reports.documents.storage.stored` made of it.
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
