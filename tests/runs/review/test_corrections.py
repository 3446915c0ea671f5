"""Corrections, and their use as reference answers."""

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from evalhub.models import ItemState
from issues.models import Author, TestState
from issues.states import Refused
from runs.models import Result
from runs.review.corrections import correct, former_version, promote, put_back
from runs.review.models import Correction
from tests.factories import first_result, make_test, make_user
from tests.runs.judged_runs import judged_run

pytestmark = pytest.mark.django_db

RIGHT = "Two and two make four."


@pytest.fixture
def result():
    return first_result(judged_run(make_test(reference="4", reference_by=Author.MODEL)))


@pytest.fixture
def annotator(client):
    person = make_user("annotator", username="anna")
    client.force_login(person)
    return person


@pytest.fixture
def maintainer():
    return make_user("maintainer", username="mia")


def page_of(result):
    return reverse("admin:runs_result_change", args=[result.pk])


def correction_page(correction):
    return reverse("admin:review_correction_change", args=[correction.pk])


def promote_url(correction):
    return reverse("admin:review_correction_promote", args=[correction.pk])


# Writing one -------------------------------------------------------------------------------------


def test_a_correction_changes_neither_score_nor_reference(result, maintainer):
    before = Result.objects.values().get(pk=result.pk)
    correct(result, RIGHT, by=maintainer)
    result.test.refresh_from_db()
    assert Result.objects.values().get(pk=result.pk) == before
    assert result.test.reference == "4"


def test_the_same_text_twice_is_kept_once_and_another_beside_it(result, maintainer):
    correct(result, RIGHT, by=maintainer)
    correct(result, f" {RIGHT}\n", by=maintainer)
    correct(result, "Four.", by=maintainer)
    assert list(Correction.objects.values_list("text", flat=True)) == [RIGHT, "Four."]


def test_an_empty_correction_is_refused(result, maintainer):
    with pytest.raises(ValidationError, match="Enter the corrected answer"):
        correct(result, " \n", by=maintainer)


def test_result_without_answer_cannot_be_corrected(result, maintainer):
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


def test_a_long_name_does_not_break_the_history(result, maintainer):
    person = make_user("annotator", username="a" * 150)
    promote(correct(result, RIGHT, by=person), by=maintainer)
    result.test.refresh_from_db()
    assert result.test.reference == RIGHT


def test_promotion_without_approval_right_needs_approval_again(result):
    correction = correct(result, RIGHT, by=make_user("annotator"))
    assert promote(correction, by=make_user("annotator"))
    result.test.refresh_from_db()
    assert result.test.state == TestState.IN_REVIEW


def test_current_reference_is_not_promoted_again(result, maintainer):
    correction = correct(result, RIGHT, by=maintainer)
    promote(correction, by=maintainer)
    with pytest.raises(Refused, match="already"):
        promote(correction, by=maintainer)


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


def test_putting_back_restores_text_and_author(result, maintainer):
    correction = correct(result, RIGHT, by=maintainer)
    promote(correction, by=maintainer)

    put_back(correction, by=maintainer)

    result.test.refresh_from_db()
    assert (result.test.reference, result.test.reference_by) == ("4", Author.MODEL)
    correction.refresh_from_db()
    assert correction.promoted_at is not None


def test_only_the_reference_of_now_is_put_back(result, maintainer):
    first, second = (correct(result, text, by=maintainer) for text in (RIGHT, "Four."))
    promote(first, by=maintainer)
    promote(second, by=maintainer)
    with pytest.raises(Refused, match="not the current reference"):
        put_back(first, by=maintainer)
    put_back(second, by=maintainer)
    result.test.refresh_from_db()
    assert result.test.reference == RIGHT


def test_other_changes_of_the_test_are_no_former_reference(result):
    test = result.test
    test.note = "Looked at."
    test.save()
    assert former_version(test) is None


# Pages -------------------------------------------------------------------------------------------


