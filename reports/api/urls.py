from django.urls import path

from reports.api.pages import api_of
from reports.api.views import ProgressView, ReportView, SimilarityView
from reports.pages.registry import PAGES

urlpatterns = [
    path("runs/<int:pk>/progress/", ProgressView.as_view(), name="api-run-progress"),
    path("runs/<int:pk>/report/", ReportView.as_view(), name="api-run-report"),
    path("tests/<int:pk>/similarity/", SimilarityView.as_view(), name="api-test-similarity"),
    *(path(f"reports/{page.key}/", api_of(page), name=f"api-report-{page.key}") for page in PAGES),
]
