import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import ProtectedError
from django.urls import reverse

from evalhub.models import BatchState, Call, ItemState
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchSpec
from runs.models import ChosenBy, HumanEvaluation, Outcome, Result, Run
from runs.scoring.human_evaluation import HumanVerdict, evaluate
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
from tests.runs.judged_runs import judged_run

pytestmark = pytest.mark.django_db

RUNS, RESULTS = "/admin/runs/run/", "/admin/runs/result/"


@pytest.fixture
def as_role(client):
    def log_in(role):
        person = make_user(role)
        client.force_login(person)
        return person

    return log_in


def text_of(response):
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


# The list of runs --------------------------------------------------------------------------------


def test_a_run_is_listed_with_its_figures(client, as_role):
    as_role("viewer")
    run = judged_run(make_test(), make_test(), votes=(1,), label="Release 2.1")
    evaluate(run.results.last(), HumanVerdict("0", "No."), by=make_user("annotator"))

    page = text_of(client.get(RUNS))

    assert f'href="{run.get_absolute_url()}">Release 2.1</a>' in page
    assert '<strong class="eh-num">50%</strong>' in page
    assert "1/2" in page
    # Wilson's interval of 1 of 2 is 9 to 91 %.
    assert "9–91%" in page


def test_nothing_scored_has_no_rate(client, as_role):
    as_role("viewer")
    make_run()

    assert '<strong class="eh-num">—</strong> <span class="eh-muted eh-num">0/0' in text_of(
        client.get(RUNS)
    )


def test_repeats_have_no_interval_that_does_not_hold_for_them(client, as_role):
    as_role("viewer")
    judged_run(make_test(), votes=(1,), repeats=3)

    page = text_of(client.get(RUNS))

    assert "3/3" in page
    assert "95 % interval" not in page


def test_errors_and_unscored_are_counted_beside_the_rate(client, as_role):
    as_role("viewer")
    run = judged_run(make_test(), make_test(), votes=(None,))
    failed = run.results.last()
    Result.objects.filter(pk=failed.pk).update(state=ItemState.ERROR)

    page = text_of(client.get(RUNS))

    assert "0/0" in page
    assert "1 unscored" in page
    assert "1 error<" in page


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"has_imported_answers": True}, "imported answers"),
        ({"is_scripted": True}, "scripted model"),
    ],
)
def test_runs_carry_their_labels(client, as_role, fields, label):
    as_role("viewer")
    make_run(**fields)

    assert f'<small class="eh-muted">{label}</small>' in text_of(client.get(RUNS))


def test_a_run_whose_model_is_among_its_judges_says_so(client, as_role):
    as_role("viewer")
    model = make_model()
    make_run(model=model, jury=make_jury(model), self_evaluation_allowed=True)

    assert "judges its own answers</small>" in text_of(client.get(RUNS))


def test_cost_is_not_measured_without_prices(client, as_role):
    as_role("viewer")
    make_run(spent_usd=0)

    assert "Unknown: the model has no prices." in text_of(client.get(RUNS))


def test_only_runs_that_work_are_marked_to_be_refreshed(client, as_role):
    as_role("viewer")
    live, done = make_run(), judged_run()

    page = text_of(client.get(RUNS))

    assert f'name="ids" value="{live.pk}"' in page
    assert f'name="ids" value="{done.pk}"' not in page


def test_rows_are_refreshed_with_the_cells_that_change(client, as_role):
    as_role("viewer")
    run = judged_run(votes=(1,))

    answer = client.get(reverse("admin:runs_run_rows") + f"?ids={run.pk}&ids=x&ids=999")

    assert answer.status_code == 286  # nothing is live any more: htmx stops polling
    assert re.findall(r'id="([^"]+)"', answer.content.decode()) == [
        f"run-{run.pk}-{name}" for name in ("progress", "pass_rate", "cost")
    ]
    assert "1/1" in answer.content.decode()


def test_rows_take_the_right_to_view(client, as_role):
    as_role("")

    assert client.get(reverse("admin:runs_run_rows")).status_code == 403


