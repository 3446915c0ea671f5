from django.urls import path

from reports.api.views import ProgressView, ReportView, SimilarityView

urlpatterns = [
    path("runs/<int:pk>/progress/", ProgressView.as_view(), name="api-run-progress"),
    path("runs/<int:pk>/report/", ReportView.as_view(), name="api-run-report"),
    path("tests/<int:pk>/similarity/", SimilarityView.as_view(), name="api-test-similarity"),
]
