"""The list of runs, Home and the sidebar."""

import re
from functools import partial
from html import unescape

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.models import BatchState, Worker
from evalhub.values import clock
from reports.dashboard.cards import site_state
from reports.documents.links import page_url
from reports.registry import PAGES
from reports.run.query import run_report
from runs.models import Launch, Run
from runs.result_list.filters import Filters
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, judge, judged

pytestmark = pytest.mark.django_db


# The list of runs --------------------------------------------------------------------------------


def listed(client, **query):
    client.force_login(make_user("viewer"))
    return client.get(reverse("admin:runs_run_changelist"), query)


def test_runs_of_one_launch_lead_to_their_comparison(client):
    launch = Launch.objects.create(label="both", spec={})
    alone, first, second = make_run(), make_run(launch=launch), make_run(launch=launch)
    html = listed(client).content.decode()

    both = page_url("compare", runs=[second, first]).replace("&", "&amp;")
    assert html.count(f'href="{both}"') == 2
    assert "Compare 2 of both" in html
    assert f'href="{page_url("compare", runs=[alone])}"' in html


def test_chosen_runs_are_compared(client):
    runs = [make_run(), make_run()]
    client.force_login(make_user("viewer"))
    sent = {"action": "compare_selected", "_selected_action": [run.pk for run in runs]}

    response = client.post(reverse("admin:runs_run_changelist"), sent)

    assert response.url == page_url("compare", runs=runs)


def test_runs_have_the_rate_and_interval_of_their_own_page(client):
    tests = [make_test() for _ in range(3)]
    run = make_run(*tests, repeats=2, jury=make_jury(make_model()))
    answer(run)
    judge(run, [[1], [1], [0], [1], [0], [0]])

    page = listed(client)

    rate = run_report(run, Filters(), reader=make_user()).rate
    assert page.context["cl"].result_list[0].figures.rate == rate
    assert "does not account for issues" in page.content.decode()


def test_figures_have_their_labels_beside_them(client):
    model = make_model(is_scripted=True)
    make_run(make_test(), model=model, is_scripted=True, jury=make_jury(model))
    client.force_login(make_user("viewer"))

    text = client.get(reverse("admin:runs_run_changelist")).content.decode()
    for label in ("scripted model", "scripted judge", "judges its own answers"):
        assert label in text


def test_runs_are_found_by_label_model_release_and_launch(client):
    launch = Launch.objects.create(label="nightly", spec={})
    run = make_run(label="weekly", release="2.3", model=make_model(name="Tiny"), launch=launch)
    make_run()

    found = listed(client, q="tiny 2.3 week night").context["cl"].result_list
    assert list(found) == [run]


def test_the_queries_of_the_list_do_not_grow(client):
    judged([1])
    listed(client)
    again = partial(client.get, reverse("admin:runs_run_changelist"))
    few = queries_of(again)
    for _ in range(8):
        judged([1], [0])

    assert queries_of(again) == few


def queries_of(act):
    cache.clear()
    with CaptureQueriesContext(connection) as queries:
        act()
    return len(queries)


def test_an_empty_list_says_how_to_begin(client):
    client.force_login(make_user("maintainer"))
    text = client.get(reverse("admin:runs_run_changelist")).content.decode()

    assert "No runs yet" in text
    assert reverse("admin:runs_launch_add") in text


# Home --------------------------------------------------------------------------------------------


def test_an_empty_site_shows_the_first_steps_alone(client):
    client.force_login(make_user("maintainer"))
    html = client.get(reverse("admin:index")).content.decode()

    assert reverse("admin:evalhub_languagemodel_add") in html
    assert "Add a language model" in html
    assert 'id="card-tour"' in html
    assert 'id="card-releases"' not in html


def test_an_empty_site_says_so_to_who_only_reads(client):
    client.force_login(make_user("viewer"))
    html = client.get(reverse("admin:index")).content.decode()

    assert "No runs yet" in html
    assert 'id="card-' not in html


def test_work_without_a_living_worker_is_stuck_unless_a_person_stopped_it():
    now, run = clock.now(), make_run()
    Worker.objects.create(name="stopped", started_at=now, beat_at=now, stopped_at=now)
    Worker.objects.create(name="silent", started_at=now, beat_at=clock.ago(3600))
    assert site_state().is_stuck
    living = Worker.objects.create(name="here:1", started_at=now, beat_at=now)
    assert not site_state().is_stuck
    living.delete()
    Run.objects.update(state=BatchState.PAUSED)
    run.judge_runs.update(state=BatchState.PAUSED)
    assert not site_state().is_stuck


