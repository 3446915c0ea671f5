"""An image from the editor of a test to the page of a result, in a real browser."""

import pytest

from evalhub.models import Image
from issues.models import Test
from tests.browser import overflow_px, shoot, show
from tests.factories import first_result, make_test, make_user
from tests.images import picture, url_of
from tests.issues.pages import url
from tests.runs.judged_runs import judged_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASTE = """([area, url]) => {
    const bytes = Uint8Array.from(atob(url.split(",")[1]), (sign) => sign.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], "pasted.png", { type: "image/png" }));
    const how = { clipboardData, bubbles: true, cancelable: true };
    area.dispatchEvent(new ClipboardEvent("paste", how));
}"""


def test_an_image_is_added_to_a_test_and_seen_at_its_result(page, log_in):
    issue = make_test().issue
    log_in(make_user("maintainer"))
    page.goto(url("test_add") + f"?issue={issue.pk}")
    page.fill("[name=prompt]", "Which colours are these?")
    page.check("[name=kind][value=turns]")

    photo = {"name": "red.jpg", "mimeType": "image/jpeg", "buffer": picture("JPEG", (320, 200))}
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add image").click()
    chooser.value.set_files([photo])
    page.get_by_label("Description of image 1 of turn 1").fill("a red field")
    area = page.get_by_label("Text of turn 1").element_handle()
    page.evaluate(PASTE, [area, url_of(picture(size=(90, 120), color="blue"))])
    page.get_by_label("Description of image 2 of turn 1").fill("a blue field")
    shoot(page, "image-editor")
    with page.expect_navigation():
        page.click("[name=_save]")

    test = Test.objects.latest("pk")
    text, red, blue = test.messages[0]["content"]
    assert text == {"type": "text", "text": "Which colours are these?"}
    assert [red["alt"], blue["alt"]] == ["a red field", "a blue field"]
    assert Image.objects.count() == 2

    page.goto(url("test_change", test.pk))
    assert page.get_by_label("Description of image 2 of turn 1").input_value() == "a blue field"
    Test.objects.filter(pk=test.pk).update(state="approved", template=make_test().template)
    test.refresh_from_db()
    run = judged_run(test)
    page.goto(f"/admin/runs/result/{first_result(run).pk}/change/")
    shown = page.get_by_role("img", name="a red field").first
    shown.scroll_into_view_if_needed()
    page.wait_for_function("(img) => img.complete", arg=shown.element_handle())
    assert shown.evaluate("(img) => img.naturalWidth") == 320
    shoot(page, "image-result")
    show(page, width=390)
    assert overflow_px(page) == 0
    link = page.get_by_role("link", name="a red field").first
    assert link.get_attribute("href") == f"/api/v1/images/{red['image']}/"
    link.focus()
    assert link.evaluate("(link) => link === document.activeElement")
