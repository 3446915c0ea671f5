"""Judge templates in the admin: drafted, published for good, previewed."""

import json

import pytest

from issues.models import JudgeTemplate, TemplateState
from issues.scales import problems_of
from tests.factories import make_template, make_test
from tests.issues.pages import log_in, url

pytestmark = pytest.mark.django_db


def template_form(**changes):
    return {
        "title": "Own",
        "family": "own",
        "text": "Judge {{ output }} by {{ guidelines }}.",
        "reply_form": "verdict",
        "scale": '{"options": [{"label": "no", "value": 0}, {"label": "yes", "value": 1}]}',
        "example_choice": "fixed",
        "examples_shown": 4,
        "repair_model": "",
        **parts("examples"),
        **parts("variants"),
    } | changes


def parts(name, *rows, saved=0):
    """What a browser sends of examples or other wordings; the first `saved` name their row."""
    sent = {f"{name}-TOTAL_FORMS": len(rows), f"{name}-INITIAL_FORMS": saved}
    for number, row in enumerate(rows):
        sent |= {f"{name}-{number}-{field}": value for field, value in row.items()}
    return sent


def test_a_template_shows_what_its_text_names(client):
    log_in(client, "maintainer")

    client.post(url("judgetemplate_add"), template_form())

    template = JudgeTemplate.objects.get(family="own")
    assert (template.state, template.version) == (TemplateState.DRAFT, 1)
    assert (template.shows_input, template.shows_reference, template.shows_guidelines) == (
        False,
        False,
        True,
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"text": "{{ answer }}"}, "did you mean &#x27;output&#x27;?"),
        ({"text": "{{ output.__class__ }}"}, "is not possible"),
        ({"scale": '{"options": []}'}, "A scale needs two options"),
        ({"scale": '{"options": [{"label": "no", "value": 2}]}'}, "not one in 0 to 1"),
        ({"scale": '{"options": [{"label": "no", "value": "much"}]}'}, "is not a number"),
        ({"reply_form": "song"}, "Select a valid choice"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_at_save(client, changes, problem):
    log_in(client, "maintainer")

    response = client.post(url("judgetemplate_add"), template_form(**changes))

    assert problem in response.content.decode()
    assert not JudgeTemplate.objects.filter(family="own").exists()


def test_a_published_template_has_no_form(client):
    log_in(client, "maintainer")
    template = make_template(title="Kept")

    sent = template_form(title="Other")
    response = client.post(url("judgetemplate_change", template.pk), sent)

    template.refresh_from_db()
    assert (response.status_code, template.title) == (403, "Kept")


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("maintainer", 302)])
def test_publishing_takes_the_right_to(client, role, status):
    log_in(client, role)
    template = make_template(state=TemplateState.DRAFT)

    response = client.post(url("judgetemplate_act", template.pk), {"act": "publish"})

    template.refresh_from_db()
    assert response.status_code == status
    assert (template.state == TemplateState.PUBLISHED) == (status == 302)


def test_a_new_version_opens_as_a_draft(client):
    log_in(client, "maintainer")
    template = make_template()

    response = client.post(url("judgetemplate_act", template.pk), {"act": "version"})

    draft = JudgeTemplate.objects.get(family=template.family, version=2)
    assert response["Location"] == draft.get_absolute_url()


def test_a_draft_is_previewed_for_a_chosen_test(client):
    log_in(client, "viewer")
    first, second = make_test("First?"), make_test("Second?")
    template = make_template(text="Q: {{ input }} A: {{ output }}")

    page = client.post(url("judgetemplate_preview", template.pk), {"test": first.pk})

    assert "First?" in page.context["prompt"]
    assert second.pk != first.pk


def test_the_editor_of_a_scale_offers_presets(client):
    log_in(client, "maintainer")

    field = client.get(url("judgetemplate_add")).context["adminform"].form["scale"]

    presets = json.loads(field.field.widget.attrs["data-eh-scale"])
    assert [len(scale["options"]) for scale in presets.values()] == [2, 5, 7]
    assert all(problems_of(scale) == [] for scale in presets.values())


def test_a_template_for_criteria_says_that_it_shows_the_rubric(client):
    log_in(client, "maintainer")
    text = "{{ output }} {{ criterion }} {% for c in criteria %}{{ c.text }}{% endfor %}"

    client.post(url("judgetemplate_add"), template_form(text=text, reply_form="label"))

    template = JudgeTemplate.objects.get(family="own")
    assert (template.shows_whole_rubric, template.reply_form) == (True, "label")


def test_a_template_for_criteria_is_previewed_with_the_first_that_judges_decide(client):
    log_in(client, "viewer")
    test = make_test(criteria=[{"check_name": "is_json"}, {"text": "Names a price"}])
    template = make_template(text="{{ output }} about: {{ criterion }}")

    page = client.post(url("judgetemplate_preview", template.pk), {"test": test.pk})

    assert "about: Names a price" in page.context["prompt"]
