from rest_framework.routers import SimpleRouter

from runs.laboratory.position_bias.api import views

router = SimpleRouter()
router.register("reversed-judge-runs", views.ReversedJudgeRunViewSet, basename="api-reversed-run")
router.register(
    "reversed-judgments", views.ReversedJudgmentViewSet, basename="api-reversed-judgment"
)

urlpatterns = router.urls
