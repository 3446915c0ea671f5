import re

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models
from django.urls import reverse

from evalhub.schedules import ScheduledModel


def addresses_in(text: str) -> list[str]:
    """Return the e-mail addresses in a text, once each."""
    return list(dict.fromkeys(part for part in re.split(r"[\s,;]+", text) if part))


def validate_addresses(text: str) -> None:
    """Refuse a text with anything else than e-mail addresses, naming it."""
    for address in addresses_in(text):
        try:
            validate_email(address)
        except ValidationError as error:
            raise ValidationError(f"{address} is not an e-mail address.") from error


class ReportSchedule(ScheduledModel):
    """A report that is made on a schedule; each snapshot is kept.

    `page` is the key of a page of `reports.registry` and `query` its filters; or `page` is
    "summary" and `query` names the summary to repeat. `people` and `addresses`, separated by
    spaces, are sent each snapshot.
    """

    title = models.CharField(max_length=150)
    page = models.CharField(max_length=40, editable=False)
    query = models.TextField(blank=True, editable=False)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    people = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="+",
        help_text="Notified of each snapshot on the site and by e-mail, as they chose.",
    )
    addresses = models.TextField(
        "e-mail addresses",
        blank=True,
        validators=[validate_addresses],
        help_text="Of people without an account. Separate several by commas or spaces.",
    )
    has_open_links = models.BooleanField(
        "links open without an account",
        default=False,
        help_text="Whoever has the link of an e-mail to these addresses reads that snapshot on one "
        "page, for the days that the site allows. Untick it to end all links at once.",
    )

    class Meta:
        ordering = ("title", "pk")

    def __str__(self) -> str:
        return self.title

    @property
    def address_list(self) -> list[str]:
        return addresses_in(self.addresses)


class Snapshot(models.Model):
    """A scheduled report as it was at one time.

    It holds no text of tests, so that everybody may read it even if tests are sealed later.
    `content` is in the format of `reports.schedules.snapshots.stored`; its "shown" lists the
    results and runs whose verdicts it tells, see `runs.scoring.shown_verdicts`.
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
