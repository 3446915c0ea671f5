from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from evalhub.api.index import ApiIndex, SchemaView, routes

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("reports/", include("reports.urls")),
    path("admin/", admin.site.urls),
    path("api/", RedirectView.as_view(pattern_name="api-docs"), name="api"),
    path("api/v1/", ApiIndex.as_view(), name="api-index"),
    path("api/v1/", include("evalhub.api.urls")),
    path("api/v1/", include("issues.api.urls")),
    path("api/v1/", include("runs.api.urls")),
    path("api/v1/", include("runs.review.api.urls")),
    path("api/v1/", include(routes())),
    path("api/v1/", include("reports.api_urls")),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api-docs"),
]
handler403 = "evalhub.http.error_pages.explain_forbidden"
handler404 = "evalhub.http.error_pages.explain_missing"
handler500 = "evalhub.http.error_pages.explain_errors"
if settings.EVALHUB_OIDC_ISSUER:
    urlpatterns.append(path("oidc/", include("evalhub.access.single_sign_on")))
