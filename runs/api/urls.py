from rest_framework.routers import SimpleRouter

from runs.api import views
from runs.api.interchange import ImportViewSet
from runs.api.releases import ReleaseViewSet

router = SimpleRouter()
router.register("suites", views.SuiteViewSet, basename="api-suite")
router.register("juries", views.JuryViewSet, basename="api-jury")
router.register("launches", views.LaunchViewSet, basename="api-launch")
router.register("releases", ReleaseViewSet, basename="api-release")
router.register("runs", views.RunViewSet, basename="api-run")
router.register("results", views.ResultViewSet, basename="api-result")
router.register("judge-runs", views.JudgeRunViewSet, basename="api-judge-run")
router.register("judgments", views.JudgmentViewSet, basename="api-judgment")
router.register("human-evaluations", views.HumanEvaluationViewSet, basename="api-evaluation")
router.register("imports", ImportViewSet, basename="api-import")

urlpatterns = router.urls
