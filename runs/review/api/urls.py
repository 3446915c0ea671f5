from rest_framework.routers import SimpleRouter

from runs.review.api import views

router = SimpleRouter()
router.register("queues", views.QueueViewSet, basename="api-queue")
router.register("review-items", views.ItemViewSet, basename="api-review-item")
router.register("places", views.PlaceViewSet, basename="api-place")

urlpatterns = router.urls
