from rest_framework.routers import SimpleRouter

from evalhub.api.administration import (
    LanguageModelViewSet,
    TokenViewSet,
    UserViewSet,
    WebhookViewSet,
)
from evalhub.api.views import AuditViewSet, CallViewSet, ExposureViewSet, NotificationViewSet

router = SimpleRouter()
router.register("language-models", LanguageModelViewSet, basename="api-language-model")
router.register("users", UserViewSet, basename="api-user")
router.register("tokens", TokenViewSet, basename="api-token")
router.register("webhooks", WebhookViewSet, basename="api-webhook")
router.register("calls", CallViewSet, basename="api-call")
router.register("exposures", ExposureViewSet, basename="api-exposure")
router.register("audit", AuditViewSet, basename="api-audit")
router.register("notifications", NotificationViewSet, basename="api-notification")

urlpatterns = router.urls