def test_the_list_takes_as_many_queries_for_many_runs(
    client, as_role, django_assert_max_num_queries
):
    as_role("viewer")
    judged_run()
    client.get(RUNS)
    with django_assert_max_num_queries(20):
        client.get(RUNS)
    for _ in range(6):
        judged_run()
    with django_assert_max_num_queries(20):
        page = client.get(RUNS)

    assert len(page.context["cl"].result_list) == 7


def test_a_runs_admin_page_is_its_report(client, as_role):
    as_role("viewer")
    run = make_run()

    assert client.get(f"{RUNS}{run.pk}/change/").url == run.get_absolute_url()


# Acts on a run -----------------------------------------------------------------------------------


def act(client, run, name, **fields):
    return client.post(reverse("admin:runs_run_control", args=[run.pk]), {"act": name} | fields)


def test_a_run_is_paused_and_resumed(client, as_role):
    as_role("maintainer")
    run = make_run(jury=make_jury(make_model()))

    assert act(client, run, "pause").url == run.get_absolute_url()
    run.refresh_from_db()
    assert run.state == BatchState.PAUSED
    act(client, run, "resume")
    run.refresh_from_db()
    assert run.state == BatchState.LIVE


def test_cancelling_asks_first(client, as_role):
    as_role("maintainer")
    run = make_run()

    page = text_of(act(client, run, "cancel"))
    run.refresh_from_db()
    assert "Calls in flight are dropped" in page
    assert run.state == BatchState.LIVE
    act(client, run, "cancel", confirmed="1")
    run.refresh_from_db()
    assert run.state == BatchState.CANCELLED


def test_a_run_is_judged_again_and_the_judge_run_made_current(client, as_role):
    person = as_role("maintainer")
    run, jury = judged_run(votes=(1,)), make_jury(make_model())

    act(client, run, "rejudge", jury=str(jury.pk))
    second = run.judge_runs.get(number=2)
    assert (second.jury_name, second.is_active) == (jury.name, False)
    assert second.requested_by == person
    act(client, run, "set_active", judge_run=str(second.pk))
    assert run.judge_runs.get(is_active=True) == second


def test_another_runs_judge_run_cannot_be_made_current(client, as_role):
    as_role("maintainer")
    run, other = judged_run(), judged_run()

    answer = act(client, run, "set_active", judge_run=str(other.judge_runs.get().pk))

    assert answer.status_code == 404


def test_errors_are_retried(client, as_role):
    as_role("maintainer")
    run = judged_run()
    run.results.update(state=ItemState.ERROR, error_kind="timed_out")

    act(client, run, "retry_errors")

    assert run.results.get().state == ItemState.PENDING


@pytest.mark.parametrize("name", ["resume", "retry_errors", "dance"])
def test_what_cannot_be_done_is_said(client, as_role, name):
    as_role("maintainer")
    run = make_run()

    response = client.post(
        reverse("admin:runs_run_control", args=[run.pk]), {"act": name, "next": RUNS}, follow=True
    )

    assert (
        "cannot be" in text_of(response)
        or "no errors" in text_of(response)
        or ("Unknown act" in text_of(response))
    )


def test_an_act_goes_back_only_to_this_site(client, as_role):
    as_role("maintainer")
    run = make_run()

    assert act(client, run, "pause", next="https://evil.example/").url == run.get_absolute_url()
    assert act(client, run, "resume", next=RUNS).url == RUNS


@pytest.mark.parametrize("role", ["viewer", "annotator", "adjudicator"])
def test_acts_take_the_right_to_control(client, as_role, role):
    as_role(role)
    run = make_run()

    assert act(client, run, "pause").status_code == 403
    run.refresh_from_db()
    assert run.state == BatchState.LIVE


def test_acts_take_a_post(client, as_role):
    as_role("maintainer")

    url = reverse("admin:runs_run_control", args=[make_run().pk])
    assert client.get(url).status_code == 405


# Deleting ----------------------------------------------------------------------------------------


