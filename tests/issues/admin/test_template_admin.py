"""Judge templates in the admin: drafted, published for good, previewed."""

import json

import pytest

from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import BINARY, as_json, problems_of
from tests.factories import make_model, make_template, make_test
from tests.issues.pages import log_in, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def maintainer(client):
    """Who asks, where a test logs in nobody else."""
    return log_in(client, "maintainer")


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
    """Return the data that a browser sends for inline rows; the first `saved` exist already."""
    sent = {f"{name}-TOTAL_FORMS": len(rows), f"{name}-INITIAL_FORMS": saved}
    for number, row in enumerate(rows):
        sent |= {f"{name}-{number}-{field}": value for field, value in row.items()}
    return sent


def test_a_template_shows_what_its_text_names(client):
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
        ({"scale": '{"options": []}'}, "A scale needs at least two options"),
        ({"scale": '{"options": [{"label": "no", "value": 2}]}'}, "not one in 0 to 1"),
        ({"scale": '{"options": [{"label": "no", "value": "much"}]}'}, "is not a number"),
        ({"reply_form": "song"}, "Select a valid choice"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_at_save(client, changes, problem):
    response = client.post(url("judgetemplate_add"), template_form(**changes))

    assert problem in response.content.decode()
    assert not JudgeTemplate.objects.filter(family="own").exists()


def test_a_published_template_has_no_form(client):
    template = make_template(title="Kept")

    sent = template_form(title="Other")
    response = client.post(url("judgetemplate_change", template.pk), sent)

    template.refresh_from_db()
    assert (response.status_code, template.title) == (403, "Kept")


def test_a_new_version_opens_as_a_draft(client):
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
    field = client.get(url("judgetemplate_add")).context["adminform"].form["scale"]

    presets = json.loads(field.field.widget.attrs["data-eh-scale"])
    assert [len(scale["options"]) for scale in presets.values()] == [2, 5, 7]
    assert all(problems_of(scale) == [] for scale in presets.values())


def test_a_template_for_criteria_says_that_it_shows_the_rubric(client):
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


# Examples, other wordings, repairs ---------------------------------------------------------------


WRITTEN = {"order": 1, "option": "yes", "input": "Who?", "output": "Dante.", "justification": "So."}


def test_examples_and_wordings_are_written_with_the_template(client):
    model, repair_model = make_model(), make_model()

    client.post(
        url("judgetemplate_add"),
        template_form(
            example_choice="nearest",
            examples_shown=2,
            repair_model=repair_model.pk,
            **parts("examples", WRITTEN),
            **parts("variants", {"language_model": model.pk, "text": "Well? {{ output }}"}),
        ),
    )

    template = JudgeTemplate.objects.get(family="own")
    assert (template.example_choice, template.examples_shown) == ("nearest", 2)
    assert template.repair_model == repair_model
    example = template.examples.get()
    assert (example.output, example.option, example.test) == ("Dante.", "yes", None)
    assert template.variants.get().text == "Well? {{ output }}"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"option": "maybe"}, "Choose one of no, yes"),
        ({"output": " "}, "This field is required"),
        ({"output": "x" * 50_000}, "Shorten it"),
    ],
)
def test_an_example_that_cannot_be_shown_is_refused_and_nothing_is_lost(client, row, problem):
    sent = template_form(**parts("examples", WRITTEN | {"input": "Kept as typed."} | row))
    page = client.post(url("judgetemplate_add"), sent).content.decode()

    assert problem in page
    assert "Kept as typed." in page
    assert not JudgeTemplate.objects.filter(family="own").exists()


def test_a_wording_for_one_model_that_cannot_be_used_is_refused(client):
    row = {"language_model": make_model().pk, "text": "{{ answer }} Kept as typed."}
    page = client.post(url("judgetemplate_add"), template_form(**parts("variants", row)))

    assert "did you mean &#x27;output&#x27;?" in page.content.decode()
    assert "Kept as typed." in page.content.decode()


def test_of_a_copied_example_only_order_and_reasons_change(client):
    template = make_template(state=TemplateState.DRAFT, scale=as_json(BINARY))
    example = template.examples.create(test=make_test(), output="As it was.", option="1")

    row = {"id": example.pk, "template": template.pk, "order": 7, "justification": "Because."}
    sent = template_form(
        scale=json.dumps(as_json(BINARY)),
        **parts("examples", row | {"output": "Changed.", "option": "0"}, saved=1),
    )
    client.post(url("judgetemplate_change", template.pk), sent)

    example.refresh_from_db()
    assert (example.order, example.justification) == (7, "Because.")
    assert (example.output, example.option) == ("As it was.", "1")


def test_an_example_is_removed_from_a_draft(client):
    template = make_template(state=TemplateState.DRAFT, scale=as_json(BINARY))
    example = template.examples.create(output="Bad.", option="1")

    row = WRITTEN | {"id": example.pk, "template": template.pk, "option": "1", "DELETE": "on"}
    sent = template_form(scale=json.dumps(as_json(BINARY)), **parts("examples", row, saved=1))
    client.post(url("judgetemplate_change", template.pk), sent)

    assert not template.examples.exists()


def published(**example):
    template = make_template(state=TemplateState.DRAFT)
    template.examples.create(output="Dante did.", option="1", **example)
    template.variants.create(
        language_model=make_model(name="the one"), text="Own words {{ output }}"
    )
    template.state = TemplateState.PUBLISHED
    template.save()
    return template


def test_what_is_published_shows_its_examples_and_no_fields_for_them(client):
    page = client.get(url("judgetemplate_change", published().pk)).content.decode()
    assert "Dante did." in page
    assert "Own words {{ output }}" in page
    assert 'name="examples-0-output"' not in page
    assert 'name="variants-0-text"' not in page


def test_an_example_sealed_since_is_for_its_readers_only(client):
    source = make_test("What is 3 + 1?", sealed=True)
    template, other = published(test=source), make_test("What is 2 + 2?")
    places = [
        (url("judgetemplate_change", template.pk), {}),
        (url("judgetemplate_preview", template.pk), {"test": other.pk}),
    ]
    log_in(client, "viewer")
    pages = [client.post(at, sent) if sent else client.get(at) for at, sent in places]
    assert not any("Dante did." in page.content.decode() for page in pages)
    assert "This prompt is hidden" in pages[1].content.decode()
    log_in(client, "maintainer")
    pages = [client.post(at, sent) if sent else client.get(at) for at, sent in places]
    assert all("Dante did." in page.content.decode() for page in pages)


def test_the_preview_says_in_what_words_one_model_is_asked(client):
    log_in(client, "viewer")
    template, test = published(), make_test()
    at, model = url("judgetemplate_preview", template.pk), template.variants.get().language_model_id

    own = client.post(at, {"test": test.pk, "model": ""}).content.decode()
    other = client.post(at, {"test": test.pk, "model": model}).content.decode()

    assert "the one (prompt variant)" in own
    assert "Own words [BEGIN OUTPUT" not in own
    assert "Prompt for the one" in other
    assert "Own words [BEGIN OUTPUT" in other
    assert "Dante did." in other


def test_the_page_takes_as_many_queries_for_many_examples(client, django_assert_max_num_queries):
    template = make_template(state=TemplateState.DRAFT)
    at = url("judgetemplate_change", template.pk)
    template.examples.create(output="0", option="1", test=make_test())
    client.get(at)
    with django_assert_max_num_queries(80) as few:
        client.get(at)
    for n in range(4):
        template.examples.create(output=str(n), option="1", test=make_test())
    with django_assert_max_num_queries(len(few)):
        page = client.get(at)
    assert page.status_code == 200
