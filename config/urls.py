"""Every address of the application, gathered from the rooms."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("judgments.urls")),
    path("", include("annotation.urls")),
    path("", include("evaluation.urls")),
    path("api/v1/", include("config.api_urls")),
]
