"""Feedback is erased on somebody's request: its words are nowhere, its count stays."""

import pytest

from evalhub.llm.content.images import store_image
from evalhub.models import Image
from evalhub.refusals import Refused
from issues.models import Feedback, FeedbackState
from issues.triage.actions import set_state
from issues.triage.erasure import erase
from issues.triage.intake import take_in
from issues.triage.undo import undo_last
from tests.api import client_of
from tests.factories import make_test, make_user
from tests.images import picture

pytestmark = pytest.mark.django_db
SAID = "quillwort"


def receive(**fields) -> Feedback:
    row = {"comment": SAID, "prompt": SAID, "answer": SAID, "raw": {SAID: SAID}, **fields}
    return take_in([row], by=make_user("maintainer"), reason="Sent").added[0]


def words() -> str:
    kept = [*Feedback.objects.values_list(), *Feedback.history.values_list()]
    return repr(kept)


def test_erased_words_are_in_no_version_and_cannot_be_brought_back():
    feedback, person = receive(rating="down"), make_user("maintainer")
    set_state([feedback], FeedbackState.DISMISSED, by=person)
    assert SAID in words()

    assert erase([feedback], by=person) == 1

    assert SAID not in words()
    row = Feedback.objects.get()
    assert (row.rating, row.state, row.erased_at is not None) == ("down", "dismissed", True)
    assert "erased on" in str(row)
    assert erase([feedback], by=person) == 0
    with pytest.raises(Refused):
        undo_last(by=person)
    assert SAID not in words()


def test_the_same_feedback_sent_again_stays_erased():
    feedback = receive(source="app", source_id="7")
    erase([feedback], by=make_user("maintainer"))

    again = take_in(
        [{"comment": SAID, "source": "app", "source_id": "7"}],
        by=make_user("maintainer"),
        reason="Sent",
    )

    assert again.added == {}
    assert SAID not in words()


def test_images_that_nothing_else_uses_go():
    own, shared = (store_image(picture(color=color)) for color in ("red", "blue"))
    parts = [{"type": "image", "image": image.pk, "alt": "a"} for image in (own, shared)]
    feedback = receive(messages=[{"role": "user", "content": parts}])
    shared.uses.create(test=make_test())

    erase([feedback], by=make_user("maintainer"))

    assert list(Image.objects.all()) == [shared]


def test_maintainers_erase_by_api():
    feedback = receive()

    response = client_of("maintainer").post(f"/api/v1/feedback/{feedback.pk}/erase/")

    assert (response.status_code, SAID in words()) == (200, False)


def test_the_list_asks_before_it_erases(client):
    feedback = receive()
    client.force_login(make_user("maintainer"))
    chosen = {"action": "erase", "_selected_action": [feedback.pk]}

    page = client.post("/admin/issues/feedback/", chosen)
    assert "Erase the texts of 1 feedback item" in page.content.decode()
    assert SAID in words()
    client.post("/admin/issues/feedback/", {**chosen, "erase": "yes"})
    assert SAID not in words()
    shown = client.get(f"/admin/issues/feedback/{feedback.pk}/change/").content.decode()
    assert "Its texts were erased on" in shown
