"""From feedback to an approved test in two acts, by two people; then a suite of a selection."""

import pytest

from issues.models import Issue, IssueState, Test, TestState
from runs.models import Suite
from tests.axe import violations
from tests.browser import overflow_px
from tests.factories import make_template, make_user
from tests.issues.pages import make_feedback

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_feedback_becomes_an_approved_test(page, log_in, faults):
    template = make_template()
    make_feedback(comment="19 % VAT on books is wrong.", prompt="VAT on books?", answer="19 %")
    second = make_feedback(comment="Books again: VAT is 7 %.", prompt="Which VAT has a book?")
    log_in(make_user("annotator", username="ann"))
    page.goto("/admin/issues/feedback/inbox/?item=" + str(second.pk))
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.get_by_text("Draft test created").wait_for()
    test = Test.objects.get()

    page.goto(test.get_absolute_url())  # writing
    page.locator("#id_template").evaluate(f"(box) => {{ box.value = {template.pk} }}")
    page.locator("#id_guidelines").fill("7 %.")
    page.locator("#id_reference").fill("7 %")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_load_state()
    assert page.url.endswith(test.get_absolute_url())

    page.goto(test.issue.get_absolute_url())
    page.get_by_role("button", name="Send to review").click()  # the first act
    page.get_by_text("1 test sent to review.").wait_for()
    page.get_by_role("link", name="Link feedback, tests …").click()
    page.get_by_role("checkbox", name="19 % VAT on books is wrong.").check()
    assert violations(page) == []
    page.get_by_role("button", name="Link to this issue").click()
    page.get_by_text("1 row linked").wait_for()
    assert Issue.objects.get().feedback.count() == 2

    log_in(make_user("maintainer", username="mia"))
    page.goto(test.issue.get_absolute_url())
    page.get_by_role("button", name="Approve", exact=True).click()  # the second act
    page.get_by_text("1 test approved.").wait_for()
    test.refresh_from_db()
    assert (test.state, test.issue.state) == (TestState.APPROVED, IssueState.APPROVED)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{test.issue.get_absolute_url().replace('change', 'split')}")
    assert overflow_px(page) == 0
    page.set_viewport_size({"width": 1280, "height": 800})

    page.goto("/admin/issues/test/")
    page.get_by_role("checkbox").nth(1).check()
    page.locator("select[name=action]").select_option("suite_of_selected")
    page.locator("button[name=index]").first.click()
    page.get_by_label("New suite").fill("Books")
    page.get_by_role("button", name="Save suite").click()
    page.get_by_text("Suite created with 1 test.").wait_for()
    assert list(Suite.objects.get(name="Books").tests.all()) == [test]
