import pytest
from django.urls import reverse

from issues.models import Tag, TestState
from runs.admin.launch.parameters import Row, read_rows, rows_of
from runs.launching.launch_options import LaunchRefused, check_defaults
from runs.launching.number_lists import as_ranges, numbers_in
from runs.launching.schedules import launch_again
from runs.models import Judge, Launch, Run, Suite
from tests.factories import make_issue, make_jury, make_model, make_test, make_user

URL = "/admin/runs/launch/add/"


@pytest.fixture
def maintainer(client, db):
    person = make_user("maintainer")
    client.force_login(person)
    return person


def sent(**fields):
    """A form as it leaves the browser, with the least that a launch needs."""
    return {"label": "one", "repeats": "1", "jury": "", "act": "launch"} | fields


def problems_in(response):
    return response.content.decode().split('id="problems"')[1].split("</div>")[0]


# What is written in the fields -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("", []), ("3", [3]), ("3, 8-10", [3, 8, 9, 10]), ("8 – 9;3 3", [8, 9, 3])],
)
def test_numbers_are_read_as_people_write_them(text, numbers):
    assert numbers_in(text) == numbers


@pytest.mark.parametrize("text", ["x", "3-", "9-8", "1-99999999", "²"])
def test_what_is_no_number_is_named(text):
    with pytest.raises(ValueError, match=text.split("-")[0]):
        numbers_in(text)


def test_ranges_say_the_same_numbers():
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


def test_choices_come_from_the_address(client, maintainer):
    issue = make_issue(title="Adds the wrong column", tags=("tables",))
    test = make_test(issue=issue)
    tag = Tag.objects.get()
    suite = Suite.objects.create(name="nightly")

    page = client.get(
        f"{URL}?tests={test.pk}&issues={issue.pk}&tags={tag.pk}&suite={suite.pk}"
    ).content.decode()

    assert f'name="issues" value="{issue.pk}" checked' in page
    assert f'name="tags" value="{tag.pk}" checked' in page
    assert f'<option value="{suite.pk}" selected>' in page
    assert f'name="tests" value="{test.pk}"' in page


def test_an_earlier_launch_can_be_launched_with_changes(client, maintainer):
    test, model = make_test(), make_model()
    fields = sent(tests=str(test.pk), models=[model.pk], system_prompt=["Be brief."], repeats="2")
    fields |= {"param_name": ["seed"], "param_type": ["integer"], "param_value": ["7"]}
    client.post(URL, fields)

    page = client.get(f"{URL}?again={Launch.objects.get().pk}").content.decode()

    for text in ("Be brief.", 'value="seed"', 'value="7"', f'value="{model.pk}" checked'):
        assert text in page


def test_a_nonsensical_address_is_said_and_shows_the_form(client, maintainer):
    response = client.get(f"{URL}?tests=x&again=999&issues=-1")

    assert response.status_code == 200
    assert "tests in the address" in response.content.decode()


def test_without_models_the_next_step_is_said(client, maintainer):
    page = client.get(URL).content.decode()

    assert "There is no language model yet" in page
    assert "No test can run yet" in page


def test_only_who_may_launch_sees_it(client, db):
    client.force_login(make_user("annotator"))

    assert client.get(URL).status_code == 403
    assert client.post(URL, sent()).status_code == 403
    assert client.post(reverse("admin:runs_launch_estimate"), sent()).status_code == 403


# Launching ---------------------------------------------------------------------------------------


def test_one_run_leads_to_its_page(client, maintainer):
    test, model, jury = make_test(), make_model(), make_jury(make_model())

    response = client.post(URL, sent(tests=str(test.pk), models=[model.pk], jury=str(jury.pk)))

    run = Run.objects.get()
    assert response.url == run.get_absolute_url()
    assert (run.requested_by, run.judge_runs.get().jury_name) == (maintainer, jury.name)


