from django.contrib import admin
from django.urls import path, register_converter
from django.urls.converters import StringConverter

from evalhub.admin_site.site import entry_page
from reports import report_views
from reports.compare import views as compare_views
from reports.compare.pairwise import views as pair_views
from reports.dashboard import views as dashboard_views
from reports.failure_clusters import views as cluster_views
from reports.issue_proposals import views as proposal_views
from reports.judge_reliability.trials import views as trial_views
from reports.registry import PAGES
from reports.releases import views as release_views
from reports.run import views as run_views
from reports.schedules import views as schedule_views
from reports.similarity import views as similarity_views
from reports.summaries import views as summary_views


class FileEnding(StringConverter):
    """The file extension of a report."""

    regex = "csv|json|md|html|pdf"


register_converter(FileEnding, "report_file")

app_name = "reports"
urlpatterns = [
    path("", admin.site.admin_view(entry_page), name="index"),
    path("releases/<int:pk>/<slug:act>/", release_views.decide_release, name="decide_release"),
    path("runs/<int:pk>/", run_views.run, name="run"),
    path("runs/<int:pk>/progress/", run_views.progress, name="run_progress"),
    path("runs/<int:pk>/change/", run_views.change, name="run_change"),
    path("runs/<int:pk>/failures/", cluster_views.failure_clusters, name="failure_clusters"),
    path("runs/<int:pk>/failures/decide/", cluster_views.decide_cluster, name="decide_cluster"),
    path("runs/<int:pk>/first/", run_views.first, name="run_first"),
    path("runs/<int:pk>/rows/", run_views.rows, name="run_rows"),
    path("runs/<int:pk>/results.csv", run_views.download_csv, name="run_csv"),
    path("runs/<int:pk>/judgments.csv", run_views.download_judgments, name="run_judgments_csv"),
    path("runs/<int:pk>/report.json", run_views.download, {"ending": "json"}, name="run_json"),
    path("runs/<int:pk>/report.md", run_views.download, {"ending": "md"}, name="run_markdown"),
    path("runs/<int:pk>/report.html", run_views.download, {"ending": "html"}, name="run_html"),
    path("runs/<int:pk>/results.jsonl", run_views.download_lines, name="run_jsonl"),
    path("runs/<int:pk>/script.py", run_views.download_script, {"ending": "py"}, name="run_script"),
    path(
        "runs/<int:pk>/script.ipynb",
        run_views.download_script,
        {"ending": "ipynb"},
        name="run_notebook",
    ),
    path("runs/<int:pk>/junit.xml", run_views.download_junit, name="run_junit"),
    path("summaries/", summary_views.summaries, name="summaries"),
    path("summaries/ask/", summary_views.ask, name="summary_ask"),
    path("summaries/<int:pk>/", summary_views.summary, name="summary"),
    path("summaries/<int:pk>/act/", summary_views.act, name="summary_act"),
    path(
        "summaries/<int:pk>/exchanges/<int:number>/",
        summary_views.exchange,
        name="summary_exchange",
    ),
    path(
        "summaries/<int:pk>/summary.<report_file:ending>",
        summary_views.download,
        name="summary_download",
    ),
    path("tests/<int:pk>/similarity/", similarity_views.similarity, name="similarity"),
    path("open/", schedule_views.open_snapshot, name="open_snapshot"),
    path("snapshots/<int:pk>/", schedule_views.snapshot, name="snapshot"),
    path(
        "snapshots/<int:pk>.<report_file:ending>",
        schedule_views.download_snapshot,
        name="snapshot_download",
    ),
    path("schedule/people/", schedule_views.people, name="schedule_people"),
    path("schedule/<slug:key>/", schedule_views.schedule, name="schedule"),
    path(
        "compare/answers/<int:first>/<int:second>/", compare_views.answers, name="compare_answers"
    ),
    path("compare/runs/", compare_views.runs, name="compare_runs"),
    path("compare/pairs/<int:first>/<int:second>/", pair_views.pair, name="compare_pair"),
    path("compare/pairs/next/", pair_views.next_pair, name="compare_next_pair"),
    path("compare/baseline/<int:pk>/", compare_views.baseline, name="compare_baseline"),
    path("claims/<int:pk>/", trial_views.claim, name="claim"),
    path("benchmarks/<int:pk>/validate/", trial_views.mark_validated, name="mark_validated"),
    path("cards/", dashboard_views.choose_cards, name="choose_cards"),
    path("issue/<int:pk>/accept/", proposal_views.accept_proposal, name="accept_proposal"),
    *(path(f"{page.key}/", report_views.show, {"key": page.key}, name=page.key) for page in PAGES),
    *(
        path(
            f"{page.key}.<report_file:ending>",
            report_views.download,
            {"key": page.key},
            name=f"{page.key}_download",
        )
        for page in PAGES
    ),
]
