import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import ProtectedError
from django.urls import reverse

from evalhub.models import BatchState, Call, ItemState
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchSpec
from runs.models import ChosenBy, HumanEvaluation, Outcome, Result, Run, Suite
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


def test_each_run_is_listed_with_its_figures_and_labels(client, as_role, subtests):
    as_role("viewer")
    tests, model = [make_test(), make_test()], make_model()
    mixed = judged_run(*tests, votes=(1,), label="Release 2.1")
    evaluate(mixed.results.last(), HumanVerdict("0", "No."), by=make_user("annotator"))
    broken = judged_run(*tests, votes=(None,))
    Result.objects.filter(pk=broken.results.last().pk).update(state=ItemState.ERROR)
    repeated = judged_run(tests[0], votes=(1,), repeats=3)
    live = {
        make_run(tests[0], spent_usd=0): (
            '<strong class="eh-num">—</strong> <span class="eh-muted eh-num">0/0',
            "$0.00",
        ),
        make_run(tests[0], has_imported_answers=True): ("imported answers</small>",),
        make_run(tests[0], is_scripted=True): ("scripted model</small>",),
        make_run(tests[0], model=model, jury=make_jury(model), self_evaluation_allowed=True): (
            "judges its own answers</small>",
        ),
    }
    said = live | {
        mixed: (
            f'href="{mixed.get_absolute_url()}">Release 2.1</a>',
            '<strong class="eh-num">50%</strong>',
            "1/2",
            "9–91%",  # Wilson's interval of 1 of 2
        ),
        broken: ("0/0", "1 unscored", "1 error<"),
        repeated: ("3/3", "21–100%"),  # that of one test, not of three
    }

    page = text_of(client.get(RUNS))

    rows = re.findall(r"<tr.*?</tr>", page)
    for run, parts in said.items():
        with subtests.test(parts[0]):
            (row,) = (row for row in rows if f'{run.get_absolute_url()}"' in row)
            assert [part for part in parts if part not in row] == []
    refreshed = re.findall(r'name="ids" value="(\d+)"', page)
    assert sorted(map(int, refreshed)) == sorted(run.pk for run in live)


def test_rows_are_refreshed_with_the_cells_that_change(client, as_role):
    as_role("viewer")
    run = judged_run(votes=(1,))

    answer = client.get(reverse("admin:runs_run_rows") + f"?ids={run.pk}&ids=x&ids=999")

    assert answer.status_code == 286  # nothing is live any more: htmx stops polling
    assert re.findall(r'id="([^"]+)"', answer.content.decode()) == [
        f"run-{run.pk}-{name}" for name in ("progress", "pass_rate", "cost")
    ]
    assert "1/1" in answer.content.decode()


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


def test_a_run_is_paused_resumed_and_cancelled_after_being_asked(client, as_role):
    as_role("maintainer")
    run = make_run(jury=make_jury(make_model()))

    def state():
        return Run.objects.get().state

    assert act(client, run, "pause", next="https://evil.example/").url == run.get_absolute_url()
    assert state() == BatchState.PAUSED
    assert act(client, run, "resume", next=RUNS).url == RUNS
    assert state() == BatchState.LIVE
    assert "Calls in flight are dropped" in text_of(act(client, run, "cancel"))
    assert client.get(reverse("admin:runs_run_control", args=[run.pk])).status_code == 405
    assert state() == BatchState.LIVE
    act(client, run, "cancel", confirmed="1")
    assert state() == BatchState.CANCELLED


def test_a_run_is_judged_again_and_the_judge_run_made_current(client, as_role):
    person = as_role("maintainer")
    run, jury = judged_run(votes=(1,)), make_jury(make_model())

    act(client, run, "rejudge", jury=str(jury.pk))
    second = run.judge_runs.get(number=2)
    assert (second.jury_name, second.is_active) == (jury.name, False)
    assert second.requested_by == person
    assert act(client, judged_run(), "set_active", judge_run=str(second.pk)).status_code == 404
    act(client, run, "set_active", judge_run=str(second.pk))
    assert run.judge_runs.get(is_active=True) == second