def test_an_admin_deletes_a_run_after_being_asked(client, as_role):
    as_role("admin")
    run, other = judged_run(), judged_run()
    evaluate(first_result(run), HumanVerdict("1", "Fine."), by=make_user("annotator"))
    calls = Call.objects.count()
    url = f"{RUNS}{run.pk}/delete/"

    page = text_of(client.get(url))
    assert "Human evaluations: 1" in page
    assert Run.objects.count() == 2
    client.post(url)

    assert list(Run.objects.all()) == [other]
    assert Result.objects.filter(run=other).exists()
    assert (HumanEvaluation.objects.count(), Call.objects.count()) == (0, calls)


def test_verdicts_of_people_go_with_no_row_that_is_deleted_elsewhere():
    run = judged_run()
    evaluate(first_result(run), HumanVerdict("1", "Fine."), by=make_user("annotator"))

    for row in (run, first_result(run)):
        with pytest.raises(ProtectedError):
            row.delete()


def test_a_run_at_work_is_not_deleted(client, as_role):
    as_role("admin")
    run = make_run()

    client.post(f"{RUNS}{run.pk}/delete/")

    assert Run.objects.filter(pk=run.pk).exists()


@pytest.mark.parametrize("role", ["viewer", "annotator", "adjudicator", "maintainer"])
def test_only_admins_delete_runs(client, as_role, role):
    as_role(role)
    run = judged_run()

    assert client.post(f"{RUNS}{run.pk}/delete/").status_code == 403
    assert Run.objects.filter(pk=run.pk).exists()


# Supplied answers --------------------------------------------------------------------------------


def supplied(client, text, **fields):
    file = SimpleUploadedFile("answers.csv", text.encode())
    return client.post(
        reverse("admin:runs_run_import_answers"), {"label": "Elsewhere", "file": file} | fields
    )


def test_a_run_is_given_its_answers(client, as_role):
    as_role("maintainer")
    test, jury = make_test(), make_jury(make_model())

    response = supplied(
        client, f'test,answer\n{test.pk},"Four, truly."\n', model=make_model().pk, jury=jury.pk
    )

    run = Run.objects.get()
    assert response.url == run.get_absolute_url()
    assert run.has_imported_answers
    assert run.results.get().answer.text == "Four, truly."
    assert run.judge_runs.get().jury_name == jury.name


def test_every_problem_of_a_file_names_its_line(client, as_role):
    as_role("maintainer")

    page = text_of(supplied(client, "test,answer\nx,Four\n0,Five\n", model=make_model().pk))

    assert "line 2: test" in page
    assert "line 3: test" in page
    assert "Elsewhere" in page
    assert not Run.objects.exists()


def test_a_file_that_is_no_text_is_refused(client, as_role):
    as_role("maintainer")
    file = SimpleUploadedFile("answers.csv", b"\xff\xfe\x00test")

    page = text_of(
        client.post(reverse("admin:runs_run_import_answers"), {"label": "x", "file": file})
    )

    assert "not UTF-8 text" in page
    assert "Choose the model that answered." in page


def test_supplying_takes_the_right_to_launch(client, as_role):
    as_role("annotator")

    assert client.get(reverse("admin:runs_run_import_answers")).status_code == 403


# The list of results -----------------------------------------------------------------------------


def test_results_are_listed_with_how_judges_voted(client, as_role):
    as_role("viewer")
    run = judged_run(make_test("What is 2 + 2?"), votes=(1, 1, 0))
    judged_run(make_test("Who wrote it?"), votes=(1, None))

    page = text_of(client.get(RESULTS))

    for part in ("What is 2 + 2?", "2:1", "1:0, 1 no verdict", run.label, "eh-badge--passed"):
        assert part in page


def test_sealed_results_are_listed_only_for_who_may_read_them(client, as_role):
    judged_run(make_test("A sealed question", sealed=True))
    as_role("viewer")
    assert "A sealed question" not in text_of(client.get(RESULTS))
    as_role("annotator")
    assert "A sealed question" in text_of(client.get(RESULTS))


