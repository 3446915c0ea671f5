from typing import Any

import pytest
from django.urls import reverse

from evalhub.models import LanguageModel
from issues.models import Tag, Test, TestState
from runs.admin.launch.parameters import Row, read_rows, rows_of
from runs.launching.launch_options import problems_of_defaults
from runs.launching.number_lists import as_ranges, numbers_in
from runs.launching.schedules import launch_again
from runs.models import Judge, Launch, Run, Suite
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.shared_data import shared_data

URL = "/admin/runs/launch/add/"


@pytest.fixture
def maintainer(client, db):
    person = make_user("maintainer")
    client.force_login(person)
    return person


@shared_data
def test():
    return make_test(issue=make_issue(title="Adds the wrong column", tags=("tables",)))


@shared_data
def model():
    return priced_model()


@shared_data
def jury():
    return make_jury(priced_model(), backup=Judge.objects.given(priced_model()))


def priced_model():
    return make_model(input_usd_per_mtok=1, output_usd_per_mtok=1)


@pytest.fixture
def least(test, model):
    """A form as it leaves the browser, with the least that a launch needs."""
    return sent(tests=str(test.pk), models=[model.pk])


def sent(**fields):
    return {"label": "one", "repeats": "1", "jury": "", "act": "launch"} | fields


def problems_in(response):
    return response.content.decode().split('id="problems"')[1].split("</div>")[0]


# What is written in the fields -------------------------------------------------------------------


def test_numbers_are_read_as_people_write_them(subtests):
    read = {"": [], "3": [3], "3, 8-10": [3, 8, 9, 10], "8 – 9;3 3": [8, 9, 3]}
    for text, numbers in read.items():
        with subtests.test(text):
            assert numbers_in(text) == numbers
    for text in ("x", "3-", "9-8", "1-99999999", "²"):
        with subtests.test(text), pytest.raises(ValueError, match=text.split("-")[0]):
            numbers_in(text)
    assert as_ranges([5, 3, 4, 9, 3]) == "3-5, 9"
    assert numbers_in(as_ranges([5, 3, 4, 9])) == [3, 4, 5, 9]


@pytest.mark.parametrize(
    ("row", "value"),
    [
        (Row("stop", "text", "END"), "END"),
        (Row("temperature", "number", "0.5"), 0.5),
        (Row("seed", "integer", "7"), 7),
        (Row("logprobs", "switch", "off"), False),
        (Row("extra", "json", '{"a": [1]}'), {"a": [1]}),
    ],
)
def test_parameters_have_the_type_that_was_chosen(row, value):
    assert read_rows([row]) == ({row.name: value}, [])
    assert read_rows(rows_of({row.name: value}))[0] == {row.name: value}


@pytest.mark.parametrize(
    "row",
    [
        Row("seed", "integer", "7.5"),
        Row("temperature", "number", "nan"),
        Row("logprobs", "switch", "maybe"),
        Row("extra", "json", "{"),
        Row("extra", "json", "[NaN]"),
        Row("", "text", "x"),
        Row("api_key", "text", "sk-1"),
    ],
)
def test_a_parameter_that_cannot_be_sent_is_named(row):
    _, problems = read_rows([row])

    assert len(problems) == 1
    assert (row.name or row.value) in problems[0]


def test_a_parameter_given_twice_is_a_problem():
    rows = [Row("seed", "integer", "1"), Row("seed", "integer", "2")]

    assert read_rows(rows)[1] == ["The parameter 'seed' is given twice."]


# The page ----------------------------------------------------------------------------------------


def test_choices_come_from_the_address(client, maintainer, test):
    tag = Tag.objects.get()
    suite = Suite.objects.create(name="nightly")

    page = client.get(
        f"{URL}?tests={test.pk}&issues={test.issue_id}&tags={tag.pk}&suite={suite.pk}"
    ).content.decode()

    for part in (
        f'name="issues" value="{test.issue_id}" checked',
        f'name="tags" value="{tag.pk}" checked',
        f'<option value="{suite.pk}" selected>',
        f'name="tests" value="{test.pk}"',
    ):
        assert part in page
    response = client.get(f"{URL}?tests=x&again=999&issues=-1")
    assert response.status_code == 200
    assert "tests in the address" in response.content.decode()


