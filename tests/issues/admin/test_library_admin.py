"""Pages of the criterion library."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from issues.models import JudgeTemplate, LibraryCriterion
from issues.models.library import content_of
from issues.rubrics.library.builtin import load_builtin_criteria
from tests.factories import make_test, make_user
from tests.issues.pages import log_in

pytestmark = pytest.mark.django_db


def url(page, *args):
    return reverse(f"admin:issues_librarycriterion_{page}", args=args)


def library(key="demeans-people"):
    return LibraryCriterion.objects.get(key=key)


def form_of(client, address):
    """The fields of a form as a browser would send them."""
    form = client.get(address).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {name: "" if value is None else value for name, value in values.items()}


def test_a_criterion_is_read_by_all_and_edited_by_annotators(client):
    row = library()
    log_in(client, "viewer")
    seen = client.get(url("change", row.pk) + "?edit=1").content.decode()
    log_in(client, "annotator")
    address = url("change", row.pk) + "?edit=1"
    response = client.post(address, form_of(client, address) | {"borderline_option": "Openly"})

    assert row.examples["failing"]["why"] in seen
    assert 'name="question"' not in seen
    assert response.status_code == 302, response.context["errors"]
    row.refresh_from_db()
    assert (row.version, row.examples["borderline"]["option"]) == (2, "Openly")


def test_an_untouched_form_makes_no_version(client):
    log_in(client, "annotator")
    for key in ("better-tone", "is-brief", "code-works"):
        address = url("change", library(key).pk) + "?edit=1"
        assert client.post(address, form_of(client, address)).status_code == 302
        assert library(key).version == 1


def test_a_wrong_example_is_named_and_nothing_lost(client):
    log_in(client, "annotator")
    address = url("change", library().pk) + "?edit=1"
    response = client.post(
        address, form_of(client, address) | {"passing_option": "Openly", "name": "Mine"}
    )

    html = response.content.decode()
    assert "Example passing: the option &#x27;Openly&#x27; does not pass" in html
    assert 'value="Mine"' in html


@pytest.mark.parametrize("kind", ["direct", "pairwise"])
def test_a_criterion_of_the_team_is_written(client, kind):
    log_in(client, "annotator")
    address = url("add") + (f"?kind={kind}" if kind == "pairwise" else "")
    option = "first" if kind == "pairwise" else "Yes"
    sent = {
        "name": "Own",
        "key": "own",
        "shelf": "style",
        "question": "Is it own?",
        "tags": "a, b c,",
        "passing_answer": "x",
        "passing_other": "y",
        "passing_option": option,
    }
    response = client.post(address, form_of(client, address) | sent)

    assert response.status_code == 302, response.context["errors"]
    row = library("own")
    assert (row.kind, row.tags, row.scale is None) == (kind, ["a", "b c"], kind == "pairwise")
    assert row.author is not None
    assert not row.is_builtin


def test_the_list_is_filtered_and_hides_what_is_retired(client):
    log_in(client, "viewer")
    LibraryCriterion.objects.filter(key="empathy").update(state="retired")

    def names(query):
        return {row.key for row in client.get(url("changelist") + query).context["cl"].result_list}

    assert "empathy" not in names("?all=1")
    assert names("?state=retired") == {"empathy"}
    assert names("?origin=own") == set()
    assert names("?q=notices+nothing+like+it") == set()
    assert names("?q=citation+passage") == {"citations-support-their-sentences"}


def test_selected_criteria_are_copied_into_a_rubric(client):
    log_in(client, "annotator")
    test = make_test(state="approved")
    rows = [library(), library("empathy")]
    sent = {"action": "add_to_rubric", "_selected_action": [row.pk for row in rows]}
    asked = client.post(url("changelist"), sent)
    client.post(url("changelist"), sent | {"test": test.pk})

    assert "Add 2 criteria" in asked.content.decode()
    assert {row.library_key for row in test.criteria.all()} == {"demeans-people", "empathy"}
    test.refresh_from_db()
    assert test.state == "in_review"


def test_a_sealed_test_is_no_target_for_who_cannot_read_it(client):
    user = log_in(client, "viewer")
    user.user_permissions.add(*permissions("change_test"))
    test = make_test(sealed=True)
    row = library()

    response = client.post(url("rubric", row.pk), {"test": test.pk})

    assert "Select a valid choice" in response.content.decode()
    assert not test.criteria.exists()


def permissions(*names):
    from django.contrib.auth.models import Permission

    return Permission.objects.filter(codename__in=names)


def test_a_criterion_becomes_a_template_draft(client):
    log_in(client, "maintainer")
    row = library()
    response = client.post(url("act", row.pk), {"act": "template"})

    draft = JudgeTemplate.objects.get(family="criterion-demeans-people")
    assert response.headers["Location"] == draft.get_absolute_url()
    assert draft.state == "draft"


def test_an_update_is_shown_as_a_difference_and_taken_over(client):
    log_in(client, "annotator")
    row = library()
    shipped = [(row.key, content_of(row) | {"question": "Does it look down on people?"})]
    row.question = "Ours?"
    row.save()
    load_builtin_criteria(shipped=shipped)

    shown = client.get(url("change", row.pk)).content.decode()
    listed = client.get(url("changelist") + "?origin=proposed").content.decode()
    client.post(url("act", row.pk), {"act": "take"})

    assert "<ins>+ Does it look down on people?</ins>" in shown
    assert "update available" in listed
    assert library().question == "Does it look down on people?"


def test_a_duplicate_is_the_teams_own(client):
    user = log_in(client, "annotator")
    response = client.post(url("act", library().pk), {"act": "duplicate"})

    copied = LibraryCriterion.objects.get(author=user)
    assert (copied.name, copied.is_builtin) == ("Demeans people (copy)", False)
    assert parse_qs(urlsplit(response.headers["Location"]).query) == {"edit": ["1"]}


@pytest.mark.parametrize("way", ["file", "text"])
def test_a_download_reads_back(client, way):
    log_in(client, "annotator")
    content = b"".join(
        client.get(url("download", "json") + "?shelf__exact=style").streaming_content
    )
    rows = json.loads(content)
    rows[0]["name"], rows[1]["key"], rows[1]["name"] = "Changed", "quite-new", "New"
    text = json.dumps(rows)
    sent = {"file": SimpleUploadedFile("x.json", text.encode()), "text": text}

    response = client.post(url("import"), {way: sent[way]}, follow=True)

    said = [str(message) for message in response.context["messages"]]
    assert said == [f"Imported: 1 added, 1 changed, {len(rows) - 2} unchanged."]
    assert library(rows[0]["key"]).version == 2


def test_a_bad_import_keeps_the_pasted_text(client):
    log_in(client, "annotator")
    html = client.post(url("import"), {"text": '[{"name": "x"}]'}).content.decode()

    assert "Criterion 1: “shelf” is missing." in html
    assert "[{&quot;name&quot;: &quot;x&quot;}]" in html


def test_tests_with_a_copy_are_listed_once(client):
    log_in(client, "annotator")
    test = make_test(criteria=[{"text": "a", "library_key": "empathy"}] * 2)
    make_test()

    response = client.get(reverse("admin:issues_test_changelist") + "?library=empathy")

    assert list(response.context["cl"].result_list) == [test]
    assert "Shows empathy" in response.content.decode()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_criterion_is_found_as_one_types_and_added_to_a_rubric(page, log_in, live_server):
    from playwright.sync_api import expect

    log_in(make_user("annotator"))
    test = make_test("How long is the bridge?")
    page.goto(live_server.url + url("changelist"))
    page.fill("#searchbar", "insult")
    expect(page.locator("#result_list tbody tr")).to_have_count(2)
    page.fill("#searchbar", "insult demean")
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    expect(page.locator("#list-pages")).to_contain_text("1 library criterion")
    page.get_by_role("link", name="Demeans people").click()
    page.get_by_role("link", name="Add to a test's rubric …").click()
    page.locator(".select2-selection").click()
    page.keyboard.type("bridge")
    page.get_by_role("option", name=str(test.pk)).click()
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url(f"**/test/{test.pk}/change/")
    page.goto(live_server.url + library().get_absolute_url())

    expect(page.get_by_text("used in 1 test")).to_be_visible()
    assert test.criteria.get().library_key == "demeans-people"
