from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from evalhub.schedules import BadCron, in_words, next_times

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday


def test_next_times_are_in_the_sites_time_zone(settings):
    settings.TIME_ZONE = "Europe/Berlin"
    timezone.get_default_timezone.cache_clear()
    try:
        first, second = next_times("0 6 * * *", NOW, 2)
    finally:
        timezone.get_default_timezone.cache_clear()
    # Six in Berlin is five in UTC in March.
    assert first == datetime(2026, 3, 3, 5, 0, tzinfo=UTC)
    assert second - first == timedelta(days=1)


@pytest.mark.parametrize("cron", ["", "daily", "61 6 * * *", "* * * * * *", "0 6 31 2 *", "@daily"])
def test_an_expression_that_names_no_time_is_refused_with_its_text(cron):
    with pytest.raises(BadCron, match=r"fields|never occurs") as refused:
        next_times(cron, NOW, 1)
    assert repr(cron) in str(refused.value)


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 6 * * 1", "Mondays at 06:00"),
        ("30 22 * * *", "every day at 22:30"),
        ("0 7 * * 1-5", "Monday to Friday at 07:00"),
        ("15 * * * *", "every hour at 15 minutes past"),
        ("0 3 1 * *", "day 1 of every month at 03:00"),
        ("*/5 2 * * 0", "*/5 2 * * 0"),
    ],
)
def test_common_expressions_are_described(cron, words):
    assert in_words(cron) == words
