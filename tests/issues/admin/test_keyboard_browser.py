"""Issues are found, filtered and moved without a mouse."""

import pytest
from django.urls import reverse

from evalhub.models import SavedFilter
from issues.lifecycle.states import move
from runs.models import Run
from tests.axe import violations
from tests.browser import overflow_px, show
from tests.factories import make_issue, make_run, make_test, make_user
from tests.issues.lifecycle.test_readiness import make_reviewable_issue
from tests.issues.pages import url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def me(page, log_in):
    user = make_user("maintainer", username="me")
    log_in(user)
    return user


def told(page, words):
    page.locator("#board-said", has_text=words).wait_for()


def assert_good_to_all(page):
    assert violations(page) == []
    show(page, width=390)
    assert overflow_px(page) == 0
    show(page)


def test_cards_are_moved_by_keys_alone(page, me, faults):
    ready, empty = make_reviewable_issue(), make_issue(title="Empty", state="draft")
    ready.title, ready.severity = "Counts wrongly", "high"
    ready.save()
    page.goto(url("issue_board"))
    keys = page.keyboard

    keys.press("ArrowDown")
    keys.press("]")
    told(page, "Counts wrongly is sent to review.")
    assert page.evaluate("document.activeElement.dataset.state") == "in_review"
    keys.press("Shift+ArrowRight")
    told(page, "is approved.")
    keys.press("]")
    page.locator("#board-resolve[open]").wait_for()
    keys.press("Tab")  # from the note, which has the focus, to the button
    keys.press("Enter")
    page.get_by_text("Choose a label or write a note").wait_for()
    faults.clear()  # a refusal is answered with an error
    keys.press("Shift+Tab")
    keys.type("Fixed in 1.2")
    keys.press("Tab")
    keys.press("Enter")
    told(page, "is resolved.")
    keys.press("u")
    told(page, "undone:")
    keys.press("a")
    told(page, "is assigned to me.")
    ready.refresh_from_db()
    assert (ready.state, ready.assignee, ready.resolution_note) == ("approved", me, "Fixed in 1.2")

    keys.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.card") == str(empty.pk)
    keys.press("]")
    told(page, "Add a description.")
    move(empty, "deprecate", by=make_user(username="anna"))
    keys.press("]")
    told(page, "anna moved Empty in the meantime")
    assert page.locator(f'[data-column="deprecated"] [data-card="{empty.pk}"]').count() == 1
    faults.clear()

    keys.press("?")
    page.locator("#board-keys[open]").wait_for()
    assert_good_to_all(page)
    keys.press("Escape")
    assert_good_to_all(page)
    keys.press("/")
    keys.type("counts")
    keys.press("Enter")
    page.wait_for_url("**q=counts**")
    assert page.locator("[data-card]").count() == 1


def test_a_filter_is_saved_and_applied_by_keys(page, me):
    make_issue(title="Grave", severity="high")
    make_issue(title="Light", severity="low")
    page.goto(f"{url('issue_changelist')}?severity__exact=high")
    box = page.locator(".sf-box > summary")
    box.press("Enter")
    page.get_by_label("Save current filters as").press_sequentially("Grave ones")
    assert_good_to_all(page)
    page.keyboard.press("Enter")
    page.get_by_text("Filter “Grave ones” saved.").wait_for()
    assert SavedFilter.objects.get().user == me

    page.goto(url("issue_changelist"))
    box.press("Enter")
    page.get_by_role("link", name="Grave ones", exact=True).press("Enter")
    page.wait_for_url("**severity__exact=high")

    assert page.locator("#result_list tbody tr").count() == 1


def test_the_palette_opens_anywhere_and_leads_on(page, me):
    issue = make_issue(title="Invents zebras")
    test = make_test("Count the zebras", issue=issue)
    make_run(make_test())
    page.goto(reverse("reports:run", args=[Run.objects.get().pk]))
    page.keyboard.press("Control+k")
    page.keyboard.type("zebras")
    page.locator("#palette-found a", has_text="Count the zebras").wait_for()
    assert_good_to_all(page)
    page.keyboard.press("ArrowDown")
    assert page.locator('[aria-selected="true"]').inner_text().startswith("Count the zebras")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{test.get_absolute_url()}")

    page.keyboard.press("Control+k")
    page.keyboard.type("issue board")
    page.keyboard.press("Enter")  # before anything is shown: it waits for what is found
    page.wait_for_url("**/board/")
    page.keyboard.press("Control+k")
    page.keyboard.type("xyzzy")
    page.get_by_text("No results.").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#palette[open]").count() == 0