def test_errors_are_retried(client, as_role):
    as_role("maintainer")
    run = judged_run()
    run.results.update(state=ItemState.ERROR, error_kind="timed_out")

    act(client, run, "retry_errors")

    assert run.results.get().state == ItemState.PENDING


def test_what_cannot_be_done_is_said(client, as_role, subtests):
    as_role("maintainer")
    url = reverse("admin:runs_run_control", args=[make_run().pk])

    words = {"resume": "cannot be", "retry_errors": "no errors", "dance": "Unknown act"}
    for name, said in words.items():
        with subtests.test(name):
            assert said in text_of(client.post(url, {"act": name, "next": RUNS}, follow=True))


# Deleting ----------------------------------------------------------------------------------------


def test_an_admin_deletes_a_run_that_does_no_work_after_being_asked(client, as_role):
    run, live = judged_run(), make_run()
    evaluate(first_result(run), HumanVerdict("1", "Fine."), by=make_user("annotator"))
    calls = Call.objects.count()
    url = f"{RUNS}{run.pk}/delete/"
    as_role("maintainer")
    assert client.post(url).status_code == 403
    as_role("admin")

    assert "Human evaluations: 1" in text_of(client.get(url))
    assert Run.objects.count() == 2
    client.post(f"{RUNS}{live.pk}/delete/")
    client.post(url)

    assert list(Run.objects.all()) == [live]
    assert Result.objects.filter(run=live).exists()
    assert (HumanEvaluation.objects.count(), Call.objects.count()) == (0, calls)


def test_verdicts_of_people_go_with_no_row_that_is_deleted_elsewhere():
    run = judged_run()
    evaluate(first_result(run), HumanVerdict("1", "Fine."), by=make_user("annotator"))

    for row in (run, first_result(run)):
        with pytest.raises(ProtectedError):
            row.delete()


# Supplied answers --------------------------------------------------------------------------------


def supplied(client, text, **fields):
    file = SimpleUploadedFile("answers.csv", text if isinstance(text, bytes) else text.encode())
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
    for part in ("line 2: test", "line 3: test", "Elsewhere"):
        assert part in page
    page = text_of(supplied(client, b"\xff\xfe\x00test"))
    for part in ("not UTF-8 text", "Choose the model that answered."):
        assert part in page
    assert not Run.objects.exists()


# The list of results -----------------------------------------------------------------------------


def test_results_are_listed_with_how_judges_voted_and_filtered(client, as_role, subtests):
    as_role("annotator")
    tagged = make_test("About tables", issue=make_issue(tags=("tables",)))
    run = judged_run(tagged, make_test("About sums", sealed=True), votes=(1, None))
    other = judged_run(make_test("Elsewhere"), votes=(0, 1, 1))
    Result.objects.filter(run=other).update(passed=False)
    evaluate(run.results.get(test=tagged), HumanVerdict("0", "No."), by=make_user("annotator"))

    page = text_of(client.get(RESULTS))
    for part in ("About tables", "2:1", "1:0, 1 no verdict", run.label, "eh-badge--passed"):
        assert part in page
    found = {
        f"run__id__exact={other.pk}": {"Elsewhere"},
        "outcome=failed": {"About tables", "Elsewhere"},
        "tag=tables": {"About tables"},
        "is_overridden__exact=1": {"About tables"},
        "failed_judgments=1": {"About tables", "About sums"},
        f"q={other.label.replace(' ', '+')}": {"Elsewhere"},
    }
    for query, expected in found.items():
        with subtests.test(query):
            page = text_of(client.get(f"{RESULTS}?{query}"))
            assert {
                words for words in ("About tables", "About sums", "Elsewhere") if words in page
            } == expected
    as_role("viewer")
    assert "About sums" not in text_of(client.get(RESULTS))


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