def test_several_runs_lead_to_the_list_of_them(client, maintainer):
    models = [make_model().pk, make_model().pk]

    response = client.post(
        URL,
        sent(tests=str(make_test().pk), models=models, system_prompt=["", "Be brief."]),
    )

    assert response.url == f"/admin/runs/run/?launch__id__exact={Launch.objects.get().pk}"
    assert Run.objects.count() == 4
    assert client.get(response.url).status_code == 200


def test_every_field_reaches_the_launch(client, maintainer):
    model = make_model(input_usd_per_mtok=1, output_usd_per_mtok=1)
    fields = sent(tests=str(make_test().pk), models=[model.pk], release="2.1", repeats="3")
    fields |= {"cost_limit_usd": "0.5", "allow_self_evaluation": "on", "jury": make_jury(model).pk}
    fields |= {
        "param_name": ["seed", ""],
        "param_type": ["integer", "number"],
        "param_value": ["7", ""],
    }

    client.post(URL, fields)

    run = Run.objects.get()
    assert (run.release, run.repeats, run.params) == ("2.1", 3, {"seed": 7})
    assert str(run.cost_limit_usd) == "0.5000"
    assert run.self_evaluation_allowed


def test_each_temperature_makes_a_run(client, maintainer):
    fields = sent(tests=str(make_test().pk), models=[make_model().pk], temperatures="0, 0.7")

    client.post(URL, fields)

    assert [run.params for run in Run.objects.order_by("pk")] == [
        {"temperature": 0},
        {"temperature": 0.7},
    ]


SIMILARITY = {"similarity_weight": "0.25", "score_by_similarity": "on"}


def test_similarity_reaches_the_run(client, maintainer):
    embedder = make_model()
    fields = sent(tests=str(make_test().pk), models=[make_model().pk], **SIMILARITY)

    client.post(URL, fields | {"similarity_model": embedder.pk})

    run = Run.objects.get()
    assert (run.similarity_weight, run.score_by_similarity) == (0.25, True)
    assert run.embedder() == embedder.endpoint()


def test_similarity_does_not_count_unless_it_is_asked_for(client, maintainer):
    client.post(URL, sent(tests=str(make_test().pk), models=[make_model().pk]))

    assert not Run.objects.get().wants_similarity


def test_a_launch_that_recurs_keeps_temperatures_and_similarity(client, maintainer):
    fields = sent(tests=str(make_test().pk), models=[make_model().pk], cron="0 6 * * 1")
    client.post(URL, fields | SIMILARITY | {"temperatures": "0, 1"})
    record = Launch.objects.get()

    launch_again(record, by=None)

    assert [run.similarity_weight for run in record.runs.all()] == [0.25] * 4
    assert [run.params["temperature"] for run in record.runs.order_by("pk")] == [0, 1, 0, 1]
    page = client.get(f"{URL}?again={record.pk}").content.decode()
    for part in ('name="temperatures" value="0, 1"', 'value="0.25"'):
        assert part in page
    detail = " ".join(
        client.get(f"/admin/runs/launch/{record.pk}/change/").content.decode().split()
    )
    assert "β = 0.25, by the built-in word vectors" in detail
    assert "<dd>0, 1</dd>" in " ".join(detail.split())


def test_a_launch_may_recur(client, maintainer):
    fields = sent(tests=str(make_test().pk), models=[make_model().pk], cron="0 6 * * 1")

    client.post(URL, fields)

    launch = Launch.objects.get()
    assert (launch.cron, launch.is_paused) == ("0 6 * * 1", False)
    assert launch.next_at is not None


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


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"temperatures": "warm"}, "Temperatures: &#x27;warm&#x27; is not a temperature"),
        ({"similarity_weight": "2"}, "Similarity weight (β): Enter a number from 0 to 1"),
        ({"similarity_model": "999"}, "Similarity model: 999 is unknown or inactive"),
        ({"jury": "999"}, "Jury: 999 is unknown or inactive"),
        ({"jury": []}, "Jury: Choose one, or “Human evaluation only”."),
        ({"models": ["999"]}, "Models: 999 is unknown or inactive"),
        (
            {"temperatures": "0", "param_name": "temperature", "param_value": "1"},
            "leave one of them out",
        ),
    ],
)
def test_what_does_not_fit_is_said(client, maintainer, fields, words):
    row = {"param_type": "number"} if "param_name" in fields else {}
    least = sent(tests=str(make_test().pk), models=[make_model().pk])

    assert words in problems_in(client.post(URL, least | fields | row))
    assert not Run.objects.exists()


