from django.conf import settings
from django.db import models

from evalhub.history import Signed
from evalhub.schedules import ScheduledModel


class Launch(ScheduledModel):
    """A request for runs: one for each model and variant, once or on a schedule.

    `spec` holds the options of `runs.launching.launch_options.LaunchSpec`. With `cron` it
    is launched again at each time until it is paused.
    """

    signed = Signed("created_at", "requested_by", on="id")

    label = models.CharField(max_length=150)
    release = models.CharField(max_length=100, blank=True, help_text="Version under test.")
    spec = models.JSONField()
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="launches"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "launches"

    def __str__(self) -> str:
        return self.label
