"""The page of a jury: its judges, and the calls that it previews."""

import json

import pytest
from django.urls import reverse

from evalhub.models import LanguageModel
from runs.models import DEFAULT_APPROACHES, Judge, JudgeRun, Jury
from tests.factories import make_jury, make_model, make_template, make_user
from tests.runs.judged_runs import judged_run

ADD = "/admin/runs/jury/add/"
RUBRIC_TEXT = "Shows the output {{ output }} this: {{ criterion }}?"


@pytest.fixture
def maintainer(client, db):
    client.force_login(make_user("maintainer"))


def sent(*models, **fields):
    """The form as it leaves the browser, with the least that a jury needs."""
    return {
        "name": "jury",
        "models": [model.pk for model in models],
        "approaches": ["template"],
        "samples": "1",
        "params": "{}",
        "method": "single",
        "is_active": "on",
    } | fields


def change(jury):
    return f"/admin/runs/jury/{jury.pk}/change/"


def made(client, *models, **fields):
    """The jury that the form makes."""
    response = client.post(ADD, sent(*models, **fields))
    assert response.status_code == 302, said(response)
    return Jury.objects.latest("pk")


def said(response):
    return " ".join(response.content.decode().split())


# Judges ------------------------------------------------------------------------------------------


def test_usually_a_model_judges_whole_tests_and_each_criterion_twice(client, maintainer):
    form = client.get(ADD).context["adminform"].form

    jury = made(client, make_model(), approaches=form["approaches"].value())

    assert {judge.approach for judge in jury.judges.all()} == set(DEFAULT_APPROACHES)


def test_each_temperature_makes_a_judge_and_equal_ones_are_one(client, maintainer):
    one, two = make_model(), make_model()
    before = Judge.objects.given(one, params={"temperature": 0.2})
    for name in ("first", "second"):
        made(client, one, two, name=name, temperatures="0.2")
    assert Judge.objects.count() == 2
    assert before in Jury.objects.get(name="second").judges.all()

    jury = made(client, one, temperatures="0, 0.7", approaches=["holistic"], samples="3")
    judges = jury.judges.order_by("pk")
    assert [judge.params for judge in judges] == [{"temperature": 0}, {"temperature": 0.7}]
    assert {judge.samples for judge in judges} == {3}


def test_a_template_is_used_for_its_approach(client, maintainer):
    model, whole, rubric = make_model(), make_template(), make_template(text=RUBRIC_TEXT)
    page = client.post(ADD, sent(model, criterion_prompt=whole.pk))
    assert "Select a valid choice" in said(page)

    templates = {"whole_prompt": whole.pk, "criterion_prompt": rubric.pk}
    jury = made(client, model, approaches=["template", "standard"], **templates)

    assert [judge.template for judge in jury.judges.order_by("pk")] == [whole, rubric]


def test_what_cannot_be_is_said_and_makes_no_jury(client, maintainer, subtests):
    model = make_model()
    for words, fields in (
        ("api_key", {"params": '{"api_key": "sk-1"}'}),
        ("Enter a JSON object of parameters, not [1].", {"params": "[1]"}),
        ("Set the temperature in its own", {"params": '{"temperature": 1}', "temperatures": "0"}),
        ("&#x27;hot&#x27; is not a temperature from 0 to 5", {"temperatures": "hot"}),
        ("&#x27;7&#x27; is not a temperature from 0 to 5", {"temperatures": "0,7"}),
        ("less than or equal to 25", {"samples": "26"}),
        ("Choose at least one approach.", {"approaches": []}),
        ("Choose at least one model to judge.", {"models": []}),
    ):
        with subtests.test(words):
            assert words in said(client.post(ADD, sent(model, **fields)))
            assert (Jury.objects.exists(), Judge.objects.exists()) == (False, False)


# The backup --------------------------------------------------------------------------------------


def test_a_backup_is_kept_beside_the_judges(client, maintainer):
    judge, spare = make_model(), make_model()

    jury = made(client, judge, backup_model=spare.pk)

    assert jury.backup.language_model == spare
    assert [judge.language_model for judge in jury.judges.all()] == [judge]


def test_a_backup_that_judges_already_is_refused_and_one_alike_warned_of(client, maintainer):
    model = make_model(name="busy")
    for temperatures in ("", "0"):
        fields = {"backup_model": model.pk, "temperatures": temperatures}
        page = said(client.post(ADD, sent(model, **fields)))
        assert "busy is one of the judges and would get the same request again." in page
    assert not Jury.objects.exists()

    response = client.post(ADD, sent(model, backup_model=model.pk, temperatures="1"), follow=True)
    assert "busy is both judge and backup: if it fails" in said(response)
    assert Jury.objects.get().backup.language_model == model


# Changing ----------------------------------------------------------------------------------------


