"""The glossary in a real browser: any width and scheme, filtered by keyboard."""

import pytest
from django.urls import reverse

from evalhub.glossary import TERMS
from tests.axe import violations
from tests.browser import overflow_px, show
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_glossary_is_filtered_by_keyboard(page, log_in):
    log_in(make_user("viewer"))
    page.goto(reverse("admin:glossary"))
    for scheme in ("light", "dark"):
        show(page, scheme=scheme)
        assert violations(page) == [], scheme
    show(page, width=390)
    assert overflow_px(page) == 0

    entries = page.locator("#glossary > div:visible")
    assert entries.count() == len(TERMS)
    page.keyboard.press("/")
    page.keyboard.type("judge tuning attempt")
    assert 1 <= entries.count() < len(TERMS)
    assert page.locator("#attempt").is_visible()
