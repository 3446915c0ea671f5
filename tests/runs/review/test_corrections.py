"""Corrections, and their use as reference answers."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evalhub.models import ItemState
from evalhub.refusals import Refused
from issues.models import Author, TestState
from runs.models import Result
from runs.review.corrections import correct, former_version, promote, put_back
from runs.review.models import Correction
from tests.factories import first_result, make_test, make_user
from tests.runs.judged_runs import judged_run
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

RIGHT = "Two and two make four."


@shared_data
def result():
    return first_result(judged_run(make_test(reference="4", reference_by=Author.MODEL)))


@shared_data
def maintainer():
    return make_user("maintainer", username="mia")


@pytest.fixture
def annotator(client):
    person = make_user("annotator", username="anna")
    client.force_login(person)
    return person


def page_of(result):
    return reverse("admin:runs_result_change", args=[result.pk])


def correction_page(correction):
    return reverse("admin:review_correction_change", args=[correction.pk])


def promote_url(correction):
    return reverse("admin:review_correction_promote", args=[correction.pk])


# Writing one -------------------------------------------------------------------------------------


def test_a_correction_is_kept_once_and_changes_neither_score_nor_reference(result, maintainer):
    before = Result.objects.values().get(pk=result.pk)
    for text in (RIGHT, f" {RIGHT}\n", "Four."):
        correct(result, text, by=maintainer)
    result.test.refresh_from_db()
    assert list(Correction.objects.values_list("text", flat=True)) == [RIGHT, "Four."]
    assert Result.objects.values().get(pk=result.pk) == before
    assert result.test.reference == "4"


def test_an_empty_correction_or_one_of_no_answer_is_refused(result, maintainer):
    with pytest.raises(ValidationError, match="Enter the corrected answer"):
        correct(result, " \n", by=maintainer)
    result.state = ItemState.ERROR
    with pytest.raises(ValidationError, match="no answer to correct"):
        correct(result, RIGHT, by=maintainer)


# Promoting ---------------------------------------------------------------------------------------


def test_promoting_makes_it_the_reference_signed_with_who_and_whence(result, maintainer):
    test = result.test
    test.flagged_answer = "Five!"
    test.save()
    correction = correct(result, RIGHT, by=make_user("annotator", username="anna"))

    promote(correction, by=maintainer)

    test.refresh_from_db()
    assert (test.reference, test.reference_by) == (RIGHT, Author.HUMAN)
    assert (test.flagged_answer, test.state) == ("Five!", TestState.APPROVED)
    record = test.history.latest()
    assert record.history_user == maintainer
    assert record.history_change_reason == f"Reference: anna's correction of result {result.pk}"
    assert correction.promoted_by == maintainer
    assert correction.promoted_at is not None
    with pytest.raises(Refused, match="already"):
        promote(correction, by=maintainer)
    longest = make_user("annotator", username="a" * 150)  # has a place in the history
    promote(correct(result, "Four.", by=longest), by=maintainer)


def test_promotion_without_approval_right_needs_approval_again(result):
    correction = correct(result, RIGHT, by=make_user("annotator"))
    assert promote(correction, by=make_user("annotator"))
    result.test.refresh_from_db()
    assert result.test.state == TestState.IN_REVIEW


def test_withdrawn_correction_is_not_promoted_until_written_again(client, result, maintainer):
    client.force_login(maintainer)
    correction = correct(result, RIGHT, by=make_user("annotator", username="anna"))
    Correction.objects.update(undone_at=timezone.now())

    with pytest.raises(Refused, match="anna has withdrawn this correction"):
        promote(correction, by=maintainer)
    assert "withdrawn by its author" in client.get(correction_page(correction)).text
    assert "Use as reference answer" not in client.get(page_of(result)).text

    correct(result, RIGHT, by=correction.annotator)
    promote(correction, by=maintainer)
    result.test.refresh_from_db()
    assert result.test.reference == RIGHT


def test_putting_back_restores_text_and_author_of_the_reference_of_now(result, maintainer):
    test = result.test
    test.note = "Looked at."
    test.save()
    assert former_version(test) is None  # Other changes of the test are no former reference.
    first, second = (correct(result, text, by=maintainer) for text in (RIGHT, "Four."))
    promote(first, by=maintainer)
    put_back(first, by=maintainer)
    test.refresh_from_db()
    assert (test.reference, test.reference_by) == ("4", Author.MODEL)
    first.refresh_from_db()
    assert first.promoted_at is not None

    promote(first, by=maintainer)
    promote(second, by=maintainer)
    with pytest.raises(Refused, match="not the current reference"):
        put_back(first, by=maintainer)
    put_back(second, by=maintainer)
    test.refresh_from_db()
    assert test.reference == RIGHT


# Pages -------------------------------------------------------------------------------------------


def test_an_annotator_corrects_on_the_page_of_the_result(client, annotator, result):
    url = reverse("admin:runs_result_correct", args=[result.pk])

    page = client.post(url, {"correction": "<b>Four</b>"}, follow=True).content.decode()

    assert "&lt;b&gt;Four&lt;/b&gt;" in page
    assert Correction.objects.get().annotator == annotator
    assert "Use as reference answer" not in page
    Result.objects.filter(pk=result.pk).update(state=ItemState.ERROR)
    assert "no answer to correct" in client.post(url, {"correction": "Four."}).content.decode()


def test_promotion_shows_a_preview_first_and_is_put_back(client, result, maintainer):
    client.force_login(maintainer)
    correction = correct(result, RIGHT, by=maintainer)

    def reference():
        return type(result.test).objects.get(pk=result.test_id).reference

    asked = client.get(promote_url(correction)).content.decode()
    assert "<del>4</del>" in asked
    assert f"<ins>{RIGHT}</ins>" in asked
    assert reference() == "4"
    client.post(promote_url(correction), {"act": "promote"})
    assert reference() == RIGHT
    shown = client.get(correction_page(correction)).content.decode()
    assert "current reference" in shown
    assert "Restore previous reference" in shown

    assert f"<del>{RIGHT}</del>" in client.get(f"{promote_url(correction)}?act=put_back").text
    client.post(promote_url(correction), {"act": "put_back"})
    assert reference() == "4"


def test_the_test_leads_to_the_corrections_of_its_answers(client, annotator, result):
    other = first_result(judged_run())
    correction = correct(result, RIGHT, by=annotator)
    correct(other, "Something else.", by=annotator)

    page = client.get(result.test.get_absolute_url()).content.decode()
    url = f"{reverse('admin:review_correction_changelist')}?test={result.test_id}"
    assert f'href="{url}"' in page
    assert "Corrections (1)" in page

    listed = client.get(url).content.decode()
    assert RIGHT in listed
    assert "Something else." not in listed
    shown = client.get(correction_page(correction)).content.decode()
    assert "A maintainer can use it as the reference answer" in shown
    assert promote_url(correction) not in shown
    type(result.test).objects.update(sealed=True)
    client.force_login(make_user("viewer"))
    assert client.get(url).status_code in (302, 403)
    assert client.get(correction_page(correction)).status_code in (302, 403, 404)


def test_the_list_takes_the_same_number_of_queries_however_long(
    client, annotator, django_assert_max_num_queries
):
    url = reverse("admin:review_correction_changelist")
    correct(first_result(judged_run()), RIGHT, by=annotator)
    client.get(url)
    with CaptureQueriesContext(connection) as few:
        client.get(url)
    for result in judged_run(*[make_test() for _ in range(4)]).results.all():
        correct(result, RIGHT, by=annotator)
    with django_assert_max_num_queries(len(few)):
        assert client.get(url).text.count(RIGHT) >= 5
