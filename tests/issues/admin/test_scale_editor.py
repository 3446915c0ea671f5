"""The editor of a judge template's scale, in a real browser."""

import pytest

from tests.factories import make_template, make_user
from tests.issues.pages import url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_options_are_edited_reordered_and_saved(page, log_in):
    template = make_template(state="draft")
    log_in(make_user("maintainer"))
    page.goto(url("judgetemplate_change", template.pk))
    page.click("text=Add option")
    page.fill("[aria-label='label of option 3']", "partly")
    page.fill("[aria-label='value of option 3']", "0.5")
    page.click("[aria-label='Move option 3 up']")
    page.click("text=Edit as JSON")
    page.click("text=Edit as options")
    with page.expect_navigation():
        page.click("[name=_continue]")
    template.refresh_from_db()

    options = [(option["label"], option["value"]) for option in template.scale["options"]]
    assert options[1] == ("partly", 0.5)
    assert len(options) == 3