def test_juries_that_cannot_judge_are_not_offered(client, maintainer):
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
def suite(db):
    model, jury = make_model(), make_jury(make_model())
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
    suite.tests.add(make_test())
    return suite


def spec_shown(response):
    """The launch that the page's form asks for."""
    return response.context["plan"].spec


def assert_filled(spec, suite):
    assert {name: getattr(spec, name) for name in suite.defaults} == suite.defaults


def test_a_suite_in_the_address_fills_in_its_defaults(client, maintainer, suite):
    response = client.get(f"{URL}?suite={suite.pk}")

    assert_filled(spec_shown(response), suite)
    assert response.context["filled_in"][:3] == ["Models", "System prompts", "Parameters"]


def test_a_suite_that_is_chosen_fills_in_its_defaults_and_leaves_the_rest(
    client, maintainer, suite
):
    typed = sent(suite=suite.pk, act="suite_defaults", label="mine", repeats="3", models=["999"])

    spec = spec_shown(client.post(URL, typed))

    assert_filled(spec, suite)
    assert (spec.label, spec.repeats, spec.suite) == ("mine", 3, suite.pk)
    assert not Launch.objects.exists()


def test_an_earlier_launch_of_a_suite_is_shown_as_it_was(client, maintainer, suite):
    client.post(URL, sent(suite=suite.pk, models=[make_model().pk]))

    spec = spec_shown(client.get(f"{URL}?again={Launch.objects.get().pk}"))

    assert spec.temperatures == []


def test_what_is_filled_in_can_be_kept_as_the_suites_defaults(client, maintainer):
    suite = Suite.objects.create(name="weekly")
    suite.tests.add(make_test())
    model = make_model()
    fields = sent(suite=suite.pk, models=[model.pk], temperatures="0", repeats="2")

    client.post(URL, fields | {"act": "keep_defaults"})

    suite.refresh_from_db()
    assert suite.defaults == {"models": [model.pk], "temperatures": [0], "repeats": 2}
    assert not Launch.objects.exists()


def test_defaults_that_cannot_be_launched_are_not_kept(client, maintainer, suite):
    before = suite.defaults
    fields = sent(suite=suite.pk, temperatures="x", act="keep_defaults")

    assert "Temperatures:" in problems_in(client.post(URL, fields))
    assert Suite.objects.get().defaults == before


@pytest.mark.parametrize(
    ("defaults", "words"),
    [
        ({"colour": "red"}, "'colour' cannot be a default"),
        ({"tests": [1]}, "'tests' cannot be a default"),
        ({"repeats": 0}, "repeats: Input should be greater than or equal to 1"),
        ({"temperatures": [9]}, "temperatures.0"),
    ],
)
def test_defaults_of_a_suite_are_checked(defaults, words):
    with pytest.raises(LaunchRefused) as refused:
        check_defaults(defaults)

    assert words in str(refused.value)


# The estimate ------------------------------------------------------------------------------------


def estimated(client, **fields):
    response = client.post(reverse("admin:runs_launch_estimate"), sent(**fields))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_estimate_counts_and_says_what_is_left_out(client, maintainer):
    issue = make_issue()
    make_test(issue=issue)
    make_test(issue=issue, state=TestState.DRAFT)
    model = make_model(name="dear")

    panel = estimated(client, issues=[issue.pk], models=[model.pk], repeats="4")

    assert '<span class="eh-figure">4</span> answers' in panel
    assert "1 test excluded: still a draft." in panel
    assert "unknown" in panel
    assert "Add the prices of dear." in panel