def test_results_are_filtered(client, as_role):
    as_role("annotator")
    tagged = make_test("About tables", issue=make_issue(tags=("tables",)))
    run = judged_run(tagged, make_test("About sums"), votes=(1, None))
    other = judged_run(make_test("Elsewhere"), votes=(0,))
    evaluate(run.results.get(test=tagged), HumanVerdict("0", "No."), by=make_user("annotator"))

    def listed(query):
        page = text_of(client.get(f"{RESULTS}?{query}"))
        return {words for words in ("About tables", "About sums", "Elsewhere") if words in page}

    assert listed(f"run__id__exact={other.pk}") == {"Elsewhere"}
    assert listed("outcome=failed") == {"About tables", "Elsewhere"}
    assert listed("tag=tables") == {"About tables"}
    assert listed("is_overridden__exact=1") == {"About tables"}
    assert listed("failed_judgments=1") == {"About tables", "About sums"}
    assert listed(f"q={other.label.replace(' ', '+')}") == {"Elsewhere"}


def test_the_list_takes_as_many_queries_for_many_results(
    client, as_role, django_assert_max_num_queries
):
    as_role("viewer")
    judged_run()
    client.get(RESULTS)
    with django_assert_max_num_queries(20):
        client.get(RESULTS)
    judged_run(*[make_test() for _ in range(12)])
    with django_assert_max_num_queries(20):
        page = client.get(RESULTS)

    assert len(page.context["cl"].result_list) >= 13


def override(client, results, **fields):
    chosen = {"action": "override_selected", "_selected_action": [r.pk for r in results]}
    return client.post(RESULTS, chosen | fields)


def test_overriding_many_asks_first_with_how_many(client, as_role):
    as_role("annotator")
    run = judged_run(make_test(), make_test(), votes=(0,))

    page = text_of(override(client, run.results.all()))

    assert "Override 2 results" in page
    assert "2 failed" in page
    assert not HumanEvaluation.objects.exists()


def test_many_are_overridden_with_one_justification(client, as_role):
    person = as_role("annotator")
    run = judged_run(make_test(), make_test(), votes=(0,))

    override(client, run.results.all(), apply="1", option="1", justification="The key was wrong.")

    assert set(run.results.values_list("outcome", flat=True)) == {Outcome.PASSED}
    rows = HumanEvaluation.objects.values_list("annotator", "justification", "chosen_by")
    assert set(rows) == {(person.pk, "The key was wrong.", ChosenBy.BULK)}


def test_results_that_cannot_be_overridden_are_listed(client, as_role):
    as_role("annotator")
    done, pending = first_result(judged_run(votes=(0,))), first_result(make_run())

    override(client, [done, pending], apply="1", option="1", justification="So.")
    page = text_of(client.get(RESULTS))

    assert "Overrode 1 result with 1." in page
    assert f"result {pending.pk} has no answer yet" in page


def test_an_override_without_reason_or_verdict_is_refused(client, as_role):
    as_role("annotator")
    run = judged_run(votes=(0,))

    page = text_of(override(client, run.results.all(), apply="1", justification=" "))

    assert "passes (1)" in page
    assert "Choose a verdict." in page
    assert "Enter a reason." in page
    assert not HumanEvaluation.objects.exists()


def test_scales_without_a_common_verdict_are_not_overridden_together(client, as_role):
    from issues.rubrics import scales

    as_role("annotator")
    five = make_template(scale=scales.as_json(scales.FIVE_CLASSES))
    run = judged_run(make_test(), make_test(template=five), votes=(0,))

    page = text_of(override(client, run.results.all(), apply="1", option="1", justification="So."))

    assert "share no verdict" in page
    assert not HumanEvaluation.objects.exists()


def test_viewers_cannot_override(client, as_role):
    as_role("viewer")
    run = judged_run(votes=(0,))

    override(client, run.results.all(), apply="1", option="1", justification="So.")

    assert not HumanEvaluation.objects.exists()


def test_results_are_neither_added_nor_deleted(client, as_role):
    as_role("superuser")
    result = first_result(judged_run())

    assert client.get(f"{RESULTS}add/").status_code == 403
    assert client.post(f"{RESULTS}{result.pk}/delete/", {"post": "yes"}).status_code == 403


# Suites, launches ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("defaults", "words"),
    [
        ('{"colour": "red"}', "cannot be a default"),
        ('{"repeats": 0}', "greater than or equal to 1"),
        ("[1]", "Enter an object of fields, not [1]."),
    ],
)
def test_defaults_that_can_start_no_launch_are_refused(client, as_role, defaults, words):
    from runs.models import Suite

    as_role("maintainer")

    page = text_of(client.post("/admin/runs/suite/add/", {"name": "x", "defaults": defaults}))

    assert words in page
    assert not Suite.objects.exists()


