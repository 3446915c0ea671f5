"""The editor of a rubric, in a real browser."""

import pytest

from tests.factories import make_test, make_user
from tests.issues.pages import url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def two_points():
    return make_test(criteria=[{"text": "First"}, {"text": "Second"}])


@pytest.fixture
def editor(page, log_in, two_points):
    log_in(make_user("annotator"))
    page.goto(url("test_change", two_points.pk))
    page.wait_for_selector("[data-eh-figure]")
    return page


def save(page):
    with page.expect_navigation():
        page.click("[name=_save]")


def texts(test):
    return [row.text for row in test.criteria.all()]


@pytest.mark.journey
def test_points_are_added_reordered_and_saved_by_keyboard(editor, two_points):
    keyboard = editor.keyboard
    editor.locator("[name=criteria-1-text]").focus()
    keyboard.press("Alt+ArrowUp")
    keyboard.press("Alt+Enter")
    keyboard.type("Third")
    keyboard.press("Alt+ArrowDown")
    keyboard.press("Tab")
    keyboard.type("Contains the word")
    keyboard.press("Tab")
    keyboard.type("toll")
    editor.locator("[name=_save]").focus()
    with editor.expect_navigation():
        keyboard.press("Enter")

    assert texts(two_points) == ["Second", "First", "Third"]
    third = two_points.criteria.get(text="Third")
    assert (third.check_name, third.arguments) == ("contains_word", {"text": "toll"})


def test_points_are_pasted_taken_from_the_library_and_deleted(editor, two_points):
    editor.get_by_text("Paste a list").last.click()
    editor.fill("[name=criteria-pasted]", "Names a price\nnot: rude")
    editor.click("[data-eh-act=paste]")
    editor.wait_for_selector("text=2 criteria added, 1 of them “should not”.")
    editor.click("[data-eh-act=library]")
    editor.fill("[data-eh-search]", "words fewer")
    editor.click("button[value=is-brief]")
    editor.click("[data-eh-act=close]")
    deletes = editor.get_by_role("button", name="Delete", exact=True)
    deletes.nth(1).click()
    deletes.nth(0).click()
    editor.get_by_role("button", name="Undo").nth(1).click()
    save(editor)

    assert texts(two_points) == [
        "Second",
        "Names a price",
        "Rude",
        "Does the answer have 120 words or fewer?",
    ]
    taken = two_points.criteria.last()
    assert taken.arguments == {"least": 1, "most": 120}
    assert (taken.library_key, taken.library_version) == ("is-brief", 1)


def test_points_are_dragged_and_the_preview_follows(editor, two_points):
    empty = editor.locator("[data-eh-figure=Empty]")
    editor.select_option("[name=criteria-0-polarity]", "should_not")
    editor.wait_for_function(
        "document.querySelector('[data-eh-figure=Empty] strong').textContent === '0.50'"
    )
    editor.locator("[data-eh-grip]").first.drag_to(
        editor.locator("[data-eh-point]").nth(1), target_position={"x": 30, "y": 140}
    )
    save(editor)
    empty.wait_for()

    assert texts(two_points) == ["Second", "First"]
    assert empty.is_visible()
