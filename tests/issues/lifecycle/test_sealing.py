"""Sealing, unsealing and revealing: acts with a reason, and what each opens and closes."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.access.models import Exposure, ExposureKind
from evalhub.access.sealing.reveals import end, reveal
from evalhub.models import User
from evalhub.refusals import Refused
from issues.content.revisions import freeze
from issues.lifecycle.sealing import seal, unseal
from issues.models import Criterion, Feedback, Revision, Test, TestState
from tests.api import client_of, ids
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import flashed_text, form_of_a_test, log_in, url

pytestmark = pytest.mark.django_db

SECRET = "the-sealed-words"
REASON = "Part of the release gate"


def sealed_test(**fields):
    return make_test(SECRET, sealed=True, **fields)


def afresh(user):
    """The person as the next request finds them."""
    return User.objects.get(pk=user.pk)


def revealed(test, user):
    return reveal(test.pk, user, REASON, by=make_user("maintainer"))


# Acts --------------------------------------------------------------------------------------------


def test_sealing_stands_in_the_history_with_its_reason():
    test, by = make_test(), make_user("annotator")
    seal(test, REASON, by=by)
    assert Test.objects.get(pk=test.pk).sealed
    newest = test.history.first()
    assert (newest.history_user, newest.history_change_reason) == (by, f"Sealed: {REASON}")


@pytest.mark.parametrize(
    ("state", "is_run", "kinds"),
    [
        (TestState.APPROVED, False, [ExposureKind.OPENED]),
        (TestState.DRAFT, True, [ExposureKind.OPENED]),
        (TestState.DRAFT, False, []),  # nobody used it
    ],
)
def test_a_test_that_was_in_use_was_open_since_it_was_made(state, is_run, kinds):
    test = make_test(state=state)
    if is_run:
        freeze([test])
    seal(test, REASON, by=make_user("annotator"))
    exposures = list(Exposure.objects.values_list("test", "kind", "day"))
    assert exposures == [(test.pk, kind, test.created_at.date()) for kind in kinds]


def test_unsealing_exposes_to_all_and_says_why():
    test, by = sealed_test(), make_user("maintainer")
    unseal(test, REASON, by=by)
    assert not Test.objects.get(pk=test.pk).sealed
    exposure = Exposure.objects.get(test=test.pk)
    assert (exposure.kind, exposure.reason, exposure.by) == (ExposureKind.OPENED, REASON, by)


@pytest.mark.parametrize(("act", "is_sealed"), [(seal, True), (unseal, False)])
def test_what_is_so_already_is_refused(act, is_sealed):
    with pytest.raises(Refused, match=r"is (not |already )?sealed"):
        act(make_test(sealed=is_sealed), REASON, by=make_user("maintainer"))


@pytest.mark.parametrize("reason", ["", "   ", "because", "         x"])
def test_a_reason_says_something(reason):
    test, by = sealed_test(), make_user("maintainer")
    with pytest.raises(ValidationError, match="Give a reason"):
        unseal(test, reason, by=by)
    with pytest.raises(ValidationError, match="Give a reason"):
        reveal(test.pk, make_user("viewer"), reason, by=by)
    assert not Exposure.objects.exists()


# Reading what was revealed -----------------------------------------------------------------------


def test_a_revealed_test_is_read_with_what_is_derived_from_it():
    test, other, user = sealed_test(), sealed_test(), make_user("viewer")
    criterion = Criterion.objects.create(test=test, text="Names a price")
    Criterion.objects.create(test=other, text="Names a price")
    frozen = freeze([test, other])
    assert not Test.objects.readable_by(user).exists()

    revealed(test, user)
    user = afresh(user)

    assert list(Test.objects.readable_by(user)) == [test]
    assert list(Criterion.objects.readable_by(user)) == [criterion]
    assert list(Revision.objects.readable_by(user)) == [frozen[test.pk]]


def test_it_is_revealed_to_nobody_else_and_open_tests_stay_open():
    test, open_test, user = sealed_test(), make_test(), make_user("viewer")
    revealed(test, user)
    assert set(Test.objects.readable_by(afresh(user))) == {test, open_test}
    assert set(Test.objects.readable_by(make_user("viewer"))) == {open_test}


def test_what_hangs_on_another_sealed_test_too_stays_closed():
    issue, user = make_issue(), make_user("viewer")
    test = sealed_test(issue=issue)
    sealed_test(issue=issue)
    Feedback.objects.create(comment=SECRET, issue=issue)
    revealed(test, user)
    assert not Feedback.objects.readable_by(afresh(user)).exists()


def test_ending_closes_it_leaves_the_exposure_and_lets_it_be_revealed_once_more():
    test, user, by = sealed_test(), make_user("viewer"), make_user("maintainer")
    exposure = revealed(test, user)
    assert end(exposure, by=by)
    exposure.refresh_from_db()
    assert (exposure.ended_by, exposure.reason) == (by, REASON)
    assert not Test.objects.readable_by(afresh(user)).exists()
    assert not end(exposure, by=make_user("maintainer"))
    revealed(test, user)
    assert list(Test.objects.readable_by(afresh(user))) == [test]
    assert Exposure.objects.filter(test=test.pk).count() == 2


def test_it_is_not_revealed_twice_nor_to_who_reads_it_nor_to_who_left():
    test, by, viewer = sealed_test(), make_user("maintainer"), make_user("viewer")
    revealed(test, viewer)
    for user, why in [
        (viewer, "already"),
        (make_user("annotator"), "already"),
        (make_user("viewer", is_active=False), "inactive"),
    ]:
        with pytest.raises(ValidationError, match=why):
            reveal(test.pk, user, REASON, by=by)


def test_one_query_tells_what_was_revealed(django_assert_num_queries):
    user = make_user("viewer")
    test = sealed_test()
    revealed(test, user)
    user = afresh(user)
    user.has_perm("issues.view_test")
    with django_assert_num_queries(3):
        read = list(Test.objects.readable_by(user))
        list(Revision.objects.readable_by(user))
    assert read == [test]


# Pages -------------------------------------------------------------------------------------------


def test_the_page_reveals_to_a_person_who_then_reads_it(client):
    test, user = sealed_test(), make_user("viewer", username="vera")
    log_in(client, "maintainer")
    client.post(url("test_reveal", test.pk), {"user": user.pk, "reason": REASON})

    page = client.get(url("test_change", test.pk)).content.decode()
    assert "revealed to vera" in page
    assert REASON in page
    client.force_login(user)
    assert SECRET in client.get(url("test_change", test.pk)).content.decode()


def test_the_page_of_revealing_offers_only_those_who_cannot_read_it(client):
    test = sealed_test()
    make_user("viewer", username="vera")
    make_user("annotator", username="anna")
    make_user("superuser", username="rosalind")
    log_in(client, "maintainer")
    page = client.get(url("test_reveal", test.pk)).content.decode()
    assert "vera" in page
    assert "anna" not in page
    assert "rosalind" not in page


def test_a_short_reason_is_asked_for_again_and_nothing_typed_is_lost(client):
    test, user = sealed_test(), make_user("viewer")
    log_in(client, "maintainer")
    response = client.post(url("test_reveal", test.pk), {"user": user.pk, "reason": "so what"})
    page = response.content.decode()
    assert "Give a reason" in page
    assert "so what" in page
    assert f'value="{user.pk}" selected' in page


def test_the_page_ends_what_was_revealed_of_its_test(client):
    test, user = sealed_test(), make_user("viewer")
    sent = {"exposure": revealed(test, user).pk}
    log_in(client, "maintainer")
    elsewhere = client.post(url("test_end_reveal", sealed_test().pk), sent)
    assert elsewhere.status_code == 404
    response = client.post(url("test_end_reveal", test.pk), sent)
    assert "can no longer read it" in flashed_text(response)[0]
    assert not Test.objects.readable_by(afresh(user)).exists()


def test_the_pages_seal_and_unseal(client):
    test = make_test()
    log_in(client, "maintainer")
    assert "public summary" in client.get(url("test_seal", test.pk)).content.decode()
    client.post(url("test_seal", test.pk), {"reason": REASON})
    assert Test.objects.get(pk=test.pk).sealed
    assert "cannot be undone" in client.get(url("test_unseal", test.pk)).content.decode()
    client.post(url("test_unseal", test.pk), {"reason": REASON})
    assert not Test.objects.get(pk=test.pk).sealed


def test_saving_the_form_seals_and_unseals_nothing(client):
    test = make_test()
    log_in(client, "maintainer")
    form = form_of_a_test(issue=test.issue_id, template=test.template_id)
    client.post(url("test_change", test.pk), form | {"sealed": "on"})
    assert not Test.objects.get(pk=test.pk).sealed
    Test.objects.update(sealed=True)
    client.post(url("test_change", test.pk), form)
    assert Test.objects.get(pk=test.pk).sealed


def test_a_new_test_is_sealed_by_the_form(client):
    log_in(client, "annotator")
    client.post(url("test_add"), form_of_a_test(issue=make_issue().pk, sealed="on"))
    assert Test.objects.get().sealed
    assert not Exposure.objects.exists()


# API ---------------------------------------------------------------------------------------------


def test_the_api_seals_with_a_reason_and_not_by_the_way():
    test, script = make_test(), client_of("maintainer")
    address = f"/api/v1/tests/{test.pk}/"
    refused = script.patch(address, {"sealed": True})
    assert (refused.status_code, "seal/" in str(refused.json())) == (400, True)
    assert script.post(f"{address}seal/", {"reason": "short"}).status_code == 400
    assert script.post(f"{address}seal/", {"reason": REASON}).json()["sealed"] is True
    assert script.post(f"{address}unseal/", {"reason": REASON}).json()["sealed"] is False


def test_the_api_reveals_to_the_tokens_of_a_person_and_ends_it():
    test, user = sealed_test(), make_user("viewer", username="vera")
    maintainer, script = client_of("maintainer"), client_of(user)
    address = f"/api/v1/tests/{test.pk}/"
    assert script.get(address).status_code == 404
    made = maintainer.post(f"{address}reveal/", {"user": "vera", "reason": REASON})
    assert made.status_code == 201, made.content
    assert SECRET in script.get(address).content.decode()
    assert maintainer.post(f"{address}end_reveal/", {"user": "vera"}).json()["ended_at"]
    assert script.get(address).status_code == 404
    assert ids(maintainer.get(f"/api/v1/exposures/?test={test.pk}")) == [made.json()["id"]]
