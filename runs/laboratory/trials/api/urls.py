from rest_framework.routers import SimpleRouter

from runs.laboratory.trials.api import views

router = SimpleRouter()
router.register("benchmarks", views.BenchmarkViewSet, basename="api-benchmark")
router.register("ideas", views.IdeaViewSet, basename="api-idea")
router.register("benchmark-texts", views.TextViewSet, basename="api-benchmark-text")
router.register("claims", views.ClaimViewSet, basename="api-claim")
router.register("generation-runs", views.GenerationRunViewSet, basename="api-generation-run")
router.register("trials", views.TrialViewSet, basename="api-trial")
router.register("claim-judgments", views.ClaimJudgmentViewSet, basename="api-claim-judgment")

urlpatterns = router.urls
