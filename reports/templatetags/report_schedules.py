"""E-mails of a scheduled report."""

from django import template
from django.conf import settings

from evalhub.notifications.preferences import is_mail_on

register = template.Library()


@register.simple_tag
def schedule_mail() -> bool:
    """Tell whether e-mails are sent."""
    return is_mail_on()


@register.simple_tag
def open_link_days() -> int:
    """Return for how many days links open without an account; 0: the site allows none."""
    return settings.EVALHUB_OPEN_LINK_DAYS if settings.EVALHUB_OPEN_LINKS else 0
