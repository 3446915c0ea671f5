"""E-mails of a scheduled report."""

from django import template

from evalhub.notifications.preferences import is_mail_on

register = template.Library()


@register.simple_tag
def schedule_mail() -> bool:
    """Tell whether e-mails are sent."""
    return is_mail_on()
