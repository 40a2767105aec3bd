"""The REST interface, gathered from the rooms; mounted at /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path

from config import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", api.Root.as_view(), name="api-root"),
    path("schema", api.Schema.as_view(), name="api-schema"),
    path("docs", api.docs, name="api-docs"),
    path("", include("judgments.api_urls")),
    path("", include("annotation.api_urls")),
    path("<path:rest>", api.other_spelling, name="api-unknown"),
]