def test_every_field_reaches_the_launch_and_can_be_launched_with_changes(
    client, maintainer, least, model, jury
):
    fields: dict[str, Any] = {"release": "2.1", "repeats": "3", "cost_limit_usd": "0.5"}
    fields |= {"allow_self_evaluation": "on", "jury": str(jury.pk), "system_prompt": ["Be brief."]}
    fields |= {"param_name": ["seed", ""], "param_type": ["integer", "number"]}
    fields |= {"similarity_weight": "0.25", "score_by_similarity": "on"}
    fields |= {"param_value": ["7", ""], "similarity_model": model.pk, "cron": "0 6 * * 1"}

    response = client.post(URL, least | fields)

    run, record = Run.objects.get(), Launch.objects.get()
    assert response.url == run.get_absolute_url()
    assert (run.release, run.repeats, run.params) == ("2.1", 3, {"seed": 7})
    assert (str(run.cost_limit_usd), run.self_evaluation_allowed) == ("0.5000", True)
    assert (run.requested_by, run.judge_runs.get().jury_name) == (maintainer, jury.name)
    assert (run.similarity_weight, run.score_by_similarity) == (0.25, True)
    assert run.embedder() == model.endpoint()
    assert (record.cron, record.is_paused) == ("0 6 * * 1", False)
    assert record.next_at is not None
    page = client.get(f"{URL}?again={record.pk}").content.decode()
    for text in ("Be brief.", 'value="seed"', 'value="7"', f'value="{model.pk}" checked'):
        assert text in page


# Launching ---------------------------------------------------------------------------------------


def test_several_runs_lead_to_the_list_of_them(client, maintainer, least):
    several = {"models": [make_model().pk, make_model().pk], "system_prompt": ["", "Be brief."]}

    response = client.post(URL, least | several)

    assert response.url == f"/admin/runs/run/?launch__id__exact={Launch.objects.get().pk}"
    assert Run.objects.count() == 4
    assert not any(run.wants_similarity for run in Run.objects.all())  # as nobody asked for it
    assert client.get(response.url).status_code == 200


def test_a_launch_that_recurs_keeps_temperatures_and_similarity(client, maintainer, least):
    similarity = {"similarity_weight": "0.25", "score_by_similarity": "on"}
    client.post(URL, least | similarity | {"cron": "0 6 * * 1", "temperatures": "0, 1"})
    record = Launch.objects.get()

    launch_again(record, by=None)

    assert [run.similarity_weight for run in record.runs.all()] == [0.25] * 4
    assert [run.params["temperature"] for run in record.runs.order_by("pk")] == [0, 1, 0, 1]
    page = client.get(f"{URL}?again={record.pk}").content.decode()
    for part in ('name="temperatures" value="0, 1"', 'value="0.25"'):
        assert part in page
    detail = client.get(f"/admin/runs/launch/{record.pk}/change/").content.decode()
    for part in ("β = 0.25, by the built-in word vectors", "<dd>0, 1</dd>"):
        assert part in " ".join(detail.split())


def test_all_problems_are_shown_at_once_and_nothing_is_lost(client, maintainer):
    issue = make_issue()
    make_test(issue=issue)
    fields = sent(issues=[issue.pk], label="", repeats="0", cron="daily", tests="x-y")
    fields |= {"system_prompt": ["Keep me.", "Keep me."], "release": "kept release"}
    fields |= {"param_name": ["seed"], "param_type": ["integer"], "param_value": ["kept"]}

    response = client.post(URL, fields)

    told, page = problems_in(response), response.content.decode()
    for part in ("Label:", "Models:", "Tests:", "Schedule:", "Repeats:", "seed"):
        assert part in told
    assert "System prompt 2 repeats" in told
    for kept in ("Keep me.", "kept release", 'value="kept"', f'value="{issue.pk}" checked'):
        assert kept in page
    assert not Run.objects.exists()


def test_what_does_not_fit_is_said(client, maintainer, least, subtests):
    row = {"param_name": "temperature", "param_value": "1", "param_type": "number"}
    for words, fields in (
        ("Temperatures: &#x27;warm&#x27; is not a temperature", {"temperatures": "warm"}),
        ("Similarity weight (β): Enter a number from 0 to 1", {"similarity_weight": "2"}),
        ("Similarity model: 999 is unknown or inactive", {"similarity_model": "999"}),
        ("Jury: 999 is unknown or inactive", {"jury": "999"}),
        ("Jury: Choose one, or “Human evaluation only”.", {"jury": []}),
        ("Models: 999 is unknown or inactive", {"models": ["999"]}),
        ("leave one of them out", {"temperatures": "0", **row}),
    ):
        with subtests.test(words):
            assert words in problems_in(client.post(URL, least | fields))
            assert not Run.objects.exists()