def test_who_may_see_no_runs_gets_the_plain_first_page(client):
    client.force_login(make_user())
    response = client.get(reverse("admin:index"))

    assert response.status_code == 200
    assert "home" not in response.context


# Sidebar -----------------------------------------------------------------------------------------


def entries(client, role, path="/admin/"):
    client.force_login(make_user(role))
    return client.get(path).context["sidebar_navigation"][0]["items"]


def titles(items):
    return [item["title"] for item in items]


def test_every_role_has_eight_entries_with_the_places_that_it_may_open(client):
    names = ["Home", "Review", "Feedback", "Issues", "Tests", "Runs", "Reports", "Settings"]
    found = {
        role: {item["title"]: titles(item["places"]) for item in entries(client, role)}
        for role in ("viewer", "annotator", "maintainer", "superuser")
    }
    assert {role: list(items) for role, items in found.items()} == dict.fromkeys(found, names)
    viewer, maintainer = found["viewer"], found["maintainer"]
    assert "Launch a run" in maintainer["Runs"]
    assert "Launch a run" not in viewer["Runs"]
    assert "Users" not in viewer["Settings"]
    assert viewer["Issues"] == ["Issues", "Board", "Tags", "Resolution labels"]


def test_every_list_belongs_to_an_entry(client):
    names = [f"admin:{m._meta.app_label}_{m._meta.model_name}" for m in admin.site._registry]
    client.force_login(make_user("superuser"))
    pages = {name: client.get(reverse(f"{name}_changelist")) for name in names}
    items = {name: page.context["sidebar_navigation"][0]["items"] for name, page in pages.items()}
    assert [name for name, found in items.items() if not any(i["active"] for i in found)] == []


def test_the_entry_of_the_open_page_is_marked(client):
    pages = {
        "/admin/": "Home",
        "/admin/evalhub/notification/": "Home",
        "/admin/review/queue/add/": "Review",
        "/admin/issues/feedback/": "Feedback",
        "/admin/issues/issue/board/": "Issues",
        "/admin/runs/suite/": "Tests",
        "/admin/runs/jury/add/": "Runs",
        "/reports/trend/": "Reports",
        "/admin/evalhub/languagemodel/add/": "Settings",
        make_run().get_absolute_url(): "Runs",
    }
    marked = {
        path: ", ".join(titles(i for i in entries(client, "superuser", path) if i["active"]))
        for path in pages
    }
    assert marked == pages


def test_a_tab_opens_the_other_lists_of_an_entry(client):
    client.force_login(make_user("maintainer"))
    html = client.get(reverse("admin:runs_suite_changelist")).content.decode()
    tabs = html.partition('<nav class="eh-tabs')[2].partition("</nav>")[0]

    assert re.findall(r'aria-current="page">(\w+)', tabs) == ["Suites"]
    assert reverse("admin:issues_judgetemplate_changelist") in tabs


def test_reports_names_every_report_with_its_question_and_picture(client):
    client.force_login(make_user("viewer"))
    html = client.get(reverse("reports:index")).content.decode()

    for page in PAGES:
        assert page.question in unescape(html)
    assert html.count("<svg viewBox") == len(PAGES) + 1


def test_reports_offers_each_as_a_file_to_those_who_may_export(client):
    def links(*rights):
        user = make_user("")
        user.user_permissions.set(Permission.objects.filter(codename__in=(*rights, "view_run")))
        client.force_login(user)
        html = client.get(reverse("reports:index")).content.decode()
        offered = r'class="eh-button eh-gallery-download" href="(/reports/\w+\.html)"'
        return re.findall(offered, html)

    assert links() == []
    assert len(found := links("export_results")) == len(PAGES)
    assert client.get(found[0]).has_header("Content-Disposition")


def test_the_command_palette_finds_a_page_by_its_purpose(client):
    client.force_login(make_user("viewer"))
    for words, found in (("ship", "leaderboard"), ("trust judges", "judge_reliability")):
        html = client.get(reverse("admin:search"), {"s": words}).content.decode()
        assert f'href="/reports/{found}/"' in html, words
