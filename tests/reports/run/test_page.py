import csv
import io
import json
import re

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from evalhub.files.csv_safety import cell
from evalhub.models import BatchState, Worker
from evalhub.values import clock
from issues.models import Issue, Tag, TagKind
from reports.documents.links import page_url
from reports.run.views import TABS
from runs.models import Run, Suite
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
)
from tests.reports.judged_runs import answer, fail, judge, judged

pytestmark = pytest.mark.django_db


def page(client, run, role="maintainer", query=""):
    client.force_login(make_user(role))
    return client.get(f"{run.get_absolute_url()}{query}")


def text_of(response):
    return response.content.decode()


DOORS = (
    *("run", "run_progress", "run_rows", "run_csv", "run_json", "run_judgments_csv"),
    *("run_markdown", "run_html", "run_junit"),
)
DOWNLOADS = DOORS[3:]


# Who may enter -----------------------------------------------------------------------------------


def statuses(client, run, names=DOORS):
    return {client.get(reverse(f"reports:{name}", args=[run.pk])).status_code for name in names}


def test_strangers_are_sent_to_the_login_and_staff_without_rights_see_nothing(client):
    user, run = make_user(), make_run()
    address = reverse("reports:run", args=[run.pk])
    assert statuses(client, run) == {302}
    assert client.get(address)["Location"].startswith(reverse("admin:login"))
    client.force_login(user)
    assert statuses(client, run) == {403}
    # Who may read may not download yet.
    user.user_permissions.add(Permission.objects.get(codename="view_run"))
    assert statuses(client, run, ["run"]) == {200}
    assert statuses(client, run, DOWNLOADS) == {403}


def test_a_run_that_is_not_there_is_not_found(client):
    client.force_login(make_user("viewer"))

    assert client.get(reverse("reports:run", args=[0])).status_code == 404


# What the page says ------------------------------------------------------------------------------


def test_the_title_asks_what_the_page_answers(client):
    run = judged([1], label="the weekly check", model=make_model(name="Tiny"))

    assert "Tiny on the weekly check" in text_of(page(client, run))


def test_the_rate_has_its_numerator_and_interval(client):
    text = text_of(page(client, judged([1], [1], [1], [0])))

    for words in ("75%", "3 of 4", "30–95%", "Wilson"):
        assert words in text


def test_nothing_scored_is_not_nought_percent(client):
    response = page(client, make_run())

    assert response.context["report"].rate.share is None
    assert "0/1 scored" in text_of(response)


def test_each_tab_is_a_link_and_htmx_gets_it_alone(client):
    run = judged([1], [0])
    keys = {key for _, tables in TABS.values() for key in tables}
    found = {}
    for tab in TABS:
        text = text_of(page(client, run, query=f"?tab={tab}"))
        assert all(f'href="?tab={other}"' in text for other in TABS)
        found[tab] = {key for key in keys if f'id="{key}-title"' in text}
        part = client.get(f"{run.get_absolute_url()}?tab={tab}", headers={"HX-Request": "true"})
        assert "<html" not in text_of(part)
        assert found[tab] == {key for key in keys if f'id="{key}-title"' in text_of(part)}
    whole = text_of(page(client, run, query="?tab=all"))

    assert sum(map(len, found.values())) == len(set().union(*found.values()))  # each once
    assert {key for key in keys if f'id="{key}-title"' in whole} == set().union(*found.values())
    assert 'id="results-title"' in text_of(page(client, run, query="?outcome=failed"))


def test_what_passed_everything_is_folded_into_one_line(client):
    text = text_of(page(client, judged([0], *[[1]] * 4), query="?tab=issues"))

    before, _, folded = text.partition("4 issues passed everything</summary>")
    assert before.count("?outcome=failed&amp;issue=") == 1
    assert folded.count('class="eh-expand') == 4


def test_a_run_says_in_one_line_what_changed_since_the_one_before(client):
    shared = {
        "tests": [make_test() for _ in range(9)],
        "suite": Suite.objects.create(name="all"),
        "model": make_model(),
        "jury": make_jury(make_model()),
    }
    first = judged(*[[1]] * 9, release="1.0", **shared)
    second = judged(*[[0]] * 9, release="1.1", **shared)
    client.force_login(make_user("viewer"))
    lines = []
    for run in (first, second):
        address = reverse("reports:run_change", args=[run.pk])
        assert address in text_of(client.get(run.get_absolute_url()))
        lines.append(text_of(client.get(address, headers={"HX-Request": "true"})))
        assert client.get(address).url == page_url("compare", runs=[run])

    assert "9 fewer passed</strong> than in 1.0. Judges rate it worse: lost 9, won 0" in lines[1]
    assert "next one will be compared" in lines[0]


