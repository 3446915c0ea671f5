"""Uploading a file of feedback: looked at first, saved once."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from issues.models import Feedback
from tests.issues.pages import flashed_text, log_in, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def annotator(client):
    """Who asks, where a test logs in nobody else."""
    return log_in(client, "annotator")


GOOD = b"comment,rating,source_id\nWrong.,down,a\nRight.,up,b\n"
MIXED = GOOD + b"Odd.,sideways,c\n"


def look(client, data, name="f.csv"):
    return client.post(url("feedback_upload"), {"file": SimpleUploadedFile(name, data)})


def take_in(client, looked, **changes):
    """Return the data that the preview's form sends."""
    context = looked.context
    columns = context["preview"]["file"].columns
    sent = {"name": context["name"], "data": context["data"], "act": "import"}
    sent |= {"column": list(columns), "as": list(columns.values())}
    return client.post(url("feedback_upload"), sent | changes)


def test_nothing_is_saved_before_it_was_looked_at(client):
    page = look(client, GOOD).content.decode()

    assert not Feedback.objects.exists()
    assert "2 to import" in page
    assert "Wrong." in page


def test_what_was_looked_at_is_saved_with_its_history(client, annotator):
    take_in(client, look(client, GOOD))

    assert set(Feedback.objects.values_list("comment", "rating")) == {
        ("Wrong.", "down"),
        ("Right.", "up"),
    }
    first = Feedback.objects.first()
    assert first.received_by == annotator
    assert first.history.get().history_change_reason == "Uploaded with f.csv"


def test_the_same_file_again_changes_nothing(client):
    take_in(client, look(client, GOOD))

    looked = look(client, GOOD)
    response = take_in(client, looked)

    assert "2 duplicates" in looked.content.decode()
    assert "0 imported. 2 skipped as duplicates." in flashed_text(response)
    assert Feedback.objects.count() == 2


def test_of_a_file_with_bad_rows_the_good_ones_are_saved_when_that_is_chosen(client):
    looked = look(client, MIXED)
    page = looked.content.decode()

    assert "line 4" in page
    assert "sideways" in page
    assert "Import 2 valid rows" in page
    assert not Feedback.objects.exists()
    take_in(client, looked)
    assert Feedback.objects.count() == 2


def test_columns_can_be_taken_for_something_else(client):
    looked = look(client, b"text,more\nWrong.,Why?\n")

    take_in(client, looked, **{"as": ["comment", "prompt"]})

    assert Feedback.objects.values_list("comment", "prompt").get() == ("Wrong.", "Why?")


def test_an_unreadable_file_says_why_and_none_is_asked_for_again(client):
    page = look(client, b"PK", "f.xlsx").content.decode()

    assert "Nothing was saved." in page
    assert "unknown format" in page
    for sent in ({}, {"name": "f.csv", "data": "§"}):
        page = client.post(url("feedback_upload"), sent).content.decode()
        assert "choose a file first" in page


def test_hostile_cells_stay_text(client):
    attack = "=cmd|' /C calc'!A0 <script>alert(1)</script>"

    page = look(client, f'comment\n"{attack}"\n'.encode()).content.decode()

    assert "<script>alert(1)" not in page
