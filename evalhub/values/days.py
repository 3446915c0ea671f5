"""Days of the site's time zone."""

from datetime import date, datetime, time

from django.utils.timezone import make_aware


def start_of(day: date) -> datetime:
    return make_aware(datetime.combine(day, time.min))
