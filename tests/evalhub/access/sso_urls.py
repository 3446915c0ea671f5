from django.urls import include, path

from evalhub.urls import urlpatterns as ours

urlpatterns = [*ours, path("oidc/", include("evalhub.access.single_sign_on"))]
