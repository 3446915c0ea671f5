from rest_framework.routers import SimpleRouter

from issues.api import views
from issues.api.drafts import DraftViewSet, GenerationViewSet
from issues.api.feedback import FeedbackViewSet
from issues.api.images import ImageViewSet
from issues.api.library import LibraryCriterionViewSet

router = SimpleRouter()
router.register("tags", views.TagViewSet, basename="api-tag")
router.register("resolution-labels", views.ResolutionLabelViewSet, basename="api-resolution-label")
router.register("feedback", FeedbackViewSet, basename="api-feedback")
router.register("issues", views.IssueViewSet, basename="api-issue")
router.register("tests", views.TestViewSet, basename="api-test")
router.register("checks", views.CheckViewSet, basename="api-check")
router.register("judge-templates", views.JudgeTemplateViewSet, basename="api-judge-template")
router.register("criteria-library", LibraryCriterionViewSet, basename="api-library-criterion")
router.register("draft-batches", GenerationViewSet, basename="api-generation")
router.register("drafts", DraftViewSet, basename="api-draft")
router.register("images", ImageViewSet, basename="api-image")
router.register("revisions", views.RevisionViewSet, basename="api-revision")

urlpatterns = router.urls