def test_many_are_overridden_with_one_justification_after_being_asked(client, as_role):
    run = judged_run(make_test(), make_test(), votes=(0,))
    sent = {"apply": "1", "option": "1", "justification": "The key was wrong."}
    as_role("viewer")
    override(client, run.results.all(), **sent)
    person = as_role("annotator")

    asked = text_of(override(client, run.results.all()))
    refused = text_of(override(client, run.results.all(), apply="1", justification=" "))
    for part in ("Override 2 results", "2 failed"):
        assert part in asked
    for part in ("passes (1)", "Choose a verdict.", "Enter a reason."):
        assert part in refused
    assert not HumanEvaluation.objects.exists()
    override(client, run.results.all(), **sent)

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


def test_scales_without_a_common_verdict_are_not_overridden_together(client, as_role):
    from issues.rubrics import scales

    as_role("annotator")
    five = make_template(scale=scales.as_json(scales.FIVE_CLASSES))
    run = judged_run(make_test(), make_test(template=five), votes=(0,))

    page = text_of(override(client, run.results.all(), apply="1", option="1", justification="So."))

    assert "share no verdict" in page
    assert not HumanEvaluation.objects.exists()


def test_results_are_neither_added_nor_deleted(client, as_role):
    as_role("superuser")
    result = first_result(judged_run())

    assert client.get(f"{RESULTS}add/").status_code == 403
    assert client.post(f"{RESULTS}{result.pk}/delete/", {"post": "yes"}).status_code == 403


# Suites, launches ---------------------------------------------------------------------------------


def test_a_suite_keeps_defaults_that_can_start_a_launch(client, as_role, subtests):
    as_role("maintainer")

    def add(defaults):
        sent = {"name": "x", "defaults": defaults, "gate_conclusion": "on"}
        return client.post("/admin/runs/suite/add/", sent)

    wrong = {
        '{"colour": "red"}': "cannot be a default",
        '{"repeats": 0}': "greater than or equal to 1",
        "[1]": "Enter an object of fields, not [1].",
    }
    for defaults, words in wrong.items():
        with subtests.test(defaults):
            assert words in text_of(add(defaults))
            assert not Suite.objects.exists()
    add('{"temperatures": [0, 1]}')
    assert Suite.objects.get().defaults == {"temperatures": [0, 1]}


def test_suites_lead_to_their_runs_and_to_the_launch_form(client, as_role):
    as_role("maintainer")
    suite = Suite.objects.create(name="nightly")
    suite.tests.add(make_test())

    listed = text_of(client.get("/admin/runs/suite/"))
    assert f"/admin/runs/run/?suite__id__exact={suite.pk}" in listed
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
    wrong = client.post(url, {"act": "start_schedule", "cron": "soon"}, follow=True)
    assert "has 1 fields" in text_of(wrong)
    assert after(act="again").runs.count() == 2
    page = text_of(client.get(f"/admin/runs/launch/{record.pk}/change/"))
    for part in ("Mondays at 07:00", "Launched 1 run.", "Launch again"):
        assert part in page
    as_role("viewer")
    assert "Launch again" not in text_of(client.get(f"/admin/runs/launch/{record.pk}/change/"))
    assert "Mondays at 07:00" in text_of(client.get("/admin/runs/launch/"))


# What runs add to issues -------------------------------------------------------------------------


def test_issues_show_their_pass_rate_in_the_chosen_models_run_with_n(client, as_role):
    as_role("viewer")
    issue = make_issue()
    tests = [make_test(issue=issue), make_test(issue=issue)]
    judged_run(make_test(issue=make_issue(title="Not in the run shown")), votes=(0,))
    judged_run(*tests, votes=(0,))
    latest = judged_run(*tests, votes=(1,))
    evaluate(first_result(latest), HumanVerdict("0", "No."), by=make_user("annotator"))
    make_run(*tests, model=latest.language_model)  # has nothing decided yet

    page = text_of(client.get("/admin/issues/issue/", {"rate_model": latest.language_model_id}))
    assert "50% (1/2), 2/2 scored" in page
    assert page.count("% (") == 1
