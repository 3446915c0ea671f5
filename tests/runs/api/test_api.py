"""Runs, results and people's verdicts through the API."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission

from evalhub.models import BatchState, ItemState, LanguageModel
from issues.models import TestState
from issues.revisions import scale_of
from runs.models import HumanEvaluation, Judge, Jury, Launch, Result, Run
from runs.sights import has_seen
from tests.api import client_of, ids, problems_in
from tests.factories import (
    first_result,
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
from tests.reports.judged_runs import answer, judge

pytestmark = pytest.mark.django_db

SECRET_WORDS = "a sealed answer"


def body(**fields: Any) -> dict[str, Any]:
    return {"label": "nightly", "tests": [make_test().pk], "models": [make_model().pk], **fields}


def judged_run(*tests: Any, judges: int = 2, **fields: Any) -> Run:
    run = make_run(*tests, jury=make_jury(*[make_model() for _ in range(judges)]), **fields)
    results = answer(run, SECRET_WORDS)
    judge(run, [[1.0] * judges for _ in results])
    return run


# Launching ---------------------------------------------------------------------------------------


def test_a_script_starts_runs():
    user = make_user("maintainer")
    jury = make_jury(make_model())
    models = [make_model().pk, make_model().pk]

    response = client_of(user).post(
        "/api/v1/runs/", body(models=models, jury=jury.pk, params={"temperature": 0})
    )

    launch = Launch.objects.get()
    assert response.status_code == 201, response.content
    assert response.json()["id"] == launch.pk
    assert sorted(response.json()["runs"]) == sorted(run.pk for run in Run.objects.all())
    assert {run.requested_by for run in Run.objects.all()} == {user}


def test_a_refused_launch_tells_all_its_problems():
    draft = make_test(state=TestState.DRAFT)

    response = client_of("maintainer").post(
        "/api/v1/runs/", {"label": "x", "tests": [draft.pk], "models": [999], "jury": 998}
    )

    assert response.status_code == 400
    text = " ".join(problems_in(response)[""])
    assert all(words in text for words in ("No test can run", "999", "no jury 998"))
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"repeats": 0}, "repeats: Input should be greater than or equal to 1 (given: 0)."),
        ({"models": []}, "models"),
        ({"tests": [2**70]}, str(2**70)),
        ({"models": ["'; DROP"]}, "DROP"),
        ({"colour": "red"}, "colour"),
        ({"cost_limit_usd": 5}, "A cost limit needs prices"),
    ],
)
def test_a_wrong_launch_names_field_and_value(fields, words):
    response = client_of("maintainer").post("/api/v1/runs/", body(**fields))

    assert response.status_code == 400
    assert words in " ".join(problems_in(response)[""])


def test_what_is_no_object_is_refused():
    response = client_of("maintainer").post("/api/v1/runs/", [1, 2])

    assert response.status_code == 400


@pytest.mark.parametrize("role", ["viewer", "annotator", "adjudicator", "model developer"])
def test_only_maintainers_start_and_control_runs(role):
    run = make_run()
    client = client_of(role)

    assert client.post("/api/v1/runs/", body()).status_code == 403
    for act in ("pause", "resume", "cancel", "retry_errors", "rejudge", "set_active"):
        assert client.post(f"/api/v1/runs/{run.pk}/{act}/").status_code == 403


def test_answers_may_be_supplied():
    test = make_test()

    response = client_of("maintainer").post(
        "/api/v1/runs/import_answers/",
        {
            "label": "from elsewhere",
            "models": [make_model().pk],
            "answers": [{"test": test.pk, "answer": "Four."}],
        },
    )

    assert response.status_code == 201, response.content
    assert response.json()["has_imported_answers"]
    assert Result.objects.get().answer.text == "Four."


def test_a_wrong_supplied_answer_is_named_by_its_position():
    test = make_test()

    response = client_of("maintainer").post(
        "/api/v1/runs/import_answers/",
        {
            "label": "x",
            "models": [make_model().pk],
            "answers": [{"test": test.pk, "answer": "4"}, {"test": test.pk, "answer": " "}],
        },
    )

    assert response.status_code == 400
    assert "answers[1]" in " ".join(problems_in(response)[""])


# Control -----------------------------------------------------------------------------------------


def test_a_run_is_paused_resumed_and_cancelled():
    run = make_run()
    client = client_of("maintainer")

    states = [
        client.post(f"/api/v1/runs/{run.pk}/{act}/").json()["state"]
        for act in ("pause", "resume", "cancel")
    ]

    assert states == ["paused", "live", "cancelled"]


def test_what_is_not_possible_now_is_a_conflict():
    run = make_run(state=BatchState.DONE)
    run.judge_runs.update(state=BatchState.DONE)

    response = client_of("maintainer").post(f"/api/v1/runs/{run.pk}/pause/")

    assert response.status_code == 409
    assert "cannot be paused" in response.json()["detail"]


def test_errors_are_retried():
    run = make_run(state=BatchState.DONE)
    run.results.update(state=ItemState.ERROR)

    response = client_of("maintainer").post(f"/api/v1/runs/{run.pk}/retry_errors/")

    assert (response.status_code, response.json()["state"]) == (200, "live")
    assert first_result(run).state == ItemState.PENDING


def test_another_judge_run_decides_once_it_is_made_current():
    run = judged_run()
    jury = make_jury(make_model(), name="stricter")
    client = client_of("maintainer")

    added = client.post(f"/api/v1/runs/{run.pk}/rejudge/", {"jury": jury.pk})
    assert (added.status_code, added.json()["is_active"]) == (201, False)
    assert added.json()["jury_name"] == "stricter"

    client.post(f"/api/v1/runs/{run.pk}/set_active/", {"judge_run": added.json()["id"]})
    assert run.judge_runs.get(is_active=True).pk == added.json()["id"]


def test_the_judge_run_of_another_run_cannot_be_made_current():
    run, other = judged_run(), judged_run()

    response = client_of("maintainer").post(
        f"/api/v1/runs/{run.pk}/set_active/", {"judge_run": other.judge_runs.get().pk}
    )

    assert response.status_code == 400
    assert str(other.judge_runs.get().pk) in problems_in(response)["judge_run"][0]


@pytest.mark.parametrize("cron", ["every day", "0 6 * *", "61 6 * * 1"])
def test_a_wrong_cron_is_explained(cron):
    launch = Launch.objects.create(label="x", spec={})

    response = client_of("maintainer").post(
        f"/api/v1/launches/{launch.pk}/schedule/", {"cron": cron}
    )

    assert response.status_code == 400
    assert cron in problems_in(response)["cron"][0]


def test_a_launch_recurs_until_it_is_paused():
    launch = Launch.objects.create(label="x", spec={})
    client = client_of("maintainer")
    url = f"/api/v1/launches/{launch.pk}/"

    recurring = client.post(f"{url}schedule/", {"cron": "0 6 * * 1"}).json()
    paused = client.post(f"{url}pause/").json()
    resumed = client.post(f"{url}resume/").json()

    assert [row["is_paused"] for row in (recurring, paused, resumed)] == [False, True, False]
    assert (paused["next_at"], resumed["next_at"]) == (None, recurring["next_at"])


def test_a_launch_is_made_again():
    client = client_of("maintainer")
    launch = client.post("/api/v1/runs/", body()).json()

    again = client.post(f"/api/v1/launches/{launch['id']}/again/")

    assert (again.status_code, len(again.json()["runs"])) == (201, 2)


# Juries ------------------------------------------------------------------------------------------


def test_a_jury_is_made_of_judges():
    model = make_model()

    response = client_of("maintainer").post(
        "/api/v1/juries/",
        {
            "name": "two moods",
            "judges": [
                {"language_model": model.pk},
                {"language_model": model.pk, "params": {"temperature": 1}},
            ],
        },
    )

    assert response.status_code == 201, response.content
    assert Jury.objects.get().judges.count() == 2


def test_equal_judges_are_one_row():
    jury = make_jury(make_model())

    response = client_of("maintainer").post(
        "/api/v1/juries/",
        {"name": "again", "judges": [{"language_model": jury.judges.get().language_model_id}]},
    )

    assert response.status_code == 201
    assert Judge.objects.count() == 1


def test_a_jury_needs_judges_that_are_offered():
    retired = make_model(is_active=False)
    client = client_of("maintainer")

    nobody = client.post("/api/v1/juries/", {"name": "x", "judges": []})
    gone = client.post("/api/v1/juries/", {"name": "x", "judges": [{"language_model": retired.pk}]})

    assert (nobody.status_code, gone.status_code) == (400, 400)
    assert str(retired.pk) in str(gone.json())


def judge_of(model: LanguageModel, **fields: Any) -> dict[str, Any]:
    return {"language_model": model.pk, **fields}


def test_judges_have_approach_samples_and_backup():
    one, spare = make_model(), make_model()
    client = client_of("maintainer")

    nurse = {"method": "debate", "role": "You are a nurse."}
    made = client.post(
        "/api/v1/juries/",
        {
            "name": "rubrics",
            "judges": [judge_of(one, approach="holistic", samples=3), judge_of(one, **nurse)],
            "backup": judge_of(spare),
        },
    )
    shown = client.get(f"/api/v1/juries/{made.json()['id']}/").json()

    assert made.status_code == 201, made.content
    assert [(row["approach"], row["samples"]) for row in shown["judges"]] == [
        ("holistic", 3),
        ("template", 1),
    ]
    assert {name: shown["judges"][1][name] for name in nurse} == nurse
    assert shown["backup"]["language_model"] == spare.pk
    assert Jury.objects.get().backup == Judge.objects.get(language_model=spare)


def test_a_backup_is_changed_and_taken_away():
    jury, spare = make_jury(make_model()), make_model()
    client = client_of("maintainer")
    url = f"/api/v1/juries/{jury.pk}/"

    changed = client.patch(url, {"backup": judge_of(spare)}).json()
    kept = client.patch(url, {"name": "renamed"}).json()
    gone = client.patch(url, {"backup": None}).json()

    assert (changed["backup"]["language_model"], kept["backup"]) == (spare.pk, changed["backup"])
    assert (gone["backup"], gone["name"], len(gone["judges"])) == (None, "renamed", 1)


def test_a_backup_that_judges_already_is_refused_in_words():
    model = make_model(name="busy")
    jury = make_jury(model)
    client = client_of("maintainer")

    new = {"name": "x", "judges": [judge_of(model)], "backup": judge_of(model)}
    responses = [
        client.post("/api/v1/juries/", new),
        client.patch(f"/api/v1/juries/{jury.pk}/", {"backup": judge_of(model)}),
    ]

    for response in responses:
        assert response.status_code == 400
        assert "busy is one of the judges" in problems_in(response)["backup"][0]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"approach": "by_feel"}, "approach"),
        ({"method": "by_feel"}, "method"),
        ({"role": "x" * 2001}, "role"),
        ({"samples": 26}, "samples"),
        ({"samples": 0}, "samples"),
        ({"params": {"api_key": "sk-1"}}, "params"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(fields, field):
    response = client_of("maintainer").post(
        "/api/v1/juries/", {"name": "x", "judges": [judge_of(make_model(), **fields)]}
    )

    assert response.status_code == 400
    assert any(name.startswith(f"judges[0].{field}") for name in problems_in(response))


def test_a_template_for_whole_tests_is_refused_for_criteria():
    judge = judge_of(make_model(), approach="standard", template=make_template().pk)

    response = client_of("maintainer").post("/api/v1/juries/", {"name": "x", "judges": [judge]})

    assert response.status_code == 400
    assert "does not use {{ criterion }}" in problems_in(response)["judges[0].template"][0]


def test_a_suite_reopens_issues_by_itself_only_if_it_says_so():
    client = client_of("maintainer")
    made = client.post("/api/v1/suites/", {"name": "x", "tests": []}).json()
    changed = client.patch(f"/api/v1/suites/{made['id']}/", {"reopens_issues": True}).json()

    assert (made["reopens_issues"], changed["reopens_issues"]) == (False, True)


def test_a_suite_keeps_defaults_that_can_start_a_launch():
    client = client_of("maintainer")
    defaults = {"temperatures": [0, 0.7], "similarity_weight": 0.2}

    made = client.post("/api/v1/suites/", {"name": "x", "tests": [], "defaults": defaults})
    wrong = client.post("/api/v1/suites/", {"name": "y", "tests": [], "defaults": {"repeats": 0}})

    assert (made.status_code, made.json()["defaults"]) == (201, defaults)
    assert wrong.status_code == 400
    assert "repeats" in problems_in(wrong)["defaults"][0]


def test_a_launch_tells_temperatures_and_similarity():
    fields = {"temperatures": [0, 0.7], "similarity_weight": 0.2, "score_by_similarity": True}
    client = client_of("maintainer")

    launch = client.post("/api/v1/runs/", body(**fields)).json()
    runs = [client.get(f"/api/v1/runs/{pk}/").json() for pk in sorted(launch["runs"])]

    assert {name: launch["spec"][name] for name in fields} == fields
    assert [run["params"] for run in runs] == [{"temperature": 0}, {"temperature": 0.7}]
    assert {(run["similarity_weight"], run["similarity_model"]) for run in runs} == {(0.2, "")}
    assert all(run["score_by_similarity"] for run in runs)


# Results -----------------------------------------------------------------------------------------


def test_a_result_has_its_answer_and_figures():
    run = judged_run()

    (row,) = client_of("viewer").get(f"/api/v1/results/?run={run.pk}").json()["results"]

    assert (row["outcome"], row["score"], row["answer"]["text"]) == ("passed", 1.0, SECRET_WORDS)


@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("query", "finds"),
    [
        ("tag=law", True),
        ("tag=aw", False),
        ("release=2.1", True),
        ("release=2", False),
        ("language_model={model}", True),
        ("min_score=0.9&max_score=1", True),
        ("max_score=0.9", False),
        ("since=2026-01-01T00:00:00Z", True),
        ("since=2999-01-01T00:00:00Z", False),
    ],
)
def test_results_are_found_by_tag_release_model_score_and_time(query, finds):
    run = judged_run(make_test(issue=make_issue(tags=("law",))), release="2.1")
    found = query.format(model=run.language_model_id)

    (row,) = client_of("viewer").get(f"/api/v1/results/?run={run.pk}").json()["results"]

    assert ids(client_of("viewer").get(f"/api/v1/results/?{found}")) == [row["id"]] * finds


def test_a_filter_by_score_is_recorded_like_one_by_outcome():
    run = judged_run()
    user = make_user("annotator")

    ids(client_of(user).get(f"/api/v1/results/?run={run.pk}&max_score=0.5"))

    assert has_seen(user.pk, first_result(run))


@pytest.mark.parametrize(
    ("path", "query", "finds"),
    [
        ("tests", "q=GUIDE", True),
        ("tests", "q=nothing", False),
        ("feedback", "q=wrong", True),
        ("runs", "q=night", True),
        ("suites", "q=night", False),
    ],
)
def test_lists_are_searched_by_their_texts(path, query, finds):
    make_test(guidelines="Follow the guide.")
    make_run(make_test(), label="nightly")
    client = client_of("maintainer")
    client.post("/api/v1/feedback/", {"comment": "Quite wrong."})

    assert len(ids(client.get(f"/api/v1/{path}/?{query}"))) == int(finds)


def test_of_a_sealed_test_a_viewer_gets_figures_and_no_text():
    run = judged_run(make_test(sealed=True))
    run.results.update(error_message=SECRET_WORDS)
    client = client_of("viewer")

    listed = client.get(f"/api/v1/results/?run={run.pk}")
    one = client.get(f"/api/v1/results/{first_result(run).pk}/")

    for row in (*listed.json()["results"], one.json()):
        assert (row["outcome"], row["is_readable"], row["answer"]) == ("passed", False, None)
    assert SECRET_WORDS not in listed.content.decode() + one.content.decode()


def test_who_may_read_sealed_tests_gets_their_answers():
    run = judged_run(make_test(sealed=True))

    row = client_of("annotator").get(f"/api/v1/results/{first_result(run).pk}/").json()

    assert (row["is_readable"], row["answer"]["text"]) == (True, SECRET_WORDS)


def test_no_list_tells_a_viewer_sealed_text():
    run = judged_run(make_test(SECRET_WORDS, sealed=True, guidelines=SECRET_WORDS))
    run.judge_runs.get().judgments.update(justification=SECRET_WORDS)
    user = make_user("annotator")
    result = first_result(run)
    sent = client_of(user).post(
        "/api/v1/human-evaluations/",
        {"result": result.pk, "option": option(result), "justification": SECRET_WORDS},
    )
    assert sent.status_code == 201, sent.content

    client = client_of("viewer")
    lists = (
        "tests",
        "revisions",
        "results",
        "judgments",
        "human-evaluations",
        "runs",
        "judge_runs",
    )
    texts = [client.get(f"/api/v1/{name}/").content.decode() for name in lists]

    assert all(SECRET_WORDS not in text for text in texts)


def test_results_are_found_by_outcome_and_issue():
    tests = make_test(), make_test()
    run = make_run(*tests, jury=make_jury(make_model()))
    answer(run)
    judge(run, [[1.0], [0.0]])
    client = client_of("viewer")
    passed, failed = run.results.order_by("pk")

    assert ids(client.get("/api/v1/results/?outcome=failed")) == [failed.pk]
    assert ids(client.get(f"/api/v1/results/?issue={tests[0].issue_id}")) == [passed.pk]
    assert ids(client.get("/api/v1/results/?outcome=passed&outcome=failed&ordering=id")) == [
        passed.pk,
        failed.pk,
    ]


def test_a_list_of_results_takes_the_same_number_of_queries(django_assert_max_num_queries):
    judged_run(*[make_test() for _ in range(8)])
    client = client_of("viewer")

    with django_assert_max_num_queries(7):
        assert len(ids(client.get("/api/v1/results/"))) == 8


def test_judgments_name_their_judges():
    run = judged_run(judges=2)

    rows = client_of("viewer").get(f"/api/v1/judgments/?run={run.pk}").json()["results"]

    assert [(row["value"], row["criterion"]) for row in rows] == [(1.0, ""), (1.0, "")]
    assert all(row["judge_name"].startswith("model") for row in rows)


def test_a_judge_run_tells_its_judges_without_addresses_and_keys():
    model = make_model(api_key_env="SOME_KEY", api_base="https://models.example.org")
    make_run(jury=make_jury(model), model=model)
    client = client_of("superuser")

    texts = [client.get(f"/api/v1/{name}/").content.decode() for name in ("judge_runs", "runs")]

    assert all("SOME_KEY" not in text and "models.example.org" not in text for text in texts)


# People ------------------------------------------------------------------------------------------


def option(result: Result, worst: bool = True) -> str:
    options = sorted(scale_of(result.revision.template).options, key=lambda one: one.value)
    return options[0 if worst else -1].label


def evaluate(client: Any, result: Result, **fields: Any) -> Any:
    body = {"result": result.pk, "option": option(result), "justification": "It is wrong."}
    return client.post("/api/v1/human-evaluations/", body | fields)


def test_a_person_overrides_the_judges():
    result = first_result(judged_run())
    user = make_user("annotator")

    response = evaluate(client_of(user), result)

    result.refresh_from_db()
    evaluation = HumanEvaluation.objects.get()
    assert response.status_code == 201, response.content
    assert (result.score, result.outcome, result.is_overridden) == (0.0, "failed", True)
    assert (evaluation.annotator, evaluation.chosen_by) == (user, "direct")


def test_withdrawn_the_judges_stand_again():
    result = first_result(judged_run())
    client = client_of("annotator")
    made = evaluate(client, result).json()

    response = client.post(f"/api/v1/human-evaluations/{made['id']}/withdraw/", {"reason": "No."})

    result.refresh_from_db()
    assert (response.status_code, response.json()["kind"]) == (201, "withdrawal")
    assert (result.score, result.is_overridden) == (1.0, False)
    assert HumanEvaluation.objects.count() == 2


def test_only_an_active_evaluation_can_be_withdrawn_and_only_by_its_annotator():
    result = first_result(judged_run())
    client = client_of("annotator")
    first = evaluate(client, result).json()["id"]
    second = evaluate(client, result, option=option(result, worst=False)).json()["id"]
    url = "/api/v1/human-evaluations/{}/withdraw/"

    assert client_of("superuser").post(url.format(second)).status_code == 403
    assert client.post(url.format(first)).status_code == 409
    assert client.post(url.format(second)).status_code == 201
    assert client.post(url.format(second)).status_code == 409
    assert client.post(url.format(first)).status_code == 201


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"option": "fabulous"}, "option"), ({"justification": " "}, "justification")],
)
def test_an_evaluation_needs_an_option_of_the_scale_and_a_reason(fields, field):
    response = evaluate(client_of("annotator"), first_result(judged_run()), **fields)

    assert response.status_code == 400
    assert field in problems_in(response)


def test_what_has_no_answer_cannot_be_evaluated():
    response = evaluate(client_of("annotator"), first_result(make_run()))

    assert response.status_code == 400
    assert "has no answer yet" in problems_in(response)[""][0]


def test_adjudicating_takes_its_own_right():
    result = first_result(judged_run())
    for option in ("0", "1"):
        assert evaluate(client_of("annotator"), result, option=option).status_code == 201

    assert evaluate(client_of("annotator"), result, kind="adjudication").status_code == 403
    assert evaluate(client_of("adjudicator"), result, kind="adjudication").status_code == 201


def test_a_withdrawal_is_not_made_by_hand():
    response = evaluate(client_of("annotator"), first_result(judged_run()), kind="withdrawal")

    assert response.status_code == 400


def test_who_may_not_read_a_sealed_test_cannot_evaluate_its_answer():
    result = first_result(judged_run(make_test(sealed=True)))
    user = make_user("viewer")
    user.user_permissions.add(Permission.objects.get(codename="add_humanevaluation"))

    assert evaluate(client_of(user), result).status_code == 404
    assert not HumanEvaluation.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("price", "spent"), [(None, None), ("1.5", "0.00000000")])
def test_spending_is_null_without_prices(price, spent):
    model = make_model(input_usd_per_mtok=price, output_usd_per_mtok=price)
    run = make_run(model=model)

    told = client_of(make_user("viewer")).get(f"/api/v1/runs/{run.pk}/").json()

    assert told["spent_usd"] == spent
