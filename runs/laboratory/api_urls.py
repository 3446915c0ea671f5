from rest_framework.routers import SimpleRouter

from runs.laboratory.pairwise.api import views as pairwise
from runs.laboratory.position_bias.api import views as position_bias
from runs.laboratory.trials.api import views as trials
from runs.laboratory.tuning.api import views as tuning

router = SimpleRouter()
router.register("tunings", tuning.TuningViewSet, basename="api-tuning")
router.register(
    "pairwise-judge-runs", pairwise.PairwiseJudgeRunViewSet, basename="api-pairwise-run"
)
router.register("pair-judgments", pairwise.PairJudgmentViewSet, basename="api-pair-judgment")
router.register("pair-evaluations", pairwise.PairEvaluationViewSet, basename="api-pair-evaluation")
router.register("benchmarks", trials.BenchmarkViewSet, basename="api-benchmark")
router.register("ideas", trials.IdeaViewSet, basename="api-idea")
router.register("benchmark-texts", trials.TextViewSet, basename="api-benchmark-text")
router.register("claims", trials.ClaimViewSet, basename="api-claim")
router.register("generation-runs", trials.GenerationRunViewSet, basename="api-generation-run")
router.register("trials", trials.TrialViewSet, basename="api-trial")
router.register("claim-judgments", trials.ClaimJudgmentViewSet, basename="api-claim-judgment")
router.register(
    "reversed-judge-runs", position_bias.ReversedJudgeRunViewSet, basename="api-reversed-run"
)
router.register(
    "reversed-judgments", position_bias.ReversedJudgmentViewSet, basename="api-reversed-judgment"
)

urlpatterns = router.urls
