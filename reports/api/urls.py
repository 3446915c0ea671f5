from django.urls import path

from reports.api.views import ProgressView, ReportView

urlpatterns = [
    path("runs/<int:pk>/progress/", ProgressView.as_view(), name="api-run-progress"),
    path("runs/<int:pk>/report/", ReportView.as_view(), name="api-run-report"),
]
