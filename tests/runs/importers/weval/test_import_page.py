"""The page on which blueprints are sent, looked at, and imported once that is confirmed."""

from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from issues.models import Test
from runs.models import Suite
from tests.factories import make_user

pytestmark = pytest.mark.django_db

WHOLE = (Path(__file__).parent / "blueprints" / "whole.yml").read_text()
SPOILT = "title: Spoilt\n---\n- id: a\n  prompt: Hi\n  should:\n  - $nonsense\n"
QUOTED = SPOILT.replace("$nonsense", "\"$contains: 'x'\"")


@pytest.fixture
def browser() -> Client:
    return logged_in("maintainer")


def logged_in(role: str) -> Client:
    client = Client()
    client.force_login(make_user(role))
    return client


def address() -> str:
    return reverse("admin:runs_suite_import_weval")


def look(browser: Client, **files: str | bytes) -> str:
    """The page that shows what these files would become."""
    sent = [
        SimpleUploadedFile(f"{name}.yml", text if isinstance(text, bytes) else text.encode())
        for name, text in files.items()
    ]
    response = browser.post(address(), {"act": "look", "files": sent})
    assert response.status_code == 200
    return unescape(response.content.decode())


def confirm(browser: Client, name: str, text: str, **fields: str):
    return browser.post(
        address(), {"act": "import", "name": [name], "text": [text], **fields}, follow=True
    )


def test_the_list_of_suites_leads_to_the_page(browser):
    assert address() in browser.get(reverse("admin:runs_suite_changelist")).content.decode()


def test_whoever_may_not_import_is_not_led_there():
    viewer = logged_in("viewer")

    assert address() not in viewer.get(reverse("admin:runs_suite_changelist")).content.decode()
    assert viewer.get(address()).status_code == 403


def test_looking_at_a_file_saves_nothing(browser):
    page = look(browser, whole=WHOLE)

    assert "1 of 1 blueprint can be imported" in page
    assert "2 new tests" in page
    assert not Suite.objects.exists()


def test_what_was_looked_at_is_imported_when_confirmed(browser):
    response = confirm(browser, "whole.yml", WHOLE.replace("\n", "\r\n"))

    suite = Suite.objects.get()
    assert response.redirect_chain[-1][0] == reverse("admin:runs_suite_change", args=[suite.pk])
    assert {test.state for test in suite.tests.all()} == {"in_review"}


def test_line_ends_of_the_browser_make_no_other_blueprint(browser):
    confirm(browser, "whole.yml", WHOLE)

    assert "unchanged" in look(browser, whole=WHOLE.replace("\n", "\r\n"))


def test_the_history_names_who_imported(browser):
    confirm(browser, "whole.yml", WHOLE)

    assert Test.history.first().history_user.groups.get().name == "maintainer"


def test_tests_are_approved_at_once_where_that_is_chosen(browser):
    confirm(browser, "whole.yml", WHOLE, approve="on")

    assert {test.state for test in Test.objects.all()} == {"approved"}


def test_problems_are_shown_with_line_and_prompt_and_others_can_be_imported(browser):
    page = look(browser, whole=WHOLE, spoilt=SPOILT)

    assert "1 of 2 blueprints can be imported" in page
    assert "line 6" in page
    assert "there is no function" in page
    assert 'value="whole.yml"' in page
    assert 'value="spoilt.yml"' not in page


def test_warnings_are_shown_with_line_and_the_file_can_be_imported(browser):
    page = unescape(look(browser, quoted=QUOTED))

    assert "1 of 1 blueprint can be imported" in page
    assert "line 6" in page
    assert "a quoted function is read as a function: $contains: 'x'" in page
    assert 'value="quoted.yml"' in page


def test_a_file_with_problems_is_not_imported_even_when_confirmed(browser):
    page = confirm(browser, "spoilt.yml", SPOILT).content.decode()

    assert "Not imported" in page
    assert not Suite.objects.exists()


@pytest.mark.parametrize(
    ("files", "problem"),
    [({}, "Choose files."), ({"bad": b"title: \xff"}, "bad.yml is not UTF-8 text")],
)
def test_what_cannot_be_looked_at_is_named(browser, files, problem):
    assert problem in look(browser, **files)


@pytest.mark.parametrize("name", ["", "/", ".", "a\0b.yml"])
def test_a_file_without_a_name_that_can_be_kept_is_refused(browser, name):
    page = unescape(confirm(browser, name, WHOLE).content.decode())

    assert "cannot be a file's name" in page
    assert not Suite.objects.exists()


def test_markup_in_a_blueprint_is_shown_as_text(browser):
    hostile = "title: <script>alert(1)</script>\n---\n- {prompt: <b>Hi</b>, should: [x]}\n"
    sent = SimpleUploadedFile("a.yml", hostile.encode())
    page = browser.post(address(), {"files": [sent]}).content.decode()

    assert "<script>alert" not in page
    assert "&lt;b&gt;Hi" in page
