"""Receivers of a scheduled report."""

from django import template
from django.db.models import QuerySet

from evalhub.models import User
from evalhub.notifications.preferences import is_mail_on
from reports.schedules.receivers import readers

register = template.Library()


@register.simple_tag
def schedule_readers() -> QuerySet[User]:
    """Return the users that a schedule can notify."""
    return readers()


@register.simple_tag
def schedule_mail() -> bool:
    """Tell whether e-mails are sent."""
    return is_mail_on()
