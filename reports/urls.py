from django.urls import path

from reports.views import run, runs, similarity

app_name = "reports"
urlpatterns = [
    path("", runs.runs, name="runs"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("runs/<int:pk>/progress/", run.progress, name="run_progress"),
    path("runs/<int:pk>/rows/", run.rows, name="run_rows"),
    path("runs/<int:pk>/results.csv", run.download_csv, name="run_csv"),
    path("runs/<int:pk>/judgments.csv", run.download_verdicts, name="run_verdicts_csv"),
    path("runs/<int:pk>/report.json", run.download_json, name="run_json"),
    path("tests/<int:pk>/similarity/", similarity.similarity, name="similarity"),
]