def test_controls_are_for_those_who_may(client):
    assert 'value="pause"' not in text_of(page(client, make_run(), "annotator"))


def test_a_state_offers_what_can_be_done_in_it(client, subtests):
    marks = {"pause": 'value="pause"', "resume": 'value="resume"', "cancel": '="cancel-run"'}
    run = make_run()
    for state, offered in (
        (BatchState.LIVE, {"pause", "cancel"}),
        (BatchState.PAUSED, {"resume", "cancel"}),
        (BatchState.FAILED, {"resume", "cancel"}),
        (BatchState.CANCELLED, {"resume"}),
    ):
        with subtests.test(state):
            Run.objects.filter(pk=run.pk).update(state=state)
            run.judge_runs.update(state=state)
            text = buttons(text_of(page(client, run)))
            assert {act for act, mark in marks.items() if mark in text} == offered


def buttons(text):
    """The page without its dialogs, which stay closed until a button opens them."""
    while "<dialog" in text:
        before, _, rest = text.partition("<dialog")
        text = before + rest.partition("</dialog>")[2]
    return text


def test_errors_are_offered_for_another_try_with_their_number(client):
    run = judged([1], [1], [None])
    fail(run, run.results.first(), "content_filtered")

    text = text_of(page(client, run))
    assert "Retry 2 failed" in text
    assert "policy: 1 of the errors" in text
    assert "3 of 3 asked: 2 answered, 1 error" in " ".join(re.sub("<[^>]+>", " ", text).split())


def test_a_failed_run_says_why_and_what_to_do(client):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(state=BatchState.FAILED, reason="The key was refused.")
    text = text_of(page(client, run))

    assert "The key was refused." in text
    assert "then resume" in text


def test_a_run_that_nobody_works_at_says_so(client):
    run = make_run()

    assert "No worker is running" in text_of(page(client, run))
    Worker.objects.create(name="here:1", started_at=clock.now(), beat_at=clock.now())
    assert "No worker is running" not in text_of(page(client, run))


def test_a_wrong_filter_is_named(client):
    assert "Ignored outcome=lost" in text_of(page(client, judged([1]), query="?outcome=lost"))


def test_text_of_models_and_people_is_only_text(client):
    issue = make_issue(title="<script>one</script>", tags=("<b>tag</b>",))
    run = make_run(make_test("<script>two</script>", issue=issue), label="<script>three</script>")
    answer(run, "<script>four</script>")
    text = text_of(page(client, run, query="?tab=all"))

    for word in ("one", "two", "three", "four"):
        assert f"<script>{word}" not in text
    assert "<b>tag" not in text


def test_another_judge_run_can_be_made_active(client):
    run = judged([1])
    client.force_login(make_user("maintainer"))
    client.post(reverse("admin:runs_run_control", args=[run.pk]), {"act": "rejudge"})

    assert 'value="set_active"' in text_of(page(client, run))


def test_the_rows_of_one_issue_come_alone(client):
    run = judged([1], [0])
    issue = Issue.objects.order_by("pk").last()
    client.force_login(make_user("viewer"))
    response = client.get(reverse("reports:run_rows", args=[run.pk]), {"issue": issue.pk})

    assert {row.issue_id for row in response.context["grid"].rows} == {issue.pk}
    assert "<html" not in text_of(response)


def test_a_domain_and_a_tag_lead_to_their_results(client):
    Tag.objects.create(name="law & order", kind=TagKind.DOMAIN)
    tests = [make_test(issue=make_issue(tags=("law & order",))), make_test()]
    query = "?outcome=failed&sort=score&tab=tags"
    text = text_of(page(client, judged([1], [0], tests=tests), query=query))

    for name in ("domain", "tag"):
        query = f"?{name}=law+%26+order&amp;sort=score"
        assert f'{query}#results"' in text
        assert f'/rows/{query}"' in text


def test_each_judge_has_a_column_if_asked(client):
    run = judged([1, None])
    plain, by_judge = (text_of(page(client, run, query=q)) for q in ("?tab=results", "?by_judge=1"))
    names = [judge["name"] for judge in run.judge_runs.get().jury["judges"]]

    assert all(f'<th scope="col" class="eh-num">{name}</th>' in by_judge for name in names)
    assert '<th scope="col">Judges</th>' in plain
    assert "by_judge=1" in by_judge.partition('title="All results that fit the filters"')[0]
    (row,) = download(client, run, "?by_judge=1")
    assert [row[name] for name in names] == ["1.0", ""]


def test_the_page_of_a_run_with_repeats_lists_flaky_tests(client):
    test = make_test("Two and two?")
    run = judged([1], [0], [1], tests=[test], repeats=3)
    text = text_of(page(client, run, query="?tab=issues"))

    assert "1 of 1 tests passed in some of their repeats" in text
    assert f'?test={test.pk}#results"' in text


