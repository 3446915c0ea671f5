from django.urls import path
from rest_framework.routers import SimpleRouter

from reports.gate.api import GateView
from reports.registry import PAGES
from reports.releases.api import ReleaseDecisionViewSet
from reports.report_api import api_of
from reports.run.api import ProgressView, ReportView
from reports.similarity.api import SimilarityView
from reports.summaries.api import SummaryViewSet

router = SimpleRouter()
router.register("release-decisions", ReleaseDecisionViewSet, basename="api-release-decision")
router.register("summaries", SummaryViewSet, basename="api-summary")

urlpatterns = [
    *router.urls,
    path("gates/", GateView.as_view(), name="api-gate"),
    path("runs/<int:pk>/progress/", ProgressView.as_view(), name="api-run-progress"),
    path("runs/<int:pk>/report/", ReportView.as_view(), name="api-run-report"),
    path("tests/<int:pk>/similarity/", SimilarityView.as_view(), name="api-test-similarity"),
    *(path(f"reports/{page.key}/", api_of(page), name=f"api-report-{page.key}") for page in PAGES),
]