def test_a_suite_keeps_its_defaults(client, as_role):
    from runs.models import Suite

    as_role("maintainer")

    sent = {
        "name": "x",
        "defaults": '{"temperatures": [0, 1]}',
        "gate_significant_regression": "on",
    }
    client.post("/admin/runs/suite/add/", sent)

    assert Suite.objects.get().defaults == {"temperatures": [0, 1]}


def test_suites_lead_to_their_runs_and_to_the_launch_form(client, as_role):
    from runs.models import Suite

    as_role("maintainer")
    suite = Suite.objects.create(name="nightly")
    suite.tests.add(make_test())

    assert f"/admin/runs/run/?suite__id__exact={suite.pk}" in text_of(
        client.get("/admin/runs/suite/")
    )
    answer = client.get(reverse("admin:runs_suite_launch_suite", args=[suite.pk]))
    assert answer.url == f"/admin/runs/launch/add/?suite={suite.pk}"


def make_launch():
    spec = LaunchSpec(label="nightly", tests=[make_test().pk], models=[make_model().pk])
    return launch(spec, by=None)


def test_a_launch_is_paused_resumed_changed_and_made_again(client, as_role):
    as_role("maintainer")
    record = make_launch()
    record.start_schedule("0 6 * * *")
    url = reverse("admin:runs_launch_act", args=[record.pk])

    def after(**fields):
        client.post(url, fields)
        record.refresh_from_db()
        return record

    assert after(act="pause").is_paused
    assert not after(act="resume").is_paused
    assert after(act="start_schedule", cron="0 7 * * 1").cron == "0 7 * * 1"
    assert after(act="again").runs.count() == 2
    page = text_of(client.get(f"/admin/runs/launch/{record.pk}/change/"))
    assert "Mondays at 07:00" in page
    assert "Launched 1 run." in page


def test_a_bad_expression_is_refused(client, as_role):
    as_role("maintainer")
    record = make_launch()

    response = client.post(
        reverse("admin:runs_launch_act", args=[record.pk]),
        {"act": "start_schedule", "cron": "soon"},
        follow=True,
    )

    record.refresh_from_db()
    assert "has 1 fields" in text_of(response)
    assert record.cron == ""


def test_a_launch_is_shown_but_not_changed_by_viewers(client, as_role):
    as_role("viewer")
    record = make_launch()

    assert "Launch again" not in text_of(client.get(f"/admin/runs/launch/{record.pk}/change/"))
    answer = client.post(reverse("admin:runs_launch_act", args=[record.pk]), {"act": "again"})
    assert answer.status_code == 403


def test_launches_are_listed_with_when_they_recur(client, as_role):
    as_role("viewer")
    record = make_launch()
    record.start_schedule("0 6 * * 1")

    assert "Mondays at 06:00" in text_of(client.get("/admin/runs/launch/"))


# What runs add to issues -------------------------------------------------------------------------


def test_issues_show_their_pass_rate_in_the_chosen_models_run_with_n(client, as_role):
    as_role("viewer")
    issue = make_issue()
    tests = [make_test(issue=issue), make_test(issue=issue)]
    judged_run(*tests, votes=(0,))
    latest = judged_run(*tests, votes=(1,))
    evaluate(first_result(latest), HumanVerdict("0", "No."), by=make_user("annotator"))
    make_run(*tests, model=latest.language_model)  # has nothing decided yet

    page = client.get("/admin/issues/issue/", {"rate_model": latest.language_model_id})
    assert "50% (1/2), 2/2 scored" in text_of(page)


def test_an_issue_that_was_not_in_the_run_shown_has_no_rate(client, as_role):
    as_role("viewer")
    judged_run(make_test(issue=make_issue(title="Once run")))
    judged_run(make_test(issue=make_issue(title="Run lately")), votes=(1,))

    page = text_of(client.get("/admin/issues/issue/"))

    assert page.count("(1/1)") == 1
    assert "0% (" not in page.replace("100% (", "")
