from rest_framework.routers import SimpleRouter

from runs.laboratory.pairwise.api import views

router = SimpleRouter()
router.register("pairwise-judge-runs", views.PairwiseJudgeRunViewSet, basename="api-pairwise-run")
router.register("pair-judgments", views.PairJudgmentViewSet, basename="api-pair-judgment")
router.register("pair-evaluations", views.PairEvaluationViewSet, basename="api-pair-evaluation")

urlpatterns = router.urls