def test_changing_a_jury_makes_other_judges_and_leaves_old_judge_runs(client, maintainer):
    run = judged_run(votes=(1,))
    jury = Jury.objects.get()
    old = jury.judges.get()
    template = make_template()

    client.post(change(jury), sent(old.language_model, whole_prompt=template.pk))

    assert jury.judges.get() != old
    assert jury.judges.get().template == template
    assert JudgeRun.objects.get(run=run).jury["judges"][0]["judge"] == old.pk


def test_the_form_shows_how_the_judges_were_put_together(client, maintainer):
    model, spare = make_model(), make_model()
    fields = {
        "approaches": ["template", "holistic"],
        "temperatures": "0.5, 1",
        "samples": "4",
        "params": json.dumps({"seed": 7}),
        "backup_model": spare.pk,
    }
    jury = made(client, model, **fields)
    before = set(jury.judges.all()), jury.backup

    form = client.get(change(jury)).context["adminform"].form
    assert not form.made_elsewhere
    initial = {name: form[name].value() for name in fields}
    client.post(change(jury), sent(model, **initial | {"params": json.dumps(initial["params"])}))

    jury.refresh_from_db()
    assert (set(jury.judges.all()), jury.backup) == before


def test_judges_of_inactive_models_stay_when_a_jury_is_saved(client, maintainer):
    judge, retired, spare = make_model(), make_model(), make_model()
    jury = made(client, judge, retired, backup_model=spare.pk)
    LanguageModel.objects.filter(pk__in=[retired.pk, spare.pk]).update(is_active=False)

    form = client.get(change(jury)).context["adminform"].form
    kept = {name: form[name].value() for name in ("models", "backup_model")}
    client.post(change(jury), sent(name="renamed", **kept))

    jury.refresh_from_db()
    assert jury.name == "renamed"
    assert {one.language_model for one in jury.judges.all()} == {judge, retired}
    assert jury.backup.language_model == spare
    assert retired.pk not in {
        pk for pk, _ in client.get(ADD).context["adminform"].form["models"].field.choices
    }


def test_renaming_a_jury_leaves_judges_that_were_put_together_elsewhere(client, maintainer):
    one, two = make_model(), make_model()
    jury = make_jury(one)
    jury.judges.add(Judge.objects.given(two, params={"temperature": 1}))
    before = set(jury.judges.all())

    page = client.get(change(jury))
    form = page.context["adminform"].form
    client.post(change(jury), sent(one, two, name="renamed", approaches=form["approaches"].value()))

    assert "created through the API or an import" in said(page)
    assert Jury.objects.get().name == "renamed"
    assert set(jury.judges.all()) == before


def test_viewers_see_a_jury_without_its_form(client, maintainer):
    backup = Judge.objects.given(make_model(name="the spare"))
    jury = make_jury(make_model(name="the judge"), backup=backup, approaches=DEFAULT_APPROACHES)
    assert "Calls per answer" in said(client.get(change(jury)))
    client.force_login(make_user("viewer"))

    page = said(client.get(change(jury)))

    assert "the judge" in page
    assert "the spare" in page
    assert 'name="models"' not in page


# Calls -------------------------------------------------------------------------------------------


def asked(client, *models, **fields):
    response = client.post(reverse("admin:runs_jury_preview"), sent(*models, **fields))
    assert response.status_code == 200
    return response.context["preview"], said(response)


def test_the_preview_counts_calls_for_a_rubric_and_for_a_test_without_one(client, maintainer):
    one, two, spare = make_model(), make_model(), make_model(name="spare")
    more = {"samples": "2", "criteria": "7", "approaches": list(DEFAULT_APPROACHES)}
    found, page = asked(client, one, **more)
    # Of a whole test one judge is asked, of each of seven criteria the other two; each twice.
    assert (found.whole, found.rubric) == (2, 28)
    for part in ("Rubric of 7", "2 samples take 2 calls", "They hardly differ"):
        assert part in page

    found, page = asked(client, one, two)  # of approaches that look at no criterion
    assert (found.whole, found.rubric) == (2, 10)
    assert "for a rubric the prompt, the answer and one criterion" in page

    _, page = asked(client, one, backup_model=spare.pk, criteria="3")
    assert "spare is called only if a judge fails: at most 3 more calls" in page

    _, page = asked(client, approaches=["holistic"], temperatures="x", samples="")
    assert "Choose a model" in page
    assert not Judge.objects.exists()


def test_method_and_role_belong_to_every_judge_and_are_shown_again(client, maintainer):
    jury = made(client, make_model(), method="debate", role="You are a nurse.")
    judge = jury.judges.get()
    assert (judge.method, judge.role) == ("debate", "You are a nurse.")
    assert "debate, role “You are a nurse.”" in str(judge)

    page = client.get(change(jury))
    form = page.context["adminform"].form
    assert (form["method"].value(), form["role"].value()) == ("debate", "You are a nurse.")
    assert not form.made_elsewhere
    assert "Calls per answer, at most" in said(page)
