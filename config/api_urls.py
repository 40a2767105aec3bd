"""The REST interface, gathered from the apps; mounted at /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path, re_path

from config import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", api.Root.as_view(), name="api-root"),
    path("schema", api.Schema.as_view(), name="api-schema"),
    path("docs", api.docs, name="api-docs"),
    path("", include("annotation.api_urls")),
    path("", include("judgments.api_urls")),
    path("", include("evaluation.api_urls")),
    # `<path:rest>` would not match a line end
    re_path(r"^(?P<rest>[\s\S]+)\Z", api.other_spelling, name="api-unknown"),
]
