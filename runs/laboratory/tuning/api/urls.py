from rest_framework.routers import SimpleRouter

from runs.laboratory.tuning.api.views import TuningViewSet

router = SimpleRouter()
router.register("tunings", TuningViewSet, basename="api-tuning")

urlpatterns = router.urls