def test_an_annotator_corrects_on_the_page_of_the_result(client, annotator, result):
    url = reverse("admin:runs_result_correct", args=[result.pk])

    response = client.post(url, {"correction": "<b>Four</b>"}, follow=True)

    page = response.content.decode()
    assert "&lt;b&gt;Four&lt;/b&gt;" in page
    assert Correction.objects.get().annotator == annotator
    assert "Use as reference answer" not in page


def test_a_refused_correction_loses_nothing_that_was_typed(client, annotator, result):
    Result.objects.filter(pk=result.pk).update(state=ItemState.ERROR)
    url = reverse("admin:runs_result_correct", args=[result.pk])
    page = client.post(url, {"correction": "Four."}).content.decode()
    assert "no answer to correct" in page


def test_a_viewer_corrects_nothing(client, result):
    client.force_login(make_user("viewer"))
    url = reverse("admin:runs_result_correct", args=[result.pk])
    assert client.post(url, {"correction": "Four."}).status_code == 403
    assert not Correction.objects.exists()


def test_promotion_shows_a_preview_first(client, result, maintainer):
    client.force_login(maintainer)
    correction = correct(result, RIGHT, by=maintainer)

    asked = client.get(promote_url(correction)).content.decode()

    assert "<del>4</del>" in asked
    assert f"<ins>{RIGHT}</ins>" in asked
    result.test.refresh_from_db()
    assert result.test.reference == "4"

    client.post(promote_url(correction), {"act": "promote"})

    result.test.refresh_from_db()
    assert result.test.reference == RIGHT
    shown = client.get(correction_page(correction)).content.decode()
    assert "current reference" in shown
    assert "Restore previous reference" in shown


def test_the_reference_before_is_put_back_on_the_page(client, result, maintainer):
    client.force_login(maintainer)
    correction = correct(result, RIGHT, by=maintainer)
    promote(correction, by=maintainer)

    assert f"<del>{RIGHT}</del>" in client.get(f"{promote_url(correction)}?act=put_back").text
    client.post(promote_url(correction), {"act": "put_back"})

    result.test.refresh_from_db()
    assert result.test.reference == "4"


def test_an_annotator_sees_a_correction_and_cannot_promote_it(client, annotator, result):
    correction = correct(result, RIGHT, by=annotator)

    page = client.get(correction_page(correction)).content.decode()

    assert "A maintainer can use it as the reference answer" in page
    assert promote_url(correction) not in page
    assert client.post(promote_url(correction), {"act": "promote"}).status_code == 403


def test_the_test_leads_to_the_corrections_of_its_answers(client, annotator, result):
    correct(result, RIGHT, by=annotator)
    other = first_result(judged_run())
    correct(other, "Something else.", by=annotator)

    page = client.get(result.test.get_absolute_url()).content.decode()
    url = f"{reverse('admin:review_correction_changelist')}?test={result.test_id}"
    assert f'href="{url}"' in page
    assert "Corrections (1)" in page

    listed = client.get(url).content.decode()
    assert RIGHT in listed
    assert "Something else." not in listed


def test_corrections_of_sealed_tests_need_the_right_to_read_them(client, annotator):
    result = first_result(judged_run(make_test(sealed=True)))
    correction = correct(result, RIGHT, by=annotator)
    client.force_login(make_user("viewer"))
    listed = client.get(reverse("admin:review_correction_changelist"))
    assert listed.status_code in (302, 403)
    assert client.get(correction_page(correction)).status_code in (302, 403, 404)


def test_the_list_takes_the_same_number_of_queries_however_long(
    client, annotator, django_assert_max_num_queries
):
    url = reverse("admin:review_correction_changelist")
    correct(first_result(judged_run()), RIGHT, by=annotator)
    client.get(url)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        client.get(url)
    for _ in range(4):
        correct(first_result(judged_run()), RIGHT, by=annotator)
    with django_assert_max_num_queries(len(few)):
        assert client.get(url).text.count(RIGHT) >= 5