def test_long_tables_have_pages(client):
    run = judged(*[[0]] * 55)
    queries = ("?tab=issues", "?tab=issues&issues-page=2")
    first, second = (page(client, run, query=query) for query in queries)

    assert "1 to 50 of 55" in text_of(first)
    assert "51 to 55 of 55" in text_of(second)


def test_a_table_is_downloaded_alone(client):
    run = judged([0], [1])
    client.force_login(make_user("viewer"))
    response = client.get(reverse("reports:run_csv", args=[run.pk]) + "?table=outcomes")

    rows = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig")))
    assert {row["outcome"]: row["n"] for row in rows}["failed"] == "1"


def test_facts_name_the_method_of_their_intervals(client):
    few = text_of(page(client, judged([1], [0], [0.4])))
    many = text_of(page(client, judged(*[[1], [0], [0.4]] * 2)))

    assert "does not account for issues" in few
    assert "95% CI, Wilson by issue" in many


# Progress ----------------------------------------------------------------------------------------


def test_progress_counts_answers_and_verdicts(client):
    run = make_run(make_test(), make_test(), jury=make_jury(make_model()))
    answer(run)
    judge(run, [[1]])
    client.force_login(make_user("viewer"))
    found = client.get(reverse("reports:run_progress", args=[run.pk])).json()

    expected = {"total": 2, "answered": 2, "judged": 1, "to_judge": 2, "is_live": True}
    assert found.items() >= (expected | {"awaiting": 1}).items()
    assert found["counts"]["passed"] == 1


def test_a_run_that_is_answered_lives_while_a_judge_run_does(client):
    run = judged([1])
    client.force_login(make_user("maintainer"))
    client.post(reverse("admin:runs_run_control", args=[run.pk]), {"act": "rejudge"})
    found = client.get(reverse("reports:run_progress", args=[run.pk])).json()

    assert (found["state"], found["judge_run"]) == ("live", 2)


# Downloads ---------------------------------------------------------------------------------------


def download(client, run, query="", role="viewer"):
    client.force_login(make_user(role))
    response = client.get(reverse("reports:run_csv", args=[run.pk]) + query)
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_holds_what_the_grid_shows(client):
    run = judged([1, None], [0, 0], tests=[make_test("=1+1"), make_test()])
    rows = download(client, run, "?outcome=passed")

    (row,) = rows
    assert (row["outcome"], row["score"], row["cost_usd"]) == ("passed", "1.0", "")
    assert row["prompt"] == "'=1+1"
    assert row["judges"].endswith("no verdict")


def test_sealed_texts_stay_out_of_a_viewers_table(client):
    run = judged([1], tests=[make_test("the secret", sealed=True)])

    assert download(client, run)[0]["prompt"] == ""
    assert download(client, run, role="annotator")[0]["prompt"] == "the secret"


def test_no_text_is_a_formula_and_other_values_stay_as_they_are():
    formulas = ("=1", "+1", "-1", "@a", "\t=1", "  =1", "\r=1", "\n=1", "\xa0=1", "\ufeff=1", "＝1")
    assert [cell(text) for text in formulas] == [f"'{text}" for text in formulas]
    others = ["a = b", "", -1.5, True]
    assert [cell(value) for value in others] == others


def test_the_json_has_all_figures_and_the_grids_rows(client):
    run = judged([1, 1], [0, 0])
    Run.objects.filter(pk=run.pk).update(unpriced_calls=1)
    client.force_login(make_user("viewer"))
    response = client.get(reverse("reports:run_json", args=[run.pk]) + "?outcome=failed")
    found = json.loads(response.content)

    assert found["facts"]["pass_rate"]["value"]["n"] == 2
    assert found["tables"]["usage"]["rows"][0]["cost_usd"] is None
    assert [row["outcome"] for row in found["results"]] == ["failed"]
    assert "attachment" in response["Content-Disposition"]


def test_the_failed_results_are_read_one_after_another(client):
    client.force_login(make_user("annotator"))
    run = judged([1], [0], [0])
    page = client.get(run.get_absolute_url()).content.decode()
    address = reverse("reports:run_first", args=[run.pk])
    response = client.get(address, {"outcome": "failed"}, follow=True)

    assert f'{address}?outcome=failed">Read the 2 failed results' in page
    assert response.context["result"].outcome == "failed"
    assert response.context["position"] == 1
    assert len(response.context["navigation"].ids) == 2


def test_without_such_a_result_the_list_says_so(client):
    client.force_login(make_user("viewer"))
    run = judged([1])
    response = client.get(reverse("reports:run_first", args=[run.pk]), {"outcome": "failed"})

    assert response.url == f"{run.get_absolute_url()}?outcome=failed#results"
