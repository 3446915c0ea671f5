from rest_framework.routers import SimpleRouter

from runs.review.api import views

router = SimpleRouter()
router.register("queues", views.QueueViewSet, basename="api-queue")
router.register("review-items", views.ItemViewSet, basename="api-review-item")
router.register("assignments", views.AssignmentViewSet, basename="api-assignment")

urlpatterns = router.urls