def test_models_and_juries_are_offered_that_can_be_called(client, maintainer):
    LanguageModel.objects.update(is_active=False)
    Test.objects.update(state=TestState.DRAFT)
    page = client.get(URL).content.decode()
    assert "There is no language model yet" in page
    assert "No test can run yet" in page
    make_jury(make_model(name="Old judge", is_active=False))
    make_jury(make_model(name="New judge"))

    page = client.get(URL).content.decode()

    assert "New judge" in page
    assert "Old judge" not in page


def test_what_launch_refuses_is_shown_too(client, maintainer):
    model, draft = make_model(name="vain"), make_test(state=TestState.DRAFT)
    fields = sent(tests=str(draft.pk), models=[model.pk], jury=str(make_jury(model).pk))

    told = problems_in(client.post(URL, fields | {"cost_limit_usd": "1"}))

    for part in ("No test can run", "vain would judge its own answers", "needs prices"):
        assert part in told
    assert "Allow self-evaluation" in told
    assert "allow_self_evaluation" not in told


def test_without_script_a_button_adds_a_line_and_launches_nothing(client, maintainer):
    fields = sent(act="add_prompt", system_prompt=["First."], tests="1", models=["1"])

    page = client.post(URL, fields).content.decode()

    assert page.count('name="system_prompt"') == 2
    assert "First." in page
    assert not Launch.objects.exists()


# A suite's defaults ------------------------------------------------------------------------------


@pytest.fixture
def suite(test, model, jury):
    suite = Suite.objects.create(
        name="nightly",
        defaults={
            "models": [model.pk],
            "system_prompts": ["", "Be exact."],
            "temperatures": [0, 0.5],
            "jury": jury.pk,
            "similarity_weight": 0.2,
            "params": {"seed": 7},
        },
    )
    suite.tests.add(test)
    return suite


def spec_shown(response):
    """The launch that the page's form asks for."""
    return response.context["plan"].spec


def test_a_suite_fills_in_its_defaults_and_leaves_the_rest(client, maintainer, suite):
    def is_filled(spec):
        return {name: getattr(spec, name) for name in suite.defaults} == suite.defaults

    response = client.get(f"{URL}?suite={suite.pk}")
    assert is_filled(spec_shown(response))
    assert response.context["filled_in"][:3] == ["Models", "System prompts", "Parameters"]

    typed = sent(suite=suite.pk, act="suite_defaults", label="mine", repeats="3", models=["999"])
    spec = spec_shown(client.post(URL, typed))
    assert is_filled(spec)
    assert (spec.label, spec.repeats, spec.suite) == ("mine", 3, suite.pk)
    assert not Launch.objects.exists()

    client.post(URL, sent(suite=suite.pk, models=[make_model().pk]))
    spec = spec_shown(client.get(f"{URL}?again={Launch.objects.get().pk}"))
    assert spec.temperatures == []  # An earlier launch is shown as it was.


def test_what_is_filled_in_can_be_kept_as_the_suites_defaults(client, maintainer, suite, model):
    before = suite.defaults
    wrong = sent(suite=suite.pk, temperatures="x", act="keep_defaults")
    assert "Temperatures:" in problems_in(client.post(URL, wrong))
    assert Suite.objects.get().defaults == before
    fields = sent(suite=suite.pk, models=[model.pk], temperatures="0", repeats="2")

    client.post(URL, fields | {"act": "keep_defaults"})

    suite.refresh_from_db()
    assert suite.defaults == {"models": [model.pk], "temperatures": [0], "repeats": 2}
    assert not Launch.objects.exists()


def test_defaults_of_a_suite_are_checked(subtests):
    for words, defaults in (
        ("'colour' cannot be a default", {"colour": "red"}),
        ("'tests' cannot be a default", {"tests": [1]}),
        ("repeats: Input should be greater than or equal to 1", {"repeats": 0}),
        ("temperatures.0", {"temperatures": [9]}),
    ):
        with subtests.test(words):
            assert words in " ".join(problems_of_defaults(defaults))


# The estimate ------------------------------------------------------------------------------------


