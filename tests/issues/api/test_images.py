"""Images of messages: taken in, stored once, and shown to who may read what refers to them."""

import pytest
from django.test import Client

from evalhub.access.sealing.reveals import reveal
from evalhub.models import Image
from issues.content.revisions import asked_digest, content_of
from issues.models import Feedback, Test
from issues.triage.actions import test_of as make_test_of
from tests.api import client_of, problems_in
from tests.factories import make_issue, make_test, make_user
from tests.images import asked_about, picture, url_of

pytestmark = pytest.mark.django_db

GONE = "0" * 64


def address(digest):
    return f"/api/v1/images/{digest}/"


def post_test(client, messages, **fields):
    sent = {"issue": make_issue().pk, "messages": messages, **fields}
    return client.post("/api/v1/tests/", sent)


def image_test(**fields):
    """A test made from a picture sent to the API."""
    made = post_test(client_of("maintainer"), asked_about(picture()))
    Test.objects.filter(pk=made.json()["id"]).update(**fields)
    return Test.objects.get(pk=made.json()["id"])


def digest_of(row):
    return row.messages[-1]["content"][-1]["image"]


def test_a_data_url_is_stored_once_and_named_by_its_digest():
    client = client_of("annotator")
    first, second = (post_test(client, asked_about(picture())) for _ in range(2))
    assert first.status_code == second.status_code == 201, first.content
    image = Image.objects.get()
    parts = first.json()["messages"][0]["content"]
    assert parts[1] == {"type": "image", "image": image.digest, "alt": "a red square"}
    assert second.json()["messages"] == first.json()["messages"]
    uploaded = client.post("/api/v1/images/", {"image_url": url_of(picture())})
    assert uploaded.json() == {
        "image": image.digest,
        "media_type": "image/png",
        "width": 4,
        "height": 3,
    }
    assert Image.objects.count() == 1


def test_parts_of_text_are_taken_as_they_are():
    parts = [{"type": "text", "text": "hi"}]
    made = post_test(client_of("annotator"), [{"role": "user", "content": parts}])
    assert made.json()["messages"][0]["content"] == parts


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
            "Message 1: part 1: 'https://example.org/cat.png' is not a data: URL",
        ),
        ({"type": "image_url", "image_url": 5}, "not 5."),
        (
            {"type": "image_url", "image_url": {"url": url_of(b"%PDF-1.7 obj")}},
            "begins with '%PDF-1.7",
        ),
        ({"type": "image", "image": GONE}, f"No image '{GONE}' is stored: upload it first."),
        ({"type": "image", "image": "cat.png"}, 'not "cat.png". Upload it'),
        ({"type": "image", "image": GONE, "alt": 5}, "alt must be a text"),
        ({"type": "audio", "audio": "x"}, "Message 1: part 1: expected a part of type text or"),
        ({"type": "text", "text": "hi", "font": "x"}, 'unknown key "font"'),
    ],
)
def test_a_wrong_part_is_refused_with_its_place_and_value(part, problem):
    refused = post_test(client_of("annotator"), [{"role": "user", "content": [part]}])
    assert refused.status_code == 400
    assert problem in " ".join(problems_in(refused)["messages"])
    assert not Test.objects.exists()


def test_only_users_show_images():
    system = {**asked_about(picture())[0], "role": "system"}
    refused = post_test(client_of("annotator"), [system, {"role": "user", "content": "hi"}])
    assert "only user messages may have images, not system messages" in str(refused.json())


def test_an_image_is_shown_alone_and_as_nothing_but_an_image():
    digest = digest_of(image_test())
    person = make_user("viewer")
    browser = Client()
    browser.force_login(person)
    shown = browser.get(address(digest))
    assert shown.content == bytes(Image.objects.get().content)
    assert shown["Content-Type"] == "image/png"
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert shown["Content-Disposition"].startswith("inline")
    assert shown["Cache-Control"] == "private, no-cache"
    again = browser.get(address(digest), headers={"If-None-Match": shown["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client_of(person).get(address(digest)).status_code == 200


@pytest.mark.parametrize(
    ("who", "status"), [("viewer", 404), ("annotator", 200), ("", 403), (None, 401)]
)
def test_a_sealed_image_is_for_who_may_read_its_test(who, status):
    digest = digest_of(image_test(sealed=True))
    client = Client() if who is None else client_of(who)
    assert client.get(address(digest)).status_code == status


def test_the_uploader_and_who_is_shown_the_test_see_a_sealed_image():
    test = image_test(sealed=True)
    person = make_user("viewer")
    reveal(test.pk, person, "They mend what it shows", by=make_user("maintainer"))
    assert client_of(person).get(address(digest_of(test))).status_code == 200
    uploader = client_of("annotator")
    digest = uploader.post("/api/v1/images/", {"image_url": url_of(picture("JPEG"))}).json()
    assert uploader.get(address(digest["image"])).status_code == 200
    assert client_of("viewer").get(address(digest["image"])).status_code == 404


def test_an_image_that_a_test_no_longer_has_stays_with_its_old_versions():
    test = image_test()
    digest = digest_of(test)
    test.messages = [{"role": "user", "content": "Nothing to see."}]
    test.save()
    assert client_of("viewer").get(address(digest)).status_code == 200


def test_feedback_keeps_its_image_and_becomes_a_test_with_it():
    said = [*asked_about(picture()), {"role": "assistant", "content": "A cat."}]
    sent = client_of("annotator").post("/api/v1/feedback/", {"messages": said, "rating": "down"})
    assert sent.status_code == 201, sent.content
    feedback = Feedback.objects.get()
    assert feedback.prompt == "What is shown?\n[image a red square]"
    assert feedback.answer == "A cat."
    digest = feedback.messages[0]["content"][1]["image"]
    assert client_of("viewer").get(address(digest)).status_code == 200
    made = make_test_of(feedback, make_issue(), by=make_user("annotator"))
    assert made.messages == feedback.messages
    assert made.image_uses.get().image_id == digest
    made.delete()
    Feedback.objects.update(issue=make_test(sealed=True).issue)
    assert client_of("viewer").get(address(digest)).status_code == 404


def test_a_description_is_no_part_of_what_is_asked():
    test = image_test()
    before = asked_digest(content_of(test))
    test.messages[0]["content"][1]["alt"] = "something else"
    assert asked_digest(content_of(test)) == before
    test.messages[0]["content"][1]["image"] = GONE
    assert asked_digest(content_of(test)) != before