def test_the_estimate_says_what_the_runs_are_made_of(client, maintainer):
    models = [make_model().pk, make_model().pk]
    jury = make_jury(make_model(), backup=Judge.objects.given(make_model()))

    panel = estimated(
        client,
        tests=str(make_test().pk),
        models=models,
        system_prompt=["", "Be brief."],
        temperatures="0, 0.7, 1",
        jury=str(jury.pk),
    )

    assert "1 test in 12 runs: 2 models × 2 system prompts × 3 temperatures" in panel
    assert "Excluding the backup judge" in panel


def test_the_estimate_warns_of_tests_that_similarity_leaves_without_a_score(client, maintainer):
    test = make_test(reference="")

    panel = estimated(client, tests=str(test.pk), models=[make_model().pk], similarity_weight="0.5")

    assert f"without a reference answer: {test.pk}." not in panel  # nobody judges it anyway
    jury = make_jury(make_model())
    panel = estimated(
        client,
        tests=str(test.pk),
        models=[make_model().pk],
        similarity_weight="0.5",
        jury=str(jury.pk),
    )
    assert f"without a reference answer: {test.pk}." in panel


def test_the_estimate_of_half_a_form_says_what_is_missing(client, maintainer):
    panel = estimated(client, label="", repeats="")

    for part in ("Choose the tests to run", "Models: Choose at least one", "Enter a label"):
        assert part in panel


def test_the_estimate_says_how_far_a_limit_may_be_passed(client, maintainer):
    model = make_model(input_usd_per_mtok=1, output_usd_per_mtok=1)

    panel = estimated(client, tests=str(make_test().pk), models=[model.pk], cost_limit_usd="0.5")

    assert "may exceed its limit of $0.50 by up to" in panel


def test_the_estimate_warns_and_tells_the_next_times(client, maintainer):
    judge = make_model(developer="Acme", note="Judges at chance.")
    model = make_model(developer="Acme", is_scripted=True)
    fields = {"tests": str(make_test().pk), "models": [model.pk], "cron": "0 6 * * 1"}

    panel = estimated(client, jury=str(make_jury(judge).pk), **fields)

    for part in ("favour related models", "Judges at chance.", "is scripted", "Mondays at 06:00"):
        assert part in panel


# From the lists ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["issue", "test", "tag"])
def test_lists_lead_to_the_form_with_what_was_selected(client, maintainer, name):
    test = make_test(issue=make_issue(tags=("maths",)))
    row = {"issue": test.issue, "test": test, "tag": Tag.objects.get()}[name]

    response = client.post(
        reverse(f"admin:issues_{name}_changelist"),
        {"action": "launch_selected", "_selected_action": [row.pk]},
    )

    assert response.url == f"{URL}?{name}s={row.pk}"


def test_a_selection_too_long_for_an_address_travels_in_the_session(client, maintainer):
    tests = [make_test(pk=1000 + 3 * n).pk for n in range(400)]
    response = client.post(
        reverse("admin:issues_test_changelist"),
        {"action": "launch_selected", "_selected_action": tests, "select_across": "1"},
    )

    assert response.url == f"{URL}?tests=selected"
    assert as_ranges(tests) in client.get(response.url).content.decode()


def test_annotators_are_not_offered_to_launch(client, db):
    make_test()
    client.force_login(make_user("annotator"))

    assert "launch_selected" not in client.get("/admin/issues/test/").content.decode()


# Sent twice --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_form_that_is_sent_twice_launches_once(client):
    client.force_login(make_user("maintainer"))
    page = reverse("admin:runs_launch_add")
    key = client.get(page).context["form_key"]
    form = sent(tests=str(make_test().pk), models=[make_model().pk], form_key=key)

    first, again = (client.post(page, form, follow=True) for _ in range(2))
    changed = client.post(page, form | {"repeats": "2"}, follow=True)

    assert [page.redirect_chain[-1][0] for page in (first, again)] == [
        Run.objects.earliest("pk").get_absolute_url()
    ] * 2
    assert "You sent this form twice. It launched 1 run once." in again.content.decode()
    assert "Launched 1 run." in changed.content.decode()
    assert Launch.objects.count() == 2