@pytest.fixture
def estimated(client, maintainer, least):
    """What the panel beside the form says."""

    def panel(**fields):
        response = client.post(reverse("admin:runs_launch_estimate"), least | fields)
        assert response.status_code == 200
        return " ".join(response.content.decode().split())

    return panel


def test_the_estimate_counts_and_says_what_is_left_out(estimated, test):
    make_test(issue=test.issue, state=TestState.DRAFT)
    dear = make_model(name="dear")

    panel = estimated(tests="", issues=[test.issue_id], models=[dear.pk], repeats="4")

    assert '<span class="eh-figure">4</span> answers' in panel
    assert "1 test excluded: still a draft." in panel
    assert "unknown" in panel
    assert "Add the prices of dear." in panel


def test_the_estimate_says_what_the_runs_are_made_of(estimated, model, jury):
    models, prompts = [model.pk, make_model().pk], ["", "Be brief."]

    panel = estimated(
        models=models, system_prompt=prompts, temperatures="0, 0.7, 1", jury=str(jury.pk)
    )

    assert "1 test in 12 runs: 2 models × 2 system prompts × 3 temperatures" in panel
    assert "Excluding the backup judge" in panel


def test_the_estimate_warns_of_tests_that_similarity_leaves_without_a_score(estimated, jury):
    test = make_test(reference="")
    fields, said = {"tests": str(test.pk), "similarity_weight": "0.5"}, f"answer: {test.pk}."

    assert f"without a reference {said}" not in estimated(**fields)  # nobody judges it anyway
    assert f"without a reference {said}" in estimated(**fields, jury=str(jury.pk))


def test_the_estimate_of_half_a_form_says_what_is_missing(estimated):
    panel = estimated(label="", repeats="", tests="", models=[])

    for part in ("Choose the tests to run", "Models: Choose at least one", "Enter a label"):
        assert part in panel
    assert "may exceed its limit of $0.50 by up to" in estimated(cost_limit_usd="0.5")


def test_the_estimate_warns_and_tells_the_next_times(estimated):
    judge = make_model(developer="Acme", note="Judges at chance.")
    model = make_model(developer="Acme", is_scripted=True)

    panel = estimated(jury=str(make_jury(judge).pk), models=[model.pk], cron="0 6 * * 1")

    for part in ("favour related models", "Judges at chance.", "is scripted", "Mondays at 06:00"):
        assert part in panel


# From the lists ----------------------------------------------------------------------------------


def test_lists_lead_to_the_form_with_what_was_selected(client, maintainer, test, subtests):
    for name, row in {"issue": test.issue, "test": test, "tag": Tag.objects.get()}.items():
        with subtests.test(name):
            chosen = {"action": "launch_selected", "_selected_action": [row.pk]}
            response = client.post(reverse(f"admin:issues_{name}_changelist"), chosen)
            assert response.url == f"{URL}?{name}s={row.pk}"
    client.force_login(make_user("annotator"))
    assert "launch_selected" not in client.get("/admin/issues/test/").content.decode()


def test_a_selection_too_long_for_an_address_travels_in_the_session(client, maintainer, test):
    tests = [test.pk, *range(test.pk + 3, test.pk + 1200, 3)]
    Test.objects.bulk_create(
        Test(pk=pk, issue=test.issue, messages=test.messages, state=test.state) for pk in tests[1:]
    )
    response = client.post(
        reverse("admin:issues_test_changelist"),
        {"action": "launch_selected", "_selected_action": tests, "select_across": "1"},
    )

    assert response.url == f"{URL}?tests=selected"
    assert as_ranges(tests) in client.get(response.url).content.decode()


# Sent twice --------------------------------------------------------------------------------------


def test_a_form_that_is_sent_twice_launches_once(client, maintainer, least):
    page = reverse("admin:runs_launch_add")
    form = least | {"form_key": client.get(page).context["form_key"]}

    first, again = (client.post(page, form, follow=True) for _ in range(2))
    changed = client.post(page, form | {"repeats": "2"}, follow=True)

    assert [page.redirect_chain[-1][0] for page in (first, again)] == [
        Run.objects.earliest("pk").get_absolute_url()
    ] * 2
    assert "You sent this form twice. It launched 1 run once." in again.content.decode()
    assert "Launched 1 run." in changed.content.decode()
    assert Launch.objects.count() == 2
