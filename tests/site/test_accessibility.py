"""Every page can be read and worked by everybody, in both themes, as far as axe sees it."""

import pytest

from tests.axe import violations
from tests.factories import make_user
from tests.site.test_pages import places
from tests.site.workspaces import addresses, make_small_workspace

TALL = {"width": 1280, "height": 6000}
PARTS = 4
"""Tests that deal the pages out among them, so that several processes can look."""


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_accessible(page, log_in, part):
    make_small_workspace()
    person = make_user("superuser")
    log_in(person)
    page.set_viewport_size(TALL)  # or what sticks to the bottom of the window hides parts of forms
    problems: dict[str, str] = {}
    for address in list(dict.fromkeys([*places(person), *addresses().values()]))[part::PARTS]:
        page.goto(address)
        if page.locator("#swagger-ui").count():
            page.wait_for_selector(".opblock", timeout=20_000)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for violation in violations(page):
                problems.setdefault(violation, f"{address} ({scheme})")

    assert problems == {}
