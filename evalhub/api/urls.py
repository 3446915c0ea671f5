from rest_framework.routers import SimpleRouter

from evalhub.api.views import CallViewSet, LanguageModelViewSet

router = SimpleRouter()
router.register("language-models", LanguageModelViewSet, basename="api-language-model")
router.register("calls", CallViewSet, basename="api-call")

urlpatterns = router.urls
