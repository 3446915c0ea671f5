"""Drafts and edits in a real browser, by keys alone, with a scripted model."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from issues.drafting.start import start
from issues.models import Draft, Edit
from issues.models import Test as Sample
from tests.axe import violations
from tests.browser import HEIGHTS, overflow_px, show
from tests.factories import make_issue, make_test, make_user
from tests.issues.drafting.writers import TEXTS, Writer, make_order, make_settings
from tests.issues.pages import url
from tests.provider import prompt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def work_apart(work):
    """Does all that is waiting in another thread: Playwright's loop runs in this one."""

    def apart():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    return apart


def wait_for(page, condition):
    value = "document.querySelector('[name=guidelines]').value"
    page.wait_for_function(f"() => ((text) => {condition})({value})")


def status(page, words):
    page.wait_for_selector(f"#inbox-status:has-text('{words}')")


@pytest.mark.journey
def test_tests_are_drafted_and_decided_on_by_keys(page, log_in, provider, model_at, work_apart):
    provider.script = Writer()
    issue = make_issue(title="Rude answers", description="It snaps at people.")
    model_at(name="Ada")
    model_at(name="Bea")
    log_in(make_user("annotator"))
    page.goto(url("issue_change", issue.pk))
    page.get_by_role("link", name="Generate tests …").click()
    page.select_option("[name=generator]", label="Ada")
    page.select_option("[name=judge]", label="Bea")
    page.fill("[name=borderline]", "0")
    for width in HEIGHTS:
        show(page, width=width, scheme="dark")
        assert overflow_px(page) == 0
    show(page, width=1280, scheme="light")
    page.get_by_role("button", name="Generate drafts").click()
    page.wait_for_selector("text=0 of 2 drafts")
    work_apart()
    page.wait_for_selector("#inbox textarea[name=answer]")

    assert not page.locator("[name=expected]:checked").count(), "nothing is preselected"
    page.keyboard.press("1")
    page.keyboard.press("a")
    status(page, "Accepted: test")
    page.keyboard.press("e")
    page.keyboard.type("Really: ")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.press("a")
    page.wait_for_selector("text=0 to decide")
    first, second = Sample.objects.order_by("pk")
    assert (first.origin, first.state, first.reference) == ("generated", "draft", TEXTS[0])
    assert "Really: " in second.flagged_answer
    assert not second.reference
    page.keyboard.press("u")
    status(page, "is open again")
    page.keyboard.press("x")
    page.wait_for_selector("text=0 to decide")
    assert Sample.objects.count() == 1
    assert [d.decision for d in Draft.objects.order_by("pk")] == ["accepted", "rejected"]
    assert not [v for v in violations(page) if re.search("dr-|tr-", str(v))]
    for width in HEIGHTS:
        show(page, width=width, scheme="dark")
        assert overflow_px(page) == 0


def test_the_selected_occurrence_is_edited_and_edits_are_undone(page, log_in, provider, model_at):
    replies = ["a large dog", "a huge dog"]
    provider.script = lambda request: json.dumps({"replacement": replies.pop(0)})
    model_at(name="Ada")
    text = "😀 A big dog met a big dog, and a big dog."
    test = make_test(guidelines=text)
    log_in(make_user("annotator"))
    page.goto(url("test_change", test.pk))
    page.get_by_text("Judging", exact=True).first.click()
    field = page.locator("[name=guidelines]")

    def select(words, nth):
        field.evaluate(
            """(area, [words, nth]) => {
              let at = -1;
              for (let n = 0; n < nth; n += 1) at = area.value.indexOf(words, at + 1);
              area.focus();
              area.setSelectionRange(at, at + words.length);
            }""",
            [words, nth],
        )

    select("a big dog", 2)
    page.keyboard.press("Alt+a")
    page.wait_for_selector("[data-ed-action=rephrase]")
    page.keyboard.press("1")
    page.get_by_role("button", name="Accept").wait_for()
    assert page.locator(".ed-diff ins").inner_text() == "large"
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('[name=guidelines]').value.includes('large')"
    )
    once = "😀 A big dog met a big dog, and a large dog."
    assert field.input_value() == once
    assert "met a big dog, and <selected>a big dog</selected>." in prompt(provider.requests[0])

    select("a big dog", 1)
    page.keyboard.press("Alt+a")
    page.wait_for_selector("[data-ed-action=shorten]")
    page.keyboard.press("4")
    page.get_by_role("button", name="Accept").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('[name=guidelines]').value.includes('huge')"
    )
    assert field.input_value() == "😀 A big dog met a huge dog, and a large dog."
    page.keyboard.press("Alt+u")
    page.wait_for_function(
        "() => !document.querySelector('[name=guidelines]').value.includes('huge')"
    )
    assert field.input_value() == once
    page.keyboard.press("Alt+u")
    page.wait_for_function(
        "() => !document.querySelector('[name=guidelines]').value.includes('large')"
    )
    assert field.input_value() == text
    states = Edit.objects.order_by("pk").values_list("state", flat=True)
    assert [*states] == [*("proposed", "accepted") * 2, *("undone",) * 2]


def test_a_pair_is_read_on_one_page(page, log_in, provider, model_at, work_apart):
    provider.script = Writer()
    settings = make_settings(0, 0, pairs=1)
    generation = start(make_order(model_at(), model_at(), settings), by=None)
    work_apart()
    log_in(make_user("annotator"))
    page.goto(generation.get_absolute_url())
    assert page.get_by_text("meant to show the first answer wins").is_visible()
    page.keyboard.press("1")
    page.keyboard.press("a")
    status(page, "Accepted: test")
    test = Sample.objects.get()
    assert (test.reference, test.flagged_answer) == TEXTS
