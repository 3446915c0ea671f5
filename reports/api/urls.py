from django.urls import path
from rest_framework.routers import SimpleRouter

from reports.api.pages import api_of
from reports.api.summaries import SummaryViewSet
from reports.api.views import ProgressView, ReportView, SimilarityView
from reports.pages.registry import PAGES

router = SimpleRouter()
router.register("summaries", SummaryViewSet, basename="api-summary")

urlpatterns = [
    *router.urls,
    path("runs/<int:pk>/progress/", ProgressView.as_view(), name="api-run-progress"),
    path("runs/<int:pk>/report/", ReportView.as_view(), name="api-run-report"),
    path("tests/<int:pk>/similarity/", SimilarityView.as_view(), name="api-test-similarity"),
    *(path(f"reports/{page.key}/", api_of(page), name=f"api-report-{page.key}") for page in PAGES),
]
