"""Runs, results and people's verdicts through the API."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission

from evalhub.models import BatchState, ItemState, LanguageModel
from issues.content.revisions import scale_of
from issues.models import TestState
from runs.models import HumanEvaluation, Judge, Jury, Launch, Result, Run
from runs.scoring.shown_verdicts import has_seen
from tests.api import QUERIES_OF_A_WATERMARK, client_of, ids, problems_in
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


def test_a_refused_launch_tells_all_its_problems(subtests):
    draft, client = make_test(state=TestState.DRAFT), client_of("maintainer")
    wrong = {"label": "x", "tests": [draft.pk], "models": [999], "jury": 998}

    response = client.post("/api/v1/runs/", wrong)
    assert response.status_code == 400
    text = " ".join(problems_in(response)[""])
    assert all(words in text for words in ("No test can run", "999", "no jury 998"))
    least = body()
    for words, fields in (
        ("repeats: Input should be greater than or equal to 1 (given: 0).", {"repeats": 0}),
        ("models", {"models": []}),
        (str(2**70), {"tests": [2**70]}),
        ("DROP", {"models": ["'; DROP"]}),
        ("colour", {"colour": "red"}),
        ("A cost limit needs prices", {"cost_limit_usd": 5}),
    ):
        with subtests.test(words):
            response = client.post("/api/v1/runs/", least | fields)
            assert response.status_code == 400
            assert words in " ".join(problems_in(response)[""])
    assert client.post("/api/v1/runs/", [1, 2]).status_code == 400
    assert not Run.objects.exists()


def test_answers_may_be_supplied_and_a_wrong_one_is_named_by_its_position():
    test, model, client = make_test(), make_model(), client_of("maintainer")

    def supply(*answers):
        rows = [{"test": test.pk, "answer": answer} for answer in answers]
        sent = {"label": "from elsewhere", "models": [model.pk], "answers": rows}
        return client.post("/api/v1/runs/import_answers/", sent)

    wrong = supply("4", " ")
    assert wrong.status_code == 400
    assert "answers[1]" in " ".join(problems_in(wrong)[""])
    response = supply("Four.")
    assert response.status_code == 201, response.content
    assert response.json()["has_imported_answers"]
    assert Result.objects.get().answer.text == "Four."


# Control -----------------------------------------------------------------------------------------


def test_a_run_is_paused_resumed_and_cancelled():
    run, client = make_run(), client_of("maintainer")

    def ask(act):
        return client.post(f"/api/v1/runs/{run.pk}/{act}/")

    states = [ask(act).json()["state"] for act in ("pause", "resume", "cancel")]
    assert states == ["paused", "live", "cancelled"]
    refused = ask("pause")
    assert refused.status_code == 409
    assert "cannot be paused" in refused.json()["detail"]
    Run.objects.update(state=BatchState.DONE)
    run.results.update(state=ItemState.ERROR)
    retried = ask("retry_errors")
    assert (retried.status_code, retried.json()["state"]) == (200, "live")
    assert first_result(run).state == ItemState.PENDING


def test_another_judge_run_decides_once_it_is_made_current():
    run, other = judged_run(), judged_run().judge_runs.get().pk
    jury = make_jury(make_model(), name="stricter")
    client = client_of("maintainer")

    added = client.post(f"/api/v1/runs/{run.pk}/rejudge/", {"jury": jury.pk})
    assert (added.status_code, added.json()["is_active"]) == (201, False)
    assert added.json()["jury_name"] == "stricter"

    url = f"/api/v1/runs/{run.pk}/set_active/"
    refused = client.post(url, {"judge_run": other})
    assert refused.status_code == 400
    assert str(other) in problems_in(refused)["judge_run"][0]
    client.post(url, {"judge_run": added.json()["id"]})
    assert run.judge_runs.get(is_active=True).pk == added.json()["id"]


def test_a_launch_recurs_until_it_is_paused(subtests):
    launch = Launch.objects.create(label="x", spec={})
    client = client_of("maintainer")
    url = f"/api/v1/launches/{launch.pk}/"
    for cron in ("every day", "0 6 * *", "61 6 * * 1"):
        with subtests.test(cron):
            response = client.post(f"{url}schedule/", {"cron": cron})
            assert response.status_code == 400
            assert cron in problems_in(response)["cron"][0]

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


def test_a_jury_is_made_of_judges_of_which_equal_ones_are_one_row():
    model, retired = make_model(), make_model(is_active=False)
    client = client_of("maintainer")

    def make(name, *judges):
        return client.post("/api/v1/juries/", {"name": name, "judges": list(judges)})

    warm = judge_of(model, params={"temperature": 1})
    response = make("two moods", judge_of(model), warm)
    assert response.status_code == 201, response.content
    assert Jury.objects.get().judges.count() == 2
    assert make("again", judge_of(model)).status_code == 201
    assert Judge.objects.count() == 2
    gone = make("x", judge_of(retired))
    assert (make("x").status_code, gone.status_code) == (400, 400)
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


def test_a_judge_that_cannot_be_is_refused(subtests):
    model, client = make_model(), client_of("maintainer")

    def problems(**fields):
        sent = {"name": "x", "judges": [judge_of(model, **fields)]}
        response = client.post("/api/v1/juries/", sent)
        assert response.status_code == 400
        return problems_in(response)

    for field, wrong in (
        ("approach", "by_feel"),
        ("method", "by_feel"),
        ("role", "x" * 2001),
        ("samples", 26),
        ("samples", 0),
        ("params", {"api_key": "sk-1"}),
    ):
        with subtests.test(field, wrong=wrong):
            found = problems(**{field: wrong})
            assert any(name.startswith(f"judges[0].{field}") for name in found)
    found = problems(approach="standard", template=make_template().pk)
    assert "does not use {{ criterion }}" in found["judges[0].template"][0]


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


@pytest.mark.both_engines
def test_results_are_found_by_tag_release_model_score_outcome_and_time(subtests):
    user = make_user("annotator")
    run = make_run(
        make_test(issue=make_issue(tags=("law",))),
        make_test(),
        jury=make_jury(make_model()),
        release="2.1",
    )
    answer(run, SECRET_WORDS)
    judge(run, [[1.0], [0.0]])
    client = client_of(user)
    passed, failed = run.results.order_by("pk")
    both = [passed.pk, failed.pk]
    for query, found in (
        ("tag=law", [passed.pk]),
        ("tag=aw", []),
        ("release=2.1", both),
        ("release=2", []),
        (f"language_model={run.language_model_id}", both),
        (f"issue={passed.issue_id}", [passed.pk]),
        ("min_score=0.9&max_score=1", [passed.pk]),
        ("max_score=0.9", [failed.pk]),
        ("outcome=failed", [failed.pk]),
        ("outcome=passed&outcome=failed", both),
        ("since=2026-01-01T00:00:00Z", both),
        ("since=2999-01-01T00:00:00Z", []),
    ):
        with subtests.test(query):
            assert ids(client.get(f"/api/v1/results/?{query}&ordering=id")) == found
    row = client.get(f"/api/v1/results/{passed.pk}/").json()
    assert (row["outcome"], row["score"], row["answer"]["text"]) == ("passed", 1.0, SECRET_WORDS)
    reader = make_user("annotator")
    ids(client_of(reader).get(f"/api/v1/results/?run={run.pk}&max_score=0.5"))
    assert has_seen(reader.pk, passed)  # A filter by score is recorded like one by outcome.


def test_lists_are_searched_by_their_texts(subtests):
    make_run(make_test(guidelines="Follow the guide."), label="nightly")
    client = client_of("maintainer")
    client.post("/api/v1/feedback/", {"comment": "Quite wrong."})

    for query, finds in (
        ("tests/?q=GUIDE", 1),
        ("tests/?q=nothing", 0),
        ("feedback/?q=wrong", 1),
        ("runs/?q=night", 1),
        ("suites/?q=night", 0),
    ):
        with subtests.test(query):
            assert len(ids(client.get(f"/api/v1/{query}"))) == finds


def test_of_a_sealed_test_a_viewer_gets_figures_and_no_text():
    run = judged_run(make_test(SECRET_WORDS, sealed=True, guidelines=SECRET_WORDS))
    run.judge_runs.get().judgments.update(justification=SECRET_WORDS)
    run.results.update(error_message=SECRET_WORDS)
    result = first_result(run)
    reader, viewer = client_of("annotator"), client_of("viewer")
    assert evaluate(reader, result, justification=SECRET_WORDS).status_code == 201
    one = f"/api/v1/results/{result.pk}/"

    row = reader.get(one).json()
    assert (row["is_readable"], row["answer"]["text"]) == (True, SECRET_WORDS)
    listed = viewer.get(f"/api/v1/results/?run={run.pk}").json()["results"]
    for row in (*listed, viewer.get(one).json()):
        assert (row["outcome"], row["is_readable"], row["answer"]) == ("failed", False, None)
    lists = ("tests", "revisions", "results", "judgments", "human-evaluations", "runs")
    for name in (*lists, "judge_runs", f"results/{result.pk}"):
        assert SECRET_WORDS not in viewer.get(f"/api/v1/{name}/").content.decode(), name


def test_a_list_of_results_takes_the_same_number_of_queries(django_assert_max_num_queries):
    judged_run(*[make_test() for _ in range(8)])
    client = client_of("viewer")

    with django_assert_max_num_queries(7 + QUERIES_OF_A_WATERMARK):
        assert len(ids(client.get("/api/v1/results/"))) == 8


def test_judgments_name_their_judges_without_addresses_and_keys():
    model = make_model(api_key_env="SOME_KEY", api_base="https://models.example.org", name="Bo")
    run = make_run(jury=make_jury(model), model=model)
    answer(run)
    judge(run, [[1.0]])
    client = client_of("superuser")

    texts = [client.get(f"/api/v1/{name}/").content.decode() for name in ("judge_runs", "runs")]

    assert all("SOME_KEY" not in text and "models.example.org" not in text for text in texts)
    (row,) = client.get(f"/api/v1/judgments/?run={run.pk}").json()["results"]
    assert (row["value"], row["criterion"]) == (1.0, "")
    assert row["judge_name"].startswith("Bo")


# People ------------------------------------------------------------------------------------------


def option(result: Result, worst: bool = True) -> str:
    options = sorted(scale_of(result.revision.template).options, key=lambda one: one.value)
    return options[0 if worst else -1].label


def evaluate(client: Any, result: Result, **fields: Any) -> Any:
    body = {"result": result.pk, "option": option(result), "justification": "It is wrong."}
    return client.post("/api/v1/human-evaluations/", body | fields)


def test_a_person_overrides_the_judges_until_withdrawn():
    result, user = first_result(judged_run()), make_user("annotator")
    client = client_of(user)

    response = evaluate(client, result)

    result.refresh_from_db()
    evaluation = HumanEvaluation.objects.get()
    assert response.status_code == 201, response.content
    assert (result.score, result.outcome, result.is_overridden) == (0.0, "failed", True)
    assert (evaluation.annotator, evaluation.chosen_by) == (user, "direct")

    url = f"/api/v1/human-evaluations/{response.json()['id']}/withdraw/"
    response = client.post(url, {"reason": "No."})

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


def test_an_evaluation_needs_an_answer_an_option_of_the_scale_and_a_reason(subtests):
    result, unanswered = first_result(judged_run()), first_result(make_run())
    client = client_of("annotator")
    for field, of, fields in (
        ("option", result, {"option": "fabulous"}),
        ("justification", result, {"justification": " "}),
        ("kind", result, {"kind": "withdrawal"}),
        ("", unanswered, {}),
    ):
        with subtests.test(field):
            response = evaluate(client, of, **fields)
            assert response.status_code == 400
            assert field in problems_in(response)
    assert "has no answer yet" in problems_in(evaluate(client, unanswered))[""][0]


def test_adjudicating_takes_its_own_right():
    result = first_result(judged_run())
    for option in ("0", "1"):
        assert evaluate(client_of("annotator"), result, option=option).status_code == 201

    assert evaluate(client_of("annotator"), result, kind="adjudication").status_code == 403
    assert evaluate(client_of("adjudicator"), result, kind="adjudication").status_code == 201


def test_who_may_not_read_a_sealed_test_cannot_evaluate_its_answer():
    result = first_result(judged_run(make_test(sealed=True)))
    user = make_user("viewer")
    user.user_permissions.add(Permission.objects.get(codename="add_humanevaluation"))

    assert evaluate(client_of(user), result).status_code == 404
    assert not HumanEvaluation.objects.exists()


def test_spending_is_null_where_no_cost_is_known():
    client = client_of("viewer")
    for unpriced, spent in ((2, None), (0, "0.00000000")):
        shown = client.get(f"/api/v1/runs/{make_run(unpriced_calls=unpriced).pk}/").json()
        assert (shown["spent_usd"], shown["unpriced_calls"]) == (spent, unpriced)
