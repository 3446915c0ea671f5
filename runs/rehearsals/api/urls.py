from rest_framework.routers import SimpleRouter

from runs.rehearsals.api.views import RehearsalViewSet

router = SimpleRouter()
router.register("rehearsals", RehearsalViewSet, basename="api-rehearsal")

urlpatterns = router.urls
