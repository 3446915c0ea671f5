from django.urls import path

from reports import converters as converters  # registers what the addresses use
from reports.pages.registry import PAGES
from reports.views import (
    compare,
    dashboard,
    issue,
    pages,
    recurring,
    run,
    runs,
    similarity,
    summary,
)

app_name = "reports"
urlpatterns = [
    path("", runs.runs, name="runs"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("runs/<int:pk>/progress/", run.progress, name="run_progress"),
    path("runs/<int:pk>/rows/", run.rows, name="run_rows"),
    path("runs/<int:pk>/results.csv", run.download_csv, name="run_csv"),
    path("runs/<int:pk>/judgments.csv", run.download_verdicts, name="run_verdicts_csv"),
    path("runs/<int:pk>/report.json", run.download_json, name="run_json"),
    path("runs/<int:pk>/report.md", run.download_markdown, name="run_markdown"),
    path("runs/<int:pk>/report.html", run.download_html, name="run_html"),
    path("runs/<int:pk>/junit.xml", run.download_junit, name="run_junit"),
    path("summaries/", summary.summaries, name="summaries"),
    path("summaries/ask/", summary.ask, name="summary_ask"),
    path("summaries/<int:pk>/", summary.summary, name="summary"),
    path("summaries/<int:pk>/act/", summary.act, name="summary_act"),
    path("summaries/<int:pk>/exchanges/<int:number>/", summary.exchange, name="summary_exchange"),
    path(
        "summaries/<int:pk>/summary.<report_file:ending>",
        summary.download,
        name="summary_download",
    ),
    path("tests/<int:pk>/similarity/", similarity.similarity, name="similarity"),
    path("editions/<int:pk>/", recurring.edition, name="edition"),
    path(
        "editions/<int:pk>.<report_file:ending>",
        recurring.download_edition,
        name="edition_download",
    ),
    path("recur/<slug:key>/", recurring.recur, name="recur"),
    path("compare/answers/<int:first>/<int:second>/", compare.answers, name="compare_answers"),
    path("compare/runs/", compare.runs, name="compare_runs"),
    path("compare/baseline/<int:pk>/", compare.baseline, name="compare_baseline"),
    path("cards/", dashboard.choose_cards, name="choose_cards"),
    path("issue/<int:pk>/accept/", issue.accept_proposal, name="accept_proposal"),
    *(path(f"{page.key}/", pages.show, {"key": page.key}, name=page.key) for page in PAGES),
    *(
        path(
            f"{page.key}.<report_file:ending>",
            pages.download,
            {"key": page.key},
            name=f"{page.key}_download",
        )
        for page in PAGES
    ),
]
