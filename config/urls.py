"""Every address of the application, gathered from the apps."""

from django.urls import URLPattern, URLResolver, include, path

from config import operations

handler500 = "config.unavailable.answer_failure"

urlpatterns: list[URLPattern | URLResolver] = [
    # first: addresses are tried in turn, and every label comes by one of these
    path("api/v1/", include("config.api_urls")),
    path("", include("judgments.urls")),
    path("", include("annotation.urls")),
    path("", include("evaluation.urls")),
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("metrics", operations.metrics, name="metrics"),
]
