"""The glossary in a real browser: filtered by keyboard."""

import pytest
from django.urls import reverse

from evalhub.glossary import TERMS
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_glossary_is_filtered_by_keyboard(page, log_in):
    log_in(make_user("viewer"))
    page.goto(reverse("admin:glossary"))
    entries = page.locator("#glossary > div:visible")
    assert entries.count() == len(TERMS)
    page.keyboard.press("/")
    page.keyboard.type("judge tuning attempt")
    assert 1 <= entries.count() < len(TERMS)
    assert page.locator("#attempt").is_visible()
