"""Receivers of a scheduled report."""

from django import template
from django.db.models import QuerySet

from evalhub.access.right_holders import users_with
from evalhub.models import User
from evalhub.notifications.preferences import is_mail_on

register = template.Library()


@register.simple_tag
def schedule_readers() -> QuerySet[User]:
    """Return the users that a schedule can notify."""
    return users_with("runs.view_run")


@register.simple_tag
def schedule_mail() -> bool:
    """Tell whether e-mails are sent."""
    return is_mail_on()
