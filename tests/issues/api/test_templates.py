"""Labelled examples, prompt variants and the repair model, through the API."""

import pytest

from issues.models import JudgeTemplate, TemplateExample, TemplateState
from tests.api import client_of
from tests.factories import make_model, make_template, make_test, make_user
from tests.issues.pages import grant

pytestmark = pytest.mark.django_db

URL = "/api/v1/judge-templates/"
EXAMPLE = {"input": "Who?", "output": "Dante.", "option": "1", "justification": "So."}


@pytest.fixture
def script():
    return client_of(make_user("maintainer"))


def body(**fields):
    return {"family": "own", "title": "Own", "text": "Judge {{ output }}"} | fields


def test_a_template_is_written_and_read_back_with_all_its_parts(script):
    model, repair_model, test = make_model(), make_model(), make_test()
    sent = body(
        examples=[EXAMPLE, EXAMPLE | {"output": "Petrarch.", "option": "0", "test": test.pk}],
        variants=[{"language_model": model.pk, "text": "Well? {{ output }}"}],
        example_choice="nearest",
        examples_shown=1,
        repair_model=repair_model.pk,
    )
    made = script.post(URL, sent, format="json")
    assert made.status_code == 201, made.json()
    shown = script.get(f"{URL}{made.json()['id']}/").json()
    assert [row["output"] for row in shown["examples"]] == ["Dante.", "Petrarch."]
    assert [row["test"] for row in shown["examples"]] == [None, test.pk]
    assert shown["variants"] == sent["variants"]
    assert (shown["example_choice"], shown["examples_shown"]) == ("nearest", 1)
    assert shown["repair_model"] == repair_model.pk
    again = script.post(URL, {**shown, "family": "other"}, format="json")
    assert again.status_code == 201, again.json()
    copied = JudgeTemplate.objects.get(family="other")
    assert copied.examples.count() == 2


def test_a_change_replaces_the_list_and_leaves_the_rest(script):
    template = make_template(state=TemplateState.DRAFT)
    template.examples.create(output="Old.", option="1")
    url = f"{URL}{template.pk}/"
    assert script.patch(url, {"title": "New"}, format="json").status_code == 200
    assert template.examples.get().output == "Old."
    shown = script.patch(url, {"examples": [EXAMPLE]}, format="json").json()
    assert [row["output"] for row in shown["examples"]] == ["Dante."]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"examples": [EXAMPLE | {"option": "maybe"}]}, "Example 1, option: 'maybe' is not on"),
        ({"examples": [EXAMPLE] * 201}, "at most 200 examples, not 201"),
        ({"variants": [{"language_model": 0, "text": "{{ output }}"}]}, "Invalid pk"),
        ({"repair_model": 0}, "Invalid pk"),
        ({"example_choice": "all"}, "is not a valid choice"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_made(script, fields, problem):
    response = script.post(URL, body(**fields), format="json")
    assert response.status_code == 400
    assert problem in response.content.decode()
    assert not JudgeTemplate.objects.filter(family="own").exists()


def test_a_wording_for_one_model_is_checked(script):
    row = {"language_model": make_model().pk, "text": "{{ cheese }}"}
    response = script.post(URL, body(variants=[row]), format="json")
    assert response.status_code == 400
    assert "cheese" in response.content.decode()
    twice = [row | {"text": "{{ output }}"}] * 2
    response = script.post(URL, body(variants=twice), format="json")
    assert "one prompt variant per model" in response.content.decode()


def test_of_what_is_published_nothing_changes(script):
    template = make_template()
    for fields in (
        {"examples": [EXAMPLE]},
        {"examples_shown": 1},
        {"repair_model": make_model().pk},
    ):
        response = script.patch(f"{URL}{template.pk}/", fields, format="json")
        assert response.status_code == 400, fields
        assert "create a new version" in response.content.decode()
    assert not template.examples.exists()


def test_a_sealed_test_gives_no_example(script):
    sent = body(examples=[EXAMPLE | {"test": make_test(sealed=True).pk}])
    response = script.post(URL, sent, format="json")
    assert response.status_code == 400
    assert "is sealed" in response.content.decode()


def test_examples_sealed_since_are_not_shown_and_not_lost(script):
    template, test = make_template(state=TemplateState.DRAFT), make_test()
    template.examples.create(output="Kept secret.", option="1", test=test)
    test.sealed = True
    test.save()
    reader = client_of(make_user("viewer"))
    for url in (URL, f"{URL}{template.pk}/"):
        assert "Kept secret." not in reader.get(url).content.decode()
    assert "Kept secret." in script.get(f"{URL}{template.pk}/").content.decode()


def test_who_may_not_read_an_example_does_not_delete_it_unawares():
    template, test = make_template(state=TemplateState.DRAFT), make_test(sealed=True)
    hidden = template.examples.create(output="Kept secret.", option="1", test=test)
    writer = make_user("viewer")
    grant(writer, "change_judgetemplate")
    sent = client_of(writer).patch(f"{URL}{template.pk}/", {"examples": [EXAMPLE]}, format="json")
    assert sent.status_code == 200
    assert "Kept secret." not in sent.content.decode()
    assert hidden in TemplateExample.objects.filter(template=template)
    assert template.examples.count() == 2


def test_the_list_takes_as_many_queries_for_many(script, django_assert_max_num_queries):
    make_template()
    script.get(URL)
    with django_assert_max_num_queries(40) as few:
        script.get(URL)
    template = make_template(state=TemplateState.DRAFT)
    for _ in range(3):
        template.examples.create(output="x", option="1", test=make_test())
    with django_assert_max_num_queries(len(few)):
        listed = script.get(URL).json()["results"]
    assert max(len(row["examples"]) for row in listed) == 3
